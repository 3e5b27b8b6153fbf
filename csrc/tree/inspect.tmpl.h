/* TEMPLATE: one tree seen from outside: validation, memory counters, leaf facts, dump. needs what
 * tree.tmpl.h has set up, and pz.h. Nothing here changes a byte, nothing recurses. */
#include "text.h"

/* ---- the coded base of one leaf ---- */
/* Check the base of a leaf whose header and base_bytes behind it are readable, and decode it into m
 * and s (room for PZ_LEAF_MAX + 16). Safe on any bytes. NULL when it is right, else what is
 * wrong. */
#if PZ_T_BY_SCORE
static const char *PZ_TN(base_check)(const pz_leaf *l, PZ_M *m, PZ_S *s)
{
    PZ_FN(keys) k = PZ_FN(ot_keys)(l);
    const uint8_t *in = PZ_FN(ot_base)(l);
    if (!PZ_FN(keys_check_fields)(&k))
        return "leaf: fields of the keys";
    if (l->form > PZ_OT_RUNS || (l->form == PZ_OT_EACH && k.groups != k.n))
        return "leaf: form of the scores";
    uint32_t lows = PZ_FN(keys_lows_bytes)(&k), keys = PZ_FN(keys_bytes)(&k);
    uint32_t used = keys + k.groups * PZ_S_BYTES;
    if (l->base_bytes != (used < lows + 8u ? lows + 8u : used))
        return "leaf: bytes of the base";
    if (!PZ_FN(keys_check)(&k, in, keys))
        return "leaf: keys";
    for (uint32_t i = 0; i < k.groups; i++) {
        PZ_S score = PZ_FN(s_at)(in + keys, i);
        if (!PZ_S_VALID(score))
            return "leaf: a score that no valid data can hold";
        if (l->form == PZ_OT_RUNS && i > 0 && score <= PZ_FN(s_at)(in + keys, i - 1))
            return "leaf: order of the scores";
    }
    for (uint32_t i = used; i < l->base_bytes; i++)
        if (in[i] != 0)
            return "leaf: padding of the base";
    PZ_FN(ot_base_decode)(l, m, s);
    for (uint32_t i = 1; i < k.n; i++)
        if (!PZ_FN(ot_less)(s[i - 1], m[i - 1], s[i], m[i]))
            return "leaf: order of the entries";
    return NULL;
}
#else
static const char *PZ_TN(base_check)(const pz_leaf *l, PZ_M *m, PZ_S *s)
{
    PZ_FN(keys) k = PZ_FN(mt_keys)(l);
    PZ_FN(scol) c;
    const uint8_t *in = PZ_FN(mt_base)(l);
    if (!PZ_FN(keys_check_fields)(&k))
        return "leaf: fields of the keys";
    uint32_t lows = PZ_FN(keys_lows_bytes)(&k), keys = PZ_FN(keys_bytes)(&k);
    uint32_t fixed = keys + (l->form & PZ_MT_FORM_BASE ? 8u : 0u);
    if (l->base_bytes < fixed || l->base_bytes < lows + 8u)
        return "leaf: bytes of the base";
    if (!PZ_FN(keys_check)(&k, in, keys))
        return "leaf: keys";
    const uint8_t *col = PZ_FN(mt_scores)(l, &k, &c);
    if ((l->form & PZ_MT_FORM_BASE) && c.base == 0)
        return "leaf: base of the scores";
    if (!PZ_FN(scol_check)(&c, col, l->base_bytes - fixed))
        return "leaf: scores";
    uint32_t used = fixed + PZ_FN(scol_bytes)(&c);
    if (l->base_bytes != (used < lows + 8u ? lows + 8u : used))
        return "leaf: bytes of the base";
    for (uint32_t i = used; i < l->base_bytes; i++)
        if (in[i] != 0)
            return "leaf: padding of the base";
    PZ_FN(mt_base_decode)(l, m, s);
    return NULL;
}
#endif

/* ---- validation ---- */
typedef struct PZ_TN(audit) {
    const pz_arena *arena;
    const pz_tree *tree;
    pz_why *why;
    uint64_t leaves, branches, entries;
    uint64_t label; /* least label that the next leaf may have */
    PZ_S last_s; /* the last live key, when entries > 0 */
    PZ_M last_m;
} PZ_TN(audit);

