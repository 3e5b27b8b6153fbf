/* TEMPLATE: a set written as a snapshot and read back (snapshot.h; docs/formats/snapshot.md). needs
 * what layout.tmpl.h has set up.
 *
 *   header | leaves of the member tree | leaves of the order tree | directory | end mark
 *
 * A set of at most pz_small_capacity entries, in whichever form, is one order leaf. Writing goes
 * front to back and holds the directory in memory. Loading is one pass over the file: each leaf is
 * checked and at once becomes a leaf of a new tree; the set takes the trees over when all is
 * right. */
#include "snapshot.h"

/* ---- writing ---- */
static inline bool PZ_FN(saves_small)(const pz_set *z)
{
    return z->len <= pz_small_capacity(z);
}

static pz_snapshot_header PZ_FN(header_of)(const pz_set *z)
{
    pz_snapshot_header h = {.member = PZ_MEMBER_KIND, .score = PZ_SCORE_KIND, .entries = z->len};
    pz_path p;
    pz_options_of(z, &h.options);
    if (PZ_FN(saves_small)(z)) {
        h.order_records = z->len > 0;
        return h;
    }
    const pz_body *b = pz_body_of(z);
    pz_path_first(&b->arena, &b->member, &p);
    do
        h.member_records +=
            PZ_FN(mt_leaf_records)(pz_leaf_at(&b->arena, p.leaf), z->member_capacity);
    while (pz_path_next(&b->arena, &p));
    pz_path_first(&b->arena, &b->order, &p);
    do
        h.order_records += PZ_FN(ot_leaf_records)(pz_leaf_at(&b->arena, p.leaf), z->order_capacity);
    while (pz_path_next(&b->arena, &p));
    return h;
}

static inline uint64_t PZ_FN(rows_bytes)(const pz_snapshot_header *h)
{
    return h->member_records * PZ_MT_ROW_BYTES + h->order_records * PZ_OT_ROW_BYTES;
}

static pz_status PZ_FN(save_small)(const pz_set *z, pz_record_writer *o)
{
    _Alignas(16) uint8_t image[PZ_OT_IMAGE_BYTES];
    PZ_M m[PZ_SMALL_CAPACITY + PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_SMALL_CAPACITY + PZ_LEAF_ENTRIES_MAX + 16];
    PZ_FN(walk) walk = {.z = z};
    uint32_t n = 0;
    for (uint32_t more; (more = PZ_FN(walk_next)(&walk, m + n, s + n)) > 0;)
        n += more;
    return n > 0 ? PZ_FN(ot_entries_save)(o, image, m, s, n) : PZ_OK;
}

/* All leaves, and their rows unless `rows` is NULL. */
static pz_status PZ_FN(save_leaves)(const pz_set *z, const pz_snapshot_header *h, pz_sink *sink,
                                    uint8_t *rows, pz_call *call)
{
    pz_path p;
    pz_record_writer o = {.sink = sink,
                          .row = rows,
                          .label_step = pz_record_label_step(h->member_records),
                          .capacity = z->member_capacity,
                          .rle = z->score_rle};
    if (PZ_FN(saves_small)(z))
        return PZ_FN(save_small)(z, &o);
    const pz_body *b = pz_body_of(z);
    pz_path_first(&b->arena, &b->member, &p);
    do {
        if (o.index % 64 == 0)
            PZ_TRY(pz_poll(call));
        PZ_TRY(PZ_FN(mt_leaf_save)(&o, pz_leaf_at(&b->arena, p.leaf)));
    } while (pz_path_next(&b->arena, &p));
    o.position = o.index = 0;
    o.capacity = z->order_capacity;
    pz_path_first(&b->arena, &b->order, &p);
    do {
        if (o.index % 64 == 0)
            PZ_TRY(pz_poll(call));
        PZ_TRY(PZ_FN(ot_leaf_save)(&o, pz_leaf_at(&b->arena, p.leaf)));
    } while (pz_path_next(&b->arena, &p));
    return PZ_OK;
}

