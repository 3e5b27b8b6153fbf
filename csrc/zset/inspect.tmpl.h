/* TEMPLATE: a set seen from outside, both forms: memory counters, leaf facts, validation, dump.
 * needs what layout.tmpl.h has set up. Nothing here changes a byte. */

/* ---- counters ---- */
/* The small form described as one order leaf whose entries are uncoded. */
static pz_leaf_info PZ_FN(small_facts)(const pz_set *z)
{
    pz_leaf_info f = {0};
    f.base_entries = f.entries = f.distinct_scores = (uint32_t)z->len;
    f.key_low_bits = PZ_M_BITS;
    f.block_bytes = (uint32_t)z->room * PZ_REC_BYTES;
    f.key_bytes = (uint32_t)z->len * PZ_M_BYTES;
    f.score_bytes = (uint32_t)z->len * PZ_S_BYTES;
    return f;
}

static void PZ_FN(memory)(const pz_set *z, pz_memory *out)
{
    *out = (pz_memory){
        .member_count = z->len, .small = !z->large, .total_allocated_bytes = pz_allocated_bytes(z)};
    if (!z->large) {
        pz_leaf_info f = PZ_FN(small_facts)(z);
        out->member.leaf_capacity = z->member_capacity;
        out->member.merge_threshold = pz_merge_threshold(z->member_capacity, z->merge_exponent);
        out->order = (pz_tree_memory){
            .base_entries = f.entries,
            .leaf_count = z->len > 0,
            .leaf_capacity = z->order_capacity,
            .merge_threshold = pz_merge_threshold(z->order_capacity, z->merge_exponent),
            .key_bytes = f.key_bytes,
            .score_bytes = f.score_bytes,
            .padding_bytes = f.block_bytes - f.key_bytes - f.score_bytes};
        return;
    }
    const pz_body *b = pz_body_of(z);
    pz_arena_counters c;
    pz_arena_count(&b->arena, &c);
    out->arena_live_bytes = c.live_bytes;
    out->arena_free_bytes = c.free_bytes;
    out->arena_mapped_bytes = c.span_bytes + c.spare_bytes;
    PZ_FN(mt_tree_memory)(&b->arena, &b->member, &out->member);
    PZ_FN(ot_tree_memory)(&b->arena, &b->order, &out->order);
}

static void PZ_FN(leaves)(const pz_set *z, bool member_tree,
                          int (*visit)(void *ctx, const pz_leaf_info *), void *ctx)
{
    if (z->large) {
        const pz_body *b = pz_body_of(z);
        if (member_tree)
            PZ_FN(mt_tree_leaves)(&b->arena, &b->member, visit, ctx);
        else
            PZ_FN(ot_tree_leaves)(&b->arena, &b->order, visit, ctx);
    } else if (!member_tree && z->len > 0) {
        pz_leaf_info f = PZ_FN(small_facts)(z);
        (void)visit(ctx, &f);
    }
}

/* ---- validation ---- */
/* Is this very entry live in the leaf? */
static bool PZ_FN(order_leaf_holds)(const pz_leaf *l, PZ_S s, PZ_M m)
{
    bool exact;
    uint32_t at = PZ_FN(ot_base_find)(l, s, m, &exact);
    if (exact && !PZ_FN(ot_is_deleted)(l, at))
        return true;
    return PZ_FN(ot_adds_is)(l, PZ_FN(ot_adds_lower_bound)(l, s, m), s, m);
}

/* Two keys of one member among n, which are at most PZ_LEAF_MAX; the second's place, or 0. */
static uint32_t PZ_FN(member_twice)(const PZ_M *m, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            if (m[i] == m[j])
                return i;
    return 0;
}

static pz_status PZ_FN(small_validate)(const pz_set *z, pz_why *why)
{
    const PZ_FN(key) *keys = PZ_FN(small_keys)(z);
    PZ_M m[PZ_SMALL_CAPACITY];
    if ((z->block == NULL) != (z->room == 0) || z->room > pz_small_capacity(z))
        return PZ_WHY(why, "small set: room", 0, pz_small_capacity(z), z->room);
    if (z->len > z->room)
        return PZ_WHY(why, "small set: entries", 0, z->room, z->len);
    for (uint32_t i = 0; i < z->len; i++) {
        m[i] = keys[i].m;
        if (!PZ_S_VALID(keys[i].s))
            return PZ_WHY(why, "small set: a score that no valid data can hold", i, 0, keys[i].s);
        if (i > 0 && !PZ_FN(ot_less)(keys[i - 1].s, keys[i - 1].m, keys[i].s, keys[i].m))
            return PZ_WHY(why, "small set: order of the entries", i, i, i - 1);
    }
    uint32_t twice = PZ_FN(member_twice)(m, (uint32_t)z->len);
    if (twice != 0)
        return PZ_WHY(why, "small set: a member stands twice", twice, 1, 2);
    return PZ_OK;
}

