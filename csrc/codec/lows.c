/* Packed lanes, see lows.h. Eight values of any width are a whole number of bytes, so the loops go
 * by groups of eight, each width with a body of its own in which every offset and shift is a
 * constant:
 *
 *   bits = 13   | v0 | v1 | v2 | v3 | v4 | v5 | v6 | v7 |   13 bytes, two words
 *
 * Widths above SPECIAL are rare and long; they share one body. */
#include "lows.h"

#define ALWAYS static inline __attribute__((always_inline))
#define SPECIAL 32u

/* m(0) ... m(7), written out: not every compiler unrolls at -O2. */
#define EIGHT(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7)

#define CASES4(m, w) m(w) m((w) + 1) m((w) + 2) m((w) + 3)
#define CASES16(m, w) CASES4(m, w) CASES4(m, (w) + 4) CASES4(m, (w) + 8) CASES4(m, (w) + 12)
#define CASES32(m) CASES16(m, 1) CASES16(m, 17)

/* ---- unpack ---- */
ALWAYS uint64_t value_of(const uint8_t *group, uint32_t bits, uint32_t k)
{
    return pz_load64(group + k * bits / 8) >> k * bits % 8 & pz_mask64(bits);
}

ALWAYS void unpack32(const uint8_t *in, uint32_t n, uint32_t bits, uint32_t *restrict out)
{
    for (; n >= 8; n -= 8, in += bits, out += 8) {
#define VALUE(k) out[k] = (uint32_t)value_of(in, bits, k);
        EIGHT(VALUE)
#undef VALUE
    }
    for (uint32_t k = 0; k < n; k++)
        out[k] = (uint32_t)value_of(in, bits, k);
}

ALWAYS void unpack64(const uint8_t *in, uint32_t n, uint32_t bits, uint64_t *restrict out)
{
    for (; n >= 8; n -= 8, in += bits, out += 8) {
#define VALUE(k) out[k] = value_of(in, bits, k);
        EIGHT(VALUE)
#undef VALUE
    }
    for (uint32_t k = 0; k < n; k++)
        out[k] = value_of(in, bits, k);
}

void pz_lows_unpack32(const uint8_t *in, uint32_t n, uint32_t bits, uint32_t *out)
{
#define CASE(w)                  \
    case w:                      \
        unpack32(in, n, w, out); \
        return;
    switch (bits) {
        CASES32(CASE)
    default:
        memset(out, 0, n * sizeof *out);
    }
#undef CASE
}

void pz_lows_unpack64(const uint8_t *in, uint32_t n, uint32_t bits, uint64_t *out)
{
#define CASE(w)                  \
    case w:                      \
        unpack64(in, n, w, out); \
        return;
    switch (bits) {
        CASES32(CASE)
    case 0:
        memset(out, 0, n * sizeof *out);
        return;
    case 64:
        for (uint32_t i = 0; i < n; i++)
            out[i] = pz_load64(in + 8 * (size_t)i);
        return;
    default:
        unpack64(in, n, bits, out);
    }
#undef CASE
}

/* ---- pack ---- */
/* Adds value k of a group to the group's words. `bits` is at most 32, so a value touches at most
 * two of them, and the last of the (at most four) only where it is there. */
ALWAYS void place(uint64_t *words, uint64_t value, uint32_t bits, uint32_t k)
{
    uint32_t word = k * bits / 64;
    uint32_t bit = k * bits % 64;
    value &= pz_mask64(bits);
    words[word] |= value << bit;
    if (bit + bits > 64)
        words[word + 1] |= value >> (64 - bit);
}

/* Writes 8 bytes a word: up to 7 behind the group, which the next one or the caller overwrites. */
ALWAYS void store_group(const uint64_t *words, uint32_t bits, uint8_t *out)
{
    pz_store64(out, words[0]);
    if (bits > 8)
        pz_store64(out + 8, words[1]);
    if (bits > 16)
        pz_store64(out + 16, words[2]);
    if (bits > 24)
        pz_store64(out + 24, words[3]);
}

ALWAYS void pack32(const uint32_t *values, uint32_t n, uint32_t bits, uint8_t *out)
{
    uint32_t rest[8] = {0};
    for (; n >= 8; n -= 8, values += 8, out += bits) {
        uint64_t words[4] = {0};
#define VALUE(k) place(words, values[k], bits, k);
        EIGHT(VALUE)
        store_group(words, bits, out);
    }
    if (n == 0)
        return;
    memcpy(rest, values, n * sizeof *values);
    values = rest;
    uint64_t words[4] = {0};
    EIGHT(VALUE)
#undef VALUE
    uint8_t group[SPECIAL + 7];
    store_group(words, bits, group);
    memcpy(out, group, (n * bits + 7) / 8);
}

/* Any width up to 57; the byte that is being filled stays in a register. */
ALWAYS uint8_t *pack_one(uint64_t value, uint32_t bits, uint8_t *out, uint64_t *part,
                         uint32_t *fill)
{
    *part |= (value & pz_mask64(bits)) << *fill;
    pz_store64(out, *part);
    uint32_t end = *fill + bits;
    uint32_t half = (end & 0x78u) / 2; /* in two steps: all 64 bits may be done */
    *part = *part >> half >> half;
    *fill = end & 7u;
    return out + (end >> 3);
}

void pz_lows_pack32(const uint32_t *values, uint32_t n, uint32_t bits, uint8_t *out)
{
#define CASE(w)                    \
    case w:                        \
        pack32(values, n, w, out); \
        return;
    switch (bits) {
        CASES32(CASE)
    default:
        return;
    }
#undef CASE
}

void pz_lows_pack64(const uint64_t *values, uint32_t n, uint32_t bits, uint8_t *out)
{
    if (bits == 64) {
        for (uint32_t i = 0; i < n; i++)
            pz_store64(out + 8 * (size_t)i, values[i]);
        return;
    }
    if (bits == 0)
        return;
    uint64_t part = 0;
    uint32_t fill = 0;
    for (uint32_t i = 0; i < n; i++)
        out = pack_one(values[i], bits, out, &part, &fill);
}

bool pz_lows_check(const uint8_t *in, uint32_t n, uint32_t bits)
{
    uint32_t used = n * bits % 8;
    return used == 0 || in[n * bits / 8] >> used == 0;
}