/* Exactly what save writes. */
static uint64_t PZ_FN(save_bound)(const pz_set *z)
{
    pz_snapshot_header h = PZ_FN(header_of)(z);
    pz_sink sink;
    pz_sink_begin(&sink, NULL, NULL);
    pz_status status = PZ_FN(save_leaves)(z, &h, &sink, NULL, NULL);
    PZ_ASSERT(status == PZ_OK); /* nothing is written, nothing polled */
    (void)status;
    return PZ_SNAPSHOT_HEADER_BYTES + sink.at + PZ_FN(rows_bytes)(&h) + PZ_SNAPSHOT_END_BYTES;
}

static pz_status PZ_FN(save)(const pz_set *z, int (*write)(void *ctx, const void *bytes, size_t n),
                             void *ctx, pz_call *call)
{
    uint8_t header[PZ_SNAPSHOT_HEADER_BYTES], end[PZ_SNAPSHOT_END_BYTES];
    pz_snapshot_header h = PZ_FN(header_of)(z);
    pz_sink sink;
    size_t rows_bytes = (size_t)PZ_FN(rows_bytes)(&h);
    uint8_t *rows = NULL;
    if (rows_bytes > 0) {
        rows = pz_env_alloc(z->env, rows_bytes);
        if (rows == NULL)
            return PZ_NOMEM;
    }
    pz_sink_begin(&sink, write, ctx);
    pz_snapshot_header_write(&h, header);
    pz_status status = pz_sink_put(&sink, header, sizeof header);
    if (status == PZ_OK)
        status = PZ_FN(save_leaves)(z, &h, &sink, rows, call);
    pz_snapshot_end_write(sink.at, rows, rows_bytes, end);
    if (status == PZ_OK && rows_bytes > 0)
        status = pz_sink_put(&sink, rows, rows_bytes);
    if (status == PZ_OK)
        status = pz_sink_put(&sink, end, sizeof end);
    if (status == PZ_OK)
        status = pz_sink_flush(&sink);
    pz_env_free(z->env, rows, rows_bytes);
    return status;
}

/* ---- reading ---- */
static pz_status PZ_FN(load_small)(pz_set *z, const pz_snapshot_header *h, pz_record_reader *in)
{
    PZ_FN(ot_record) r;
    if (h->entries == 0)
        return PZ_OK;
    PZ_TRY(PZ_FN(ot_record_read)(in, &r));
    if (r.n != h->entries)
        return PZ_WHY(in->why, "header: entries", 32, r.n, h->entries);
    uint32_t twice = PZ_FN(member_twice)(r.m, r.n);
    if (twice != 0)
        return PZ_WHY(in->why, "order tree: a member stands twice", twice, 1, 2);
    if (in->at != in->end)
        return PZ_WHY(in->why, "order tree: end of the leaves", in->at, in->end, in->at);
    PZ_TRY(PZ_FN(small_resize)(z, r.n));
    for (uint32_t i = 0; i < r.n; i++) {
        PZ_FN(small_keys)(z)[i].s = r.s[i];
        PZ_FN(small_keys)(z)[i].m = r.m[i];
    }
    z->len = r.n;
    return PZ_OK;
}

static pz_status PZ_FN(load_members)(pz_body *b, const pz_snapshot_header *h, pz_record_reader *in,
                                     pz_call *call)
{
    PZ_FN(mt_sweep) w;
    PZ_FN(mt_record) r;
    PZ_FN(mt_sweep_begin)(&w, &b->arena, &b->member, &b->work, h->options.score_rle, 0);
    while (in->index < h->member_records) {
        if (in->index % 64 == 0)
            PZ_TRY(pz_poll(call));
        PZ_TRY(PZ_FN(mt_record_read)(in, &r));
        PZ_FN(mt_record_build)(&w, &r, false);
    }
    PZ_FN(mt_sweep_end)(&w);
    if (in->position != h->entries)
        return PZ_WHY(in->why, "member tree: entries", in->at, h->entries, in->position);
    return PZ_OK;
}

