/* TEMPLATE: the one way in which a tree changes shape.
 *
 * A sweep visits the leaves that hold given keys, in ascending order, and rewrites what changed
 * behind itself: sweep_seek gives the leaf of a key, then the caller either leaves it (sweep_same,
 * with its new count) or puts the children that replace it (sweep_open, then sweep_put for each).
 * Level L is the branches L steps above the leaves (leaf parents are level 1):
 *
 *   level 2   old branch  [ done ... | next ... ]     out: children already rewritten
 *   level 1   old branch  [ done ... | next ... ]     out: children already rewritten
 *   leaves                        ^ the leaf that seek gave
 *
 * While nothing below a branch changes its children, the branch is only counted in place; at the
 * first change its done children are copied to `out` (rewriting), and when the sweep leaves it,
 * `out` is written as one or more branches, the first into the old branch's own slot. So a sweep
 * costs what it touches, whether one leaf or all of them, and an empty tree is built bottom-up by
 * the same code.
 *
 * A sweep runs within a reservation: nothing in it can fail. */

#define PZ_T_OUT_MAX (2u * PZ_BRANCH_CAPACITY + 4u)

typedef struct PZ_TN(child) {
    uint64_t count;
    pz_slot slot;
    PZ_S s;
    PZ_M m;
} PZ_TN(child);

typedef struct PZ_TN(level) {
    pz_slot old;       /* the branch being walked, or PZ_NO_SLOT */
    uint16_t old_n;
    uint16_t next;     /* its first child not yet passed */
    uint16_t out_n;
    bool rewriting;    /* done children are in `out`, not in the branch */
    bool parted;       /* part of `out` was written already */
    bool bounded;      /* the branch's range ends at (end_s, end_m) */
    PZ_S lo_s, end_s;  /* fence of the branch in its parent, and its end */
    PZ_M lo_m, end_m;
    PZ_TN(child) out[PZ_T_OUT_MAX];
} PZ_TN(level);

typedef struct PZ_TN(sweep) {
    pz_arena *arena;
    pz_tree *tree;
    pz_tree_work *work;
    bool rle;
    uint32_t keep_bytes;  /* room that a rewritten leaf may keep in its block, see leaf_store */
    uint32_t tail_limit;  /* a leaf whose tail would hold so many records is folded */
    pz_slot leaf;         /* what seek gave; PZ_NO_SLOT in an empty tree */
    bool bounded;         /* the leaf's range ends at (end_s, end_m) */
    PZ_S lo_s, end_s;
    PZ_M lo_m, end_m;
    uint32_t relabels;    /* member tree: places where labels ran out, the first at relabel_m */
    uint64_t relabel_leaves; /* how many they were */
    PZ_M relabel_m;
    uint64_t label;       /* member tree built from nothing: the next leaf's label */
    PZ_TN(level) level[PZ_HEIGHT_MAX + 2]; /* [1] .. [height]; above that, new levels */
} PZ_TN(sweep);

static void PZ_TN(sweep_begin)(PZ_TN(sweep) *w, pz_arena *a, pz_tree *t, pz_tree_work *work,
                               bool rle, uint32_t keep_bytes)
{
    w->arena = a;
    w->tree = t;
    w->work = work;
    w->rle = rle;
    w->keep_bytes = keep_bytes;
    w->tail_limit = t->merge_threshold;
    w->leaf = PZ_NO_SLOT;
    w->relabels = 0;
    w->relabel_leaves = 0;
    w->label = 0;
    for (uint32_t i = 0; i < PZ_HEIGHT_MAX + 2; i++) {
        PZ_TN(level) *v = &w->level[i];
        v->old = PZ_NO_SLOT;
        v->out_n = 0;
        v->rewriting = v->parted = v->bounded = false;
        v->lo_s = 0;
        v->lo_m = 0;
    }
    if (t->height > 0) {
        PZ_TN(level) *v = &w->level[t->height];
        v->old = t->root;
        v->old_n = pz_branch_at(a, t->root)->n;
        v->next = 0;
    }
}

static inline PZ_TN(child) PZ_TN(old_child)(const PZ_TN(sweep) *w, uint32_t level, uint32_t i)
{
    pz_branch *b = pz_branch_at(w->arena, w->level[level].old);
    PZ_TN(child) c;
    c.count = pz_branch_counts(b)[i];
    c.slot = pz_branch_children(b)[i];
    c.s = PZ_TN(fence_s)(b, i);
    c.m = PZ_TN(fence_m)(b, i);
    return c;
}

