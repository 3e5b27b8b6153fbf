/* Text in pieces: what dumps are written through. Numbers come out the same under every locale. */
#ifndef PZ_TREE_TEXT_H
#define PZ_TREE_TEXT_H

#include "../base/bits.h"
#include "../base/status.h"

#include <stddef.h>

typedef struct pz_text {
    int (*write)(void *ctx, const char *text, size_t n); /* 0 on success */
    void *ctx;
    pz_status status; /* PZ_IO once a write has failed: what comes later is thrown away */
    size_t n;
    char buffer[4000];
} pz_text;

void pz_text_begin(pz_text *t, int (*write)(void *ctx, const char *text, size_t n), void *ctx);
/* Hand over what is left; the status of all writes. */
pz_status pz_text_end(pz_text *t) PZ_MUST_USE;

void pz_text_put(pz_text *t, const char *string);
void pz_text_count(pz_text *t, uint64_t x);
/* `label`, then a number. */
void pz_text_field(pz_text *t, const char *label, uint64_t x);
void pz_text_signed(pz_text *t, int64_t x);
/* 32 hexadecimal digits. */
void pz_text_uuid(pz_text *t, pz_u128 x);
/* A float64 by its bits, so that it can be read back exactly: whole numbers as such, others with 17
 * digits. */
void pz_text_double(pz_text *t, uint64_t bits);

#endif