static pz_status PZ_FN(load_order)(pz_body *b, const pz_snapshot_header *h, pz_record_reader *in,
                                   bool rle, pz_call *call)
{
    PZ_FN(ot_sweep) w;
    PZ_FN(ot_record) r;
    PZ_FN(ot_sweep_begin)(&w, &b->arena, &b->order, &b->work, rle, 0);
    while (in->index < h->order_records) {
        if (in->index % 64 == 0)
            PZ_TRY(pz_poll(call));
        PZ_TRY(PZ_FN(ot_record_read)(in, &r));
        PZ_FN(ot_record_build)(&w, &r, rle != h->options.score_rle);
    }
    PZ_FN(ot_sweep_end)(&w);
    if (in->position != h->entries)
        return PZ_WHY(in->why, "order tree: entries", in->at, h->entries, in->position);
    if (in->at != in->end)
        return PZ_WHY(in->why, "order tree: end of the leaves", in->at, in->end, in->at);
    return PZ_OK;
}

/* Are these ascending keys, all in its range, in the leaf? Many: it is decoded and gone through.
 * The number of those found before one that is not. */
static size_t PZ_FN(leaf_agrees)(const pz_leaf *l, const PZ_FN(key) *keys, size_t n)
{
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    size_t i = 0;
    if (n <= l->n / 16u) {
        while (i < n && PZ_FN(order_leaf_holds)(l, keys[i].s, keys[i].m))
            i++;
        return i;
    }
    uint32_t live = PZ_FN(ot_leaf_decode)(l, m, s), at = 0;
    for (; i < n; i++, at++) {
        while (at < live && PZ_FN(ot_less)(s[at], m[at], keys[i].s, keys[i].m))
            at++;
        if (at == live || s[at] != keys[i].s || m[at] != keys[i].m)
            return i;
    }
    return n;
}

/* Are these ascending keys all in the order tree? */
static pz_status PZ_FN(keys_agree)(const pz_body *b, const PZ_FN(key) *keys, size_t n, pz_why *why)
{
    PZ_FN(ot_spot) spot;
    for (size_t i = 0, end; i < n; i = end) {
        PZ_FN(ot_find_spot)(&b->arena, &b->order, keys[i].s, keys[i].m, &spot);
        end = i + 1;
        while (end < n && PZ_FN(ot_spot_holds)(&spot, keys[end].s, keys[end].m))
            end++;
        size_t lacks = i + PZ_FN(leaf_agrees)(spot.leaf, keys + i, end - i);
        if (lacks < end)
            return PZ_WHY(why, "order tree: lacks an entry of the member tree",
                          PZ_FN(ot_rank)(&b->arena, &b->order, keys[lacks].s, keys[lacks].m), 1, 0);
    }
    return PZ_OK;
}

/* Keys sorted at a time: enough for each leaf to have many of them. */
static inline size_t PZ_FN(load_piece)(uint64_t entries)
{
    uint64_t piece = (uint64_t)1 << 20;
    if (piece < entries / 16)
        piece = entries / 16;
    return (size_t)(piece < entries ? piece : entries);
}

/* Do both trees hold the same entries? Each has entries that differ from each other and as many as
 * the other, so it is enough to find those of one in the other, in pieces sorted by score. */
