/* TEMPLATE: the coded base of a member-tree leaf: members in order and a column of their scores.
 *
 *   header 24 bytes | member lo | u40 label | key column | i64 score base, if not 0 | score column
 *
 * `groups` holds the number of score exceptions, bit 7 of `form` says that a score base follows. */

#define PZ_MT_LABEL_AT (24u + PZ_M_BYTES)
#define PZ_MT_HEADER_BYTES (PZ_MT_LABEL_AT + 5u)
#define PZ_MT_FORM_BASE 0x80u
/* The image of the largest leaf, with what the codecs may write behind it. */
#define PZ_MT_IMAGE_BYTES (PZ_MT_HEADER_BYTES + PZ_LEAF_MAX * (PZ_REC_BYTES + 1u) + 128u)

static inline bool PZ_FN(mt_less)(PZ_S as, PZ_M am, PZ_S bs, PZ_M bm)
{
    (void)as;
    (void)bs;
    return am < bm;
}

static inline PZ_FN(keys) PZ_FN(mt_keys)(const pz_leaf *l)
{
    PZ_FN(keys) k;
    k.lo = PZ_FN(m_at)((const char *)l + 24, 0);
    k.stride = l->stride;
    k.n = l->n;
    k.groups = 1;
    k.low_bits = l->low_bits;
    return k;
}

static inline const uint8_t *PZ_FN(mt_base)(const pz_leaf *l)
{
    return (const uint8_t *)l + PZ_MT_HEADER_BYTES;
}

static inline uint64_t PZ_FN(mt_label)(const pz_leaf *l)
{
    const uint8_t *p = (const uint8_t *)l + PZ_MT_LABEL_AT;
    return (uint64_t)pz_load32(p) | (uint64_t)p[4] << 32;
}

static inline void PZ_FN(mt_label_set)(pz_leaf *l, uint64_t label)
{
    uint8_t *p = (uint8_t *)l + PZ_MT_LABEL_AT;
    pz_store32(p, (uint32_t)label);
    p[4] = (uint8_t)(label >> 32);
}

/* The score column of a leaf and where it lies. */
static inline uint8_t *PZ_FN(mt_scores)(const pz_leaf *l, const PZ_FN(keys) *k, PZ_FN(scol) *c)
{
    uint8_t *p = (uint8_t *)(uintptr_t)(PZ_FN(mt_base)(l) + PZ_FN(keys_bytes)(k));
    c->base = 0;
    c->n = l->n;
    c->exceptions = l->groups;
    c->form = (uint8_t)(l->form & ~PZ_MT_FORM_BASE);
    if (l->form & PZ_MT_FORM_BASE) {
        c->base = (int64_t)pz_load64(p);
        p += 8;
    }
    return p;
}

/* First base entry not below m, and whether it is that member. */
static inline uint32_t PZ_FN(mt_base_find)(const pz_leaf *l, PZ_S s, PZ_M m, bool *exact)
{
    PZ_FN(keys) k = PZ_FN(mt_keys)(l);
    (void)s;
    return PZ_FN(keys_find)(&k, PZ_FN(mt_base)(l), 0, m, exact);
}

static inline uint32_t PZ_FN(mt_base_lower_bound)(const pz_leaf *l, PZ_S s, PZ_M m)
{
    bool exact;
    return PZ_FN(mt_base_find)(l, s, m, &exact);
}

static inline void PZ_FN(mt_base_get)(const pz_leaf *l, uint32_t i, PZ_S *s, PZ_M *m)
{
    PZ_FN(keys) k = PZ_FN(mt_keys)(l);
    PZ_FN(scol) c;
    uint32_t group;
    *m = PZ_FN(keys_get)(&k, PZ_FN(mt_base)(l), i, &group);
    const uint8_t *col = PZ_FN(mt_scores)(l, &k, &c);
    *s = PZ_FN(scol_get)(&c, col, i);
}

/* Give a removed base entry its place again, with this score; false when the column cannot hold
 * it. */
static inline bool PZ_FN(mt_base_revive)(pz_leaf *l, uint32_t i, PZ_S s)
{
    PZ_FN(keys) k = PZ_FN(mt_keys)(l);
    PZ_FN(scol) c;
    uint8_t *col = PZ_FN(mt_scores)(l, &k, &c);
    return PZ_FN(scol_set)(&c, col, i, s);
}

static void PZ_FN(mt_base_decode)(const pz_leaf *l, PZ_M *m, PZ_S *s)
{
    PZ_FN(keys) k = PZ_FN(mt_keys)(l);
    PZ_FN(scol) c;
    PZ_FN(keys_decode)(&k, PZ_FN(mt_base)(l), m, NULL);
    const uint8_t *col = PZ_FN(mt_scores)(l, &k, &c);
    PZ_FN(scol_decode)(&c, col, s);
}

/* Code n entries as the image of a leaf with an empty tail (arena head left out); gives its
 * bytes. */
static uint32_t PZ_FN(mt_base_encode)(const PZ_M *m, const PZ_S *s, uint32_t n, bool rle,
                                      uint8_t *image)
{
    PZ_FN(keys) k;
    PZ_FN(scol) c;
    pz_leaf *l = (pz_leaf *)(void *)image;
    (void)rle;
    PZ_FN(keys_plan)(m, n, 1, &k);
    PZ_FN(scol_plan)(s, n, &c);
    l->n = (uint16_t)n;
    l->adds = l->dels = 0;
    l->stride = k.stride;
    l->low_bits = k.low_bits;
    l->groups = c.exceptions;
    l->form = c.form;
    PZ_FN(m_put)(image + 24, 0, k.lo);
    uint8_t *p = image + PZ_MT_HEADER_BYTES;
    PZ_FN(keys_encode)(&k, m, NULL, p);
    p += PZ_FN(keys_bytes)(&k);
    if (c.base != 0) {
        l->form |= PZ_MT_FORM_BASE;
        pz_store64(p, (uint64_t)c.base);
        p += 8;
    }
    PZ_FN(scol_encode)(&c, s, p);
    p += PZ_FN(scol_bytes)(&c);
    /* Reads of the lows go up to 8 bytes past them. */
    uint32_t lows = PZ_MT_HEADER_BYTES + PZ_FN(keys_lows_bytes)(&k);
    uint32_t bytes = (uint32_t)(p - image);
    for (; bytes < lows + 8u; bytes++)
        image[bytes] = 0;
    l->base_bytes = (uint16_t)(bytes - PZ_MT_HEADER_BYTES);
    return bytes;
}

static void PZ_FN(mt_base_sizes)(const pz_leaf *l, uint32_t *keys, uint32_t *scores)
{
    PZ_FN(keys) k = PZ_FN(mt_keys)(l);
    PZ_FN(scol) c;
    const uint8_t *col = PZ_FN(mt_scores)(l, &k, &c);
    *keys = PZ_FN(keys_bytes)(&k);
    *scores = (uint32_t)(col - PZ_FN(mt_base)(l)) - *keys + PZ_FN(scol_bytes)(&c);
}
