/* TEMPLATE: changes of one leaf within a sweep. A change is a list of keys to remove, all present,
 * and a list of entries to insert, none present once those are gone; both ascend and lie in the
 * leaf's range. Few changes go to the pending tail; when its count would reach the merge threshold,
 * the leaf alone is folded: base, tail and changes are merged and coded again, as one leaf, more,
 * or together with the leaf before it. What is decided depends on entry counts alone, never on
 * coded sizes: leaf boundaries and tails are the same whatever the scores look like. */

/* An upper bound of what a change of `changes` keys takes from the arena. */
static void PZ_TN(change_room)(const pz_tree *t, uint64_t changes, size_t *bytes, size_t *blocks,
                               size_t *slots)
{
    uint64_t leaves = t->leaf_count < changes ? t->leaf_count : changes;
    uint64_t held = (uint64_t)t->leaf_capacity + t->merge_threshold;
    /* Each touched leaf may grow, then be written with the one before it; two keep tail room. */
    uint64_t entries = leaves * (3 * held + 2 * (uint64_t)t->merge_threshold) + changes;
    uint64_t fill = t->leaf_capacity - t->leaf_capacity / 16;
    /* Leaves added by splits, and with them the leaves written: grown, folded, the one before. */
    uint64_t split = leaves * (held / fill + 1) + changes / fill + 2;
    uint64_t written = split + 3 * leaves;
    uint64_t branches = leaves * t->height < t->branch_count ? leaves * t->height : t->branch_count;
    branches = 2 * branches + split / 16 + 2 * (uint64_t)t->height + 2;
    *bytes += (size_t)(entries * (PZ_REC_BYTES + 1u) + written * (PZ_T_HEADER + 64u) +
                       branches * (PZ_TN(branch_bytes)(PZ_BRANCH_CAPACITY) + 8u));
    *blocks += (size_t)(written + branches);
    *slots += (size_t)(split + branches);
}

/* Give the leaf's block room for `need` more bytes of tail. */
static pz_leaf *PZ_TN(leaf_grow)(pz_arena *a, pz_tree_work *work, pz_leaf *l, uint32_t need)
{
    uint32_t bytes = (uint32_t)pz_block_bytes(l);
    uint32_t more = need > 4u * PZ_REC_BYTES ? need : 4u * PZ_REC_BYTES;
    pz_slot slot = pz_block_slot(l);
    const uint8_t *tail = PZ_TN(adds)(l);
    size_t tail_bytes = (size_t)((const uint8_t *)l + bytes - tail);
    pz_leaf *wider = pz_arena_take(a, slot, pz_leaf_round(bytes + more));
    memcpy((char *)wider + sizeof(pz_block_head), (const char *)l + sizeof(pz_block_head),
           PZ_T_HEADER + l->base_bytes - sizeof(pz_block_head));
    memcpy((char *)wider + pz_block_bytes(wider) - tail_bytes, tail, tail_bytes);
    work->bytes_grown += bytes;
    pz_arena_swing(a, slot, wider);
    return wider;
}

/* Put a leaf image into its slot: into the block it has when it fits and does not waste more than
 * keep_bytes and a sixteenth, else into a new one with room for the tail that `room` asks for. */
static void PZ_TN(leaf_store)(PZ_TN(sweep) *w, pz_slot slot, const uint8_t *image, uint32_t bytes,
                              uint32_t room)
{
    void *block = pz_arena_at(w->arena, slot);
    size_t have = block == NULL ? 0 : pz_block_bytes(block);
    bool fresh = have < bytes || have > bytes + w->keep_bytes + bytes / 16;
    if (fresh)
        block = pz_arena_take(w->arena, slot, pz_leaf_round(bytes + room));
    memcpy((char *)block + sizeof(pz_block_head), image + sizeof(pz_block_head),
           bytes - sizeof(pz_block_head));
    if (fresh)
        pz_arena_swing(w->arena, slot, block);
    w->work->leaves_coded++;
    w->work->bytes_coded += bytes;
}

/* How a rebuild cuts its entries into leaves. */
typedef struct PZ_TN(cut) {
    uint64_t total, done;
    uint64_t parts;
    uint64_t first; /* size of the first part; 0: like the rest */
    uint64_t last;
} PZ_TN(cut);

static uint32_t PZ_TN(cut_next)(PZ_TN(cut) *c)
{
    uint64_t n;
    if (c->first != 0) {
        n = c->first;
        c->first = 0;
    } else if (c->last != 0) {
        n = c->total - c->done - c->last;
        c->last = 0;
    } else {
        n = (c->total - c->done + c->parts - 1) / c->parts;
    }
    c->parts--;
    c->done += n;
    return (uint32_t)n;
}

