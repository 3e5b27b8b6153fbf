/* A sorted set as plainly as C allows, and the ways between its values and those of a layout: what
 * fuzzers compare a real set with. Members are numbers below ORACLE_KEYS, in the order of the
 * members they stand for; scores are doubles that hold exactly what the set stores. */
#ifndef PZ_TEST_ORACLE_H
#define PZ_TEST_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/pz.h"

enum { ORACLE_KEYS = 700 };

typedef struct oracle {
    pz_member_kind member;
    pz_score_kind score;
    bool present[ORACLE_KEYS];
    double scores[ORACLE_KEYS];
    uint32_t order[ORACLE_KEYS]; /* by (score, key); made by oracle_sort */
    uint32_t count;
} oracle;

typedef union oracle_member {
    int32_t i32;
    int64_t i64;
    uint8_t uuid[16];
} oracle_member;

static inline size_t oracle_member_bytes(pz_member_kind kind)
{
    return kind == PZ_INT32 ? 4 : kind == PZ_INT64 ? 8 : 16;
}

static inline size_t oracle_score_bytes(pz_score_kind kind)
{
    return kind == PZ_FLOAT32 ? 4 : 8;
}

/* Keys 0 to 7 and the last 8 stand for the ends of the type, those between for a cluster around
 * zero, which for UUIDs is the middle of the first half, with equal leading words. */
static inline oracle_member oracle_member_of(pz_member_kind kind, uint32_t key)
{
    const int64_t from_end = key < 8 ? (int64_t)key : (int64_t)key - ORACLE_KEYS + 1;
    const bool end = key < 8 || key >= ORACLE_KEYS - 8;
    const int64_t inner = (int64_t)key * 3 - 900;
    oracle_member m;
    memset(&m, 0, sizeof m);
    if (kind == PZ_INT32) {
        m.i32 = (int32_t)(!end ? inner : key < 8 ? INT32_MIN + from_end : INT32_MAX + from_end);
    } else if (kind == PZ_INT64) {
        m.i64 = !end ? inner : key < 8 ? INT64_MIN + from_end : INT64_MAX + from_end;
    } else if (end && key >= 8) {
        memset(m.uuid, 0xff, sizeof m.uuid);
        m.uuid[15] = (uint8_t)(0xff + from_end);
    } else {
        const uint64_t tail = end ? key : (uint64_t)key * 0x0123456789abcdu;
        const unsigned lowest = end ? 15 : 12; /* the cluster's gaps lie in both 64-bit halves */
        m.uuid[0] = end ? 0 : 0x40;
        for (unsigned i = 0; i < 8; i++)
            m.uuid[lowest - i] = (uint8_t)(tail >> (8 * i));
    }
    return m;
}

static inline uint32_t oracle_key_of(pz_member_kind kind, const void *member)
{
    const size_t bytes = oracle_member_bytes(kind);
    for (uint32_t key = 0; key < ORACLE_KEYS; key++) {
        oracle_member m = oracle_member_of(kind, key);
        if (memcmp(&m, member, bytes) == 0)
            return key;
    }
    return ORACLE_KEYS;
}

/* What a set stores for a value; false when it must refuse it. */
static inline bool oracle_narrow(pz_score_kind kind, double value, double *out)
{
    if (isnan(value))
        return false;
    if (kind == PZ_FLOAT32) {
        const bool finite = isfinite(value) != 0;
        value = (double)(float)value;
        if (finite && !isfinite(value))
            return false;
    }
    *out = value + 0.0; /* folds -0.0 */
    return true;
}

static inline void oracle_put_score(pz_score_kind kind, void *at, double score)
{
    const float narrow = (float)score;
    if (kind == PZ_FLOAT32)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &score, sizeof score);
}

static inline double oracle_get_score(pz_score_kind kind, const void *at)
{
    float narrow;
    double wide;
    if (kind == PZ_FLOAT32) {
        memcpy(&narrow, at, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static inline void oracle_set(oracle *o, uint32_t key, double score)
{
    o->count += !o->present[key];
    o->present[key] = true;
    o->scores[key] = score;
}

static inline bool oracle_drop(oracle *o, uint32_t key)
{
    const bool was = o->present[key];
    o->present[key] = false;
    o->count -= was;
    return was;
}

/* Fill `order`: an insertion sort, which needs no comparison function with a context. */
static inline void oracle_sort(oracle *o)
{
    uint32_t n = 0;
    for (uint32_t key = 0; key < ORACLE_KEYS; key++) {
        if (!o->present[key])
            continue;
        uint32_t at = n++;
        for (; at > 0 && o->scores[o->order[at - 1]] > o->scores[key]; at--)
            o->order[at] = o->order[at - 1];
        o->order[at] = key;
    }
}

#endif