/* Write the first `n` children of a level's out into `slot`'s block (a new slot for PZ_NO_SLOT). */
static PZ_TN(child) PZ_TN(branch_write)(PZ_TN(sweep) *w, uint32_t level, uint32_t n, pz_slot slot)
{
    PZ_TN(level) *v = &w->level[level];
    uint32_t cap = (n + 7u) & ~7u;
    pz_branch *b = NULL;
    bool swing = true;
    if (slot == PZ_NO_SLOT) {
        slot = pz_arena_slot_new(w->arena);
        w->tree->branch_count++;
    } else {
        b = pz_branch_at(w->arena, slot);
        swing = b->cap < n || b->cap > cap + 16u;
    }
    if (swing)
        b = pz_arena_take(w->arena, slot, PZ_TN(branch_bytes)(cap));
    else
        cap = b->cap;
    b->n = (uint16_t)n;
    b->cap = (uint16_t)cap;
    b->level = (uint16_t)level;
    b->unused = 0;
    PZ_TN(child) c = v->out[0];
    if (level <= w->tree->height && !v->parted) {
        c.s = v->lo_s;
        c.m = v->lo_m;
    }
    v->parted = true;
    c.slot = slot;
    c.count = 0;
    for (uint32_t i = 0; i < n; i++) {
        pz_branch_counts(b)[i] = v->out[i].count;
        pz_branch_children(b)[i] = v->out[i].slot;
        PZ_TN(fence_put)(b, i, v->out[i].s, v->out[i].m);
        c.count += v->out[i].count;
    }
    if (swing)
        pz_arena_swing(w->arena, slot, b);
    v->out_n = (uint16_t)(v->out_n - n);
    memmove(v->out, v->out + n, v->out_n * sizeof *v->out);
    w->work->branches_written++;
    return c;
}

/* From here on the level's done children are in `out`; the child last passed is being replaced. */
static void PZ_TN(sweep_rewrite)(PZ_TN(sweep) *w, uint32_t level)
{
    PZ_TN(level) *v = &w->level[level];
    if (v->rewriting || level > w->tree->height)
        return;
    v->rewriting = true;
    for (uint32_t i = 0; i + 1 < v->next; i++)
        v->out[v->out_n++] = PZ_TN(old_child)(w, level, i);
}

/* Add a child to a level that is being rewritten, or to a new level above the old root. */
static void PZ_TN(sweep_push)(PZ_TN(sweep) *w, uint32_t level, PZ_TN(child) c)
{
    while (w->level[level].out_n == PZ_T_OUT_MAX) {
        /* Full: write a branch's worth and pass it up; each level's room is made before it is used,
         * from the highest full one down, so that nothing recurses. */
        uint32_t top = level;
        while (w->level[top + 1].out_n == PZ_T_OUT_MAX)
            top++;
        PZ_TN(sweep_rewrite)(w, top + 1);
        PZ_TN(child) up = PZ_TN(branch_write)(w, top, PZ_BRANCH_CAPACITY, PZ_NO_SLOT);
        w->level[top + 1].out[w->level[top + 1].out_n++] = up;
    }
    w->level[level].out[w->level[level].out_n++] = c;
}

/* The child last passed at `level` stays, with a new count. */
static void PZ_TN(sweep_recount)(PZ_TN(sweep) *w, uint32_t level, PZ_TN(child) c)
{
    PZ_TN(level) *v = &w->level[level];
    if (level > w->tree->height || v->rewriting)
        PZ_TN(sweep_push)(w, level, c);
    else
        pz_branch_counts(pz_branch_at(w->arena, v->old))[v->next - 1] = c.count;
}

/* Append a level's few remaining children to the branch before it, when that has the room. */
static bool PZ_TN(branch_join)(PZ_TN(sweep) *w, uint32_t level)
{
    PZ_TN(level) *v = &w->level[level];
    PZ_TN(level) *up = &w->level[level + 1];
    if (v->out_n >= PZ_BRANCH_CAPACITY / 4 || v->parted || level == w->tree->height)
        return false;
    if (!up->rewriting && up->next < 2)
        return false;
    if (up->rewriting && up->out_n == 0)
        return false;
    PZ_TN(child) prev = up->rewriting ? up->out[up->out_n - 1]
                                      : PZ_TN(old_child)(w, level + 1, up->next - 2u);
    pz_branch *b = pz_branch_at(w->arena, prev.slot);
    uint32_t n = b->n;
    if (n + v->out_n > PZ_BRANCH_CAPACITY * 3 / 4)
        return false;
    PZ_TN(sweep_rewrite)(w, level + 1);
    up->out_n--;
    /* Both lists fit `out`: put the earlier branch's children in front and write them as one. */
    memmove(v->out + n, v->out, v->out_n * sizeof *v->out);
    for (uint32_t i = 0; i < n; i++) {
        v->out[i].count = pz_branch_counts(b)[i];
        v->out[i].slot = pz_branch_children(b)[i];
        v->out[i].s = PZ_TN(fence_s)(b, i);
        v->out[i].m = PZ_TN(fence_m)(b, i);
    }
    v->out[n].s = v->lo_s; /* no longer first in its branch: its fence counts again */
    v->out[n].m = v->lo_m;
    v->out_n = (uint16_t)(v->out_n + n);
    v->parted = true;
    PZ_TN(child) c = PZ_TN(branch_write)(w, level, v->out_n, prev.slot);
    c.s = prev.s;
    c.m = prev.m;
    pz_arena_drop(w->arena, v->old);
    w->tree->branch_count--;
    PZ_TN(sweep_push)(w, level + 1, c);
    return true;
}

