/* Bit helpers: unaligned little-endian loads and stores, counting, and the integer images of scores
 * and members that make every comparison in the core an unsigned integer comparison.
 *
 * Sortable scores. The sortable image of a float is the unsigned integer whose order is the float's
 * order: a positive float gets its sign bit set, a negative one has all bits inverted.
 *
 *   -inf .. -0.0 | +0.0 .. +inf        32 bits: 0x007fffff .. 0x7fffffff | 0x80000000 .. 0xff800000
 *
 * -0.0 is folded into +0.0 and NaN refused before an image is made, so neither 0x7fff.. nor the
 * patterns outside the range above occur in valid data. Images are made and compared without
 * floating-point instructions, so the caller's rounding and flush-to-zero modes do not matter.
 *
 * Coded bytes are little-endian on every machine; on big-endian ones the loads swap. */
#ifndef PZ_BASE_BITS_H
#define PZ_BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 pz_u128;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PZ_LE16(x) __builtin_bswap16(x)
#define PZ_LE32(x) __builtin_bswap32(x)
#define PZ_LE64(x) __builtin_bswap64(x)
#define PZ_BE64(x) (x)
#else
#define PZ_LE16(x) (x)
#define PZ_LE32(x) (x)
#define PZ_LE64(x) (x)
#define PZ_BE64(x) __builtin_bswap64(x)
#endif

/* ---- unaligned loads and stores, little-endian ---- */
static inline uint16_t pz_load16(const uint8_t *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return PZ_LE16(x);
}

static inline uint32_t pz_load32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return PZ_LE32(x);
}

static inline uint64_t pz_load64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return PZ_LE64(x);
}

static inline void pz_store16(uint8_t *p, uint16_t x)
{
    x = PZ_LE16(x);
    memcpy(p, &x, sizeof x);
}

static inline void pz_store32(uint8_t *p, uint32_t x)
{
    x = PZ_LE32(x);
    memcpy(p, &x, sizeof x);
}

static inline void pz_store64(uint8_t *p, uint64_t x)
{
    x = PZ_LE64(x);
    memcpy(p, &x, sizeof x);
}

/* The low `len` bytes (0 to 7) of a word, reading nothing else. */
static inline uint64_t pz_load_part(const uint8_t *p, uint32_t len)
{
    if (len >= 4)
        return pz_load32(p) | (uint64_t)pz_load32(p + len - 4) << (8 * (len - 4));
    if (len == 0)
        return 0;
    uint32_t middle = len / 2;
    return p[0] | (uint64_t)p[middle] << (8 * middle) | (uint64_t)p[len - 1] << (8 * (len - 1));
}

/* ---- 16-byte members: big-endian, so that integer order is byte order ---- */
static inline pz_u128 pz_load128_be(const uint8_t *p)
{
    uint64_t high;
    uint64_t low;
    memcpy(&high, p, sizeof high);
    memcpy(&low, p + 8, sizeof low);
    return (pz_u128)PZ_BE64(high) << 64 | PZ_BE64(low);
}

static inline void pz_store128_be(uint8_t *p, pz_u128 x)
{
    uint64_t high = PZ_BE64((uint64_t)(x >> 64));
    uint64_t low = PZ_BE64((uint64_t)x);
    memcpy(p, &high, sizeof high);
    memcpy(p + 8, &low, sizeof low);
}

/* ---- counting ---- */
static inline uint32_t pz_ctz64(uint64_t x) /* x != 0 */
{
    return (uint32_t)__builtin_ctzll(x);
}

/* Number of bits up to the highest set one; 0 for 0. */
static inline uint32_t pz_width64(uint64_t x)
{
    return x == 0 ? 0u : 64u - (uint32_t)__builtin_clzll(x);
}

static inline uint32_t pz_width128(pz_u128 x)
{
    uint64_t high = (uint64_t)(x >> 64);
    return high != 0 ? 64u + pz_width64(high) : pz_width64((uint64_t)x);
}