static pz_status PZ_TN(branch_validate)(PZ_TN(audit) *u, pz_slot slot, uint32_t level,
                                        uint64_t count)
{
    pz_branch *b = pz_branch_at(u->arena, slot);
    uint64_t sum = 0;
    if (pz_block_slot(b) != slot)
        return PZ_WHY(u->why, "branch: slot", slot, slot, pz_block_slot(b));
    if (b->cap > PZ_BRANCH_CAPACITY || b->cap % 8 != 0 || b->unused != 0 ||
        pz_block_bytes(b) < PZ_TN(branch_bytes)(b->cap) ||
        pz_block_bytes(b) >= PZ_TN(branch_bytes)(b->cap) + PZ_BLOCK_STEP)
        return PZ_WHY(u->why, "branch: block", slot, pz_block_bytes(b), b->cap);
    if (b->n < 1u + (level == u->tree->height) || b->n > b->cap)
        return PZ_WHY(u->why, "branch: children", slot, b->cap, b->n);
    if (b->level != level)
        return PZ_WHY(u->why, "branch: level", slot, level, b->level);
    for (uint32_t i = 0; i < b->n; i++) {
        sum += pz_branch_counts(b)[i];
        if (i > 1 && !PZ_TN(less)(PZ_TN(fence_s)(b, i - 1), PZ_TN(fence_m)(b, i - 1),
                                  PZ_TN(fence_s)(b, i), PZ_TN(fence_m)(b, i)))
            return PZ_WHY(u->why, "branch: order of the fences", slot, i, i - 1);
    }
    if (sum != count)
        return PZ_WHY(u->why, "branch: live entries", slot, count, sum);
    if (++u->branches > u->tree->branch_count)
        return PZ_WHY(u->why, "tree: branches", slot, u->tree->branch_count, u->branches);
    return PZ_OK;
}

/* The tail: legal, ascending, told apart from the base. */
static pz_status PZ_TN(tail_validate)(PZ_TN(audit) *u, const pz_leaf *l, const PZ_M *bm,
                                      const PZ_S *bs)
{
    pz_slot slot = pz_block_slot(l);
    const uint8_t *adds = PZ_TN(adds)(l);
    for (uint32_t i = 0; i < l->dels; i++) {
        uint32_t at = PZ_TN(del_at)(l, i);
        if (at >= l->n || (i > 0 && at <= PZ_TN(del_at)(l, i - 1)))
            return PZ_WHY(u->why, "leaf: removed positions", slot, l->n, at);
    }
    for (uint32_t i = 0, b = 0, d = 0; i < l->adds; i++) {
        PZ_S s = PZ_TN(add_s)(adds, i);
        PZ_M m = PZ_TN(add_m)(adds, i);
        if (!PZ_S_VALID(s))
            return PZ_WHY(u->why, "leaf: score in the tail", slot, 0, s);
        if (i > 0 && !PZ_TN(less)(PZ_TN(add_s)(adds, i - 1), PZ_TN(add_m)(adds, i - 1), s, m))
            return PZ_WHY(u->why, "leaf: order of the tail", slot, i, i - 1);
        while (b < l->n && PZ_TN(less)(bs[b], bm[b], s, m))
            b++;
        while (d < l->dels && PZ_TN(del_at)(l, d) < b)
            d++;
        bool in_base = b < l->n && !PZ_TN(less)(s, m, bs[b], bm[b]);
        if (in_base && (d == l->dels || PZ_TN(del_at)(l, d) != b))
            return PZ_WHY(u->why, "leaf: an added entry is in the base", slot, b, i);
    }
    return PZ_OK;
}

/* The live entries follow those of the leaf before and lie between the fences. */
static pz_status PZ_TN(range_validate)(PZ_TN(audit) *u, const pz_leaf *l, const pz_path *p,
                                       const PZ_M *m, const PZ_S *s, uint32_t live)
{
    pz_slot slot = pz_block_slot(l);
    bool low = false, high = false;
    for (uint32_t d = p->height; d > 0; d--) {
        const pz_branch *b = pz_branch_at(u->arena, p->slot[d - 1]);
        uint32_t at = p->at[d - 1];
        if (!low && at > 0) {
            low = true;
            if (PZ_TN(less)(s[0], m[0], PZ_TN(fence_s)(b, at), PZ_TN(fence_m)(b, at)))
                return PZ_WHY(u->why, "leaf: an entry is below the fence", slot, at, 0);
        }
        if (!high && at + 1u < b->n) {
            high = true;
            if (!PZ_TN(less)(s[live - 1], m[live - 1], PZ_TN(fence_s)(b, at + 1),
                             PZ_TN(fence_m)(b, at + 1)))
                return PZ_WHY(u->why, "leaf: an entry is above the fence", slot, at + 1u, live - 1);
        }
    }
    for (uint32_t i = 0; i < live; i++) {
        if (u->entries + i > 0 && !PZ_TN(less)(u->last_s, u->last_m, s[i], m[i]))
            return PZ_WHY(u->why, "leaf: order of the live entries", slot, i, i);
        u->last_s = s[i];
        u->last_m = m[i];
    }
    return PZ_OK;
}

