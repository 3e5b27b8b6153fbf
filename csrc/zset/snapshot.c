/* The frame of a snapshot: header and end mark. See snapshot.h.
 *
 *   header, 64 bytes                               end mark, 32 bytes
 *   0  magic, 8 bytes                              0  u64 offset of the directory
 *   8  u32 version                                 8  u64 bytes of the whole snapshot
 *  12  u8 member kind, u8 score kind              16  u32 checksum of the directory
 *  14  u8 score_rle, u8 0                         20  u32 0
 *  16  f64 merge exponent                         24  u32 magic
 *  24  u32 member leaf capacity                   28  u32 checksum of bytes 0 to 27
 *  28  u32 order leaf capacity
 *  32  u64 entries
 *  40  u64 member leaves, 48 u64 order leaves
 *  56  u32 0
 *  60  u32 checksum of bytes 0 to 59 */
#include "snapshot.h"

#include <string.h>

#include "../codec/crc32c.h"
#include "set.h"

/* As PNG's: the first byte is no text, the last two do not survive a change of line ends. */
static const uint8_t magic[8] = {0x89, 'P', 'Z', 'S', 'E', 'T', '\r', '\n'};
#define END_MAGIC 0x444e5a50u /* "PZND" */

static bool capacity_is_legal(uint32_t capacity)
{
    return capacity >= PZ_LEAF_CAPACITY_MIN && capacity <= PZ_LEAF_MAX;
}

/* Entries and leaves agree with each other and with what n bytes can hold. */
static pz_status counts_check(const pz_snapshot_header *h, size_t n, pz_why *why)
{
    pz_set like = {.member_capacity = (uint16_t)h->options.member_leaf_capacity,
                   .order_capacity = (uint16_t)h->options.order_leaf_capacity};
    uint64_t least = h->entries > 0, most = least, members_least = 0, members_most = 0;
    if (h->entries > pz_small_capacity(&like)) {
        members_least = 1;
        members_most = most = h->entries;
    }
    if (h->entries > n) /* an entry takes more than a byte */
        return PZ_WHY(why, "header: entries", 32, n, h->entries);
    if (h->member_records < members_least || h->member_records > members_most)
        return PZ_WHY(why, "header: member leaves", 40, members_most, h->member_records);
    if (h->order_records < least || h->order_records > most)
        return PZ_WHY(why, "header: order leaves", 48, most, h->order_records);
    return PZ_OK;
}

pz_status pz_snapshot_header_read(const void *bytes, size_t n, pz_snapshot_header *out,
                                  pz_call *call)
{
    const uint8_t *p = bytes;
    pz_why *why = pz_call_why(call);
    pz_snapshot_header h;
    if (n < PZ_SNAPSHOT_HEADER_BYTES + PZ_SNAPSHOT_END_BYTES)
        return PZ_WHY(why, "snapshot: cut short", n,
                      PZ_SNAPSHOT_HEADER_BYTES + PZ_SNAPSHOT_END_BYTES, n);
    if (memcmp(p, magic, sizeof magic) != 0)
        return PZ_WHY(why, "header: magic", 0, pz_load64(magic), pz_load64(p));
    if (pz_load32(p + 8) != PZ_SNAPSHOT_VERSION)
        return PZ_WHY(why, "header: version", 8, PZ_SNAPSHOT_VERSION, pz_load32(p + 8));
    uint32_t sum = pz_crc32c(0, p, 60);
    if (sum != pz_load32(p + 60))
        return PZ_WHY(why, "header: checksum", 60, sum, pz_load32(p + 60));
    if (p[12] > PZ_UUID || p[13] > PZ_FLOAT64)
        return PZ_WHY(why, "header: layout", 12, 0, pz_load16(p + 12));
    if (p[14] > 1 || p[15] != 0 || pz_load32(p + 56) != 0)
        return PZ_WHY(why, "header: reserved bits", 14, 0, pz_load16(p + 14));
    /* Bits of floats that are not negative ascend as the floats do; NaN lies above. */
    uint64_t exponent = pz_load64(p + 16);
    if (exponent > pz_bits_of_double(1.0))
        return PZ_WHY(why, "header: merge exponent", 16, pz_bits_of_double(1.0), exponent);
    h.member = (pz_member_kind)p[12];
    h.score = (pz_score_kind)p[13];
    h.options.score_rle = p[14] != 0;
    h.options.merge_exponent = pz_double_of_bits(exponent);
    h.options.member_leaf_capacity = pz_load32(p + 24);
    h.options.order_leaf_capacity = pz_load32(p + 28);
    h.entries = pz_load64(p + 32);
    h.member_records = pz_load64(p + 40);
    h.order_records = pz_load64(p + 48);
    if (!capacity_is_legal(h.options.member_leaf_capacity))
        return PZ_WHY(why, "header: member leaf capacity", 24, PZ_LEAF_MAX,
                      h.options.member_leaf_capacity);
    if (!capacity_is_legal(h.options.order_leaf_capacity))
        return PZ_WHY(why, "header: order leaf capacity", 28, PZ_LEAF_MAX,
                      h.options.order_leaf_capacity);
    PZ_TRY(counts_check(&h, n, why));
    *out = h;
    return PZ_OK;
}

