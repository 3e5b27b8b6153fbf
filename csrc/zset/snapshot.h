/* The frame of a snapshot, the same for every layout: header in front, end mark behind. What lies
 * between, the leaves of both trees and their directory, is snapshot.tmpl.h's. The whole format
 * with every byte stands in docs/formats/snapshot.md. */
#ifndef PZ_ZSET_SNAPSHOT_H
#define PZ_ZSET_SNAPSHOT_H

#include "../pz.h"
#include "../tree/record.h"

#define PZ_SNAPSHOT_VERSION 0u
#define PZ_SNAPSHOT_HEADER_BYTES 64u
#define PZ_SNAPSHOT_END_BYTES 32u

typedef struct pz_snapshot_header {
    pz_member_kind member;
    pz_score_kind score;
    pz_options options;
    uint64_t entries;
    uint64_t member_records, order_records; /* leaves of each tree; small sets have one at most */
} pz_snapshot_header;

/* Check and read the header of `n` bytes. PZ_CORRUPT: call->why (call may be NULL). */
pz_status pz_snapshot_header_read(const void *bytes, size_t n, pz_snapshot_header *out,
                                  pz_call *call) PZ_MUST_USE;
void pz_snapshot_header_write(const pz_snapshot_header *h, uint8_t *out);

/* Check the end mark and the directory's checksum; *directory is the offset of its `rows_bytes`. */
pz_status pz_snapshot_end_read(const uint8_t *bytes, size_t n, uint64_t rows_bytes,
                               uint64_t *directory, pz_call *call) PZ_MUST_USE;
void pz_snapshot_end_write(uint64_t directory, const uint8_t *rows, uint64_t rows_bytes,
                           uint8_t *out);

static inline pz_why *pz_call_why(pz_call *call)
{
    return call == NULL ? NULL : &call->why;
}

#endif
