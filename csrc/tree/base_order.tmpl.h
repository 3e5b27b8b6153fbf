/* TEMPLATE: the coded base of an order-tree leaf: (score, member) keys.
 *
 *   header 24 bytes | member lo | key column | score values, PZ_S each
 *
 * form 1, run coded: the leaf's distinct scores, once each; a key's group is its score's index.
 * form 0, one a entry: a score value for every entry, each entry its own group. With score run
 * coding on a leaf takes the smaller of the two; off, always form 0. */

#define PZ_OT_HEADER_BYTES (24u + PZ_M_BYTES)
#define PZ_OT_IMAGE_BYTES (PZ_OT_HEADER_BYTES + PZ_LEAF_MAX * (PZ_REC_BYTES + 1u) + 128u)
#define PZ_OT_RUNS 1u
#define PZ_OT_EACH 0u

static inline bool PZ_FN(ot_less)(PZ_S as, PZ_M am, PZ_S bs, PZ_M bm)
{
#if PZ_M_BITS == 32 && PZ_S_BITS == 32
    return ((uint64_t)as << 32 | am) < ((uint64_t)bs << 32 | bm);
#else
    return (as < bs) | ((as == bs) & (am < bm)); /* merges cannot guess it: no branch */
#endif
}

static inline PZ_FN(keys) PZ_FN(ot_keys)(const pz_leaf *l)
{
    PZ_FN(keys) k;
    k.lo = PZ_FN(m_at)((const char *)l + 24, 0);
    k.stride = l->stride;
    k.n = l->n;
    k.groups = l->groups;
    k.low_bits = l->low_bits;
    return k;
}

static inline const uint8_t *PZ_FN(ot_base)(const pz_leaf *l)
{
    return (const uint8_t *)l + PZ_OT_HEADER_BYTES;
}

