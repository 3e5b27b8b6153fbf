/* TEMPLATE: the key column of a leaf, for one member width.
 * needs  PZ_M       unsigned member type: uint32_t, uint64_t or pz_u128
 *        PZ_M_BITS  32, 64 or 128
 *        PZ_FN(x)   x with the layout's suffix
 * gives  PZ_FN(keys), PZ_FN(keys_plan), _bytes, _bytes_max, _lows_bytes, _encode, _decode, _get,
 *        _find, _lower_bound, _check
 *
 * A key is (group, member). Entries ascend by (group, member); groups run from 0 to groups - 1 and
 * none is empty. A member tree's leaf is one group; an order tree's leaf has a group for each
 * distinct score, or, with scores one an entry, a group for each entry (entry i is group i).
 *
 * Elias-Fano over both parts at once: with d = member - lo,
 *
 *   high = group * stride + (d >> low_bits)        stride = (largest d >> low_bits) + 1
 *   low  = d & (2**low_bits - 1)
 *
 *   +----------------------------------+----------------------------------------+
 *   | lows, n * low_bits, to a byte    | upper vector, n + groups * stride bits |
 *   +----------------------------------+----------------------------------------+
 *
 * Highs never decrease, so runs of one group need no counts, and equal spacing costs about
 * 2 + log2(gap) bits. The shift comes before the multiplication, so highs stay below a few n at any
 * width. The upper vector (upper.h) is left out where highs follow from the index alone: stride 1
 * with one group, or with a group an entry.
 *
 * Lows (lows.h): widths up to 57 are packed; 58 to 63 are raised to 64; above that the lows are two
 * lanes, [low 64 bits whole][the rest packed, or whole at 128], so 122 to 127 are raised to 128.
 * Legal widths therefore cost exactly n * low_bits bits.
 *
 * Bounds. The plan takes the cheapest width, so one bit more would not have been cheaper:
 * groups * (largest d >> l) <= 2 n where widths are dense, and <= 8 n below a raised width: zeros
 * are at most 9 n. Cost is at most that of the full width: see keys_bytes_max.
 *
 * Slack. Reading needs PZ_LOWS_SLACK (7) readable bytes behind the lows, whatever they are: the
 * upper vector counts. Where there is no upper vector they must follow the column. Writing may
 * overwrite 16 bytes behind the column. Decoding overwrites up to 8 elements behind entry n.
 *
 * Everything is defined for n = 0 (0 bytes), though no tree stores an empty base. */
#ifndef PZ_M
#error "keys.tmpl.h needs PZ_M"
#endif
#ifndef PZ_M_BITS
#error "keys.tmpl.h needs PZ_M_BITS"
#endif
#ifndef PZ_FN
#error "keys.tmpl.h needs PZ_FN"
#endif

#include "../base/bits.h"
#include "../base/check.h"
#include "../base/config.h"
#include "lows.h"
#include "upper.h"

#ifndef PZ_UNUSED
#define PZ_UNUSED __attribute__((unused))
#endif

typedef struct PZ_FN(keys) {
    PZ_M lo;          /* smallest member of the leaf */
    uint32_t stride;  /* highs a group */
    uint16_t n;
    uint16_t groups;
    uint8_t low_bits;
} PZ_FN(keys);

/* ---- sizes ---- */
PZ_UNUSED static inline bool PZ_FN(keys_has_upper)(const PZ_FN(keys) *k)
{
    return k->stride != 1 || (k->groups != 1 && k->groups != k->n);
}

PZ_UNUSED static inline uint32_t PZ_FN(keys_zeros)(const PZ_FN(keys) *k)
{
    return k->groups * k->stride;
}

PZ_UNUSED static inline uint32_t PZ_FN(keys_lows_bytes)(const PZ_FN(keys) *k)
{
    return pz_lows_bytes(k->n, k->low_bits);
}

PZ_UNUSED static inline uint32_t PZ_FN(keys_bytes)(const PZ_FN(keys) *k)
{
    uint32_t upper = PZ_FN(keys_has_upper)(k) ? pz_upper_bytes(k->n, PZ_FN(keys_zeros)(k)) : 0;
    return PZ_FN(keys_lows_bytes)(k) + upper;
}

