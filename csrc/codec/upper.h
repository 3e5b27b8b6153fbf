/* The upper vector of a key column: n ones among `zeros` zeros, in unary. Entry i with high part
 * hi is a one at bit hi + i, so the zeros before a one count its high part; highs do not decrease.
 *
 *   highs   0 0 2 3 3          zeros = 4
 *   bits    1 1 0 0 1 0 1 1 0  bit 0 first; padded with zeros to a whole byte
 *
 * The last bit is always a zero: highs are below `zeros`. Nothing outside the vector's own bytes is
 * read. Highs fit 16 bits: see PZ_UPPER_ZEROS_MAX. */
#ifndef PZ_CODEC_UPPER_H
#define PZ_CODEC_UPPER_H

#include "../base/bits.h"
#include "../base/config.h"
#include "tables.h"

/* Zeros never exceed 9 for a one (keys.tmpl.h tells why). */
#define PZ_UPPER_ZEROS_MAX(n) (9u * (n))
_Static_assert(PZ_UPPER_ZEROS_MAX(PZ_LEAF_MAX) < 0x8000u, "highs and positions fit 16 bits");

static inline uint32_t pz_upper_bytes(uint32_t n, uint32_t zeros)
{
    return (n + zeros + 7) / 8;
}

/* Highs of n entries. `hi` has room for n + 8; what lies past n is overwritten. */
void pz_upper_decode(const uint8_t *in, uint32_t n, uint32_t zeros, uint16_t *hi);

/* Splits highs into group = high / stride and high % stride, the latter in place of the high, for
 * strides above 1. Both arrays have room for n + 8; what lies past n is overwritten. */
void pz_upper_split(uint16_t *hi, uint32_t n, uint32_t stride, uint16_t *group);

/* Writes up to 7 bytes past the vector. */
void pz_upper_encode(const uint16_t *hi, uint32_t n, uint32_t zeros, uint8_t *out);

/* Exactly n ones, the last bit and the padding zero. */
bool pz_upper_check(const uint8_t *in, uint32_t n, uint32_t zeros);

/* The 8 bytes at `at`, or what is left of `size` bytes, the rest zero. */
static inline uint64_t pz_upper_word(const uint8_t *in, uint32_t at, uint32_t size)
{
    return at + 8 <= size ? pz_load64(in + at) : pz_load_part(in + at, size - at);
}

/* Position of the k-th one (from 0) of a word that has it, given its counts by byte. */
static inline uint32_t pz_word_select(uint64_t word, uint64_t counts, uint32_t k)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t upto = counts * each; /* byte j: ones in bytes 0 to j, at most 64 */
    uint64_t past = (((uint64_t)k * each | 0x80 * each) - upto) & 0x80 * each;
    uint32_t byte = (uint32_t)((past >> 7) * each >> 56); /* bytes with upto <= k come before */
    uint32_t before = (uint32_t)(upto << 8 >> 8 * byte) & 0xff;
    return 8 * byte + pz_byte_ones[word >> 8 * byte & 0xff][k - before] + (k - before);
}

/* Bit position of the k-th one, k < n. */
static inline uint32_t pz_upper_select1(const uint8_t *in, uint32_t size, uint32_t k)
{
    for (uint32_t at = 0;; at += 8) {
        uint64_t word = pz_upper_word(in, at, size);
        uint64_t counts = pz_popcount_bytes(word);
        uint32_t ones = (uint32_t)(counts * 0x0101010101010101u >> 56);
        if (k < ones)
            return 8 * at + pz_word_select(word, counts, k);
        k -= ones;
    }
}

/* Bit position of the k-th zero, k < zeros. */
static inline uint32_t pz_upper_select0(const uint8_t *in, uint32_t size, uint32_t k)
{
    for (uint32_t at = 0;; at += 8) {
        uint64_t word = ~pz_upper_word(in, at, size);
        uint64_t counts = pz_popcount_bytes(word);
        uint32_t ones = (uint32_t)(counts * 0x0101010101010101u >> 56);
        if (k < ones)
            return 8 * at + pz_word_select(word, counts, k);
        k -= ones;
    }
}

/* Number of ones in a row from bit `from`; the vector ends with a zero. */
static inline uint32_t pz_upper_run(const uint8_t *in, uint32_t size, uint32_t from)
{
    uint32_t at = from / 8;
    uint32_t run = 64 - from % 8;
    uint64_t other = ~(pz_upper_word(in, at, size) >> from % 8);
    if (other != 0 && pz_ctz64(other) < run)
        return pz_ctz64(other);
    for (at += 8; at < size; at += 8) {
        other = ~pz_upper_word(in, at, size);
        if (other != 0)
            return run + pz_ctz64(other);
        run += 64;
    }
    return run;
}

#endif
