/* What the two trees of every layout share: the tree's own record, a path, the heads of leaves and
 * branches, the work counters. Compiled once; the typed parts are the *.tmpl.h files beside it.
 *
 * Leaf block (the typed parts follow the head: leaf.tmpl.h):
 *   0  u32 slot, u16 steps, u16 span      the arena's head
 *   8  u16 n                              entries of the base, removed ones included
 *  10  u16 adds                           tail: inserted entries
 *  12  u16 dels                           tail: removed base entries (tombstones)
 *  14  u16 base_bytes                     bytes of the coded columns behind the header
 *  16  u32 stride, u16 groups, u8 low_bits, u8 form      how the columns are coded
 *  24  member lo; member tree only: u40 label
 *      coded columns  |  room  |  adds, ascending  |  dels, ascending u16 base positions
 *                                                                               ^ end of block
 *
 * Branch block of capacity cap:
 *   0  arena head   8  u16 n, u16 cap, u16 level, u16 unused
 *  16  u64 counts[cap]   u32 children[cap]   member fences[cap]   order tree: score fences[cap]
 *
 * Invariants of a tree:
 *  I1  every leaf holds at least one live entry; a base is never empty, at most leaf_capacity long
 *  I2  adds + dels < merge threshold; an added key is not live in the base
 *  I3  entries ascend strictly over the whole tree; fence i <= keys of child i < fence i + 1
 *  I4  a count is the number of live entries below; all leaves lie at the same depth
 *  I5  fence 0 of a branch counts as minus infinity inside it
 *  I6  member tree: leaf labels ascend strictly, and no present member's label ever decreases */
#ifndef PZ_TREE_TREE_H
#define PZ_TREE_TREE_H

#include "../arena/arena.h"

typedef struct pz_tree {
    uint64_t entries;
    uint64_t leaf_count, branch_count;
    pz_slot root;            /* PZ_NO_SLOT: empty */
    uint32_t height;         /* branch levels above the leaves */
    uint32_t leaf_capacity;
    uint32_t merge_threshold;
} pz_tree;

typedef struct pz_path {
    pz_slot leaf;
    uint32_t height;
    pz_slot slot[PZ_HEIGHT_MAX]; /* [0] is the root */
    uint16_t at[PZ_HEIGHT_MAX];
} pz_path;

typedef struct pz_leaf {
    pz_block_head head;
    uint16_t n, adds, dels, base_bytes;
    uint32_t stride;
    uint16_t groups;
    uint8_t low_bits, form;
} pz_leaf;

typedef struct pz_branch {
    pz_block_head head;
    uint16_t n, cap, level, unused;
} pz_branch;

_Static_assert(sizeof(pz_leaf) == 24, "leaf head is 24 bytes");
_Static_assert(sizeof(pz_branch) == 16, "branch head is 16 bytes");

typedef struct pz_tree_work {
    uint64_t leaves_coded, bytes_coded, bytes_grown, branches_written;
} pz_tree_work;

static inline uint32_t pz_leaf_live(const pz_leaf *l)
{
    return (uint32_t)l->n + l->adds - l->dels;
}

/* A leaf uses its block to the last byte: what a block is asked for is whole steps. */
static inline size_t pz_leaf_round(size_t bytes)
{
    return (bytes + (PZ_BLOCK_STEP - 1)) & ~(size_t)(PZ_BLOCK_STEP - 1);
}

static inline uint64_t *pz_branch_counts(pz_branch *b)
{
    return (uint64_t *)(void *)((char *)b + sizeof(pz_branch));
}

static inline uint32_t *pz_branch_children(pz_branch *b)
{
    return (uint32_t *)(void *)((char *)b + sizeof(pz_branch) + 8u * (size_t)b->cap);
}

static inline pz_branch *pz_branch_at(const pz_arena *a, pz_slot slot)
{
    return (pz_branch *)pz_arena_at(a, slot);
}

static inline pz_leaf *pz_leaf_at(const pz_arena *a, pz_slot slot)
{
    return (pz_leaf *)pz_arena_at(a, slot);
}

/* One more (or fewer) live entry below every branch of a path. */
static inline void pz_path_count(const pz_arena *a, pz_tree *t, const pz_path *p, int64_t delta)
{
    for (uint32_t d = 0; d < p->height; d++)
        pz_branch_counts(pz_branch_at(a, p->slot[d]))[p->at[d]] += (uint64_t)delta;
    t->entries += (uint64_t)delta;
}

/* The leaf after the path's, or false at the end; the path moves on. */
static inline bool pz_path_next(const pz_arena *a, pz_path *p)
{
    uint32_t d = p->height;
    while (d > 0) {
        pz_branch *b = pz_branch_at(a, p->slot[d - 1]);
        if (p->at[d - 1] + 1u < b->n)
            break;
        d--;
    }
    if (d == 0)
        return false;
    p->at[d - 1]++;
    for (;;) {
        pz_slot child = pz_branch_children(pz_branch_at(a, p->slot[d - 1]))[p->at[d - 1]];
        if (d == p->height) {
            p->leaf = child;
            return true;
        }
        p->slot[d] = child;
        p->at[d] = 0;
        d++;
    }
}

/* Path to the leaf that holds live entry `k` (k < entries); gives the entries before that leaf. */
static inline uint64_t pz_path_select(const pz_arena *a, const pz_tree *t, uint64_t k, pz_path *p)
{
    pz_slot at = t->root;
    uint64_t before = 0;
    p->height = t->height;
    for (uint32_t d = 0; d < t->height; d++) {
        pz_branch *b = pz_branch_at(a, at);
        const uint64_t *counts = pz_branch_counts(b);
        uint32_t i = 0;
        while (i + 1u < b->n && k - before >= counts[i])
            before += counts[i++];
        p->slot[d] = at;
        p->at[d] = (uint16_t)i;
        at = pz_branch_children(b)[i];
    }
    p->leaf = at;
    return before;
}

static inline void pz_path_first(const pz_arena *a, const pz_tree *t, pz_path *p)
{
    (void)pz_path_select(a, t, 0, p);
}

#endif