static pz_status PZ_FN(load_agrees)(const pz_set *z, const pz_body *b, pz_call *call)
{
    size_t piece = PZ_FN(load_piece)(b->member.entries);
    size_t room = piece + PZ_LEAF_ENTRIES_MAX, n = 0;
    size_t bytes = room * (PZ_REC_BYTES + PZ_SORT_SCRATCH);
    PZ_FN(key) *keys = pz_env_alloc(z->env, bytes);
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    pz_status status = PZ_OK;
    pz_path path;
    if (keys == NULL)
        return PZ_NOMEM;
    pz_path_first(&b->arena, &b->member, &path);
    for (bool more = true; more && status == PZ_OK;) {
        uint32_t live = PZ_FN(mt_leaf_decode)(pz_leaf_at(&b->arena, path.leaf), m, s);
        for (uint32_t i = 0; i < live; i++)
            PZ_FN(key_push)(keys, &n, s[i], m[i]);
        more = pz_path_next(&b->arena, &path);
        if (n < piece && more)
            continue;
        status = pz_poll(call);
        if (status == PZ_OK)
            status =
                PZ_FN(keys_agree)(b, PZ_FN(sort_keys)(keys, keys + room, n), n, pz_call_why(call));
        n = 0;
    }
    pz_env_free(z->env, keys, bytes);
    return status;
}

static pz_status PZ_FN(load_large)(pz_set *z, const pz_snapshot_header *h, pz_record_reader *in,
                                   pz_call *call)
{
    pz_set large = *z;
    size_t bytes = 0, blocks = 0;
    bool recode = z->score_rle != h->options.score_rle;
    PZ_TRY(pz_body_new(&large));
    pz_body *b = pz_body_of(&large);
    PZ_FN(mt_record_room)(h->member_records, h->entries, in->end - in->at, false, &bytes, &blocks);
    PZ_FN(ot_record_room)(h->order_records, h->entries, 0, recode, &bytes, &blocks);
    pz_status status = pz_arena_reserve(&b->arena, bytes, blocks, blocks);
    if (status == PZ_OK)
        status = PZ_FN(load_members)(b, h, in, call);
    in->position = in->index = 0;
    in->capacity = z->order_capacity;
    if (status == PZ_OK)
        status = PZ_FN(load_order)(b, h, in, z->score_rle, call);
    pz_arena_settle(&b->arena);
    if (status == PZ_OK)
        status = PZ_FN(load_agrees)(z, b, call);
    if (status != PZ_OK) {
        pz_body_free(&large);
        return status;
    }
    pz_arena_clean(&b->arena, (size_t)in->end);
    pz_env_free(z->env, z->block, (size_t)z->room * PZ_REC_BYTES);
    z->block = b;
    z->room = 0;
    z->large = true;
    z->len = h->entries;
    return PZ_OK;
}

static pz_status PZ_FN(load)(pz_set *z, const uint8_t *bytes, size_t n, pz_call *call)
{
    pz_snapshot_header h;
    pz_why *why = pz_call_why(call);
    uint64_t directory = 0;
    PZ_TRY(pz_snapshot_header_read(bytes, n, &h, call));
    if (h.member != PZ_MEMBER_KIND || h.score != PZ_SCORE_KIND)
        return PZ_WHY(why, "header: layout", 12, PZ_MEMBER_KIND | PZ_SCORE_KIND << 8,
                      h.member | h.score << 8);
    if (h.options.member_leaf_capacity != z->member_capacity ||
        h.options.order_leaf_capacity != z->order_capacity)
        return PZ_WHY(why, "header: leaf capacities", 24, z->member_capacity,
                      h.options.member_leaf_capacity);
    PZ_TRY(pz_snapshot_end_read(bytes, n, PZ_FN(rows_bytes)(&h), &directory, call));
    pz_record_reader in = {.file = bytes,
                           .at = PZ_SNAPSHOT_HEADER_BYTES,
                           .end = directory,
                           .row = bytes + directory,
                           .label_step = pz_record_label_step(h.member_records),
                           .capacity = h.member_records > 0 ? z->member_capacity
                                                            : z->order_capacity,
                           .rle = h.options.score_rle,
                           .why = why};
    pz_status status = h.member_records == 0 ? PZ_FN(load_small)(z, &h, &in)
                                             : PZ_FN(load_large)(z, &h, &in, call);
    if (status == PZ_OK)
        z->version++;
    return status;
}
