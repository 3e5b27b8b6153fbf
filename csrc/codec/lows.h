/* Packed lanes: n values of `bits` low bits each, end to end, bit 0 of value 0 first.
 *
 *   bits = 5   | value 0 | value 1 |...  byte 0: v1[2:0] v0[4:0]   byte 1: v3[0] v2[4:0] v1[4:3]
 *
 * A lane takes (n * bits + 7) / 8 bytes; the bits after the last value are zero. Reads go by words
 * and touch up to PZ_LOWS_SLACK bytes behind the lane; writes go by words and may overwrite as
 * many. Widths: 0 to 57, which one unaligned 64-bit load always covers, and 64, a whole lane. */
#ifndef PZ_CODEC_LOWS_H
#define PZ_CODEC_LOWS_H

#include "../base/bits.h"

#define PZ_LOWS_SLACK 7u
#define PZ_LOWS_PACKED_MAX 57u

static inline uint32_t pz_lows_bytes(uint32_t n, uint32_t bits)
{
    return (n * bits + 7) / 8;
}

static inline uint64_t pz_lows_get(const uint8_t *in, uint32_t bits, uint32_t i)
{
    if (bits == 64)
        return pz_load64(in + 8 * (size_t)i);
    if (bits == 0)
        return 0;
    uint32_t at = i * bits;
    return pz_load64(in + at / 8) >> at % 8 & pz_mask64(bits);
}

/* `out` has room for n + 7 values; what lies past n is overwritten. Widths up to 32. */
void pz_lows_unpack32(const uint8_t *in, uint32_t n, uint32_t bits, uint32_t *out);
void pz_lows_unpack64(const uint8_t *in, uint32_t n, uint32_t bits, uint64_t *out);

/* Bits of a value above `bits` are ignored. */
void pz_lows_pack32(const uint32_t *values, uint32_t n, uint32_t bits, uint8_t *out);
void pz_lows_pack64(const uint64_t *values, uint32_t n, uint32_t bits, uint8_t *out);

/* The bits after the last value are zero. */
bool pz_lows_check(const uint8_t *in, uint32_t n, uint32_t bits);

#endif
