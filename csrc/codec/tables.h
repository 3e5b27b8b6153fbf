/* Constant tables for bytes of a unary vector. */
#ifndef PZ_CODEC_TABLES_H
#define PZ_CODEC_TABLES_H

#include <stdint.h>

/* pz_byte_ones[b][k]: (position of the k-th one of b) - k, which is the number of zeros before it;
 * 0 for k past the last one. A row is one 16-byte vector of 16-bit lanes. */
extern const uint16_t pz_byte_ones[256][8];

/* pz_byte_count[b]: number of ones in b. */
extern const uint8_t pz_byte_count[256];

#endif