static pz_status PZ_TN(leaf_validate)(PZ_TN(audit) *u, const pz_path *p, uint64_t count)
{
    const pz_leaf *l = pz_leaf_at(u->arena, p->leaf);
    pz_slot slot = p->leaf;
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    if (pz_block_slot(l) != slot)
        return PZ_WHY(u->why, "leaf: slot", slot, slot, pz_block_slot(l));
    size_t tail = (size_t)PZ_REC_BYTES * l->adds + 2u * (size_t)l->dels;
    if (PZ_T_HEADER + l->base_bytes + tail > pz_block_bytes(l))
        return PZ_WHY(u->why, "leaf: block", slot, pz_block_bytes(l), tail);
    if (l->n == 0 || l->n > u->tree->leaf_capacity)
        return PZ_WHY(u->why, "leaf: entries of the base", slot, u->tree->leaf_capacity, l->n);
    if ((uint32_t)l->adds + l->dels >= u->tree->merge_threshold)
        return PZ_WHY(u->why, "leaf: length of the tail", slot, u->tree->merge_threshold,
                      l->adds + l->dels);
    if (l->dels > l->n || pz_leaf_live(l) == 0 || pz_leaf_live(l) != count)
        return PZ_WHY(u->why, "leaf: live entries", slot, count, pz_leaf_live(l));
    const char *wrong = PZ_TN(base_check)(l, m, s);
    if (wrong != NULL)
        return PZ_WHY(u->why, wrong, slot, 0, l->base_bytes);
    PZ_TRY(PZ_TN(tail_validate)(u, l, m, s));
    uint32_t live = PZ_TN(leaf_decode)(l, m, s);
    PZ_TRY(PZ_TN(range_validate)(u, l, p, m, s, live));
#if !PZ_T_BY_SCORE
    uint64_t label = PZ_FN(mt_label)(l);
    if (label < u->label)
        return PZ_WHY(u->why, "leaf: label", slot, u->label, label);
    u->label = label + 1;
#endif
    u->entries += live;
    if (++u->leaves > u->tree->leaf_count)
        return PZ_WHY(u->why, "tree: leaves", slot, u->tree->leaf_count, u->leaves);
    return PZ_OK;
}

/* Everything that tree.h promises of one tree. */
static pz_status PZ_TN(tree_validate)(const pz_arena *a, const pz_tree *t, pz_why *why)
{
    PZ_TN(audit) u = {.arena = a, .tree = t, .why = why};
    pz_path p;
    pz_slot at = t->root;
    uint64_t count = t->entries;
    if (t->height > PZ_HEIGHT_MAX)
        return PZ_WHY(why, "tree: height", 0, PZ_HEIGHT_MAX, t->height);
    p.height = t->height;
    for (uint32_t d = 0; at != PZ_NO_SLOT;) {
        for (; d < t->height; d++) {
            PZ_TRY(PZ_TN(branch_validate)(&u, at, t->height - d, count));
            pz_branch *b = pz_branch_at(a, at);
            p.slot[d] = at;
            p.at[d] = 0;
            at = pz_branch_children(b)[0];
            count = pz_branch_counts(b)[0];
        }
        p.leaf = at;
        PZ_TRY(PZ_TN(leaf_validate)(&u, &p, count));
        while (d > 0 && p.at[d - 1] + 1u == pz_branch_at(a, p.slot[d - 1])->n)
            d--;
        if (d == 0)
            break;
        pz_branch *b = pz_branch_at(a, p.slot[d - 1]);
        uint32_t i = ++p.at[d - 1];
        at = pz_branch_children(b)[i];
        count = pz_branch_counts(b)[i];
    }
    if (u.entries != t->entries)
        return PZ_WHY(why, "tree: entries", 0, t->entries, u.entries);
    if (u.leaves != t->leaf_count)
        return PZ_WHY(why, "tree: leaves", 0, t->leaf_count, u.leaves);
    if (u.branches != t->branch_count || (u.leaves == 0 && t->height != 0))
        return PZ_WHY(why, "tree: branches", t->height, t->branch_count, u.branches);
    return PZ_OK;
}

/* ---- counters ---- */
static pz_leaf_info PZ_TN(leaf_facts)(const pz_leaf *l)
{
    pz_leaf_info f = {0};
    PZ_TN(base_sizes)(l, &f.key_bytes, &f.score_bytes);
    f.base_entries = l->n;
    f.tail_adds = l->adds;
    f.tail_removes = l->dels;
    f.entries = pz_leaf_live(l);
    f.distinct_scores = l->groups;
    f.key_low_bits = l->low_bits;
    f.block_bytes = (uint32_t)pz_block_bytes(l);
    f.tail_bytes = (uint32_t)PZ_REC_BYTES * l->adds + 2u * l->dels;
#if PZ_T_BY_SCORE
    f.score_form = l->form;
#else
    f.score_form = (uint32_t)l->form & ~PZ_MT_FORM_BASE;
    f.label = PZ_FN(mt_label)(l);
#endif
    return f;
}

