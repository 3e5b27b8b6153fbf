/* Text in pieces: a buffer in front of the caller's write function. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>

#include "../codec/forms.h"

void pz_text_begin(pz_text *t, int (*write)(void *ctx, const char *text, size_t n), void *ctx)
{
    t->write = write;
    t->ctx = ctx;
    t->status = PZ_OK;
    t->n = 0;
}

static void flush(pz_text *t)
{
    if (t->status == PZ_OK && t->n > 0 && t->write(t->ctx, t->buffer, t->n) != 0)
        t->status = PZ_IO;
    t->n = 0;
}

pz_status pz_text_end(pz_text *t)
{
    flush(t);
    return t->status;
}

void pz_text_put(pz_text *t, const char *string)
{
    for (; *string != '\0'; string++) {
        if (t->n == sizeof t->buffer)
            flush(t);
        t->buffer[t->n++] = *string;
    }
}

void pz_text_count(pz_text *t, uint64_t x)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, x);
    pz_text_put(t, digits);
}

void pz_text_field(pz_text *t, const char *label, uint64_t x)
{
    pz_text_put(t, label);
    pz_text_count(t, x);
}

void pz_text_signed(pz_text *t, int64_t x)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, x);
    pz_text_put(t, digits);
}

void pz_text_uuid(pz_text *t, pz_u128 x)
{
    char digits[33];
    snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, (uint64_t)(x >> 64), (uint64_t)x);
    pz_text_put(t, digits);
}

void pz_text_double(pz_text *t, uint64_t bits)
{
    int64_t whole = pz_whole64(pz_sort64(bits));
    if (whole != PZ_NOT_WHOLE) {
        pz_text_signed(t, whole);
        return;
    }
    char digits[48], plain[48];
    size_t n = 0;
    snprintf(digits, sizeof digits, "%.17g", pz_double_of_bits(bits));
    /* A locale's own decimal point, of one or more bytes, is whatever no number has. */
    for (const char *p = digits; *p != '\0'; p++) {
        if (strchr("+-0123456789aefin", *p) != NULL)
            plain[n++] = *p;
        else if (n > 0 && plain[n - 1] != '.')
            plain[n++] = '.';
    }
    plain[n] = '\0';
    pz_text_put(t, plain);
}
