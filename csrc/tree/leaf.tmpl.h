/* TEMPLATE: a leaf of either tree: the coded base (base_*.tmpl.h) and the pending tail read as one.
 *
 *   header | coded base | room | adds: packed (score, member), ascending | dels: u16, ascending |
 *
 * The tail sits at the end of the block and grows downwards, so the base may change its length
 * under it. A deleted base entry is named by its position; an added entry is whole. Reads never
 * change a byte. */

#if PZ_T_BY_SCORE
#define PZ_T_HEADER PZ_OT_HEADER_BYTES
#else
#define PZ_T_HEADER PZ_MT_HEADER_BYTES
#endif

/* ---- the tail ---- */
static inline uint8_t *PZ_TN(dels)(const pz_leaf *l)
{
    return (uint8_t *)(uintptr_t)l + pz_block_bytes(l) - 2u * (size_t)l->dels;
}

static inline uint8_t *PZ_TN(adds)(const pz_leaf *l)
{
    return PZ_TN(dels)(l) - (size_t)PZ_REC_BYTES * l->adds;
}

static inline uint32_t PZ_TN(del_at)(const pz_leaf *l, uint32_t i)
{
    return pz_load16(PZ_TN(dels)(l) + 2u * (size_t)i);
}

static inline PZ_S PZ_TN(add_s)(const uint8_t *adds, uint32_t i)
{
    return PZ_FN(s_at)(adds + (size_t)i * PZ_REC_BYTES, 0);
}

static inline PZ_M PZ_TN(add_m)(const uint8_t *adds, uint32_t i)
{
    return PZ_FN(m_at)(adds + (size_t)i * PZ_REC_BYTES + PZ_S_BYTES, 0);
}

/* Bytes between base and tail. */
static inline uint32_t PZ_TN(leaf_room)(const pz_leaf *l)
{
    return (uint32_t)(PZ_TN(adds)(l) - (const uint8_t *)l) - PZ_T_HEADER - l->base_bytes;
}

