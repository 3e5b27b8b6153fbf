/* TEMPLATE: the leaves of one tree as records of a snapshot (record.h), written and read. needs
 * what tree.tmpl.h has set up. Reading trusts no byte: a record enters the tree only when its
 * checksum, its row and everything that inspect.tmpl.h asks of a leaf hold, and its keys follow
 * those before. */
#include "../codec/crc32c.h"
#include "record.h"

#if PZ_T_BY_SCORE
#define PZ_OT_ROW_BYTES (PZ_ROW_KEY_AT + PZ_REC_BYTES)
#define PZ_T_ROW_BYTES PZ_OT_ROW_BYTES
#define PZ_T_IMAGE_BYTES PZ_OT_IMAGE_BYTES
#else
#define PZ_MT_ROW_BYTES (PZ_ROW_KEY_AT + PZ_M_BYTES)
#define PZ_T_ROW_BYTES PZ_MT_ROW_BYTES
#define PZ_T_IMAGE_BYTES PZ_MT_IMAGE_BYTES
#endif
#define PZ_T_RECORD_MIN ((PZ_T_HEADER + 8u + PZ_RECORD_STEP - 1) & ~(PZ_RECORD_STEP - 1))

/* ---- byte order ---- */
#if PZ_T_BY_SCORE == 0 /* once a layout */
static inline void PZ_FN(member_to_file)(uint8_t *p, PZ_M m)
{
#if PZ_M_BITS == 32
    pz_store32(p, m);
#elif PZ_M_BITS == 64
    pz_store64(p, m);
#else
    pz_store64(p, (uint64_t)m);
    pz_store64(p + 8, (uint64_t)(m >> 64));
#endif
}

static inline PZ_M PZ_FN(member_of_file)(const uint8_t *p)
{
#if PZ_M_BITS == 32
    return pz_load32(p);
#elif PZ_M_BITS == 64
    return pz_load64(p);
#else
    return (PZ_M)pz_load64(p + 8) << 64 | pz_load64(p);
#endif
}
#endif

/* From a leaf's image in this machine's byte order to the file's, in place. */
static void PZ_TN(image_to_file)(uint8_t *image)
{
    pz_leaf l;
    memcpy(&l, image, sizeof l);
#if PZ_T_BY_SCORE
    PZ_FN(keys) k = PZ_FN(ot_keys)((const pz_leaf *)(const void *)image);
    uint8_t *scores = image + PZ_T_HEADER + PZ_FN(keys_bytes)(&k);
    for (uint32_t i = 0; i < l.groups; i++)
        PZ_FN(image_store)(scores + (size_t)i * PZ_S_BYTES, PZ_FN(s_at)(scores, i));
#endif
    pz_store16(image + 8, l.n);
    pz_store16(image + 10, l.adds);
    pz_store16(image + 12, l.dels);
    pz_store16(image + 14, l.base_bytes);
    pz_store32(image + 16, l.stride);
    pz_store16(image + 20, l.groups);
    PZ_FN(member_to_file)(image + 24, PZ_FN(m_at)(image + 24, 0));
}

/* And back. Fields may hold anything: scores are turned as far as the base reaches. */
static void PZ_TN(image_of_file)(uint8_t *image)
{
    pz_leaf *l = (pz_leaf *)(void *)image;
    l->n = pz_load16(image + 8);
    l->adds = pz_load16(image + 10);
    l->dels = pz_load16(image + 12);
    l->base_bytes = pz_load16(image + 14);
    l->stride = pz_load32(image + 16);
    l->groups = pz_load16(image + 20);
    PZ_FN(m_put)(image + 24, 0, PZ_FN(member_of_file)(image + 24));
#if PZ_T_BY_SCORE
    PZ_FN(keys) k = PZ_FN(ot_keys)(l);
    size_t at = PZ_FN(keys_bytes)(&k);
    uint8_t *base = image + PZ_T_HEADER;
    for (uint32_t i = 0; i < l->groups && at + PZ_S_BYTES <= l->base_bytes; i++, at += PZ_S_BYTES)
        PZ_FN(s_put)(base + at, 0, PZ_FN(image_load)(base + at));
#endif
}

