/* TEMPLATE: pack one tree's entries, in order, into an empty tree. needs PZ_T. The reservation is
 * the caller's. */

static void PZ_TN(pack_flush)(PZ_TN(sweep) *w, PZ_TN(scratch) *x, PZ_FN(pack) *p)
{
    if (p->n > 0)
        PZ_TN(leaf_rebuild)(w, x, p->keys, 0, p->keys, p->n);
    p->n = 0;
}

static void PZ_TN(pack_tree)(const pz_body *from, const pz_tree *source, pz_body *to, pz_tree *tree,
                             bool rle, bool full)
{
    PZ_TN(sweep) w;
    PZ_TN(scratch) x;
    PZ_FN(pack) p;
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    pz_path path;
    p.n = 0;
    p.fill = tree->leaf_capacity - (full ? 0 : tree->leaf_capacity / 16);
    PZ_TN(sweep_begin)(&w, &to->arena, tree, &to->work, rle, 0);
    pz_path_first(&from->arena, source, &path);
    do {
        uint32_t live = PZ_TN(leaf_decode)(pz_leaf_at(&from->arena, path.leaf), m, s);
        for (uint32_t i = 0; i < live; i++) {
            p.keys[p.n].s = s[i];
            p.keys[p.n++].m = m[i];
            if (p.n == p.fill)
                PZ_TN(pack_flush)(&w, &x, &p);
        }
    } while (pz_path_next(&from->arena, &path));
    PZ_TN(pack_flush)(&w, &x, &p);
    PZ_TN(sweep_end)(&w);
    tree->entries = source->entries;
}
