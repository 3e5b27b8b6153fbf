/* pz.h: the public face of the core. Bindings and servers see this file and base/ only.
 *
 * A set maps members to scores and keeps them ordered by (score, member). One set has one layout:
 * the type of its members (int32, int64, or 16-byte UUIDs ordered by their bytes) and of its scores
 * (float32 or float64). All arrays that cross this boundary are columns: a pointer, a stride in
 * bytes (any sign, 0 for a broadcast scalar) and a common row count. Elements are native-endian, of
 * the layout's own types, and need no alignment. Each input element is loaded exactly once.
 *
 * Locking is the caller's: functions that take `const pz_set *` may run at the same time as each
 * other, never at the same time as one that takes `pz_set *` of the same set.
 *
 * A call that fails changes nothing. NaN is refused as a score, an amount or a sum; -0.0 is stored
 * as +0.0. Functions are safe under any rounding and flush-to-zero mode of the caller. */
#ifndef PZ_H
#define PZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "base/config.h"
#include "base/env.h"
#include "base/status.h"

typedef struct pz_set pz_set;

typedef enum pz_member_kind { PZ_INT32, PZ_INT64, PZ_UUID } pz_member_kind;
typedef enum pz_score_kind { PZ_FLOAT32, PZ_FLOAT64 } pz_score_kind;

typedef struct pz_in {
    const void *ptr;
    ptrdiff_t stride;
} pz_in;

typedef struct pz_out {
    void *ptr;
    ptrdiff_t stride;
} pz_out;

typedef struct pz_options {
    double merge_exponent;         /* 0 to 1 */
    bool score_rle;
    uint32_t member_leaf_capacity; /* 0: the default; PZ_LEAF_CAPACITY_MIN to PZ_LEAF_MAX */
    uint32_t order_leaf_capacity;
} pz_options;

/* The context of one bulk call. `poll`, when not NULL, is called between pieces of the checking and
 * sorting phases; a nonzero answer ends the call with PZ_INTERRUPTED and nothing changed. On
 * PZ_NAN, PZ_NAN_SUM and PZ_OVERFLOW `index` is the first such row in argument order (all arguments
 * are looked at for NaN before any sum is made); on
 * PZ_CORRUPT `why` says what and where. NULL may be passed for a context. */
typedef struct pz_call {
    int (*poll)(void *ctx);
    void *ctx;
    uint64_t index;
    pz_why why;
} pz_call;

/* The process's environment: malloc, mmap and one pool of spans. Never NULL after first success;
 * NULL when it cannot be made. Safe from any thread. */
const pz_env *pz_env_default(void);

/* ---- life ---- */
pz_status pz_new(const pz_env *env, pz_member_kind member, pz_score_kind score,
                 const pz_options *options, pz_set **out) PZ_MUST_USE;
void pz_free(pz_set *set); /* NULL is fine */
pz_status pz_copy(const pz_set *set, pz_set **out) PZ_MUST_USE;
void pz_clear(pz_set *set);

pz_member_kind pz_member_kind_of(const pz_set *set);
pz_score_kind pz_score_kind_of(const pz_set *set);
void pz_options_of(const pz_set *set, pz_options *out);
uint64_t pz_len(const pz_set *set);
/* Changes with every call that changed the set. */
uint64_t pz_version(const pz_set *set);

/* ---- look-ups: write one result a row; rows in any order, duplicates allowed ---- */
/* Score of each member; NaN where missing. Results have the layout's score type. A bulk look-up
 * of many rows may allocate scratch (at most 64 bytes a row); without it, it falls back to looking
 * up one by one, so it never fails for memory. */
pz_status pz_score(const pz_set *set, size_t n, pz_in members, pz_out scores,
                   pz_call *call) PZ_MUST_USE;
pz_status pz_contains(const pz_set *set, size_t n, pz_in members, pz_out found_u8,
                      pz_call *call) PZ_MUST_USE;

