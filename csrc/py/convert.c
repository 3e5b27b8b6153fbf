/* convert.c: see convert.h. One loop a source type: the switch stands outside the loop, and the
 * inlined body is compiled with the type as a constant. */
#include "convert.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE uint64_t load_bits(const char *at, size_t bytes, bool swapped)
{
    if (bytes == 1)
        return *(const uint8_t *)at;
    if (bytes == 2) {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        return swapped ? __builtin_bswap16(v) : v;
    }
    if (bytes == 4) {
        uint32_t v;
        memcpy(&v, at, sizeof v);
        return swapped ? __builtin_bswap32(v) : v;
    }
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return swapped ? __builtin_bswap64(v) : v;
}

/* The integer as 64 bits of two's complement; a set top bit means negative unless U64. */
ALWAYS_INLINE uint64_t load_integer(const char *at, pzpy_number number, bool swapped)
{
    switch (number) {
    case PZPY_S8:
        return (uint64_t)(int64_t)(int8_t)load_bits(at, 1, swapped);
    case PZPY_S16:
        return (uint64_t)(int64_t)(int16_t)load_bits(at, 2, swapped);
    case PZPY_S32:
        return (uint64_t)(int64_t)(int32_t)load_bits(at, 4, swapped);
    case PZPY_U8:
        return load_bits(at, 1, swapped);
    case PZPY_U16:
        return load_bits(at, 2, swapped);
    case PZPY_U32:
        return load_bits(at, 4, swapped);
    default:
        return load_bits(at, 8, swapped);
    }
}

ALWAYS_INLINE double bits_to_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* binary16 to binary64, exactly. */
ALWAYS_INLINE double half_to_double(uint64_t bits)
{
    uint64_t sign = (bits & 0x8000u) << 48;
    uint64_t exponent = bits >> 10 & 31u;
    uint64_t fraction = bits & 0x3ffu;
    uint64_t result;
    if (exponent == 31) {
        result = 0x7ffull << 52 | fraction << 42;
    } else if (exponent != 0) {
        result = (exponent + 1008) << 52 | fraction << 42;
    } else if (fraction == 0) {
        result = 0;
    } else {
        uint64_t up = (uint64_t)__builtin_clzll(fraction) - 53;
        result = (1009 - up) << 52 | ((fraction << (up + 42)) & 0xfffffffffffffull);
    }
    return bits_to_double(result | sign);
}

ALWAYS_INLINE double load_float(const char *at, pzpy_number number, bool swapped)
{
    if (number == PZPY_F16)
        return half_to_double(load_bits(at, 2, swapped));
    if (number == PZPY_F64)
        return bits_to_double(load_bits(at, 8, swapped));
    uint32_t bits = (uint32_t)load_bits(at, 4, swapped);
    float value;
    memcpy(&value, &bits, sizeof value);
    return pzpy_widen(value);
}

ALWAYS_INLINE pzpy_fault members_loop(const pzpy_source *s, pzpy_number number, bool wide,
                                      void *out, size_t *row)
{
    const char *at = s->ptr;
    for (size_t i = 0; i < s->n; i++, at += s->stride) {
        uint64_t bits = load_integer(at, number, s->swapped);
        if (number == PZPY_U64 && bits > INT64_MAX) {
            *row = i;
            return PZPY_FAULT_RANGE;
        }
        int64_t value = (int64_t)bits;
        if (wide) {
            ((int64_t *)out)[i] = value;
            continue;
        }
        if (value < INT32_MIN || value > INT32_MAX) {
            *row = i;
            return PZPY_FAULT_RANGE;
        }
        ((int32_t *)out)[i] = (int32_t)value;
    }
    return PZPY_FINE;
}

ALWAYS_INLINE pzpy_fault store_integer(uint64_t bits, bool is_signed, bool wide, void *out,
                                       size_t i)
{
    bool negative = is_signed && (int64_t)bits < 0;
    uint64_t magnitude = negative ? 0 - bits : bits;
    if (!pzpy_fits_bits(magnitude, wide ? 53 : 24))
        return PZPY_FAULT_INEXACT;
    if (wide) {
        double value = (double)magnitude; /* exact, so no rounding mode matters */
        ((double *)out)[i] = negative ? -value : value;
    } else {
        float value = (float)magnitude;
        ((float *)out)[i] = negative ? -value : value;
    }
    return PZPY_FINE;
}

ALWAYS_INLINE pzpy_fault store_float(double value, bool wide, void *out, size_t i)
{
    if (value != value)
        return PZPY_FAULT_NAN;
    if (wide) {
        ((double *)out)[i] = value;
        return PZPY_FINE;
    }
    return pzpy_narrow(value, &((float *)out)[i]) ? PZPY_FINE : PZPY_FAULT_OVERFLOW;
}

ALWAYS_INLINE pzpy_fault scores_loop(const pzpy_source *s, pzpy_number number, bool wide, void *out,
                                     size_t *row)
{
    const char *at = s->ptr;
    for (size_t i = 0; i < s->n; i++, at += s->stride) {
        pzpy_fault fault;
        if (number >= PZPY_F16)
            fault = store_float(load_float(at, number, s->swapped), wide, out, i);
        else
            fault = store_integer(load_integer(at, number, s->swapped), number <= PZPY_S64, wide,
                                  out, i);
        if (fault != PZPY_FINE) {
            *row = i;
            return fault;
        }
    }
    return PZPY_FINE;
}

pzpy_fault pzpy_convert_members(const pzpy_source *source, bool wide, void *out, size_t *row)
{
    switch (source->number) {
    case PZPY_S8:
        return members_loop(source, PZPY_S8, wide, out, row);
    case PZPY_S16:
        return members_loop(source, PZPY_S16, wide, out, row);
    case PZPY_S32:
        return members_loop(source, PZPY_S32, wide, out, row);
    case PZPY_S64:
        return members_loop(source, PZPY_S64, wide, out, row);
    case PZPY_U8:
        return members_loop(source, PZPY_U8, wide, out, row);
    case PZPY_U16:
        return members_loop(source, PZPY_U16, wide, out, row);
    case PZPY_U32:
        return members_loop(source, PZPY_U32, wide, out, row);
    default:
        return members_loop(source, PZPY_U64, wide, out, row);
    }
}

pzpy_fault pzpy_convert_scores(const pzpy_source *source, bool wide, void *out, size_t *row)
{
    switch (source->number) {
    case PZPY_S8:
        return scores_loop(source, PZPY_S8, wide, out, row);
    case PZPY_S16:
        return scores_loop(source, PZPY_S16, wide, out, row);
    case PZPY_S32:
        return scores_loop(source, PZPY_S32, wide, out, row);
    case PZPY_S64:
        return scores_loop(source, PZPY_S64, wide, out, row);
    case PZPY_U8:
        return scores_loop(source, PZPY_U8, wide, out, row);
    case PZPY_U16:
        return scores_loop(source, PZPY_U16, wide, out, row);
    case PZPY_U32:
        return scores_loop(source, PZPY_U32, wide, out, row);
    case PZPY_U64:
        return scores_loop(source, PZPY_U64, wide, out, row);
    case PZPY_F16:
        return scores_loop(source, PZPY_F16, wide, out, row);
    case PZPY_F32:
        return scores_loop(source, PZPY_F32, wide, out, row);
    default:
        return scores_loop(source, PZPY_F64, wide, out, row);
    }
}