/* Leave the branch that a level walks. */
static void PZ_TN(sweep_close)(PZ_TN(sweep) *w, uint32_t level)
{
    PZ_TN(level) *v = &w->level[level];
    bool root = level == w->tree->height;
    PZ_TN(child) c;
    c.slot = v->old;
    c.s = v->lo_s;
    c.m = v->lo_m;
    c.count = 0;
    if (!v->rewriting) {
        pz_branch *b = pz_branch_at(w->arena, v->old);
        for (uint32_t i = 0; i < b->n; i++)
            c.count += pz_branch_counts(b)[i];
        if (!root)
            PZ_TN(sweep_recount)(w, level + 1, c);
        v->old = PZ_NO_SLOT;
        return;
    }
    while (v->next < v->old_n) {
        PZ_TN(sweep_push)(w, level, PZ_TN(old_child)(w, level, v->next));
        v->next++;
    }
    if (v->out_n == 0) {
        pz_arena_drop(w->arena, v->old);
        w->tree->branch_count--;
        PZ_TN(sweep_rewrite)(w, level + 1);
    } else if (!PZ_TN(branch_join)(w, level)) {
        uint32_t parts = (v->out_n + PZ_BRANCH_CAPACITY - 1) / PZ_BRANCH_CAPACITY;
        if (parts == 1 && !v->parted) {
            PZ_TN(sweep_recount)(w, level + 1, PZ_TN(branch_write)(w, level, v->out_n, v->old));
        } else {
            PZ_TN(sweep_rewrite)(w, level + 1);
            pz_slot slot = v->old;
            for (; parts > 0; parts--) {
                uint32_t n = (v->out_n + parts - 1) / parts;
                PZ_TN(sweep_push)(w, level + 1, PZ_TN(branch_write)(w, level, n, slot));
                slot = PZ_NO_SLOT;
            }
        }
    }
    v->old = PZ_NO_SLOT;
    v->rewriting = v->parted = false;
    PZ_ASSERT(v->out_n == 0);
}

/* Go to the leaf that holds the key, which is above every leaf visited before. Sets leaf, its lower
 * fence and its end. */
static void PZ_TN(sweep_seek)(PZ_TN(sweep) *w, PZ_S s, PZ_M m)
{
    uint32_t height = w->tree->height, level = 1;
    if (height == 0) {
        w->leaf = w->tree->root;
        w->bounded = false;
        w->lo_s = 0;
        w->lo_m = 0;
        return;
    }
    while (level < height) {
        PZ_TN(level) *v = &w->level[level];
        if (v->old != PZ_NO_SLOT) {
            if (!v->bounded || PZ_TN(less)(s, m, v->end_s, v->end_m))
                break;
            PZ_TN(sweep_close)(w, level);
        }
        level++;
    }
    for (;; level--) {
        PZ_TN(level) *v = &w->level[level];
        pz_branch *b = pz_branch_at(w->arena, v->old);
        uint32_t i = PZ_TN(branch_find)(b, s, m);
        PZ_ASSERT(i >= v->next);
        if (v->rewriting) {
            for (; v->next < i; v->next++)
                PZ_TN(sweep_push)(w, level, PZ_TN(old_child)(w, level, v->next));
        }
        v->next = (uint16_t)(i + 1);
        PZ_TN(child) c = PZ_TN(old_child)(w, level, i);
        bool bounded = i + 1u < b->n || v->bounded;
        PZ_S end_s = v->end_s;
        PZ_M end_m = v->end_m;
        if (i + 1u < b->n) {
            end_s = PZ_TN(fence_s)(b, i + 1);
            end_m = PZ_TN(fence_m)(b, i + 1);
        }
        if (level == 1) {
            if (i + 2u < b->n) /* a batch goes on to the next leaf, as a rule */
                PZ_TN(leaf_prefetch)(pz_arena_at(w->arena, pz_branch_children(b)[i + 1]));
            w->leaf = c.slot;
            w->bounded = bounded;
            w->lo_s = c.s;
            w->lo_m = c.m;
            w->end_s = end_s;
            w->end_m = end_m;
            return;
        }
        PZ_TN(level) *down = &w->level[level - 1];
        PZ_ASSERT(down->out_n == 0 && down->old == PZ_NO_SLOT);
        down->old = c.slot;
        down->old_n = pz_branch_at(w->arena, c.slot)->n;
        down->next = 0;
        down->rewriting = down->parted = false;
        down->bounded = bounded;
        down->lo_s = c.s;
        down->lo_m = c.m;
        down->end_s = end_s;
        down->end_m = end_m;
    }
}