void pz_snapshot_header_write(const pz_snapshot_header *h, uint8_t *out)
{
    memset(out, 0, PZ_SNAPSHOT_HEADER_BYTES);
    memcpy(out, magic, sizeof magic);
    pz_store32(out + 8, PZ_SNAPSHOT_VERSION);
    out[12] = (uint8_t)h->member;
    out[13] = (uint8_t)h->score;
    out[14] = h->options.score_rle;
    pz_store64(out + 16, pz_bits_of_double(h->options.merge_exponent));
    pz_store32(out + 24, h->options.member_leaf_capacity);
    pz_store32(out + 28, h->options.order_leaf_capacity);
    pz_store64(out + 32, h->entries);
    pz_store64(out + 40, h->member_records);
    pz_store64(out + 48, h->order_records);
    pz_store32(out + 60, pz_crc32c(0, out, 60));
}

pz_status pz_snapshot_end_read(const uint8_t *bytes, size_t n, uint64_t rows_bytes,
                               uint64_t *directory, pz_call *call)
{
    pz_why *why = pz_call_why(call);
    size_t at = n - PZ_SNAPSHOT_END_BYTES;
    const uint8_t *p = bytes + at;
    if (pz_load32(p + 24) != END_MAGIC)
        return PZ_WHY(why, "end: magic", at + 24, END_MAGIC, pz_load32(p + 24));
    uint32_t sum = pz_crc32c(0, p, 28);
    if (sum != pz_load32(p + 28))
        return PZ_WHY(why, "end: checksum", at + 28, sum, pz_load32(p + 28));
    if (pz_load64(p + 8) != n)
        return PZ_WHY(why, "end: bytes of the snapshot", at + 8, n, pz_load64(p + 8));
    if (pz_load32(p + 20) != 0)
        return PZ_WHY(why, "end: reserved bits", at + 20, 0, pz_load32(p + 20));
    uint64_t from = pz_load64(p);
    if (rows_bytes > at - PZ_SNAPSHOT_HEADER_BYTES || from != at - rows_bytes)
        return PZ_WHY(why, "end: offset of the directory", at, at - rows_bytes, from);
    sum = pz_crc32c(0, bytes + from, (size_t)rows_bytes);
    if (sum != pz_load32(p + 16))
        return PZ_WHY(why, "directory: checksum", at + 16, sum, pz_load32(p + 16));
    *directory = from;
    return PZ_OK;
}

void pz_snapshot_end_write(uint64_t directory, const uint8_t *rows, uint64_t rows_bytes,
                           uint8_t *out)
{
    memset(out, 0, PZ_SNAPSHOT_END_BYTES);
    pz_store64(out, directory);
    pz_store64(out + 8, directory + rows_bytes + PZ_SNAPSHOT_END_BYTES);
    pz_store32(out + 16, rows_bytes > 0 ? pz_crc32c(0, rows, (size_t)rows_bytes) : 0);
    pz_store32(out + 24, END_MAGIC);
    pz_store32(out + 28, pz_crc32c(0, out, 28));
}
