/* The inner loop of the published final-state digest; digest.c has the bytes. */
#ifndef PZ_WORKLOAD_DIGEST_H
#define PZ_WORKLOAD_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text bytes that one row takes at most: two lengths, a member and a whole score below 2**63. */
#define PZ_DIGEST_ROW_MAX 48u

/* Three sums of 128 bits, little-endian: xor, sum and sum of squares modulo 2**128. */
typedef struct pz_digest_sums {
    uint8_t bytes[48];
} pz_digest_sums;

/* Adds n rows to the sums and writes their ordered text (room: n * PZ_DIGEST_ROW_MAX). The columns
 * are contiguous, of any alignment. False when a score is no whole number below 2**63 in
 * magnitude: `*written` is then 0 and the sums are as they were. */
bool pz_digest_rows(size_t n, const void *members_i64, const void *scores_f64, uint8_t *text,
                    size_t *written, pz_digest_sums *sums);

/* BLAKE2b of one block: at most 128 bytes of message, 16 bytes of digest, personalised. */
void pz_blake2b_16(const uint8_t *message, size_t n, const uint8_t person[16], uint8_t out[16]);

#endif