typedef enum pz_rank_method {
    PZ_RANK_ORDINAL, /* position 0 .. n-1 by (score, member) */
    PZ_RANK_MIN, /* position of the first member with the same score */
    PZ_RANK_MAX, /* position of the last member with the same score */
    PZ_RANK_DENSE, /* number of distinct lower scores; may cost a pass over the order leaves */
    PZ_RANK_AVERAGE /* mean of min and max: written as float64 instead of int64 */
} pz_rank_method;
/* Rank of each member, int64 (float64 for AVERAGE), -1 where missing. `reverse` counts from the
 * top: highest (score, member) has rank 0. */
pz_status pz_rank(const pz_set *set, size_t n, pz_in members, bool reverse, pz_rank_method method,
                  pz_out ranks, pz_call *call) PZ_MUST_USE;

/* ---- one member, by value: the fast path of scalar calls ---- */
bool pz_score_one(const pz_set *set, const void *member, double *score); /* false: missing */
int64_t pz_rank_one(const pz_set *set, const void *member, bool reverse); /* -1: missing */

/* ---- changes ---- */
enum { PZ_NX = 1, PZ_XX = 2, PZ_GT = 4, PZ_LT = 8 };
/* ZADD: rows apply left to right. `added` and `updated` count events as if the rows came one by
 * one; an update that stores an equal score is none. NX with XX/GT/LT, or GT with LT:
 * PZ_INVALID. */
pz_status pz_add(pz_set *set, size_t n, pz_in members, pz_in scores, unsigned flags,
                 uint64_t *added, uint64_t *updated, pz_call *call) PZ_MUST_USE;
/* ZINCRBY: the sum is made in double and narrowed once, row by row. `sums.ptr` NULL: none wanted;
 * else the score after each row, in the layout's score type. */
/* (`wide`: the amounts are float64 although the scores are float32; they enter the sum
 * unrounded) */
pz_status pz_incr(pz_set *set, size_t n, pz_in members, pz_in amounts, bool wide, pz_out sums,
                  pz_call *call) PZ_MUST_USE;
/* ZREM: `removed` counts members that were present (a duplicate row counts once). */
pz_status pz_remove(pz_set *set, size_t n, pz_in members, uint64_t *removed,
                    pz_call *call) PZ_MUST_USE;
/* Removes the entries at positions start .. stop-1 (start <= stop <= len, else PZ_INVALID). */
pz_status pz_remove_range(pz_set *set, uint64_t start, uint64_t stop, pz_call *call) PZ_MUST_USE;

/* ---- ranges: positions are ascending 0 .. len, half open ---- */
/* Writes entries start .. start+n-1 in order (reverse: the last of them first). start+n <= len,
 * else PZ_INVALID. Either column's ptr may be NULL. Allocates nothing. */
pz_status pz_range(const pz_set *set, uint64_t start, uint64_t n, bool reverse, pz_out members,
                   pz_out scores, pz_call *call) PZ_MUST_USE;
/* Number of entries with score < bound (or <= bound when `inclusive`). Bounds are doubles compared
 * with the widened stored score; not NaN (else 0 is answered: check before). */
uint64_t pz_position_of_score(const pz_set *set, double bound, bool inclusive);

/* ---- member order ---- */
/* The k-th member by member order, 0 .. len-1. */
pz_status pz_nth_by_member(const pz_set *set, uint64_t k, void *member, double *score) PZ_MUST_USE;
/* One step of a scan: writes about `count` entries (>= 1; more only while they share a cursor
 * position) into columns of `room` >= count + PZ_LEAF_ENTRIES_MAX rows, gives the next cursor, 0 at
 * the end; 0 starts. Every member present throughout a scan is returned at least once. */
pz_status pz_scan(const pz_set *set, uint64_t cursor, size_t count, size_t room, pz_out members,
                  pz_out scores, size_t *written, uint64_t *next) PZ_MUST_USE;

/* ---- sets ---- */
typedef enum pz_algebra { PZ_UNION, PZ_INTERSECTION, PZ_DIFFERENCE } pz_algebra;
typedef enum pz_aggregate { PZ_SUM, PZ_MIN, PZ_MAX } pz_aggregate;
/* Into a new set with the options of sets[0]; all of one layout. weights: count doubles or NULL.
 * Applied in argument order, pairwise, in double, narrowed once at the end; inf*0 and inf-inf are
 * 0 as in Redis. DIFFERENCE keeps sets[0]'s scores. PZ_OVERFLOW when a finite result does not
 * fit. */
