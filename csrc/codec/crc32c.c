/* CRC-32C, eight bytes a step. Table k says what a byte becomes when k more bytes follow it in the
 * step. The code is linear, so an entry is the sum of the entries of its bits: only those eight a
 * table are written down. */
#include "crc32c.h"

#include "../base/bits.h"
#include "rows.h"

#define MIX(b, c0, c1, c2, c3, c4, c5, c6, c7)                                               \
    (PZ_BIT(b, 0) * (c0) ^ PZ_BIT(b, 1) * (c1) ^ PZ_BIT(b, 2) * (c2) ^ PZ_BIT(b, 3) * (c3) ^ \
     PZ_BIT(b, 4) * (c4) ^ PZ_BIT(b, 5) * (c5) ^ PZ_BIT(b, 6) * (c6) ^ PZ_BIT(b, 7) * (c7))

#define TABLE0(b)                                                                        \
    MIX(b, 0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu, 0x20bd8edeu, \
        0x417b1dbcu, 0x82f63b78u)
#define TABLE1(b)                                                                        \
    MIX(b, 0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u, 0x7f8be302u, \
        0xff17c604u, 0xfbc3faf9u)
#define TABLE2(b)                                                                        \
    MIX(b, 0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au, 0xe144fb14u, \
        0xc76580d9u, 0x8b277743u)
#define TABLE3(b)                                                                        \
    MIX(b, 0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du, 0xd725148bu, \
        0xaba65fe7u, 0x52a0c93fu)
#define TABLE4(b)                                                                        \
    MIX(b, 0x38116facu, 0x7022df58u, 0xe045beb0u, 0xc5670b91u, 0x8f2261d3u, 0x1ba8b557u, \
        0x37516aaeu, 0x6ea2d55cu)
#define TABLE5(b)                                                                        \
    MIX(b, 0xef306b19u, 0xdb8ca0c3u, 0xb2f53777u, 0x6006181fu, 0xc00c303eu, 0x85f4168du, \
        0x0e045bebu, 0x1c08b7d6u)
#define TABLE6(b)                                                                        \
    MIX(b, 0x68032cc8u, 0xd0065990u, 0xa5e0c5d1u, 0x4e2dfd53u, 0x9c5bfaa6u, 0x3d5b83bdu, \
        0x7ab7077au, 0xf56e0ef4u)
#define TABLE7(b)                                                                        \
    MIX(b, 0x493c7d27u, 0x9278fa4eu, 0x211d826du, 0x423b04dau, 0x847609b4u, 0x0d006599u, \
        0x1a00cb32u, 0x34019664u)

static const uint32_t table[8][256] = {
    {PZ_ROWS256(TABLE0)}, {PZ_ROWS256(TABLE1)}, {PZ_ROWS256(TABLE2)}, {PZ_ROWS256(TABLE3)},
    {PZ_ROWS256(TABLE4)}, {PZ_ROWS256(TABLE5)}, {PZ_ROWS256(TABLE6)}, {PZ_ROWS256(TABLE7)},
};

uint32_t pz_crc32c(uint32_t seed, const void *p, size_t n)
{
    const uint8_t *in = p;
    uint32_t crc = ~seed;
    for (; n >= 8; n -= 8, in += 8) {
        uint64_t x = pz_load64(in) ^ crc;
        crc = table[7][x & 0xff] ^ table[6][x >> 8 & 0xff] ^ table[5][x >> 16 & 0xff] ^
              table[4][x >> 24 & 0xff] ^ table[3][x >> 32 & 0xff] ^ table[2][x >> 40 & 0xff] ^
              table[1][x >> 48 & 0xff] ^ table[0][x >> 56];
    }
    for (; n > 0; n--, in++)
        crc = crc >> 8 ^ table[0][(crc ^ *in) & 0xff];
    return ~crc;
}
