/* Sets for tests: any layout, made by bulk calls and single changes so that leaves have tails, from
 * a seed. Include after test.h. */
#ifndef PZ_TEST_SETS_H
#define PZ_TEST_SETS_H

#include <math.h>
#include <stdbool.h>

#include "../../csrc/base/bits.h"
#include "../../csrc/pz.h"

typedef enum score_shape { COUNTERS, DISTINCT, SPECIALS, EQUAL, SCORE_SHAPES } score_shape;

typedef struct set_plan {
    pz_member_kind member;
    pz_score_kind score;
    uint32_t n; /* members that are put in at first; an eighth of them leaves again */
    uint32_t capacity;
    double exponent;
    bool rle;
    score_shape shape;
    uint64_t seed;
} set_plan;

static const pz_member_kind member_kinds[3] = {PZ_INT32, PZ_INT64, PZ_UUID};
static const pz_score_kind score_kinds[2] = {PZ_FLOAT32, PZ_FLOAT64};

static inline size_t member_size(pz_member_kind kind)
{
    return kind == PZ_INT32 ? 4 : kind == PZ_INT64 ? 8 : 16;
}

static inline size_t score_size(pz_score_kind kind)
{
    return kind == PZ_FLOAT32 ? 4 : 8;
}

/* The member that number i stands for: near each other for int32, in steps for int64, anywhere for
 * UUIDs. */
static inline void member_put(pz_member_kind kind, void *at, uint32_t i)
{
    int32_t narrow = (int32_t)(i + i / 7) - 300;
    int64_t wide = (int64_t)i * 1000003 - 5000000000;
    uint64_t state = i, parts[2] = {test_random(&state), test_random(&state)};
    if (kind == PZ_INT32)
        memcpy(at, &narrow, sizeof narrow);
    else if (kind == PZ_INT64)
        memcpy(at, &wide, sizeof wide);
    else
        memcpy(at, parts, sizeof parts);
}

static inline void score_put(pz_score_kind kind, void *at, double score)
{
    float narrow = (float)score;
    if (kind == PZ_FLOAT32)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &score, sizeof score);
}

static inline double score_of(score_shape shape, uint64_t *seed)
{
    static const double specials[] = {0,        -0.0,    0.5,          -0.25,    1e-40,
                                      -1e-45,   1e30,    -3e38,        INFINITY, 65535,
                                      16777216, 254.0,   255.0,        -1,       -INFINITY,
                                      1e-310,   2.5e-45, 4294967295.0, 0.1,      123456.75};
    uint64_t r = test_random(seed);
    switch (shape) {
    case COUNTERS:
        return (double)((r & 0xffff) >> (r >> 16) % 16);
    case DISTINCT:
        return ldexp((double)(int64_t)r, (int)(r % 40) - 80);
    case SPECIALS:
        return specials[r % (sizeof specials / sizeof *specials)];
    default:
        return 7;
    }
}

/* Put `n` members from number `first` on, `step` apart, in one call; NULL scores: remove them. */
static inline pz_status set_rows(pz_set *z, uint32_t first, uint32_t step, uint32_t n,
                                 const score_shape *shape, uint64_t *seed)
{
    size_t mb = member_size(pz_member_kind_of(z)), sb = score_size(pz_score_kind_of(z));
    uint8_t *m = malloc(n * mb + 1), *s = malloc(n * sb + 1);
    uint64_t a = 0, b = 0;
    for (uint32_t i = 0; i < n; i++) {
        member_put(pz_member_kind_of(z), m + i * mb, first + i * step);
        if (shape != NULL)
            score_put(pz_score_kind_of(z), s + i * sb, score_of(*shape, seed));
    }
    pz_in members = {m, (ptrdiff_t)mb}, scores = {s, (ptrdiff_t)sb};
    pz_status status = shape != NULL ? pz_add(z, n, members, scores, 0, &a, &b, NULL)
                                     : pz_remove(z, n, members, &a, NULL);
    free(m);
    free(s);
    return status;
}

/* NULL when something failed. */
static inline pz_set *set_make(const set_plan *p)
{
    pz_options options = {.merge_exponent = p->exponent,
                          .score_rle = p->rle,
                          .member_leaf_capacity = p->capacity,
                          .order_leaf_capacity = p->capacity};
    uint64_t seed = p->seed;
    pz_set *z = NULL;
    if (pz_new(&test_env.env, p->member, p->score, &options, &z) != PZ_OK)
        return NULL;
    pz_status status = set_rows(z, 0, 1, p->n, &p->shape, &seed);
    for (uint32_t i = 0; i < p->n / 4 && i < 30000 && status == PZ_OK; i++) {
        uint32_t at = (uint32_t)(test_random(&seed) % (2 * p->n));
        status = set_rows(z, at, 1, 1, i % 3 == 2 ? NULL : &p->shape, &seed);
    }
    if (status == PZ_OK && p->n >= 8)
        status = set_rows(z, 3, 16, p->n / 16, NULL, &seed);
    if (status == PZ_OK)
        return z;
    pz_free(z);
    return NULL;
}

/* ---- bytes that grow ---- */
typedef struct file {
    uint8_t *at;
    size_t n, room;
} file;

static inline int file_append(void *ctx, const void *from, size_t n)
{
    file *b = ctx;
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n);
        b->at = realloc(b->at, b->room);
    }
    memcpy(b->at + b->n, from, n);
    b->n += n;
    return 0;
}

static inline int text_append(void *ctx, const char *text, size_t n)
{
    return file_append(ctx, text, n);
}

static inline void file_free(file *b)
{
    free(b->at);
    *b = (file){0};
}

static inline bool file_equal(const file *a, const file *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n) == 0);
}

#endif
