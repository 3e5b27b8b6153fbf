/* The upper vector: decode by byte table, encode through a map of bytes. See upper.h for the bits.
 *
 * Decode. A table row holds, for each one of a byte, the zeros before it in the byte; adding the
 * zeros before the byte gives up to eight highs at once, of which as many count as the byte has
 * ones. The next byte's eight overwrite the rest.
 *
 * Encode. Ones go to a map with a byte a bit, so that no store waits for the one before it; eight
 * map bytes are then gathered to one by a multiplication. */
#include "upper.h"

/* Four 16-bit lanes at a time in one register: lanes stay below 2**15, so none carries into the
 * next, in either byte order. */
static inline void add_row(const uint16_t *row, uint64_t zeros_before, uint16_t *hi)
{
    const uint64_t each = 0x0001000100010001u;
    uint64_t half[2];
    memcpy(half, row, sizeof half);
    half[0] += zeros_before * each;
    half[1] += zeros_before * each;
    memcpy(hi, half, sizeof half);
}

void pz_upper_decode(const uint8_t *in, uint32_t n, uint32_t zeros, uint16_t *hi)
{
    uint32_t size = pz_upper_bytes(n, zeros);
    uint32_t i = 0;
    for (uint32_t at = 0; at < size; at++) {
        uint32_t byte = in[at];
        add_row(pz_byte_ones[byte], 8 * at - i, hi + i);
        i += pz_byte_count[byte];
    }
}

/* 16-bit arithmetic throughout, so that eight highs fit a vector: the truncated reciprocal gives
 * the quotient or one less. */
void pz_upper_split(uint16_t *restrict hi, uint32_t n, uint32_t stride, uint16_t *restrict group)
{
    uint16_t inverse = (uint16_t)(0x10000u / stride);
    uint16_t step = (uint16_t)stride;
    for (size_t j = 0, end = ((size_t)n + 7) / 8 * 8; j < end; j++) {
        uint16_t quotient = (uint16_t)((uint32_t)hi[j] * inverse >> 16);
        uint16_t rest = (uint16_t)(hi[j] - quotient * step);
        uint16_t more = (uint16_t)(step - 1 - rest) >> 15; /* 1 when rest >= step */
        group[j] = (uint16_t)(quotient + more);
        hi[j] = (uint16_t)(rest - more * step);
    }
}

/* Eight bytes of 0 or 1, the first to bit 0. */
static inline uint8_t gather8(const uint8_t *map)
{
    return (uint8_t)(pz_load64(map) * 0x0102040810204080u >> 56);
}

void pz_upper_encode(const uint16_t *hi, uint32_t n, uint32_t zeros, uint8_t *out)
{
    uint8_t map[PZ_LEAF_MAX + PZ_UPPER_ZEROS_MAX(PZ_LEAF_MAX) + 64];
    uint32_t size = pz_upper_bytes(n, zeros);
    memset(map, 0, 8 * ((size_t)size + 7));
    for (uint32_t i = 0; i < n; i++)
        map[hi[i] + i] = 1;
    for (uint32_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (uint32_t j = 0; j < 8; j++)
            word |= (uint64_t)gather8(map + 8 * (at + j)) << 8 * j;
        pz_store64(out + at, word);
    }
}

bool pz_upper_check(const uint8_t *in, uint32_t n, uint32_t zeros)
{
    uint32_t bits = n + zeros;
    uint32_t size = pz_upper_bytes(n, zeros);
    uint32_t last = bits - 1;
    uint32_t ones = 0;
    for (uint32_t at = 0; at < size; at++)
        ones += pz_byte_count[in[at]];
    return ones == n && in[last / 8] >> last % 8 == 0;
}