static inline bool PZ_TN(sweep_holds)(const PZ_TN(sweep) *w, PZ_S s, PZ_M m)
{
    return !w->bounded || PZ_TN(less)(s, m, w->end_s, w->end_m);
}

/* The leaf stays in its slot and range, with `count` live entries. */
static inline void PZ_TN(sweep_same)(PZ_TN(sweep) *w, uint64_t count)
{
    PZ_TN(child) c = {count, w->leaf, w->lo_s, w->lo_m};
    PZ_TN(sweep_recount)(w, 1, c);
}

/* The leaf goes: its place is open for sweep_put, in ascending order. */
static inline void PZ_TN(sweep_open)(PZ_TN(sweep) *w)
{
    PZ_TN(sweep_rewrite)(w, 1);
}

static inline void PZ_TN(sweep_put)(PZ_TN(sweep) *w, PZ_TN(child) c)
{
    PZ_TN(sweep_push)(w, 1, c);
}

/* The leaf before the sought one under the same parent; false when there is none. */
static inline bool PZ_TN(sweep_previous)(const PZ_TN(sweep) *w, PZ_TN(child) *out)
{
    const PZ_TN(level) *v = &w->level[1];
    if (w->tree->height == 0 || v->rewriting) {
        if (v->out_n == 0)
            return false;
        *out = v->out[v->out_n - 1];
        return true;
    }
    if (v->next < 2)
        return false;
    *out = PZ_TN(old_child)(w, 1, v->next - 2u);
    return true;
}

/* After sweep_open: take the previous leaf back, to be replaced too. */
static inline void PZ_TN(sweep_unput)(PZ_TN(sweep) *w)
{
    w->level[1].out_n--;
}

/* The leaf that follows the sought one in the tree, or PZ_NO_SLOT. */
static PZ_UNUSED pz_slot PZ_TN(sweep_following)(const PZ_TN(sweep) *w)
{
    for (uint32_t level = 1; level <= w->tree->height; level++) {
        const PZ_TN(level) *v = &w->level[level];
        if (v->old == PZ_NO_SLOT || v->next >= v->old_n)
            continue;
        pz_slot at = PZ_TN(old_child)(w, level, v->next).slot;
        while (--level > 0)
            at = pz_branch_children(pz_branch_at(w->arena, at))[0];
        return at;
    }
    return PZ_NO_SLOT;
}

/* Finish: close every level and give the tree its root. */
static void PZ_TN(sweep_end)(PZ_TN(sweep) *w)
{
    pz_tree *t = w->tree;
    uint32_t height = t->height;
    if (height == 0 && w->leaf == PZ_NO_SLOT && w->level[1].out_n == 0)
        return; /* nothing was sought, nothing put */
    if (height > 0) {
        for (uint32_t level = 1; level <= height; level++) {
            if (w->level[level].old != PZ_NO_SLOT) {
                bool counted = level == height && !w->level[level].rewriting;
                PZ_TN(sweep_close)(w, level);
                if (counted)
                    return; /* the root kept its children */
            }
        }
    }
    /* New levels above the old root (above the leaves, when there was none). */
    uint32_t level = height + 1;
    for (;; level++) {
        PZ_TN(level) *v = &w->level[level];
        if (w->level[level + 1].out_n == 0 && v->out_n <= 1) {
            t->root = v->out_n == 0 ? PZ_NO_SLOT : v->out[0].slot;
            t->height = v->out_n == 0 ? 0 : level - 1;
            break;
        }
        uint32_t parts = (v->out_n + PZ_BRANCH_CAPACITY - 1) / PZ_BRANCH_CAPACITY;
        for (; parts > 0; parts--) {
            uint32_t n = (v->out_n + parts - 1) / parts;
            PZ_TN(sweep_push)(w, level + 1, PZ_TN(branch_write)(w, level, n, PZ_NO_SLOT));
        }
    }
    /* A root with one child is no branch. */
    while (t->height > 0 && pz_branch_at(w->arena, t->root)->n == 1) {
        pz_slot child = pz_branch_children(pz_branch_at(w->arena, t->root))[0];
        pz_arena_drop(w->arena, t->root);
        t->branch_count--;
        t->root = child;
        t->height--;
    }
}
