/* fuzz_codec.c: hostile columns. Bytes become the fields of a key or score column and its content.
 * Either the check refuses them, or everything that reads the column gives one valid answer, and
 * coding that answer again brings it back. Buffers end where the codec says it stops reading. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/base/bits.h"
#include "../../csrc/base/config.h"

#define MUST(cond)                                                     \
    do {                                                               \
        if (!(cond)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                   \
        }                                                              \
    } while (0)

typedef struct input {
    const uint8_t *at;
    size_t n;
} input;

/* The next `bytes` of the input, little-endian, zeros behind its end. */
static uint64_t take(input *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && in->n > 0; i++, in->n--)
        value |= (uint64_t)*in->at++ << (8 * i);
    return value;
}

/* What is left of the input, at the start of a buffer of exactly `size` bytes. */
static uint8_t *rest(const input *in, size_t size)
{
    uint8_t *copy = calloc(size > 0 ? size : 1, 1);
    MUST(copy != NULL);
    if (in->n > 0)
        memcpy(copy, in->at, in->n < size ? in->n : size);
    return copy;
}

#define PZ_M uint32_t
#define PZ_M_BITS 32
#define PZ_S uint32_t
#define PZ_S_BITS 32
#define PZ_FN(name) name##__32
#include "fuzz_codec.tmpl.h"

#define PZ_M uint64_t
#define PZ_M_BITS 64
#define PZ_S uint64_t
#define PZ_S_BITS 64
#define PZ_FN(name) name##__64
#include "fuzz_codec.tmpl.h"

#define PZ_M pz_u128
#define PZ_M_BITS 128
#define PZ_FN(name) name##__128
#include "fuzz_codec.tmpl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(input *) = {try_keys__32, try_keys__64, try_keys__128,
                                             try_scores__32, try_scores__64};
    input in = {data, size};
    kinds[take(&in, 1) % 5](&in);
    return 0;
}
