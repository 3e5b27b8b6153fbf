/* Decimal text of 64-bit integers. */
#ifndef PZ_WORKLOAD_DECIMAL_H
#define PZ_WORKLOAD_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#define PZ_DECIMAL_MAX 20u /* "-9223372036854775808" */

/* Writes the number; gives the length. No NUL is added. */
static inline size_t pz_decimal_write(char *text, int64_t number)
{
    char digits[PZ_DECIMAL_MAX];
    size_t n = 0, at = 0;
    uint64_t rest = number < 0 ? 0u - (uint64_t)number : (uint64_t)number;
    do {
        digits[n++] = (char)('0' + (char)(rest % 10));
        rest /= 10;
    } while (rest != 0);
    if (number < 0)
        text[at++] = '-';
    while (n > 0)
        text[at++] = digits[--n];
    return at;
}

#endif