/* No plan of n keys takes more: full width, and an upper vector of a zero a group. */
PZ_UNUSED static inline uint32_t PZ_FN(keys_bytes_max)(uint32_t n)
{
    return n * (PZ_M_BITS / 8) + (2 * n + 7) / 8 + 1;
}

/* ---- plan ---- */
PZ_UNUSED static inline uint32_t PZ_FN(member_width)(PZ_M x)
{
#if PZ_M_BITS == 128
    return pz_width128(x);
#else
    return pz_width64(x);
#endif
}

PZ_UNUSED static inline uint32_t PZ_FN(low_bits_legal)(uint32_t bits)
{
    if (bits > 57 && bits < 64)
        return 64;
    return bits > 121 && bits < 128 ? 128 : bits;
}

/* d >> bits, also for bits == PZ_M_BITS. */
PZ_UNUSED static inline PZ_M PZ_FN(member_shift)(PZ_M d, uint32_t bits)
{
    return bits >= PZ_M_BITS ? 0 : d >> bits;
}

/* Bits of the column at this width. Highs that would not fit count as too dear. */
PZ_UNUSED static inline uint64_t PZ_FN(keys_cost)(PZ_M span, uint32_t n, uint32_t groups,
                                                  uint32_t bits)
{
    PZ_M strides = PZ_FN(member_shift)(span, bits);
    if (strides > PZ_UPPER_ZEROS_MAX(n))
        return ~(uint64_t)0;
    uint64_t lows = (uint64_t)n * bits;
    if (strides == 0 && (groups == 1 || groups == n))
        return lows;
    return lows + n + groups * ((uint64_t)strides + 1);
}

/* The smallest and the largest member of the leaf; those of one group stand at its ends. */
PZ_UNUSED static void PZ_FN(keys_ends)(const PZ_M *m, uint32_t n, uint32_t groups, PZ_M *lo,
                                       PZ_M *hi)
{
    if (groups == 1) {
        *lo = m[0];
        *hi = m[n - 1];
        return;
    }
    PZ_M low = m[0];
    PZ_M high = m[0];
    for (uint32_t i = 1; i < n; i++) {
        low = m[i] < low ? m[i] : low;
        high = m[i] > high ? m[i] : high;
    }
    *lo = low;
    *hi = high;
}

PZ_UNUSED static void PZ_FN(keys_plan)(const PZ_M *m, uint32_t n, uint32_t groups, PZ_FN(keys) *k)
{
    *k = (PZ_FN(keys)){.lo = 0, .stride = 1, .n = (uint16_t)n, .groups = (uint16_t)groups};
    if (n == 0)
        return;
    PZ_M lo;
    PZ_M hi;
    PZ_FN(keys_ends)(m, n, groups, &lo, &hi);
    PZ_M span = hi - lo;
    uint32_t width = PZ_FN(member_width)(span);
    /* One bit more costs n and saves half the zeros, groups * span / 2**(bits + 1): where all
     * widths are legal the least cost lies at 1 to 4 above `first`. Below a raised width it may lie
     * at 57 (or 121), though not when `first` is already past that: zeros would then be above 8
     * n. */
    uint32_t near = width + pz_width64(groups);
    uint32_t first = near > pz_width64(n) + 4 ? near - pz_width64(n) - 4 : 0;
    uint32_t best = PZ_FN(low_bits_legal)(width);
    uint64_t best_cost = PZ_FN(keys_cost)(span, n, groups, best);
    for (uint32_t bits = first; bits <= first + 4 && bits <= width; bits++) {
        uint32_t legal = PZ_FN(low_bits_legal)(bits);
        uint64_t cost = PZ_FN(keys_cost)(span, n, groups, legal);
        if (cost < best_cost) {
            best = legal;
            best_cost = cost;
        }
    }
    k->lo = lo;
    k->low_bits = (uint8_t)best;
    k->stride = (uint32_t)PZ_FN(member_shift)(span, best) + 1;
    PZ_ASSERT(k->groups * (uint64_t)k->stride <= PZ_UPPER_ZEROS_MAX(n));
}