/* The number of ones in each byte, in that byte. */
static inline uint64_t pz_popcount_bytes(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

static inline uint32_t pz_popcount64(uint64_t x)
{
    return (uint32_t)(pz_popcount_bytes(x) * 0x0101010101010101u >> 56);
}

/* `bits` low ones, 0 <= bits <= 64. */
static inline uint64_t pz_mask64(uint32_t bits)
{
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

/* ---- floats and their bits ---- */
static inline uint32_t pz_bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float pz_float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t pz_bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double pz_double_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline bool pz_is_nan32(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

static inline bool pz_is_nan64(uint64_t bits)
{
    return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

/* The bits of x, with -0.0 made +0.0. */
static inline uint32_t pz_fold_zero32(uint32_t bits)
{
    return bits == 0x80000000u ? 0u : bits;
}

static inline uint64_t pz_fold_zero64(uint64_t bits)
{
    return bits == 0x8000000000000000u ? 0u : bits;
}

/* ---- sortable images ---- */
static inline uint32_t pz_sort32(uint32_t bits)
{
    return bits ^ ((0u - (bits >> 31)) | 0x80000000u);
}

static inline uint32_t pz_unsort32(uint32_t sortable)
{
    return sortable ^ (((sortable >> 31) - 1u) | 0x80000000u);
}

static inline uint64_t pz_sort64(uint64_t bits)
{
    return bits ^ (((uint64_t)0 - (bits >> 63)) | 0x8000000000000000u);
}

static inline uint64_t pz_unsort64(uint64_t sortable)
{
    return sortable ^ (((sortable >> 63) - 1u) | 0x8000000000000000u);
}

/* An image that valid data can hold: not NaN, not -0.0. */
static inline bool pz_sortable_valid32(uint32_t sortable)
{
    return sortable >= 0x007fffffu && sortable <= 0xff800000u && sortable != 0x7fffffffu;
}

static inline bool pz_sortable_valid64(uint64_t sortable)
{
    return sortable >= 0x000fffffffffffffu && sortable <= 0xfff0000000000000u &&
           sortable != 0x7fffffffffffffffu;
}

/* ---- widening and exact narrowing by bits: the caller's modes may flush subnormals, these do not.
 *      Not for NaN. ---- */
static inline uint64_t pz_widen_bits(uint32_t bits)
{
    uint64_t sign = (uint64_t)(bits & 0x80000000u) << 32;
    uint32_t exponent = bits >> 23 & 0xffu;
    uint64_t fraction = bits & 0x7fffffu;
    if (exponent == 0xff)
        return sign | 0x7ff0000000000000u;
    if (exponent != 0)
        return sign | ((uint64_t)(exponent + 896) << 52 | fraction << 29);
    if (fraction == 0)
        return sign;
    uint32_t width = pz_width64(fraction); /* subnormal: 1.xxx * 2**(width - 150) */
    return sign | (uint64_t)(width + 873) << 52 | (fraction << (53 - width) & pz_mask64(52));
}

/* False when no float32 has exactly this value. */
static inline bool pz_narrow_bits(uint64_t bits, uint32_t *out)
{
    uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;
    uint32_t exponent = (uint32_t)(bits >> 52) & 0x7ffu;
    uint64_t fraction = bits & pz_mask64(52);
    if (exponent >= 897 && exponent <= 1150) {
        *out = sign | (exponent - 896) << 23 | (uint32_t)(fraction >> 29);
        return (fraction & pz_mask64(29)) == 0;
    }
    if (exponent == 0x7ff || (exponent | fraction) == 0) {
        *out = sign | (exponent == 0 ? 0u : 0x7f800000u);
        return fraction == 0;
    }
    if (exponent < 874 || exponent > 1150)
        return false;
    uint32_t drop = 29 + (897 - exponent); /* a float32 subnormal */
    uint64_t mantissa = fraction | (uint64_t)1 << 52;
    *out = sign | (uint32_t)(mantissa >> drop);
    return (mantissa & pz_mask64(drop)) == 0;
}

/* On images: is a float32 zero, subnormal or infinite? Those need pz_widen_bits. */
static inline bool pz_is_special(uint32_t image)
{
    uint32_t size = image ^ ((image >> 31) - 1u); /* of a negative one, the image of its opposite */
    return size - 0x80800000u >= 0x7f000000u;
}

/* The float64 image of a float32 image that is not special: rebias the exponent, shift. */
static inline uint64_t pz_widen_normal(uint32_t image)
{
    uint32_t negative = (image >> 31) - 1u;
    uint64_t size = (image ^ negative) & 0x7fffffffu;
    uint64_t wide = (size << 29) + ((uint64_t)896 << 52);
    return (wide | (uint64_t)1 << 63) ^ ((uint64_t)negative << 32 | negative);
}

/* ---- signed members as unsigned ones of the same order ---- */
static inline uint32_t pz_unsigned32(int32_t x)
{
    return (uint32_t)x ^ 0x80000000u;
}

static inline int32_t pz_signed32(uint32_t x)
{
    uint32_t bits = x ^ 0x80000000u;
    int32_t out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static inline uint64_t pz_unsigned64(int64_t x)
{
    return (uint64_t)x ^ 0x8000000000000000u;
}

static inline int64_t pz_signed64(uint64_t x)
{
    uint64_t bits = x ^ 0x8000000000000000u;
    int64_t out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

#endif
