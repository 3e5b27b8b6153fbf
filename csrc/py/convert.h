/* convert.h: exact conversion of array elements, without Python and without NumPy.
 *
 * A source is a column of numbers of any width and byte order. Each element is loaded once and
 * either stored as what the set holds or refused; the first refused row and the reason come back.
 * Everything works on bits, so the caller's rounding and flush-to-zero modes do not matter. */
#ifndef PZPY_CONVERT_H
#define PZPY_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum pzpy_number {
    PZPY_S8,
    PZPY_S16,
    PZPY_S32,
    PZPY_S64,
    PZPY_U8,
    PZPY_U16,
    PZPY_U32,
    PZPY_U64,
    PZPY_F16,
    PZPY_F32,
    PZPY_F64,
    PZPY_NO_NUMBER
} pzpy_number;

typedef struct pzpy_source {
    const char *ptr;
    ptrdiff_t stride;
    size_t n;
    pzpy_number number;
    bool swapped; /* of the other byte order than this machine's */
} pzpy_source;

typedef enum pzpy_fault {
    PZPY_FINE,
    PZPY_FAULT_RANGE,    /* an integer that the member type cannot hold */
    PZPY_FAULT_INEXACT,  /* an integer that the score type cannot hold exactly */
    PZPY_FAULT_OVERFLOW, /* a finite float too large for float32 */
    PZPY_FAULT_NAN
} pzpy_fault;

/* `wide`: int64 members or float64 scores, else int32 or float32. The source must be of integers
 * for members. `*row` is set on a fault. */
pzpy_fault pzpy_convert_members(const pzpy_source *source, bool wide, void *out, size_t *row);
pzpy_fault pzpy_convert_scores(const pzpy_source *source, bool wide, void *out, size_t *row);

/* Round to nearest, ties to even. False when a finite value is too large. */
static inline bool pzpy_narrow(double value, float *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 63) << 31;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t significand = (bits & 0xfffffffffffffull) | 1ull << 52;
    uint32_t result;
    if (exponent == 1024) { /* infinite or NaN */
        result = 0x7f800000u | (significand != 1ull << 52 ? 0x400000u : 0u);
    } else if (exponent < -151) { /* below half of the smallest denormal */
        result = 0;
    } else {
        unsigned shift = exponent < -126 ? (unsigned)(29 - 126 - exponent) : 29u;
        uint32_t base = exponent < -126 ? 0u : (uint32_t)(exponent + 126) << 23;
        uint64_t rest = significand & ((1ull << shift) - 1);
        uint64_t half = 1ull << (shift - 1);
        uint64_t kept = significand >> shift;
        kept += rest > half || (rest == half && (kept & 1) != 0);
        result = base + (uint32_t)kept; /* a carry goes into the exponent, as it should */
        if (exponent > 127 || result >= 0x7f800000u)
            return false;
    }
    result |= sign;
    memcpy(out, &result, sizeof result);
    return true;
}

/* Exact, denormals included. */
static inline double pzpy_widen(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    uint32_t exponent = bits >> 23 & 0xff;
    uint64_t fraction = bits & 0x7fffffu;
    uint64_t result;
    if (exponent == 255) {
        result = 0x7ffull << 52 | fraction << 29;
    } else if (exponent != 0) {
        result = (uint64_t)(exponent + 896) << 52 | fraction << 29;
    } else if (fraction == 0) {
        result = 0;
    } else { /* denormal: bring the top bit to the hidden place */
        unsigned up = (unsigned)__builtin_clzll(fraction) - 40u;
        result = (uint64_t)(897u - up) << 52 | ((fraction << (up + 29)) & 0xfffffffffffffull);
    }
    result |= sign;
    double out;
    memcpy(&out, &result, sizeof out);
    return out;
}

/* Whether a magnitude can be held by a significand of `bits` bits. */
static inline bool pzpy_fits_bits(uint64_t magnitude, int bits)
{
    return magnitude == 0 || 64 - __builtin_clzll(magnitude) - __builtin_ctzll(magnitude) <= bits;
}

#endif
