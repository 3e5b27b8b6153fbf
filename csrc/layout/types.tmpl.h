/* TEMPLATE: conversions of one layout between the caller's elements and sortable integers. needs
 * PZ_M, PZ_S, PZ_F. Every load reads an element once, from any alignment. */

/* May alias: the bulk engine lays its key lists over rows that it has read. */
typedef struct __attribute__((packed, may_alias)) PZ_FN(key) {
    PZ_S s;
    PZ_M m;
} PZ_FN(key);

_Static_assert(sizeof(PZ_FN(key)) == PZ_REC_BYTES, "a key is its two parts");

PZ_UNUSED static inline PZ_M PZ_FN(member_load)(const void *p)
{
#if PZ_M_BITS == 32
    int32_t v;
    memcpy(&v, p, sizeof v);
    return pz_unsigned32(v);
#elif PZ_M_BITS == 64
    int64_t v;
    memcpy(&v, p, sizeof v);
    return pz_unsigned64(v);
#else
    return pz_load128_be(p);
#endif
}

PZ_UNUSED static inline void PZ_FN(member_store)(void *p, PZ_M m)
{
#if PZ_M_BITS == 32
    int32_t v = pz_signed32(m);
    memcpy(p, &v, sizeof v);
#elif PZ_M_BITS == 64
    int64_t v = pz_signed64(m);
    memcpy(p, &v, sizeof v);
#else
    pz_store128_be(p, m);
#endif
}

#if PZ_S_BITS == 32
#define PZ_SORT(bits) pz_sort32(pz_fold_zero32(bits))
#define PZ_UNSORT pz_unsort32
#define PZ_BITS_NAN pz_is_nan32
#define PZ_S_VALID pz_sortable_valid32
#else
#define PZ_SORT(bits) pz_sort64(pz_fold_zero64(bits))
#define PZ_UNSORT pz_unsort64
#define PZ_BITS_NAN pz_is_nan64
#define PZ_S_VALID pz_sortable_valid64
#endif

/* The stored score's double, exactly, by integer steps: no mode of the caller can touch it. */
PZ_UNUSED static inline double PZ_FN(score_double)(PZ_S s)
{
#if PZ_S_BITS == 32
    return pz_double_of_bits(pz_widen_bits(pz_unsort32(s)));
#else
    return pz_double_of_bits(pz_unsort64(s));
#endif
}

PZ_UNUSED static inline PZ_S PZ_FN(bits_load)(const void *p)
{
    PZ_S bits;
    memcpy(&bits, p, sizeof bits);
    return bits;
}

PZ_UNUSED static inline void PZ_FN(score_store)(void *p, PZ_S s)
{
    PZ_S bits = PZ_UNSORT(s);
    memcpy(p, &bits, sizeof bits);
}

PZ_UNUSED static inline PZ_M PZ_FN(m_at)(const void *base, size_t i)
{
    PZ_M m;
    memcpy(&m, (const char *)base + i * sizeof m, sizeof m);
    return m;
}

PZ_UNUSED static inline void PZ_FN(m_put)(void *base, size_t i, PZ_M m)
{
    memcpy((char *)base + i * sizeof m, &m, sizeof m);
}

PZ_UNUSED static inline PZ_S PZ_FN(s_at)(const void *base, size_t i)
{
    PZ_S s;
    memcpy(&s, (const char *)base + i * sizeof s, sizeof s);
    return s;
}

PZ_UNUSED static inline void PZ_FN(s_put)(void *base, size_t i, PZ_S s)
{
    memcpy((char *)base + i * sizeof s, &s, sizeof s);
}
