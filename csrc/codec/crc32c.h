/* CRC-32C (Castagnoli), reflected, as in iSCSI: pz_crc32c(0, "123456789", 9) == 0xe3069283. */
#ifndef PZ_CODEC_CRC32C_H
#define PZ_CODEC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Checksum of n bytes after those whose checksum is `seed`; 0 to start with. */
uint32_t pz_crc32c(uint32_t seed, const void *p, size_t n);

#endif