/* First added entry not below the key. */
static inline uint32_t PZ_TN(adds_lower_bound)(const pz_leaf *l, PZ_S s, PZ_M m)
{
    const uint8_t *adds = PZ_TN(adds)(l);
    uint32_t lo = 0, n = l->adds;
    while (n > 0) {
        uint32_t half = n / 2;
        if (PZ_TN(less)(PZ_TN(add_s)(adds, lo + half), PZ_TN(add_m)(adds, lo + half), s, m)) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return lo;
}

static inline bool PZ_TN(adds_is)(const pz_leaf *l, uint32_t i, PZ_S s, PZ_M m)
{
    const uint8_t *adds = PZ_TN(adds)(l);
    (void)s;
    return i < l->adds && PZ_TN(add_m)(adds, i) == m
#if PZ_T_BY_SCORE
           && PZ_TN(add_s)(adds, i) == s
#endif
        ;
}

/* Deleted base entries before base position `i`. */
static inline uint32_t PZ_TN(dels_below)(const pz_leaf *l, uint32_t i)
{
    uint32_t lo = 0, n = l->dels;
    while (n > 0) {
        uint32_t half = n / 2;
        if (PZ_TN(del_at)(l, lo + half) < i) {
            lo += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return lo;
}

static inline bool PZ_TN(is_deleted)(const pz_leaf *l, uint32_t i)
{
    if (l->dels == 0)
        return false;
    uint32_t d = PZ_TN(dels_below)(l, i);
    return d < l->dels && PZ_TN(del_at)(l, d) == i;
}

/* The caller has seen to the room. */
static inline void PZ_TN(adds_insert)(pz_leaf *l, uint32_t i, PZ_S s, PZ_M m)
{
    uint8_t *adds = PZ_TN(adds)(l);
    memmove(adds - PZ_REC_BYTES, adds, (size_t)i * PZ_REC_BYTES);
    l->adds++;
    adds += ((ptrdiff_t)i - 1) * PZ_REC_BYTES;
    PZ_FN(s_put)(adds, 0, s);
    PZ_FN(m_put)(adds + PZ_S_BYTES, 0, m);
}

static inline void PZ_TN(adds_erase)(pz_leaf *l, uint32_t i)
{
    uint8_t *adds = PZ_TN(adds)(l);
    memmove(adds + PZ_REC_BYTES, adds, (size_t)i * PZ_REC_BYTES);
    l->adds--;
}

static inline void PZ_TN(dels_insert)(pz_leaf *l, uint32_t base)
{
    uint32_t at = PZ_TN(dels_below)(l, base);
    uint8_t *adds = PZ_TN(adds)(l);
    uint8_t *dels = PZ_TN(dels)(l);
    memmove(adds - 2, adds, (size_t)(dels - adds) + 2u * (size_t)at);
    l->dels++;
    pz_store16(dels + 2u * (size_t)at - 2, (uint16_t)base);
}

static inline void PZ_TN(dels_erase)(pz_leaf *l, uint32_t base)
{
    uint32_t at = PZ_TN(dels_below)(l, base);
    uint8_t *adds = PZ_TN(adds)(l);
    uint8_t *dels = PZ_TN(dels)(l);
    PZ_ASSERT(at < l->dels && PZ_TN(del_at)(l, at) == base);
    memmove(adds + 2, adds, (size_t)(dels - adds) + 2u * (size_t)at);
    l->dels--;
}

/* ---- base and tail as one ---- */
/* Live entries below the key. */
static inline uint32_t PZ_TN(leaf_rank)(const pz_leaf *l, PZ_S s, PZ_M m)
{
    uint32_t base = PZ_TN(base_lower_bound)(l, s, m);
    if ((l->adds | l->dels) == 0)
        return base;
    return base - PZ_TN(dels_below)(l, base) + PZ_TN(adds_lower_bound)(l, s, m);
}

/* Base position of the j-th base entry that is not deleted. */
static inline uint32_t PZ_TN(base_live)(const pz_leaf *l, uint32_t j)
{
    for (uint32_t d = 0; d < l->dels && PZ_TN(del_at)(l, d) <= j; d++)
        j++;
    return j;
}

/* The k-th live entry. */
static inline void PZ_TN(leaf_get)(const pz_leaf *l, uint32_t k, PZ_S *s, PZ_M *m)
{
    if (l->adds == 0) {
        PZ_TN(base_get)(l, PZ_TN(base_live)(l, k), s, m);
        return;
    }
    /* Added entry i stands at live position base rank + i, ascending in i: bisect. */
    const uint8_t *adds = PZ_TN(adds)(l);
    uint32_t lo = 0, n = l->adds;
    while (n > 0) {
        uint32_t half = n / 2, i = lo + half;
        uint32_t base = PZ_TN(base_lower_bound)(l, PZ_TN(add_s)(adds, i), PZ_TN(add_m)(adds, i));
        uint32_t at = base - PZ_TN(dels_below)(l, base) + i;
        if (at == k) {
            *s = PZ_TN(add_s)(adds, i);
            *m = PZ_TN(add_m)(adds, i);
            return;
        }
        if (at < k) {
            lo = i + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    PZ_TN(base_get)(l, PZ_TN(base_live)(l, k - lo), s, m);
}

/* All live entries in order; m and s have PZ_LEAF_ENTRIES_MAX + 16 places. Gives their number. */
static uint32_t PZ_TN(leaf_decode)(const pz_leaf *l, PZ_M *m, PZ_S *s)
{
    if ((l->adds | l->dels) == 0) {
        PZ_TN(base_decode)(l, m, s);
        return l->n;
    }
    PZ_M bm[PZ_LEAF_MAX + 16];
    PZ_S bs[PZ_LEAF_MAX + 16];
    const uint8_t *adds = PZ_TN(adds)(l);
    uint32_t b = 0, d = 0, a = 0, out = 0;
    PZ_TN(base_decode)(l, bm, bs);
    for (;;) {
        /* The base runs up to the next event: a deleted entry or an added one. */
        uint32_t stop = d < l->dels ? PZ_TN(del_at)(l, d) : l->n;
        if (a < l->adds) {
            PZ_S as = PZ_TN(add_s)(adds, a);
            PZ_M am = PZ_TN(add_m)(adds, a);
            while (b < stop && PZ_TN(less)(bs[b], bm[b], as, am)) {
                m[out] = bm[b];
                s[out++] = bs[b++];
            }
            if (b < stop || stop == l->n || !PZ_TN(less)(bs[b], bm[b], as, am)) {
                m[out] = am;
                s[out++] = as;
                a++;
                continue;
            }
        } else {
            memcpy(m + out, bm + b, (size_t)(stop - b) * sizeof *m);
            memcpy(s + out, bs + b, (size_t)(stop - b) * sizeof *s);
            out += stop - b;
            b = stop;
            if (b == l->n)
                break;
        }
        b++; /* past the deleted entry */
        d++;
    }
    PZ_ASSERT(out == pz_leaf_live(l));
    return out;
}