/* ---- encode ---- */
/* Lows of n members, in their one or two lanes. */
PZ_UNUSED static void PZ_FN(lows_encode)(const PZ_FN(keys) *k, const PZ_M *m, uint8_t *out)
{
    PZ_M lo = k->lo;
    uint32_t n = k->n;
    if (k->low_bits <= 32) {
        uint32_t d[PZ_LEAF_MAX];
        d[0] = 0; /* for n = 0 */
        for (uint32_t i = 0; i < n; i++)
            d[i] = (uint32_t)m[i] - (uint32_t)lo;
        pz_lows_pack32(d, n, k->low_bits, out);
        return;
    }
#if PZ_M_BITS > 32
    uint64_t d[PZ_LEAF_MAX];
    d[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        d[i] = (uint64_t)m[i] - (uint64_t)lo;
    pz_lows_pack64(d, n, k->low_bits < 64 ? k->low_bits : 64, out);
#endif
#if PZ_M_BITS == 128
    if (k->low_bits <= 64)
        return;
    for (uint32_t i = 0; i < n; i++)
        d[i] = (uint64_t)((m[i] - lo) >> 64);
    pz_lows_pack64(d, n, k->low_bits - 64, out + 8 * n);
#endif
}

/* Highs of n entries, mod 2**16 until the last step: the sums are below 2**15. */
PZ_UNUSED static void PZ_FN(keys_highs)(const PZ_FN(keys) *k, const PZ_M *m, const uint16_t *group,
                                        uint16_t *high)
{
    PZ_M lo = k->lo;
    uint32_t n = k->n;
    uint32_t bits = k->low_bits; /* below the member's width where the stride is above 1 */
    uint32_t stride = k->stride;
    for (uint32_t i = 0; i < n; i++)
        high[i] = (uint16_t)(stride == 1 ? 0 : (m[i] - lo) >> bits);
    if (k->groups == 1)
        return;
    if (k->groups == n) {
        for (uint32_t i = 0; i < n; i++)
            high[i] = (uint16_t)(high[i] + i * stride);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        high[i] = (uint16_t)(high[i] + group[i] * stride);
}

/* `out` has room for keys_bytes + 16. `group` may be NULL when groups is 1 or n. */
PZ_UNUSED static void PZ_FN(keys_encode)(const PZ_FN(keys) *k, const PZ_M *m, const uint16_t *group,
                                         uint8_t *out)
{
    PZ_FN(lows_encode)(k, m, out);
    if (!PZ_FN(keys_has_upper)(k))
        return;
    uint16_t high[PZ_LEAF_MAX];
    PZ_FN(keys_highs)(k, m, group, high);
    pz_upper_encode(high, k->n, PZ_FN(keys_zeros)(k), out + PZ_FN(keys_lows_bytes)(k));
}

/* ---- decode ---- */
/* Loops over members run to a multiple of eight, which the room behind entry n allows: compilers
 * then need no scalar rest. */
PZ_UNUSED static inline size_t PZ_FN(round8)(uint32_t n)
{
    return ((size_t)n + 7) / 8 * 8;
}

/* m[i] = lo + low[i] */
PZ_UNUSED static void PZ_FN(lows_decode)(const PZ_FN(keys) *k, const uint8_t *in, PZ_M *m)
{
    PZ_M lo = k->lo;
    size_t end = PZ_FN(round8)(k->n);
#if PZ_M_BITS == 32
    pz_lows_unpack32(in, k->n, k->low_bits, m);
    for (size_t i = 0; i < end; i++)
        m[i] += lo;
#elif PZ_M_BITS == 64
    pz_lows_unpack64(in, k->n, k->low_bits, m);
    for (size_t i = 0; i < end; i++)
        m[i] += lo;
#else
    uint32_t bits = k->low_bits;
    uint64_t lane[PZ_LEAF_MAX + 8];
    pz_lows_unpack64(in, k->n, bits < 64 ? bits : 64, lane);
    for (size_t i = 0; i < k->n; i++)
        m[i] = lo + lane[i];
    if (bits <= 64)
        return;
    pz_lows_unpack64(in + 8 * k->n, k->n, bits - 64, lane);
    for (size_t i = 0; i < k->n; i++)
        m[i] += (PZ_M)lane[i] << 64;
    (void)end;
#endif
}

/* m[i] += part[i] * 2**bits. */
PZ_UNUSED static void PZ_FN(parts_decode)(const uint16_t *part, uint32_t n, uint32_t bits, PZ_M *m)
{
#if PZ_M_BITS == 128 /* a multiplication or a shift of one half: quicker than a 128-bit shift */
    if (bits < 64) {
        for (size_t i = 0; i < n; i++)
            m[i] += (PZ_M)part[i] * ((uint64_t)1 << bits);
        return;
    }
    for (size_t i = 0; i < n; i++)
        m[i] += (PZ_M)((uint64_t)part[i] << (bits - 64)) << 64;
#else
    for (size_t i = 0, end = PZ_FN(round8)(n); i < end; i++)
        m[i] += (PZ_M)part[i] << bits;
#endif
}

/* `m` and `group` have room for PZ_LEAF_MAX + 16. `group` may be NULL when groups is 1 or n. */
PZ_UNUSED static void PZ_FN(keys_decode)(const PZ_FN(keys) *k, const uint8_t *in, PZ_M *m,
                                         uint16_t *group)
{
    uint32_t n = k->n;
    uint32_t zeros = PZ_FN(keys_zeros)(k);
    const uint8_t *upper = in + PZ_FN(keys_lows_bytes)(k);
    PZ_FN(lows_decode)(k, in, m);
    if (k->stride == 1) { /* highs are groups */
        if (group != NULL && k->groups == 1)
            memset(group, 0, n * sizeof *group);
        else if (group != NULL && k->groups != n)
            pz_upper_decode(upper, n, zeros, group);
        else if (group != NULL)
            for (uint32_t i = 0; i < n; i++)
                group[i] = (uint16_t)i;
        return;
    }
    uint16_t high[PZ_LEAF_MAX + 8];
    uint16_t spare[PZ_LEAF_MAX + 8];
    pz_upper_decode(upper, n, zeros, high);
    if (k->groups != 1)
        pz_upper_split(high, n, k->stride, group != NULL ? group : spare);
    else if (group != NULL)
        memset(group, 0, n * sizeof *group);
    PZ_FN(parts_decode)(high, n, k->low_bits, m);
}

/* ---- one entry ---- */
PZ_UNUSED static inline PZ_M PZ_FN(lows_get)(const PZ_FN(keys) *k, const uint8_t *in, uint32_t i)
{
#if PZ_M_BITS == 128
    if (k->low_bits > 64)
        return pz_load64(in + 8 * i) | (PZ_M)pz_lows_get(in + 8 * k->n, k->low_bits - 64u, i) << 64;
#endif
    return (PZ_M)pz_lows_get(in, k->low_bits, i);
}

/* Member of entry i, and its group (unless `group` is NULL). */
PZ_UNUSED static PZ_M PZ_FN(keys_get)(const PZ_FN(keys) *k, const uint8_t *in, uint32_t i,
                                      uint32_t *group)
{
    PZ_M member = k->lo + PZ_FN(lows_get)(k, in, i);
    uint32_t high = k->groups == 1 ? 0 : i;
    if (PZ_FN(keys_has_upper)(k)) {
        uint32_t lows = PZ_FN(keys_lows_bytes)(k);
        high = pz_upper_select1(in + lows, PZ_FN(keys_bytes)(k) - lows, i) - i;
    }
    uint32_t g = k->stride == 1 ? high : high / k->stride;
    if (k->stride != 1)
        member += (PZ_M)(high - g * k->stride) << k->low_bits;
    if (group != NULL)
        *group = g;
    return member;
}

/* ---- search ---- */
/* First of entries first to end - 1, whose lows ascend, with a low not below `low`; `end` if
 * none. */
PZ_UNUSED static inline uint32_t PZ_FN(lows_bound)(const PZ_FN(keys) *k, const uint8_t *in,
                                                   uint32_t first, uint32_t end, PZ_M low)
{
    while (end - first > 8) {
        uint32_t middle = first + (end - first) / 2;
        if (PZ_FN(lows_get)(k, in, middle) < low)
            first = middle + 1;
        else
            end = middle;
    }
    while (first < end && PZ_FN(lows_get)(k, in, first) < low)
        first++;
    return first;
}

/* First i with (group_i, member_i) >= (group, member), n when there is none, and whether entry i is
 * that key. Any group and member may be asked for. */
PZ_UNUSED static uint32_t PZ_FN(keys_find)(const PZ_FN(keys) *k, const uint8_t *in, uint32_t group,
                                           PZ_M member, bool *exact)
{
    *exact = false;
    if (group >= k->groups)
        return k->n;
    bool below = member < k->lo;
    PZ_M d = below ? 0 : member - k->lo;
    PZ_M part = PZ_FN(member_shift)(d, k->low_bits);
    PZ_M low = k->low_bits >= PZ_M_BITS ? d : d - (part << k->low_bits);
    if (part >= k->stride) { /* past every member of the group: the start of the next one */
        if (++group == k->groups)
            return k->n;
        below = true;
        part = 0;
        low = 0;
    }
    uint32_t first = k->groups == 1 ? 0 : group;
    uint32_t end = k->groups == 1 ? k->n : group + 1;
    if (PZ_FN(keys_has_upper)(k)) {
        uint32_t high = group * k->stride + (uint32_t)part;
        uint32_t lows = PZ_FN(keys_lows_bytes)(k);
        uint32_t size = PZ_FN(keys_bytes)(k) - lows;
        uint32_t at = high == 0 ? 0 : pz_upper_select0(in + lows, size, high - 1) + 1;
        first = at - high; /* ones before the zero that ends the highs below */
        end = first + pz_upper_run(in + lows, size, at);
    }
    first = PZ_FN(lows_bound)(k, in, first, end, low);
    *exact = !below && first < end && PZ_FN(lows_get)(k, in, first) == low;
    return first;
}

PZ_UNUSED static uint32_t PZ_FN(keys_lower_bound)(const PZ_FN(keys) *k, const uint8_t *in,
                                                  uint32_t group, PZ_M member)
{
    bool exact;
    return PZ_FN(keys_find)(k, in, group, member, &exact);
}

/* ---- untrusted bytes ---- */
PZ_UNUSED static bool PZ_FN(keys_check_fields)(const PZ_FN(keys) *k)
{
    if (k->n == 0 || k->n > PZ_LEAF_MAX || k->groups == 0 || k->groups > k->n)
        return false;
    if (k->low_bits > PZ_M_BITS || k->low_bits != PZ_FN(low_bits_legal)(k->low_bits))
        return false;
    if (k->stride == 0 || (uint64_t)k->groups * k->stride > PZ_UPPER_ZEROS_MAX(k->n))
        return false;
    if (k->stride == 1)
        return true;
    /* The largest high part, moved up, must stay inside the member type. */
    return k->low_bits < PZ_M_BITS && (PZ_M)(k->stride - 1) <= (PZ_M) ~(PZ_M)0 >> k->low_bits;
}

/* Strictly ascending, every group present, no member wrapped past the type. */
PZ_UNUSED static bool PZ_FN(keys_check_order)(const PZ_FN(keys) *k, const PZ_M *m,
                                              const uint16_t *group)
{
    if (group[0] != 0 || group[k->n - 1] != k->groups - 1 || m[0] < k->lo)
        return false;
    for (uint32_t i = 1; i < k->n; i++) {
        bool next_member = group[i] == group[i - 1] && m[i] > m[i - 1];
        bool next_group = group[i] == group[i - 1] + 1;
        if (m[i] < k->lo || !(next_member || next_group))
            return false;
    }
    return true;
}

/* True when the column lies in `avail` bytes and decodes to keys as described at the top; all
 * functions are then safe on it. The slack behind the lows must be readable already. */
PZ_UNUSED static bool PZ_FN(keys_check)(const PZ_FN(keys) *k, const uint8_t *in, size_t avail)
{
    if (!PZ_FN(keys_check_fields)(k) || PZ_FN(keys_bytes)(k) > avail)
        return false;
    const uint8_t *upper = in + PZ_FN(keys_lows_bytes)(k);
    if (!pz_lows_check(in, k->n, k->low_bits))
        return false;
    if (PZ_FN(keys_has_upper)(k) && !pz_upper_check(upper, k->n, PZ_FN(keys_zeros)(k)))
        return false;
    PZ_M m[PZ_LEAF_MAX + 16];
    uint16_t group[PZ_LEAF_MAX + 16];
    PZ_FN(keys_decode)(k, in, m, group);
    return PZ_FN(keys_check_order)(k, m, group);
}