/* ---- writing ---- */
/* Write the record of an image that is `bytes` long, padding included, and its row. */
static pz_status PZ_TN(image_save)(pz_record_writer *o, uint8_t *image, uint32_t bytes, PZ_S s,
                                   PZ_M m)
{
    uint32_t size = (bytes + PZ_RECORD_STEP - 1) & ~(PZ_RECORD_STEP - 1);
    uint32_t n = ((const pz_leaf *)(const void *)image)->n;
    if (o->row != NULL) {
        pz_store64(o->row, o->sink->at);
        pz_store64(o->row + 8, o->position);
        PZ_FN(member_to_file)(o->row + PZ_T_ROW_BYTES - PZ_M_BYTES, m);
#if PZ_T_BY_SCORE
        PZ_FN(image_store)(o->row + PZ_ROW_KEY_AT, s);
#endif
        o->row += PZ_T_ROW_BYTES;
    }
    (void)s;
    if (o->sink->write != NULL) {
#if !PZ_T_BY_SCORE
        PZ_FN(mt_label_set)((pz_leaf *)(void *)image, o->index * o->label_step);
#endif
        memset(image + bytes, 0, size - bytes);
        PZ_TN(image_to_file)(image);
        pz_store32(image + 4, size);
        pz_store32(image, pz_crc32c(0, image + 4, size - 4u));
    }
    o->position += n;
    o->index++;
    return pz_sink_put(o->sink, image, size);
}

/* Write entries as one record; `image` has PZ_T_IMAGE_BYTES. */
static pz_status PZ_TN(entries_save)(pz_record_writer *o, uint8_t *image, const PZ_M *m,
                                     const PZ_S *s, uint32_t n)
{
    uint32_t bytes = PZ_TN(base_encode)(m, s, n, o->rle, image);
    return PZ_TN(image_save)(o, image, bytes, s[0], m[0]);
}

/* Records that a leaf becomes. */
static inline uint32_t PZ_TN(leaf_records)(const pz_leaf *l, uint32_t capacity)
{
    return (pz_leaf_live(l) + capacity - 1) / capacity;
}

/* Write a leaf: as it stands when it has no tail, else folded. */
static pz_status PZ_TN(leaf_save)(pz_record_writer *o, const pz_leaf *l)
{
    _Alignas(16) uint8_t image[PZ_T_IMAGE_BYTES];
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    if ((l->adds | l->dels) == 0) {
        uint32_t bytes = PZ_T_HEADER + l->base_bytes;
        memcpy(image + sizeof l->head, (const char *)l + sizeof l->head, bytes - sizeof l->head);
        PZ_TN(base_get)(l, 0, s, m);
        return PZ_TN(image_save)(o, image, bytes, s[0], m[0]);
    }
    uint32_t live = PZ_TN(leaf_decode)(l, m, s);
    for (uint32_t done = 0, parts = PZ_TN(leaf_records)(l, o->capacity); parts > 0; parts--) {
        uint32_t n = (live - done + parts - 1) / parts;
        PZ_TRY(PZ_TN(entries_save)(o, image, m + done, s + done, n));
        done += n;
    }
    return PZ_OK;
}

/* ---- reading ---- */
typedef struct PZ_TN(record) {
    uint32_t n;
    PZ_S last_s; /* of the record before */
    PZ_M last_m;
    PZ_M m[PZ_LEAF_MAX + 16];
    PZ_S s[PZ_LEAF_MAX + 16];
    _Alignas(16) uint8_t image[PZ_T_IMAGE_BYTES];
} PZ_TN(record);

/* What the row says of its record is so. */
static pz_status PZ_TN(row_check)(const pz_record_reader *in, const PZ_TN(record) *r)
{
    const uint8_t *row = in->row;
    PZ_S s = r->s[0];
#if PZ_T_BY_SCORE
    s = PZ_FN(image_load)(row + PZ_ROW_KEY_AT);
#endif
    if (pz_load64(row) != in->at)
        return PZ_WHY(in->why, "directory: offset of a leaf", in->index, in->at, pz_load64(row));
    if (pz_load64(row + 8) != in->position)
        return PZ_WHY(in->why, "directory: position of a leaf", in->index, in->position,
                      pz_load64(row + 8));
    if (PZ_FN(member_of_file)(row + PZ_T_ROW_BYTES - PZ_M_BYTES) != r->m[0] || s != r->s[0])
        return PZ_WHY(in->why, "directory: first key of a leaf", in->index, 0, 0);
    return PZ_OK;
}

