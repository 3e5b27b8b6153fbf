/* Saving, loading, refusing: what the tests of snapshots share. Include after test.h. */
#ifndef PZ_TEST_SNAPSHOTS_H
#define PZ_TEST_SNAPSHOTS_H

#include "sets.h"

#include "../../csrc/codec/crc32c.h"
#include "../../csrc/zset/snapshot.h"

enum { HEADER = PZ_SNAPSHOT_HEADER_BYTES, END = PZ_SNAPSHOT_END_BYTES };

static inline bool is_valid(const pz_set *z)
{
    pz_why why = {0};
    if (pz_validate(z, &why) == PZ_OK)
        return true;
    printf("%s at %llu: wanted %llu, got %llu\n", why.what, why.where, why.wanted, why.got);
    return false;
}

static inline file save(const pz_set *z)
{
    file f = {0};
    CHECK(pz_save(z, file_append, &f, NULL) == PZ_OK);
    CHECK_EQ(f.n, pz_save_bound(z));
    return f;
}

/* Load from a block of exactly n bytes, so that reading one too many is seen. */
static inline pz_status load_bytes(const uint8_t *bytes, size_t n, pz_set **out, pz_call *call)
{
    uint8_t *exact = malloc(n > 0 ? n : 1);
    if (n > 0)
        memcpy(exact, bytes, n);
    pz_status status = pz_load(&test_env.env, exact, n, NULL, NULL, out, call);
    free(exact);
    return status;
}

static inline pz_set *load(const file *f)
{
    pz_set *z = NULL;
    pz_call call = {.index = 0};
    if (load_bytes(f->at, f->n, &z, &call) != PZ_OK)
        printf("%s at %llu: wanted %llu, got %llu\n", call.why.what, call.why.where,
               call.why.wanted, call.why.got);
    return z;
}

/* Refused, saying what is wrong, and nothing was given. */
static inline bool refuses(const uint8_t *bytes, size_t n, const char *what)
{
    pz_set *z = NULL;
    pz_call call = {.index = 0};
    pz_status status = load_bytes(bytes, n, &z, &call);
    bool right = status == PZ_CORRUPT && z == NULL && call.why.what != NULL &&
                 strstr(call.why.what, what) != NULL;
    if (!right)
        printf("status %d, \"%s\", not \"%s\"\n", (int)status,
               status == PZ_CORRUPT ? call.why.what : "", what);
    pz_free(z);
    return right;
}

/* Make every checksum right, as far as the frame still stands. */
static inline void mend(file *f)
{
    uint8_t *end = f->at + f->n - END;
    uint64_t rows = pz_load64(end);
    pz_store32(f->at + 60, pz_crc32c(0, f->at, 60));
    if (rows >= HEADER && rows <= f->n - END) {
        for (uint64_t at = HEADER; at + 8 <= rows;) {
            uint32_t size = pz_load32(f->at + at + 4);
            if (size < 8 || size > rows - at)
                break;
            pz_store32(f->at + at, pz_crc32c(0, f->at + at + 4, size - 4));
            at += size;
        }
        pz_store32(end + 16, pz_crc32c(0, f->at + rows, f->n - END - rows));
    }
    pz_store32(end + 28, pz_crc32c(0, end, 28));
}

/* A set that was accepted can be used like any other. */
static inline void use(pz_set *z)
{
    score_shape shape = SPECIALS;
    uint64_t seed = 7;
    file f = save(z);
    pz_set *copy = load(&f);
    CHECK(copy != NULL && pz_equal(z, copy));
    CHECK(set_rows(z, 1, 3, 40, &shape, &seed) == PZ_OK);
    CHECK(set_rows(z, 2, 2, 20, NULL, &seed) == PZ_OK);
    CHECK(is_valid(z));
    pz_free(copy);
    file_free(&f);
}

/* Either refused with a reason, or a sound set. Gives whether it was accepted. */
static inline bool survives(file *f)
{
    pz_set *z = NULL;
    pz_call call = {.index = 0};
    pz_status status = load_bytes(f->at, f->n, &z, &call);
    if (status != PZ_OK) {
        CHECK(status == PZ_CORRUPT && z == NULL && call.why.what != NULL);
        return false;
    }
    if (CHECK(is_valid(z)))
        use(z);
    pz_free(z);
    return true;
}

/* A file with several leaves in both trees, of which everything can be tried. */
static inline file small_file(int layout, uint32_t n, uint32_t capacity, score_shape shape)
{
    set_plan p = {.member = member_kinds[layout / 2],
                  .score = score_kinds[layout % 2],
                  .n = n,
                  .capacity = capacity,
                  .exponent = 0.5,
                  .rle = layout % 3 != 0,
                  .shape = shape,
                  .seed = test_seed() + (uint64_t)layout};
    pz_set *z = set_make(&p);
    CHECK(z != NULL);
    file f = save(z);
    pz_free(z);
    return f;
}

#endif