/* First index of n ascending values that is not below s. */
static inline uint32_t PZ_FN(ot_scores_lower_bound)(const uint8_t *scores, uint32_t n, PZ_S s)
{
    uint32_t lo = 0;
    while (n > 0) {
        uint32_t half = n / 2;
        if (PZ_FN(s_at)(scores, lo + half) < s) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return lo;
}

/* First base entry not below (s, m), and whether it is that key. */
static inline uint32_t PZ_FN(ot_base_find)(const pz_leaf *l, PZ_S s, PZ_M m, bool *exact)
{
    PZ_FN(keys) k = PZ_FN(ot_keys)(l);
    const uint8_t *in = PZ_FN(ot_base)(l);
    const uint8_t *scores = in + PZ_FN(keys_bytes)(&k);
    uint32_t g = PZ_FN(ot_scores_lower_bound)(scores, k.groups, s);
    bool there = g < k.groups && PZ_FN(s_at)(scores, g) == s;
    *exact = false;
    if (g == k.groups)
        return k.n;
    if (l->form == PZ_OT_RUNS) {
        uint32_t at = PZ_FN(keys_find)(&k, in, g, there ? m : 0, exact);
        *exact = *exact && there;
        return at;
    }
    if (!there)
        return g;
    /* One a entry: equal scores stand side by side, bisect their members. */
    uint32_t group, end = g, step = 1;
    while (end < k.n && PZ_FN(s_at)(scores, end) == s) {
        end = end + step < k.n ? end + step : k.n;
        step *= 2;
    }
    end = g + PZ_FN(ot_scores_lower_bound)(scores + (size_t)g * PZ_S_BYTES, end - g, (PZ_S)(s + 1));
    uint32_t stop = end;
    while (g < end) {
        uint32_t mid = g + (end - g) / 2;
        if (PZ_FN(keys_get)(&k, in, mid, &group) < m)
            g = mid + 1;
        else
            end = mid;
    }
    *exact = g < stop && PZ_FN(keys_get)(&k, in, g, &group) == m;
    return g;
}

static inline uint32_t PZ_FN(ot_base_lower_bound)(const pz_leaf *l, PZ_S s, PZ_M m)
{
    bool exact;
    return PZ_FN(ot_base_find)(l, s, m, &exact);
}

static inline void PZ_FN(ot_base_get)(const pz_leaf *l, uint32_t i, PZ_S *s, PZ_M *m)
{
    PZ_FN(keys) k = PZ_FN(ot_keys)(l);
    const uint8_t *in = PZ_FN(ot_base)(l);
    uint32_t group;
    *m = PZ_FN(keys_get)(&k, in, i, &group);
    *s = PZ_FN(s_at)(in + PZ_FN(keys_bytes)(&k), group);
}

static inline bool PZ_FN(ot_base_revive)(pz_leaf *l, uint32_t i, PZ_S s)
{
    (void)l;
    (void)i;
    (void)s;
    return true; /* the key is the whole entry */
}

static void PZ_FN(ot_base_decode)(const pz_leaf *l, PZ_M *m, PZ_S *s)
{
    PZ_FN(keys) k = PZ_FN(ot_keys)(l);
    const uint8_t *in = PZ_FN(ot_base)(l);
    const uint8_t *scores = in + PZ_FN(keys_bytes)(&k);
    if (l->form == PZ_OT_EACH) {
        PZ_FN(keys_decode)(&k, in, m, NULL);
        memcpy(s, scores, (size_t)k.n * PZ_S_BYTES);
        return;
    }
    if (k.groups == 1) {
        PZ_S only = PZ_FN(s_at)(scores, 0);
        PZ_FN(keys_decode)(&k, in, m, NULL);
        for (uint32_t i = 0; i < k.n; i++)
            s[i] = only;
        return;
    }
    uint16_t group[PZ_LEAF_MAX + 16];
    PZ_FN(keys_decode)(&k, in, m, group);
    for (uint32_t i = 0; i < k.n; i++)
        s[i] = PZ_FN(s_at)(scores, group[i]);
}

static uint32_t PZ_FN(ot_base_encode)(const PZ_M *m, const PZ_S *s, uint32_t n, bool rle,
                                      uint8_t *image)
{
    pz_leaf *l = (pz_leaf *)(void *)image;
    uint16_t group[PZ_LEAF_MAX + 16];
    PZ_S distinct[PZ_LEAF_MAX];
    PZ_FN(keys) k;
    const PZ_S *values = s;
    uint32_t groups = n;
    l->form = PZ_OT_EACH;
    if (rle) {
        uint32_t runs = 0;
        distinct[0] = s[0];
        group[0] = 0;
        for (uint32_t i = 1; i < n; i++) {
            runs += s[i] != s[i - 1];
            distinct[runs] = s[i];
            group[i] = (uint16_t)runs;
        }
        runs++;
        PZ_FN(keys_plan)(m, n, runs, &k);
        l->form = PZ_OT_RUNS;
        groups = runs;
        values = distinct;
        /* Runs cost at most 1.5 bits an entry more than whole members and save a score for each
         * repeat: with runs <= n/2 they always win; else count both. */
        if (runs > n / 2) {
            PZ_FN(keys) each;
            PZ_FN(keys_plan)(m, n, n, &each);
            if (PZ_FN(keys_bytes)(&each) + n * PZ_S_BYTES <
                PZ_FN(keys_bytes)(&k) + runs * PZ_S_BYTES) {
                k = each;
                l->form = PZ_OT_EACH;
                groups = n;
                values = s;
            }
        }
    } else {
        PZ_FN(keys_plan)(m, n, n, &k);
    }
    l->n = (uint16_t)n;
    l->adds = l->dels = 0;
    l->stride = k.stride;
    l->low_bits = k.low_bits;
    l->groups = (uint16_t)groups;
    PZ_FN(m_put)(image + 24, 0, k.lo);
    uint8_t *p = image + PZ_OT_HEADER_BYTES;
    PZ_FN(keys_encode)(&k, m, groups == 1 || groups == n ? NULL : group, p);
    p += PZ_FN(keys_bytes)(&k);
    memcpy(p, values, (size_t)groups * PZ_S_BYTES);
    p += (size_t)groups * PZ_S_BYTES;
    uint32_t lows = PZ_OT_HEADER_BYTES + PZ_FN(keys_lows_bytes)(&k);
    uint32_t bytes = (uint32_t)(p - image);
    for (; bytes < lows + 8u; bytes++)
        image[bytes] = 0;
    l->base_bytes = (uint16_t)(bytes - PZ_OT_HEADER_BYTES);
    return bytes;
}

static void PZ_FN(ot_base_sizes)(const pz_leaf *l, uint32_t *keys, uint32_t *scores)
{
    PZ_FN(keys) k = PZ_FN(ot_keys)(l);
    *keys = PZ_FN(keys_bytes)(&k);
    *scores = (uint32_t)l->groups * PZ_S_BYTES;
}