/* Read, check and decode the next record. */
static pz_status PZ_TN(record_read)(pz_record_reader *in, PZ_TN(record) *r)
{
    const uint8_t *p = in->file + in->at;
    uint64_t left = in->end - in->at;
    pz_leaf *l = (pz_leaf *)(void *)r->image;
    if (left < PZ_T_RECORD_MIN)
        return PZ_WHY(in->why, "leaf: cut short", in->at, PZ_T_RECORD_MIN, left);
    uint32_t size = pz_load32(p + 4);
    if (size < PZ_T_RECORD_MIN || size % PZ_RECORD_STEP != 0 || size > left ||
        size > PZ_T_IMAGE_BYTES)
        return PZ_WHY(in->why, "leaf: bytes of the record", in->at, left, size);
    uint32_t sum = pz_crc32c(0, p + 4, size - 4u);
    if (sum != pz_load32(p))
        return PZ_WHY(in->why, "leaf: checksum", in->at, sum, pz_load32(p));
    memcpy(r->image, p, size);
    PZ_TN(image_of_file)(r->image);
    uint32_t bytes = PZ_T_HEADER + l->base_bytes;
    if (((bytes + PZ_RECORD_STEP - 1) & ~(PZ_RECORD_STEP - 1)) != size)
        return PZ_WHY(in->why, "leaf: bytes of the base", in->at, size, bytes);
    for (uint32_t i = bytes; i < size; i++)
        if (r->image[i] != 0)
            return PZ_WHY(in->why, "leaf: padding", in->at, 0, r->image[i]);
    if (l->n == 0 || l->n > in->capacity || l->adds != 0 || l->dels != 0)
        return PZ_WHY(in->why, "leaf: entries", in->at, in->capacity, l->n);
    const char *wrong = PZ_TN(base_check)(l, r->m, r->s);
    if (wrong != NULL)
        return PZ_WHY(in->why, wrong, in->at, 0, 0);
#if PZ_T_BY_SCORE
    if (l->form == PZ_OT_RUNS && !in->rle)
        return PZ_WHY(in->why, "leaf: form of the scores", in->at, PZ_OT_EACH, l->form);
#else
    uint64_t label = PZ_FN(mt_label)(l);
    if (label != in->index * in->label_step)
        return PZ_WHY(in->why, "leaf: label", in->at, in->index * in->label_step, label);
#endif
    r->n = l->n;
    if (in->index > 0 && !PZ_TN(less)(r->last_s, r->last_m, r->s[0], r->m[0]))
        return PZ_WHY(in->why, "leaf: does not follow the one before", in->at, 0, 0);
    PZ_TRY(PZ_TN(row_check)(in, r));
    r->last_s = r->s[r->n - 1];
    r->last_m = r->m[r->n - 1];
    in->row += PZ_T_ROW_BYTES;
    in->at += size;
    in->position += r->n;
    in->index++;
    return PZ_OK;
}

/* An upper bound of what the leaves of `bytes` bytes of records take from the arena. `recode`: they
 * are coded anew. */
static void PZ_TN(record_room)(uint64_t records, uint64_t entries, uint64_t record_bytes,
                               bool recode, size_t *bytes, size_t *blocks)
{
    uint64_t branches = records / 16 + PZ_HEIGHT_MAX + 2;
    if (recode)
        record_bytes = entries * (PZ_REC_BYTES + 1u) + records * (PZ_T_HEADER + 64u);
    *bytes += (size_t)(record_bytes + branches * (PZ_TN(branch_bytes)(PZ_BRANCH_CAPACITY) + 8u));
    *blocks += (size_t)(records + branches);
}

/* Append the record to a tree that is built bottom-up. */
static void PZ_TN(record_build)(PZ_TN(sweep) *w, PZ_TN(record) *r, bool recode)
{
    const pz_leaf *l = (const pz_leaf *)(const void *)r->image;
    uint32_t bytes = PZ_T_HEADER + l->base_bytes;
    PZ_TN(child) c = {r->n, pz_arena_slot_new(w->arena), r->s[0], r->m[0]};
    if (recode)
        bytes = PZ_TN(base_encode)(r->m, r->s, r->n, w->rle, r->image);
    PZ_TN(leaf_store)(w, c.slot, r->image, bytes, 0);
    PZ_TN(sweep_put)(w, c);
    w->tree->leaf_count++;
    w->tree->entries += r->n;
}

#undef PZ_T_IMAGE_BYTES
#undef PZ_T_ROW_BYTES
#undef PZ_T_RECORD_MIN