/* Everything a rebuild works on; big, so one a sweep's caller, on its stack. */
typedef struct PZ_TN(scratch) {
    PZ_M lm[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S ls[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_M om[2 * PZ_LEAF_ENTRIES_MAX + 64];
    PZ_S os[2 * PZ_LEAF_ENTRIES_MAX + 64];
    _Alignas(16) uint8_t image[
#if PZ_T_BY_SCORE
        PZ_OT_IMAGE_BYTES
#else
        PZ_MT_IMAGE_BYTES
#endif
    ];
} PZ_TN(scratch);

/* State of a rebuild while its output is cut into leaves. */
typedef struct PZ_TN(build) {
    PZ_TN(sweep) *w;
    PZ_TN(scratch) *x;
    PZ_TN(cut) cut;
    pz_slot old[2]; /* slots to use again, in order */
    uint32_t old_n, old_used;
    PZ_S lo_s; /* fence of the first part */
    PZ_M lo_m;
    uint32_t want; /* entries of the part being filled */
    uint32_t from, n; /* x->om[from .. from + n) wait to be written */
    uint32_t room; /* tail room that a leaf keeps when its block is replaced */
    bool in_place; /* the result is the sought leaf itself */
    uint64_t part;
    uint64_t label, label_step; /* member tree */
} PZ_TN(build);

static void PZ_TN(build_write)(PZ_TN(build) *b)
{
    PZ_TN(sweep) *w = b->w;
    PZ_TN(scratch) *x = b->x;
    PZ_TN(child) c;
    uint32_t n = b->want;
    c.count = n;
    bool fenced = b->part == 0 && b->old_n > 0; /* takes over the range of a leaf */
    c.s = fenced ? b->lo_s : x->os[b->from];
    c.m = fenced ? b->lo_m : x->om[b->from];
    uint32_t bytes = PZ_TN(base_encode)(x->om + b->from, x->os + b->from, n, w->rle, x->image);
    ((pz_leaf *)(void *)x->image)->base_bytes = (uint16_t)(bytes - PZ_T_HEADER);
#if !PZ_T_BY_SCORE
    PZ_FN(mt_label_set)((pz_leaf *)(void *)x->image, b->label + b->part * b->label_step);
#endif
    uint32_t room = 0;
    if (b->old_used < b->old_n) {
        c.slot = b->old[b->old_used++];
        room = b->room;
    } else {
        c.slot = pz_arena_slot_new(w->arena);
        w->tree->leaf_count++;
    }
    PZ_TN(leaf_store)(w, c.slot, x->image, bytes, room);
    if (b->in_place)
        PZ_TN(sweep_same)(w, n);
    else
        PZ_TN(sweep_put)(w, c);
    b->part++;
    b->from += n;
    b->n -= n;
    b->want = b->cut.parts > 0 ? PZ_TN(cut_next)(&b->cut) : 0;
}

static inline void PZ_TN(build_drain)(PZ_TN(build) *b)
{
    while (b->want != 0 && b->n >= b->want)
        PZ_TN(build_write)(b);
    if (b->from != 0) {
        memmove(b->x->om, b->x->om + b->from, b->n * sizeof *b->x->om);
        memmove(b->x->os, b->x->os + b->from, b->n * sizeof *b->x->os);
        b->from = 0;
    }
}

#if !PZ_T_BY_SCORE
/* Labels of the parts: the first keeps `label`, the others follow it below the next leaf's. */
static void PZ_TN(build_labels)(PZ_TN(build) *b, uint64_t label)
{
    pz_slot next = PZ_TN(sweep_following)(b->w);
    uint64_t end = (uint64_t)1 << PZ_LABEL_BITS;
    if (next != PZ_NO_SLOT)
        end = PZ_FN(mt_label)(pz_leaf_at(b->w->arena, next));
    uint64_t gap = end > label ? end - label : 0;
    uint64_t step = gap / b->cut.parts;
    b->label = label;
    b->label_step = step > PZ_LABEL_STEP ? PZ_LABEL_STEP : step;
    if (step == 0 || end <= label) {
        /* No gap: ascending by ones, what follows is pushed up when the sweep has ended. */
        b->label_step = 1;
        if (b->w->relabels++ == 0)
            b->w->relabel_m = b->lo_m;
        b->w->relabel_leaves += b->cut.parts + 1;
    }
    b->w->label = b->label + b->cut.parts * b->label_step;
}
#endif

/* Entries that a merge looks at, and copies, at once: no branch depends on where among them a
 * change falls. */
#define PZ_T_AHEAD 4u

/* First of the leaf's entries from `at` on that is not below (s, m). PZ_T_AHEAD entries that
 * nothing is above stand behind entry n. */
static inline uint32_t PZ_TN(skip)(const PZ_TN(scratch) *x, uint32_t at, uint32_t n, PZ_S s, PZ_M m)
{
    const uint32_t last = PZ_T_AHEAD - 1;
    while (at + last < n && PZ_TN(less)(x->ls[at + last], x->lm[at + last], s, m))
        at += PZ_T_AHEAD;
    uint32_t below = 0;
    for (uint32_t i = 0; i < PZ_T_AHEAD; i++)
        below += PZ_TN(less)(x->ls[at + i], x->lm[at + i], s, m);
    return at + below;
}

/* Copy n of the leaf's entries from `from` on to the output at `to`, and up to PZ_T_AHEAD - 1 more
 * behind them. */
static inline void PZ_TN(copy)(PZ_TN(scratch) *x, uint32_t to, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += PZ_T_AHEAD) {
        memcpy(x->om + to + i, x->lm + from + i, PZ_T_AHEAD * sizeof *x->om);
        memcpy(x->os + to + i, x->ls + from + i, PZ_T_AHEAD * sizeof *x->os);
    }
}

/* Fold the sought leaf with a change of any size. */
static void PZ_TN(leaf_rebuild)(PZ_TN(sweep) *w, PZ_TN(scratch) *x, const PZ_FN(key) *del,
                                size_t dels, const PZ_FN(key) *add, size_t adds)
{
    const uint64_t cap = w->tree->leaf_capacity;
    const uint64_t full = cap - cap / 16;
    PZ_TN(build) b = {.w = w, .x = x};
    pz_leaf *l = w->leaf == PZ_NO_SLOT ? NULL : pz_leaf_at(w->arena, w->leaf);
    uint32_t live = 0;
    uint64_t label = w->label;
    if (l != NULL) {
        live = PZ_TN(leaf_decode)(l, x->lm, x->ls);
        b.room = (uint32_t)(pz_block_bytes(l) - (size_t)(PZ_TN(adds)(l) - (uint8_t *)l));
        b.room = b.room < w->keep_bytes ? b.room : w->keep_bytes;
#if !PZ_T_BY_SCORE
        label = PZ_FN(mt_label)(l);
#endif
    }
    uint64_t n = (uint64_t)live - dels + adds;
    bool append = adds > 0 &&
                  (live == 0 || PZ_TN(less)(x->ls[live - 1], x->lm[live - 1], add[0].s, add[0].m));
    bool prepend = adds > 0 && live > 0 &&
                   PZ_TN(less)(add[adds - 1].s, add[adds - 1].m, x->ls[0], x->lm[0]);
    PZ_TN(child) prev = {0, PZ_NO_SLOT, 0, 0};
    b.cut.parts = n <= cap ? 1 : (n + full - 1) / full;
    b.lo_s = w->lo_s;
    b.lo_m = w->lo_m;
    if (n > cap && n <= cap + cap / 4 && !append && !prepend && PZ_TN(sweep_previous)(w, &prev)) {
        /* Share before splitting: two leaves become two, or three when both are full. */
        b.cut.parts = (prev.count + n + full - 1) / full;
    } else if (n > 0 && n < live && n < cap * 5 / 8 && PZ_TN(sweep_previous)(w, &prev)) {
        if (prev.count + n <= cap * 7 / 8)
            b.cut.parts = 1;
        else
            prev.slot = PZ_NO_SLOT;
    } else if (b.cut.parts == 2 && append) {
        b.cut.first = full;
    } else if (b.cut.parts == 2 && prepend) {
        b.cut.last = full;
    }
    if (n == 0) {
        PZ_TN(sweep_open)(w);
        if (l != NULL) {
            pz_arena_drop(w->arena, w->leaf);
            w->tree->leaf_count--;
        }
        return;
    }
    b.in_place = l != NULL && b.cut.parts == 1 && prev.slot == PZ_NO_SLOT;
    if (!b.in_place)
        PZ_TN(sweep_open)(w);
    if (prev.slot != PZ_NO_SLOT) {
        PZ_TN(sweep_unput)(w);
        b.n = PZ_TN(leaf_decode)(pz_leaf_at(w->arena, prev.slot), x->om, x->os);
        b.old[b.old_n++] = prev.slot;
        b.lo_s = prev.s;
        b.lo_m = prev.m;
        n += b.n;
    }
    if (l != NULL)
        b.old[b.old_n++] = w->leaf;
#if !PZ_T_BY_SCORE
    PZ_TN(build_labels)(&b, label);
#else
    (void)label;
#endif
    b.cut.total = n;
    b.want = PZ_TN(cut_next)(&b.cut);
    PZ_TN(build_drain)(&b);
    for (uint32_t i = 0; i < PZ_T_AHEAD; i++) { /* no entry is above these */
        x->ls[live + i] = (PZ_S)-1;
        x->lm[live + i] = (PZ_M)-1;
    }
    uint32_t a = 0;
    while (dels + adds > 0) {
        /* Which list is next, and how far it is, falls as it likes: no branch depends on it. */
        bool is_del = adds == 0 || (dels > 0 && !PZ_TN(less)(add->s, add->m, del->s, del->m));
        const PZ_FN(key) *e = is_del ? del : add;
        PZ_S es = e->s;
        PZ_M em = e->m;
        uint32_t end = PZ_TN(skip)(x, a, live, es, em), o = b.from + b.n;
        PZ_TN(copy)(x, o, a, end - a);
        o += end - a;
        PZ_ASSERT(!is_del || (end < live && x->lm[end] == em));
        x->om[o] = em;
        x->os[o] = es;
        a = end + is_del;
        b.n = o + !is_del - b.from;
        del += is_del;
        dels -= is_del;
        add += !is_del;
        adds -= !is_del;
        if (b.n >= PZ_LEAF_ENTRIES_MAX)
            PZ_TN(build_drain)(&b);
    }
    memcpy(x->om + b.from + b.n, x->lm + a, (live - a) * sizeof *x->om);
    memcpy(x->os + b.from + b.n, x->ls + a, (live - a) * sizeof *x->os);
    b.n += live - a;
    PZ_TN(build_drain)(&b);
    PZ_ASSERT(b.n == 0 && b.want == 0);
    while (b.old_used < b.old_n) {
        pz_arena_drop(w->arena, b.old[b.old_used++]);
        w->tree->leaf_count--;
    }
}

/* The most keys that a change of one leaf may have to go to the tail. More are folded in at once:
 * from a quarter of the threshold on a fold costs little more than as many tail records, and leaves
 * none. */
static inline size_t PZ_TN(tail_most)(const pz_tree *t)
{
    uint32_t part = t->merge_threshold / PZ_TAIL_DIVISOR;
    return part < 2 ? 2 : part;
}

/* Make a change of the sought leaf: in the tail while that stays below the threshold, else by a
 * rebuild with what is left of the change. */
static void PZ_TN(leaf_change)(PZ_TN(sweep) *w, PZ_TN(scratch) *x, const PZ_FN(key) *del,
                               size_t dels, const PZ_FN(key) *add, size_t adds)
{
    if (w->leaf == PZ_NO_SLOT || dels + adds > PZ_TN(tail_most)(w->tree)) {
        PZ_TN(leaf_rebuild)(w, x, del, dels, add, adds);
        return;
    }
    pz_leaf *l = pz_leaf_at(w->arena, w->leaf);
    uint32_t threshold = w->tail_limit;
    uint32_t need = (uint32_t)(2 * dels + PZ_REC_BYTES * adds);
    size_t d = 0, i = 0;
    for (; d < dels; d++) {
        uint32_t at = PZ_TN(adds_lower_bound)(l, del[d].s, del[d].m);
        if (PZ_TN(adds_is)(l, at, del[d].s, del[d].m)) {
            PZ_TN(adds_erase)(l, at);
            continue;
        }
        if (l->adds + l->dels + 1u >= threshold || pz_leaf_live(l) == 1)
            break;
        uint32_t base = PZ_TN(base_lower_bound)(l, del[d].s, del[d].m);
        if (PZ_TN(leaf_room)(l) < 2)
            l = PZ_TN(leaf_grow)(w->arena, w->work, l, need);
        PZ_TN(dels_insert)(l, base);
    }
    for (; d == dels && i < adds; i++) {
        if (l->dels > 0) {
            bool stands;
            uint32_t base = PZ_TN(base_find)(l, add[i].s, add[i].m, &stands);
            if (stands && PZ_TN(base_revive)(l, base, add[i].s)) {
                PZ_TN(dels_erase)(l, base);
                continue;
            }
        }
        if (l->adds + l->dels + 1u >= threshold)
            break;
        if (PZ_TN(leaf_room)(l) < PZ_REC_BYTES)
            l = PZ_TN(leaf_grow)(w->arena, w->work, l, need);
        PZ_TN(adds_insert)(l, PZ_TN(adds_lower_bound)(l, add[i].s, add[i].m), add[i].s, add[i].m);
    }
    if (d < dels || i < adds)
        PZ_TN(leaf_rebuild)(w, x, del + d, dels - d, add + i, adds - i);
    else if (pz_leaf_live(l) == 0)
        PZ_TN(leaf_rebuild)(w, x, NULL, 0, NULL, 0);
    else
        PZ_TN(sweep_same)(w, pz_leaf_live(l));
}
