/* Digests of a final state, in the scheme of the published study.
 *
 * A row (member, score), both written as decimal text, goes into two digests:
 *
 *   ordered  SHA-256 over   | length 4 LE | member | length 4 LE | score |   rows in rank order
 *   mapping  BLAKE2b-128 of | member | 0x00 | score |, person "wiki-zset-v1", read as a
 *            little-endian number h: xor of all h, sum of h, sum of h * h (modulo 2**128), so that
 *            the order of rows does not matter
 *
 * This file makes the ordered text (the caller hashes it) and the three sums.
 *
 * BLAKE2b (RFC 7693) is needed for messages of one block only: state = IV xor parameters
 * (digest length, key length 0, fan-out 1, depth 1; personal in words 6 and 7), one compression
 * with the counter at the message's length and the last-block flag set. */
#include "digest.h"

#include <string.h>

#include "decimal.h"

__extension__ typedef unsigned __int128 pz_u128;

static const uint64_t IV[8] = {
    0x6A09E667F3BCC908ull, 0xBB67AE8584CAA73Bull, 0x3C6EF372FE94F82Bull, 0xA54FF53A5F1D36F1ull,
    0x510E527FADE682D1ull, 0x9B05688C2B3E6C1Full, 0x1F83D9ABFB41BD6Bull, 0x5BE0CD19137E2179ull,
};

static const uint8_t SIGMA[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t load64(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void store64(uint8_t *bytes, uint64_t word)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> (8 * i));
}

static uint64_t rotate_right(uint64_t x, unsigned by)
{
    return x >> by | x << (64 - by);
}

static void mix(uint64_t v[16], unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x,
                uint64_t y)
{
    v[a] = v[a] + v[b] + x;
    v[d] = rotate_right(v[d] ^ v[a], 32);
    v[c] = v[c] + v[d];
    v[b] = rotate_right(v[b] ^ v[c], 24);
    v[a] = v[a] + v[b] + y;
    v[d] = rotate_right(v[d] ^ v[a], 16);
    v[c] = v[c] + v[d];
    v[b] = rotate_right(v[b] ^ v[c], 63);
}

void pz_blake2b_16(const uint8_t *message, size_t n, const uint8_t person[16], uint8_t out[16])
{
    uint8_t block[128] = {0};
    uint64_t m[16], v[16];
    memcpy(block, message, n);
    for (unsigned i = 0; i < 16; i++)
        m[i] = load64(block + 8 * i);
    uint64_t h[8];
    memcpy(h, IV, sizeof h);
    h[0] ^= 16u | 1u << 16 | 1u << 24;
    h[6] ^= load64(person);
    h[7] ^= load64(person + 8);
    memcpy(v, h, sizeof h);
    memcpy(v + 8, IV, sizeof IV);
    v[12] ^= (uint64_t)n;
    v[14] = ~v[14];
    for (unsigned round = 0; round < 12; round++) {
        const uint8_t *s = SIGMA[round % 10];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    store64(out, h[0] ^ v[0] ^ v[8]);
    store64(out + 8, h[1] ^ v[1] ^ v[9]);
}

static bool whole_number(double score, int64_t *number)
{
    if (!(score > -9223372036854775808.0 && score < 9223372036854775808.0))
        return false;
    *number = (int64_t)score;
    return (double)*number == score;
}

static pz_u128 load128(const uint8_t *bytes)
{
    return (pz_u128)load64(bytes + 8) << 64 | load64(bytes);
}

static void store128(uint8_t *bytes, pz_u128 number)
{
    store64(bytes, (uint64_t)number);
    store64(bytes + 8, (uint64_t)(number >> 64));
}

static size_t write_text(uint8_t *to, const char *text, size_t n)
{
    to[0] = (uint8_t)n;
    to[1] = to[2] = to[3] = 0;
    memcpy(to + 4, text, n);
    return n + 4;
}

bool pz_digest_rows(size_t n, const void *members_i64, const void *scores_f64, uint8_t *text,
                    size_t *written, pz_digest_sums *sums)
{
    static const uint8_t person[16] = "wiki-zset-v1";
    const uint8_t *members = members_i64;
    const uint8_t *scores = scores_f64;
    pz_u128 all = load128(sums->bytes);
    pz_u128 sum = load128(sums->bytes + 16);
    pz_u128 squares = load128(sums->bytes + 32);
    size_t at = 0;
    *written = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t member, number;
        double score;
        char message[48];
        uint8_t hash[16];
        memcpy(&member, members + 8 * i, 8);
        memcpy(&score, scores + 8 * i, 8);
        if (!whole_number(score, &number))
            return false;
        const size_t member_size = pz_decimal_write(message, member);
        message[member_size] = 0;
        char *score_text = message + member_size + 1;
        const size_t score_size = pz_decimal_write(score_text, number);
        at += write_text(text + at, message, member_size);
        at += write_text(text + at, score_text, score_size);
        pz_blake2b_16((const uint8_t *)message, member_size + 1 + score_size, person, hash);
        const pz_u128 h = load128(hash);
        all ^= h;
        sum += h;
        squares += h * h;
    }
    store128(sums->bytes, all);
    store128(sums->bytes + 16, sum);
    store128(sums->bytes + 32, squares);
    *written = at;
    return true;
}
