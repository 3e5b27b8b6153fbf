/* A set's own record, and the table of functions that each layout exports. Compiled once.
 *
 * Two forms:
 *   small   `block` is one plain block of packed (score, member) keys in order, `room` keys
 *           wide, or NULL when the set is empty: at most pz_small_capacity entries
 *   large   `block` is a pz_body: an arena and the two trees
 *
 * Invariants:
 *  I1  large: both trees hold the same entries, len of them
 *  I2  small: len <= small capacity; keys ascend strictly; no member stands twice
 *  I3  a set that has grown past the small capacity is large until it is a quarter of it */
#ifndef PZ_ZSET_SET_H
#define PZ_ZSET_SET_H

#include "../pz.h"
#include "../tree/tree.h"

typedef struct pz_ops pz_ops;

struct pz_set {
    const pz_env *env;
    const pz_ops *ops;
    uint64_t len;
    uint64_t version;
    void *block;
    double merge_exponent;
    uint16_t member_capacity, order_capacity; /* of a leaf */
    uint16_t room;                            /* small form: keys that the block can hold */
    bool score_rle;
    bool large;
};

_Static_assert(sizeof(struct pz_set) <= 64, "ten UUIDs with float64 scores stay within 320 bytes");

typedef struct pz_body {
    pz_arena arena;
    pz_tree member, order;
    pz_tree_work work;
    uint32_t scan_epoch; /* 6 bits: bumped when member-leaf labels are given anew */
} pz_body;

/* What a layout gives. Semantics are those of the pz_* functions of pz.h with the same names. */
struct pz_ops {
    pz_member_kind member_kind;
    pz_score_kind score_kind;
    uint32_t member_bytes, score_bytes;
    pz_status (*score)(const pz_set *, size_t, pz_in, pz_out, pz_call *);
    pz_status (*contains)(const pz_set *, size_t, pz_in, pz_out, pz_call *);
    pz_status (*rank)(const pz_set *, size_t, pz_in, bool, pz_rank_method, pz_out, pz_call *);
    bool (*score_one)(const pz_set *, const void *, double *);
    int64_t (*rank_one)(const pz_set *, const void *, bool);
    pz_status (*add)(pz_set *, size_t, pz_in, pz_in, unsigned, uint64_t *, uint64_t *, pz_call *);
    pz_status (*incr)(pz_set *, size_t, pz_in, pz_in, bool, pz_out, pz_call *);
    pz_status (*remove)(pz_set *, size_t, pz_in, uint64_t *, pz_call *);
    pz_status (*remove_range)(pz_set *, uint64_t, uint64_t, pz_call *);
    pz_status (*range)(const pz_set *, uint64_t, uint64_t, bool, pz_out, pz_out, pz_call *);
    uint64_t (*position_of_score)(const pz_set *, double, bool);
    pz_status (*nth_by_member)(const pz_set *, uint64_t, void *, double *);
    pz_status (*scan)(const pz_set *, uint64_t, size_t, size_t, pz_out, pz_out, size_t *,
                      uint64_t *);
    pz_status (*combine)(pz_algebra, size_t, const pz_set *const *, const double *, pz_aggregate,
                         pz_set **, pz_call *);
    bool (*equal)(const pz_set *, const pz_set *);
    pz_status (*copy)(const pz_set *, pz_set **);
    pz_status (*optimize)(pz_set *, pz_call *);
    void (*memory)(const pz_set *, pz_memory *);
    void (*leaves)(const pz_set *, bool, int (*)(void *, const pz_leaf_info *), void *);
    pz_status (*validate)(const pz_set *, pz_why *);
    pz_status (*dump)(const pz_set *, int (*)(void *, const char *, size_t), void *);
    uint64_t (*save_bound)(const pz_set *);
    pz_status (*save)(const pz_set *, int (*)(void *, const void *, size_t), void *, pz_call *);
    /* Fills an empty set of this layout from a checked file header on. */
    pz_status (*load)(pz_set *, const uint8_t *, size_t, pz_call *);
};

#define X(suffix, member, score, name) extern const pz_ops pz_ops_##suffix;
#include "../layout/layouts.def"
#undef X

static inline pz_body *pz_body_of(const pz_set *z)
{
    return (pz_body *)z->block;
}

/* Largest number of entries that the small form holds. */
static inline uint32_t pz_small_capacity(const pz_set *z)
{
    uint32_t cap = PZ_SMALL_CAPACITY;
    if (cap > z->order_capacity)
        cap = z->order_capacity;
    if (cap > z->member_capacity)
        cap = z->member_capacity;
    return cap;
}

/* ceil(capacity ** exponent), 1 .. capacity. */
uint32_t pz_merge_threshold(uint32_t capacity, double exponent);

/* Turn an empty small set into an empty large one, and back. */
pz_status pz_body_new(pz_set *z) PZ_MUST_USE;
void pz_body_free(pz_set *z);

/* An empty set with the same layout, environment and options. */
pz_status pz_new_like(const pz_set *like, pz_set **out) PZ_MUST_USE;

static inline pz_status pz_poll(pz_call *call)
{
    return call != NULL && call->poll != NULL && call->poll(call->ctx) != 0 ? PZ_INTERRUPTED
                                                                            : PZ_OK;
}

#endif
