/* TEMPLATE: branches of one tree, and the reading walks: find, rank, select, next. */

static inline uint8_t *PZ_TN(fences_m)(const pz_branch *b)
{
    return (uint8_t *)(uintptr_t)b + sizeof(pz_branch) + 12u * (size_t)b->cap;
}

#if PZ_T_BY_SCORE
#define PZ_T_FENCE_BYTES PZ_REC_BYTES
static inline uint8_t *PZ_TN(fences_s)(const pz_branch *b)
{
    return PZ_TN(fences_m)(b) + (size_t)PZ_M_BYTES * b->cap;
}
#else
#define PZ_T_FENCE_BYTES PZ_M_BYTES
#endif

static inline uint32_t PZ_TN(branch_bytes)(uint32_t cap)
{
    return (uint32_t)sizeof(pz_branch) + cap * (12u + PZ_T_FENCE_BYTES);
}

static inline PZ_M PZ_TN(fence_m)(const pz_branch *b, uint32_t i)
{
    return PZ_FN(m_at)(PZ_TN(fences_m)(b), i);
}

static inline PZ_S PZ_TN(fence_s)(const pz_branch *b, uint32_t i)
{
#if PZ_T_BY_SCORE
    return PZ_FN(s_at)(PZ_TN(fences_s)(b), i);
#else
    (void)b;
    (void)i;
    return 0;
#endif
}

static inline void PZ_TN(fence_put)(pz_branch *b, uint32_t i, PZ_S s, PZ_M m)
{
    PZ_FN(m_put)(PZ_TN(fences_m)(b), i, m);
#if PZ_T_BY_SCORE
    PZ_FN(s_put)(PZ_TN(fences_s)(b), i, s);
#else
    (void)s;
#endif
}

/* The last child whose fence is not above the key; fence 0 counts as minus infinity. */
static inline uint32_t PZ_TN(branch_find)(const pz_branch *b, PZ_S s, PZ_M m)
{
    uint32_t lo = 0, n = b->n;
    for (uint32_t at = 0; at < n * PZ_T_FENCE_BYTES; at += 64) /* the bisection jumps about */
        __builtin_prefetch(PZ_TN(fences_m)(b) + at);
    while (n > 1) {
        uint32_t half = n / 2;
        bool above = PZ_TN(less)(s, m, PZ_TN(fence_s)(b, lo + half), PZ_TN(fence_m)(b, lo + half));
        lo += above ? 0 : half;
        n = above ? half : n - half;
    }
    return lo;
}

/* The first lines of a leaf, all at once: whoever goes to it reads its head, then all over it. */
static inline void PZ_TN(leaf_prefetch)(const void *block)
{
    for (uint32_t at = 0; at < 768; at += 64)
        __builtin_prefetch((const char *)block + at);
}

/* The leaf whose range holds the key; the tree is not empty. */
static inline pz_leaf *PZ_TN(find_leaf)(const pz_arena *a, const pz_tree *t, PZ_S s, PZ_M m)
{
    pz_slot at = t->root;
    for (uint32_t d = 0; d < t->height; d++) {
        pz_branch *b = pz_branch_at(a, at);
        at = pz_branch_children(b)[PZ_TN(branch_find)(b, s, m)];
    }
    pz_leaf *l = pz_leaf_at(a, at);
    PZ_TN(leaf_prefetch)(l);
    return l;
}

static inline pz_leaf *PZ_TN(find_path)(const pz_arena *a, const pz_tree *t, PZ_S s, PZ_M m,
                                        pz_path *p)
{
    pz_slot at = t->root;
    p->height = t->height;
    for (uint32_t d = 0; d < t->height; d++) {
        pz_branch *b = pz_branch_at(a, at);
        uint32_t i = PZ_TN(branch_find)(b, s, m);
        p->slot[d] = at;
        p->at[d] = (uint16_t)i;
        __builtin_prefetch(pz_branch_counts(b) + i, 1); /* for pz_path_count */
        at = pz_branch_children(b)[i];
    }
    p->leaf = at;
    pz_leaf *l = pz_leaf_at(a, at);
    PZ_TN(leaf_prefetch)(l);
    return l;
}

/* A leaf found for a key, what lies before it and where its range ends: look-ups in key order go on
 * in the same leaf until they reach the end. */
typedef struct PZ_TN(spot) {
    pz_leaf *leaf;
    uint64_t before;
    bool bounded; /* false: the last leaf, its range has no end */
    PZ_S end_s;
    PZ_M end_m;
} PZ_TN(spot);

static inline void PZ_TN(find_spot)(const pz_arena *a, const pz_tree *t, PZ_S s, PZ_M m,
                                    PZ_TN(spot) *out)
{
    pz_slot at = t->root;
    out->before = 0;
    out->bounded = false;
    out->end_s = 0;
    out->end_m = 0;
    for (uint32_t d = 0; d < t->height; d++) {
        pz_branch *b = pz_branch_at(a, at);
        const uint64_t *counts = pz_branch_counts(b);
        uint32_t i = PZ_TN(branch_find)(b, s, m);
        for (uint32_t j = 0; j < i; j++)
            out->before += counts[j];
        if (i + 1u < b->n) {
            out->bounded = true;
            out->end_s = PZ_TN(fence_s)(b, i + 1);
            out->end_m = PZ_TN(fence_m)(b, i + 1);
        }
        at = pz_branch_children(b)[i];
    }
    out->leaf = pz_leaf_at(a, at);
    PZ_TN(leaf_prefetch)(out->leaf);
}

static inline bool PZ_TN(spot_holds)(const PZ_TN(spot) *spot, PZ_S s, PZ_M m)
{
    return !spot->bounded || PZ_TN(less)(s, m, spot->end_s, spot->end_m);
}

/* Live entries of the tree below the key. */
static inline uint64_t PZ_TN(rank)(const pz_arena *a, const pz_tree *t, PZ_S s, PZ_M m)
{
    if (t->root == PZ_NO_SLOT)
        return 0;
    PZ_TN(spot) spot;
    PZ_TN(find_spot)(a, t, s, m, &spot);
    return spot.before + PZ_TN(leaf_rank)(spot.leaf, s, m);
}