/* Call back for every leaf in order, until a nonzero answer. */
static void PZ_TN(tree_leaves)(const pz_arena *a, const pz_tree *t,
                               int (*visit)(void *ctx, const pz_leaf_info *), void *ctx)
{
    pz_path p;
    uint64_t before = 0;
    if (t->root == PZ_NO_SLOT)
        return;
    pz_path_first(a, t, &p);
    do {
        pz_leaf_info f = PZ_TN(leaf_facts)(pz_leaf_at(a, p.leaf));
        f.first_position = before;
        before += f.entries;
        if (visit(ctx, &f) != 0)
            return;
    } while (pz_path_next(a, &p));
}

static void PZ_TN(tree_memory)(const pz_arena *a, const pz_tree *t, pz_tree_memory *out)
{
    pz_path p;
    *out = (pz_tree_memory){.leaf_count = t->leaf_count,
                            .branch_count = t->branch_count,
                            .height = t->height,
                            .leaf_capacity = t->leaf_capacity,
                            .merge_threshold = t->merge_threshold};
    if (t->root == PZ_NO_SLOT)
        return;
    pz_path_first(a, t, &p);
    do {
        pz_leaf_info f = PZ_TN(leaf_facts)(pz_leaf_at(a, p.leaf));
        out->base_entries += f.base_entries;
        out->tail_entries += f.tail_adds + f.tail_removes;
        out->coded_leaf_count += PZ_T_BY_SCORE && f.score_form != 0;
        out->key_bytes += f.key_bytes;
        out->score_bytes += f.score_bytes;
        out->tail_bytes += f.tail_bytes;
        out->header_bytes += PZ_T_HEADER;
        out->padding_bytes += f.block_bytes - PZ_T_HEADER - f.key_bytes - f.score_bytes -
                              f.tail_bytes;
        /* Each branch is counted at the first leaf below it. */
        for (uint32_t d = p.height; d > 0 && p.at[d - 1] == 0; d--)
            out->branch_bytes += pz_block_bytes(pz_branch_at(a, p.slot[d - 1]));
    } while (pz_path_next(a, &p));
}

/* ---- dump ---- */
static void PZ_TN(entry_dump)(pz_text *x, char mark, PZ_S s, PZ_M m)
{
    const char lead[3] = {' ', mark, '\0'};
    pz_text_put(x, lead);
#if PZ_M_BITS == 32
    pz_text_signed(x, pz_signed32(m));
#elif PZ_M_BITS == 64
    pz_text_signed(x, pz_signed64(m));
#else
    pz_text_uuid(x, m);
#endif
    pz_text_put(x, "=");
    pz_text_double(x, pz_bits_of_double(PZ_FN(score_double)(s)));
}

/* A leaf a line: base entries in order, `~` before those removed, then `+` and the added ones. */
static void PZ_TN(tree_dump)(const pz_arena *a, const pz_tree *t, pz_text *x)
{
    pz_path p;
    PZ_M m[PZ_LEAF_MAX + 16];
    PZ_S s[PZ_LEAF_MAX + 16];
    pz_text_field(x, PZ_T_BY_SCORE ? "order tree entries=" : "member tree entries=", t->entries);
    pz_text_field(x, " leaves=", t->leaf_count);
    pz_text_field(x, " branches=", t->branch_count);
    pz_text_field(x, " height=", t->height);
    pz_text_put(x, "\n");
    if (t->root == PZ_NO_SLOT)
        return;
    pz_path_first(a, t, &p);
    do {
        const pz_leaf *l = pz_leaf_at(a, p.leaf);
        PZ_TN(base_decode)(l, m, s);
        pz_text_field(x, "leaf base=", l->n);
        pz_text_field(x, " adds=", l->adds);
        pz_text_field(x, " removes=", l->dels);
#if !PZ_T_BY_SCORE
        pz_text_field(x, " label=", PZ_FN(mt_label)(l));
#endif
        pz_text_put(x, ":");
        for (uint32_t i = 0; i < l->n; i++)
            PZ_TN(entry_dump)(x, PZ_TN(is_deleted)(l, i) ? '~' : '\0', s[i], m[i]);
        const uint8_t *adds = PZ_TN(adds)(l);
        for (uint32_t i = 0; i < l->adds; i++)
            PZ_TN(entry_dump)(x, '+', PZ_TN(add_s)(adds, i), PZ_TN(add_m)(adds, i));
        pz_text_put(x, "\n");
    } while (pz_path_next(a, &p));
}
