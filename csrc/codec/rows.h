/* Constant tables with a row for each byte, written out by the preprocessor: no start-up code, so
 * no race. PZ_ROWS256(m) is m(0), m(1) ... m(255). */
#ifndef PZ_CODEC_ROWS_H
#define PZ_CODEC_ROWS_H

#define PZ_BIT(b, i) (((b) >> (i)) & 1u)

#define PZ_ROWS4(m, b) m(b), m((b) + 1), m((b) + 2), m((b) + 3)
#define PZ_ROWS16(m, b) \
    PZ_ROWS4(m, b), PZ_ROWS4(m, (b) + 4), PZ_ROWS4(m, (b) + 8), PZ_ROWS4(m, (b) + 12)
#define PZ_ROWS64(m, b) \
    PZ_ROWS16(m, b), PZ_ROWS16(m, (b) + 16), PZ_ROWS16(m, (b) + 32), PZ_ROWS16(m, (b) + 48)
#define PZ_ROWS256(m) PZ_ROWS64(m, 0), PZ_ROWS64(m, 64), PZ_ROWS64(m, 128), PZ_ROWS64(m, 192)

#endif
