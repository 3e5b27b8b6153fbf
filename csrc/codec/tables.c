/* Constant tables for bytes of a unary vector. A row of pz_byte_ones follows from the byte's bits:
 *
 *   byte 1 0 1 1 0 1 0 0 (bit 7 first)   ones at 2, 4, 5, 7   zeros before: 2 3 3 4 0 0 0 0
 */
#include "tables.h"

#include "rows.h"

/* Number of ones of b below bit i. */
#define BELOW1(b) PZ_BIT(b, 0)
#define BELOW2(b) (BELOW1(b) + PZ_BIT(b, 1))
#define BELOW3(b) (BELOW2(b) + PZ_BIT(b, 2))
#define BELOW4(b) (BELOW3(b) + PZ_BIT(b, 3))
#define BELOW5(b) (BELOW4(b) + PZ_BIT(b, 4))
#define BELOW6(b) (BELOW5(b) + PZ_BIT(b, 5))
#define BELOW7(b) (BELOW6(b) + PZ_BIT(b, 6))
#define BELOW8(b) (BELOW7(b) + PZ_BIT(b, 7))

/* Bit i is the k-th one when it is set and has k ones below it; then i - k zeros are below it. */
#define AT(b, i, k, below) ((PZ_BIT(b, i) && (below) == (k)) ? (i) - (k) : 0)
#define ZEROS(b, k)                                                                              \
    (AT(b, 0, k, 0) + AT(b, 1, k, BELOW1(b)) + AT(b, 2, k, BELOW2(b)) + AT(b, 3, k, BELOW3(b)) + \
     AT(b, 4, k, BELOW4(b)) + AT(b, 5, k, BELOW5(b)) + AT(b, 6, k, BELOW6(b)) +                  \
     AT(b, 7, k, BELOW7(b)))
#define ROW(b)                                           \
    {ZEROS(b, 0), ZEROS(b, 1), ZEROS(b, 2), ZEROS(b, 3), \
     ZEROS(b, 4), ZEROS(b, 5), ZEROS(b, 6), ZEROS(b, 7)}

const uint16_t pz_byte_ones[256][8] = {PZ_ROWS256(ROW)};
const uint8_t pz_byte_count[256] = {PZ_ROWS256(BELOW8)};