static pz_status PZ_FN(options_validate)(const pz_set *z, const pz_tree *t, uint32_t capacity,
                                         pz_why *why)
{
    uint32_t threshold = pz_merge_threshold(capacity, z->merge_exponent);
    if (t->leaf_capacity != capacity)
        return PZ_WHY(why, "set: leaf capacity", 0, capacity, t->leaf_capacity);
    if (t->merge_threshold != threshold)
        return PZ_WHY(why, "set: merge threshold", 0, threshold, t->merge_threshold);
    if (t->entries != z->len)
        return PZ_WHY(why, "set: entries of a tree", 0, z->len, t->entries);
    return PZ_OK;
}

/* Each entry of the member tree is in the order tree: with equal numbers of distinct entries, both
 * hold the same. */
static pz_status PZ_FN(trees_agree)(const pz_body *b, pz_why *why)
{
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    pz_path path;
    uint64_t position = 0;
    if (b->member.entries == 0)
        return PZ_OK;
    pz_path_first(&b->arena, &b->member, &path);
    do {
        uint32_t live = PZ_FN(mt_leaf_decode)(pz_leaf_at(&b->arena, path.leaf), m, s);
        for (uint32_t i = 0; i < live; i++, position++) {
            const pz_leaf *l = PZ_FN(ot_find_leaf)(&b->arena, &b->order, s[i], m[i]);
            if (!PZ_FN(order_leaf_holds)(l, s[i], m[i]))
                return PZ_WHY(why, "set: an entry of the member tree is not in the order tree",
                              position, s[i], 0);
        }
    } while (pz_path_next(&b->arena, &path));
    return PZ_OK;
}

static pz_status PZ_FN(validate)(const pz_set *z, pz_why *why)
{
    if (!z->large)
        return PZ_FN(small_validate)(z, why);
    const pz_body *b = pz_body_of(z);
    pz_arena_counters c;
    PZ_TRY(PZ_FN(options_validate)(z, &b->member, z->member_capacity, why));
    PZ_TRY(PZ_FN(options_validate)(z, &b->order, z->order_capacity, why));
    if (b->scan_epoch > 63)
        return PZ_WHY(why, "set: scan epoch", 0, 63, b->scan_epoch);
    PZ_TRY(pz_arena_validate(&b->arena, why));
    PZ_TRY(PZ_FN(mt_tree_validate)(&b->arena, &b->member, why));
    PZ_TRY(PZ_FN(ot_tree_validate)(&b->arena, &b->order, why));
    PZ_TRY(PZ_FN(trees_agree)(b, why));
    pz_arena_count(&b->arena, &c);
    uint64_t blocks = b->member.leaf_count + b->member.branch_count + b->order.leaf_count +
                      b->order.branch_count;
    if (c.blocks != blocks || c.slots != blocks)
        return PZ_WHY(why, "set: blocks of the arena", c.slots, blocks, c.blocks);
    if (c.spare_bytes != 0)
        return PZ_WHY(why, "set: a reservation was left open", 0, 0, c.spare_bytes);
    return PZ_OK;
}

/* ---- dump ---- */
static pz_status PZ_FN(dump)(const pz_set *z, int (*write)(void *ctx, const char *text, size_t n),
                             void *ctx)
{
    static const char *const members[] = {"int32", "int64", "uuid"};
    pz_text x;
    pz_text_begin(&x, write, ctx);
    pz_text_put(&x, z->large ? "large set member=" : "small set member=");
    pz_text_put(&x, members[PZ_MEMBER_KIND]);
    pz_text_put(&x, PZ_S_BITS == 32 ? " score=float32" : " score=float64");
    pz_text_field(&x, " entries=", z->len);
    pz_text_field(&x, " leaf_capacity=", z->member_capacity);
    pz_text_field(&x, ",", z->order_capacity);
    pz_text_put(&x, " merge_exponent=");
    pz_text_double(&x, pz_bits_of_double(z->merge_exponent));
    pz_text_put(&x, z->score_rle ? " score_rle=on\n" : " score_rle=off\n");
    if (z->large) {
        const pz_body *b = pz_body_of(z);
        PZ_FN(mt_tree_dump)(&b->arena, &b->member, &x);
        PZ_FN(ot_tree_dump)(&b->arena, &b->order, &x);
    } else if (z->len > 0) {
        const PZ_FN(key) *keys = PZ_FN(small_keys)(z);
        pz_text_put(&x, "entries:");
        for (uint32_t i = 0; i < z->len; i++)
            PZ_FN(ot_entry_dump)(&x, '\0', keys[i].s, keys[i].m);
        pz_text_put(&x, "\n");
    }
    return pz_text_end(&x);
}