pz_status pz_combine(pz_algebra op, size_t count, const pz_set *const *sets, const double *weights,
                     pz_aggregate aggregate, pz_set **out, pz_call *call) PZ_MUST_USE;
bool pz_equal(const pz_set *a, const pz_set *b); /* same layout and the same entries */

/* ---- upkeep and inspection ---- */
/* Folds every tail, repacks every leaf full and leaves the arena without waste. */
pz_status pz_optimize(pz_set *set, pz_call *call) PZ_MUST_USE;
typedef struct pz_tree_memory {
    uint64_t base_entries; /* entries in leaf bases, removed ones included */
    uint64_t tail_entries; /* records in pending tails */
    uint64_t leaf_count, branch_count, height;
    uint64_t leaf_capacity, merge_threshold;
    uint64_t coded_leaf_count; /* order tree: leaves with run-coded scores */
    uint64_t key_bytes, score_bytes, tail_bytes, header_bytes, branch_bytes, padding_bytes;
} pz_tree_memory;

typedef struct pz_memory {
    uint64_t member_count;
    pz_tree_memory member, order;
    uint64_t arena_live_bytes, arena_free_bytes, arena_mapped_bytes;
    uint64_t total_allocated_bytes; /* everything the set owns, its own header included */
    bool small; /* the set is one plain block: the tree figures describe it as one order leaf */
} pz_memory;
void pz_memory_of(const pz_set *set, pz_memory *out); /* visits every leaf */
uint64_t pz_allocated_bytes(const pz_set *set); /* O(1) */

/* Work done since the set was made: what a single operation costs is the difference. */
typedef struct pz_work {
    uint64_t leaves_coded, bytes_coded; /* leaves written anew and their bytes */
    uint64_t bytes_moved; /* by cleaning and by blocks that grew */
    uint64_t branches_written;
} pz_work;
void pz_work_of(const pz_set *set, pz_work *out);

typedef struct pz_leaf_info {
    uint64_t first_position; /* entries before this leaf, in its tree's order */
    uint32_t base_entries, tail_adds, tail_removes, entries;
    uint32_t distinct_scores; /* order tree: score values stored; member tree: exceptions */
    uint32_t
        score_form; /* order: 0 one a entry, 1 run coded; member: bytes a score (8, 4 raw: +16) */
    uint32_t key_low_bits;
    uint32_t block_bytes, key_bytes, score_bytes, tail_bytes;
    uint64_t label; /* member tree */
} pz_leaf_info;
/* Calls back for every leaf in order; a nonzero answer stops. */
void pz_leaves(const pz_set *set, bool member_tree, int (*visit)(void *ctx, const pz_leaf_info *),
               void *ctx);

pz_status pz_validate(const pz_set *set, pz_why *why) PZ_MUST_USE; /* everything; O(n) */
/* Text, a leaf a line with its entries and tail records; `write` gets pieces of it. The text does
 * not depend on where blocks lie, nor on score_rle (which only the header line names). */
pz_status pz_dump(const pz_set *set, int (*write)(void *ctx, const char *text, size_t n),
                  void *ctx) PZ_MUST_USE;

/* ---- snapshots (docs/formats/snapshot.md) ---- */
/* Bytes that pz_save will write at most. */
uint64_t pz_save_bound(const pz_set *set);
/* `write` returns 0 on success; another answer ends the call with PZ_IO. */
pz_status pz_save(const pz_set *set, int (*write)(void *ctx, const void *bytes, size_t n),
                  void *ctx, pz_call *call) PZ_MUST_USE;
/* Validates everything before it gives a set: layout, checksums, order, equality of the two trees.
 * `rle` and `exponent`: NULL keeps the file's. PZ_CORRUPT: call->why says what and where
 * (offset). */
pz_status pz_load(const pz_env *env, const void *bytes, size_t n, const bool *rle,
                  const double *exponent, pz_set **out, pz_call *call) PZ_MUST_USE;

/* Lowers the arena's limits of this set: for tests. */
void pz_limit_for_tests(pz_set *set, uint32_t slots, uint32_t spans);

#endif
