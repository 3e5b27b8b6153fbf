/* test_set.c: promises of a whole set that no single answer shows: what one change may cost, that
 * nothing changes when memory fails, that scores do not depend on the caller's floating-point mode,
 * that scans miss nobody, that limits are refused. What the calls answer is fuzz_ops.c's part. */
#include <fenv.h>

#include "test.h"

#include "sets.h"

static pz_set *plain_set(pz_member_kind member, pz_score_kind score, uint32_t capacity)
{
    pz_options options = {0.5, true, capacity, capacity};
    pz_set *z = NULL;
    CHECK_EQ(pz_new(&test_env.env, member, score, &options, &z), PZ_OK);
    return z;
}

static pz_status put_one(pz_set *z, int32_t member, double score)
{
    uint64_t a, u;
    float narrow = (float)score;
    const void *at = pz_score_kind_of(z) == PZ_FLOAT32 ? (const void *)&narrow : &score;
    return pz_add(z, 1, (pz_in){&member, 0}, (pz_in){at, 0}, 0, &a, &u, NULL);
}

static void check_valid(const pz_set *z)
{
    pz_why why = {0};
    if (!CHECK_EQ(pz_validate(z, &why), PZ_OK))
        printf("    %s at %llu: wanted %llu, got %llu\n", why.what, why.where, why.wanted, why.got);
}

static file dump_of(const pz_set *z)
{
    file text = {0};
    CHECK_EQ(pz_dump(z, text_append, &text), PZ_OK);
    return text;
}

/* ---- what one change costs ---- */
/* The most that any one of the changes since the last look may have done. */
typedef struct dearest {
    pz_work last, most;
    uint64_t changes;
} dearest;

static void dearest_look(dearest *d, const pz_set *z)
{
    pz_work now;
    pz_work_of(z, &now);
#define TAKE(field)                                                  \
    if (d->changes > 0 && now.field - d->last.field > d->most.field) \
    d->most.field = now.field - d->last.field
    TAKE(leaves_coded);
    TAKE(bytes_coded);
    TAKE(bytes_moved);
    TAKE(branches_written);
#undef TAKE
    d->last = now;
    d->changes++;
}

/* One change codes two leaves of the member tree and four of the order tree at most (a leaf shared
 * with the one before it, or split into three), writes a branch a level in each, and moves at most
 * a budget's worth of blocks and two grown leaves. None of it grows with the set. */
static void check_bounds(const dearest *d)
{
    const uint64_t leaf = 512 * 9 + 512;
    CHECK(d->changes > 1000);
    CHECK(d->most.leaves_coded <= 9);
    CHECK(d->most.bytes_coded <= 9 * leaf);
    CHECK(d->most.branches_written <= 16);
    CHECK(d->most.bytes_moved <= 5 * (16384 + leaf) + 3 * leaf);
}

static pz_set *dense_set(uint32_t n)
{
    pz_set *z = plain_set(PZ_INT32, PZ_FLOAT32, 512);
    int32_t *members = malloc(n * sizeof *members);
    float *scores = malloc(n * sizeof *scores);
    uint64_t seed = 5, a, u;
    for (uint32_t i = 0; i < n; i++) {
        members[i] = (int32_t)(2 * i);
        scores[i] = (float)((test_random(&seed) & 0xfff) >> (test_random(&seed) % 12));
    }
    CHECK_EQ(pz_add(z, n, (pz_in){members, 4}, (pz_in){scores, 4}, 0, &a, &u, NULL), PZ_OK);
    free(members);
    free(scores);
    return z;
}

TEST(one_change_touches_few_leaves)
{
    pz_set *z = dense_set(200000);
    uint64_t seed = test_seed();
    dearest d = {0};
    for (uint32_t i = 0; i < 6000; i++) {
        dearest_look(&d, z);
        int32_t m = (int32_t)(test_random(&seed) % 400000);
        CHECK_EQ(put_one(z, m, (double)(test_random(&seed) % 5000)), PZ_OK);
    }
    dearest_look(&d, z);
    check_bounds(&d);
    check_valid(z);
    pz_free(z);
}

TEST(a_score_flipped_across_widths)
{
    pz_set *z = dense_set(200000);
    dearest d = {0};
    static const double widths[] = {1, 255, 1, 65535, 254, 1e9, 0.5, -3, 1e30, 256};
    for (uint32_t i = 0; i < 4000; i++) {
        dearest_look(&d, z);
        CHECK_EQ(put_one(z, 200000 + (int32_t)(i % 3) * 2, widths[i % 10]), PZ_OK);
    }
    dearest_look(&d, z);
    check_bounds(&d);
    check_valid(z);
    pz_free(z);
}

TEST(members_at_a_split_edge)
{
    pz_set *z = dense_set(200000);
    dearest d = {0};
    int32_t gone;
    uint64_t removed;
    /* Odd members fill one leaf until it splits, leave, and come back. */
    for (uint32_t round = 0; round < 4; round++) {
        for (int32_t i = 0; i < 700; i++) {
            dearest_look(&d, z);
            CHECK_EQ(put_one(z, 100001 + 2 * i, 7), PZ_OK);
        }
        for (int32_t i = 0; i < 700; i++) {
            dearest_look(&d, z);
            gone = 100001 + 2 * ((i * 37) % 700);
            CHECK_EQ(pz_remove(z, 1, (pz_in){&gone, 0}, &removed, NULL), PZ_OK);
            CHECK_EQ(removed, 1);
        }
    }
    dearest_look(&d, z);
    check_bounds(&d);
    check_valid(z);
    pz_free(z);
}

TEST(rising_and_falling_members)
{
    for (int32_t way = -1; way <= 1; way += 2) {
        pz_set *z = dense_set(100000);
        dearest d = {0};
        for (int32_t i = 0; i < 6000; i++) {
            dearest_look(&d, z);
            CHECK_EQ(put_one(z, way < 0 ? -1 - i : 200000 + i, 1), PZ_OK);
        }
        dearest_look(&d, z);
        check_bounds(&d);
        check_valid(z);
        pz_free(z);
    }
}

/* ---- memory that fails ---- */
typedef pz_status (*change)(pz_set *z);

static pz_status change_point(pz_set *z)
{
    return put_one(z, 77, 1e9);
}

static pz_status change_bulk(pz_set *z)
{
    score_shape shape = DISTINCT;
    uint64_t seed = 9;
    return set_rows(z, 5, 3, 900, &shape, &seed);
}

static pz_status change_remove(pz_set *z)
{
    uint64_t seed = 9;
    return set_rows(z, 0, 2, 500, NULL, &seed);
}

static pz_status change_remove_range(pz_set *z)
{
    return pz_remove_range(z, pz_len(z) / 4, pz_len(z) / 2, NULL);
}

static pz_status change_optimize(pz_set *z)
{
    return pz_optimize(z, NULL);
}

TEST(every_failure_changes_nothing)
{
    static const change changes[] = {change_point, change_bulk, change_remove, change_remove_range,
                                     change_optimize};
    static const uint32_t sizes[] = {1, 100, 128, 3000};
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            bool done = false;
            for (long long at = 1; !done; at++) {
                set_plan plan = {PZ_INT32, PZ_FLOAT64, sizes[s], 32, 0.5, true, COUNTERS, 3};
                test_env_fail(&test_env, 0, 0);
                pz_set *z = set_make(&plan);
                REQUIRE(z != NULL);
                file before = dump_of(z);
                uint64_t version = pz_version(z);
                long long failed = test_env.failed;
                test_env_fail(&test_env, at, 0);
                pz_status status = changes[c](z);
                done = test_env.failed == failed;
                test_env_fail(&test_env, 0, 0);
                file after = dump_of(z);
                CHECK(status == PZ_OK || status == PZ_NOMEM);
                if (status != PZ_OK) {
                    CHECK(file_equal(&before, &after));
                    CHECK_EQ(pz_version(z), version);
                }
                CHECK(!done || status == PZ_OK);
                check_valid(z);
                file_free(&before);
                file_free(&after);
                pz_free(z);
            }
        }
    }
}

TEST(reads_need_no_memory)
{
    set_plan plan = {PZ_INT32, PZ_FLOAT32, 3000, 32, 0.5, true, COUNTERS, 4};
    pz_set *z = set_make(&plan);
    int32_t members[500];
    float scores[500];
    int64_t ranks[500];
    REQUIRE(z != NULL);
    test_env_fail(&test_env, 0, 1);
    CHECK_EQ(pz_range(z, 100, 500, false, (pz_out){members, 4}, (pz_out){scores, 4}, NULL), PZ_OK);
    CHECK_EQ(test_env.calls, 0); /* a range allocates nothing */
    CHECK_EQ(pz_rank(z, 500, (pz_in){members, 4}, false, PZ_RANK_ORDINAL, (pz_out){ranks, 8}, NULL),
             PZ_OK);
    for (int i = 0; i < 500; i++)
        CHECK_EQ(ranks[i], 100 + i);
    float again[500];
    CHECK_EQ(pz_score(z, 500, (pz_in){members, 4}, (pz_out){again, 4}, NULL), PZ_OK);
    CHECK(memcmp(again, scores, sizeof scores) == 0);
    test_env_fail(&test_env, 0, 0);
    pz_free(z);
}

/* A bulk call's memory beyond the set: at most 64 bytes a row. */
TEST(scratch_of_bulk_calls)
{
    for (int m = 0; m < 3; m++) {
        for (int s = 0; s < 2; s++) {
            const uint32_t n = 100000;
            pz_set *z = plain_set(member_kinds[m], score_kinds[s], 512);
            score_shape shape = COUNTERS;
            uint64_t seed = 3;
            CHECK_EQ(set_rows(z, 0, 1, n, &shape, &seed), PZ_OK);
            size_t mb = member_size(member_kinds[m]);
            uint8_t *members = malloc(n * mb), *out = malloc(n * 8);
            for (uint32_t i = 0; i < n; i++)
                member_put(member_kinds[m], members + i * mb, (i * 7919) % n);
            long long before = test_env.live_bytes;
            test_env.peak_bytes = before;
            CHECK_EQ(pz_score(z, n, (pz_in){members, (ptrdiff_t)mb},
                              (pz_out){out, (ptrdiff_t)score_size(score_kinds[s])}, NULL),
                     PZ_OK);
            CHECK_EQ(test_env.live_bytes, before);
            CHECK(test_env.peak_bytes - before <= 64LL * n);
            CHECK_EQ(pz_rank(z, n, (pz_in){members, (ptrdiff_t)mb}, false, PZ_RANK_ORDINAL,
                             (pz_out){out, 8}, NULL),
                     PZ_OK);
            CHECK(test_env.peak_bytes - before <= 64LL * n);
            free(members);
            free(out);
            pz_free(z);
        }
    }
}

/* ---- limits ---- */
TEST(limits_are_refused)
{
    set_plan plan = {PZ_INT32, PZ_FLOAT32, 4000, 32, 0.5, true, COUNTERS, 4};
    pz_set *z = set_make(&plan);
    REQUIRE(z != NULL);
    file before = dump_of(z);
    pz_limit_for_tests(z, 10, 65535);
    CHECK_EQ(change_bulk(z), PZ_FULL);
    file after = dump_of(z);
    CHECK(file_equal(&before, &after));
    check_valid(z);
    pz_limit_for_tests(z, 0xfffffffe, 65535);
    CHECK_EQ(change_bulk(z), PZ_OK);
    file_free(&before);
    file_free(&after);
    uint64_t a;
    CHECK_EQ(pz_remove(z, (size_t)PZ_ROWS_MAX + 1, (pz_in){&a, 0}, &a, NULL), PZ_FULL);
    pz_free(z);
}

/* ---- floating-point modes ---- */
static void modes_run(file *text)
{
    static const double amounts[] = {0.1, 1e-310, -0.3, 3.7e-320, 1e16, 2.5, -1e16, 1e-45, 7e-46};
    for (int s = 0; s < 2; s++) {
        pz_set *z = plain_set(PZ_INT32, score_kinds[s], 8);
        for (int32_t i = 0; i < 400; i++) {
            int32_t m = i % 60;
            CHECK_EQ(pz_incr(z, 1, (pz_in){&m, 0}, (pz_in){&amounts[i % 9], 0}, true,
                             (pz_out){NULL, 0}, NULL),
                     PZ_OK);
        }
        const pz_set *both[2] = {z, z};
        const double weights[2] = {0.1, 1e-5};
        pz_set *sum = NULL;
        CHECK_EQ(pz_combine(PZ_UNION, 2, both, weights, PZ_SUM, &sum, NULL), PZ_OK);
        int rounding = fegetround(); /* printf rounds as it says */
        fesetround(FE_TONEAREST);
        CHECK_EQ(pz_dump(z, text_append, text), PZ_OK);
        CHECK_EQ(pz_dump(sum, text_append, text), PZ_OK);
        fesetround(rounding);
        uint64_t low = pz_position_of_score(z, 4.9e-324, false);
        uint64_t high = pz_position_of_score(z, 1e-310, true);
        file_append(text, &low, sizeof low);
        file_append(text, &high, sizeof high);
        pz_free(sum);
        pz_free(z);
    }
}

TEST(modes_of_the_caller_do_not_matter)
{
    static const int roundings[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    file want = {0};
    modes_run(&want);
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++) {
        file got = {0};
        CHECK_EQ(fesetround(roundings[i]), 0);
        modes_run(&got);
        CHECK_EQ(fegetround(), roundings[i]); /* and is left as it was */
        fesetround(FE_TONEAREST);
        CHECK(file_equal(&want, &got));
        file_free(&got);
    }
#ifdef __SSE2__
    file got = {0};
    unsigned mode = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(mode | 0x8040); /* flush to zero, denormals are zero */
    modes_run(&got);
    CHECK_EQ(__builtin_ia32_stmxcsr() & 0x8040, 0x8040);
    __builtin_ia32_ldmxcsr(mode);
    CHECK(file_equal(&want, &got));
    file_free(&got);
#endif
    file_free(&want);
}

/* ---- scans ---- */
enum { SCAN_KEYS = 4000, SCAN_ROOM = 32 + PZ_LEAF_ENTRIES_MAX };

/* Members 0, 4, 8, ... stay; the others come and go between the steps of a scan. */
static void scan_under_changes(uint32_t capacity, uint32_t changes, uint64_t seed)
{
    pz_set *z = plain_set(PZ_INT32, PZ_FLOAT32, capacity);
    static uint8_t seen[SCAN_KEYS];
    static int32_t members[SCAN_ROOM];
    memset(seen, 0, sizeof seen);
    for (int32_t i = 0; i < SCAN_KEYS; i += 4)
        CHECK_EQ(put_one(z, i, i % 17), PZ_OK);
    uint64_t cursor = 0, removed;
    uint32_t steps = 0;
    do {
        size_t written = 0;
        CHECK_EQ(pz_scan(z, cursor, 32, SCAN_ROOM, (pz_out){members, 4}, (pz_out){NULL, 0},
                         &written, &cursor),
                 PZ_OK);
        for (size_t i = 0; i < written; i++)
            seen[members[i]] = 1;
        for (uint32_t i = 0; i < changes; i++) {
            int32_t m = (int32_t)(test_random(&seed) % SCAN_KEYS);
            if (steps % 3 == 1)
                m = 1000 + m % 300; /* labels run out in one place */
            if (m % 4 == 0)
                CHECK_EQ(put_one(z, m, (double)(test_random(&seed) % 100)), PZ_OK);
            else if (test_random(&seed) % 2)
                CHECK_EQ(put_one(z, m, 3), PZ_OK);
            else
                CHECK_EQ(pz_remove(z, 1, (pz_in){&m, 0}, &removed, NULL), PZ_OK);
        }
        check_valid(z);
    } while (cursor != 0 && ++steps < 3000);
    CHECK_EQ(cursor, 0);
    for (int32_t i = 0; i < SCAN_KEYS; i += 4)
        CHECK(seen[i]);
    pz_free(z);
}

TEST(scans_meet_everyone_who_stays)
{
    for (uint64_t seed = test_seed(); seed < test_seed() + 6; seed++) {
        scan_under_changes(4, 40, seed);
        scan_under_changes(32, 200, seed);
        scan_under_changes(512, 100, seed);
    }
}

TEST(scans_of_small_sets)
{
    pz_set *z = plain_set(PZ_INT32, PZ_FLOAT32, 512);
    int32_t members[SCAN_ROOM];
    uint8_t seen[100] = {0};
    uint64_t cursor = 0;
    for (int32_t i = 0; i < 100; i++)
        CHECK_EQ(put_one(z, i, i), PZ_OK);
    do {
        size_t written;
        CHECK_EQ(pz_scan(z, cursor, 7, SCAN_ROOM, (pz_out){members, 4}, (pz_out){NULL, 0}, &written,
                         &cursor),
                 PZ_OK);
        CHECK(written <= 8);
        for (size_t i = 0; i < written; i++)
            seen[members[i]]++;
    } while (cursor != 0);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(seen[i], 1);
    CHECK_EQ(pz_scan(z, 0, 0, SCAN_ROOM, (pz_out){members, 4}, (pz_out){NULL, 0}, &cursor, &cursor),
             PZ_INVALID);
    pz_free(z);
}

/* ---- sizes ---- */
TEST(small_sets_are_small)
{
    static const uint64_t most[] = {64, 64 + 24, 320};
    static const uint32_t sizes[] = {0, 1, 10};
    for (int m = 0; m < 3; m++) {
        for (int s = 0; s < 2; s++) {
            for (int i = 0; i < 3; i++) {
                pz_set *z = plain_set(member_kinds[m], score_kinds[s], 512);
                score_shape shape = DISTINCT;
                uint64_t seed = 3;
                CHECK_EQ(set_rows(z, 0, 1, sizes[i], &shape, &seed), PZ_OK);
                CHECK(pz_allocated_bytes(z) <= most[i]);
                pz_memory memory;
                pz_memory_of(z, &memory);
                CHECK_EQ(memory.total_allocated_bytes, pz_allocated_bytes(z));
                CHECK_EQ(test_env.live_bytes - (long long)pz_allocated_bytes(z),
                         test_env.live_bytes - (long long)memory.total_allocated_bytes);
                pz_free(z);
            }
        }
    }
}

TEST(forms_follow_the_size)
{
    pz_set *z = plain_set(PZ_INT64, PZ_FLOAT64, 512);
    pz_memory memory;
    score_shape shape = COUNTERS;
    uint64_t seed = 3;
    CHECK_EQ(set_rows(z, 0, 1, 128, &shape, &seed), PZ_OK);
    pz_memory_of(z, &memory);
    CHECK(memory.small);
    CHECK_EQ(set_rows(z, 128, 1, 1, &shape, &seed), PZ_OK);
    pz_memory_of(z, &memory);
    CHECK(!memory.small);
    for (uint32_t i = 0; i < 97; i++) /* one by one: small again at a quarter of the capacity */
        CHECK_EQ(set_rows(z, i, 1, 1, NULL, &seed), PZ_OK);
    pz_memory_of(z, &memory);
    CHECK(memory.small);
    CHECK_EQ(pz_len(z), 32);
    check_valid(z);
    CHECK_EQ(set_rows(z, 0, 1, 128, &shape, &seed), PZ_OK); /* 160 rows at most, 129 members */
    CHECK_EQ(pz_len(z), 129);
    check_valid(z);
    pz_clear(z);
    CHECK_EQ(pz_len(z), 0);
    CHECK_EQ(pz_allocated_bytes(z), sizeof(void *) * 7);
    pz_free(z);
}

/* Nothing piles up over a million calls, refused ones included. */
TEST(a_million_calls)
{
    pz_set *z = plain_set(PZ_INT32, PZ_FLOAT32, 64);
    uint64_t seed = test_seed(), removed;
    long long high = 0;
    const float nan = NAN;
    for (uint32_t i = 0; i < 1000000; i++) {
        int32_t m = (int32_t)(test_random(&seed) % 700);
        switch (test_random(&seed) % 4) {
        case 0:
            CHECK_EQ(pz_remove(z, 1, (pz_in){&m, 0}, &removed, NULL), PZ_OK);
            break;
        case 1:
            CHECK_EQ(
                pz_incr(z, 1, (pz_in){&m, 0}, (pz_in){&nan, 0}, false, (pz_out){NULL, 0}, NULL),
                PZ_NAN);
            break;
        default:
            CHECK_EQ(put_one(z, m, (double)(test_random(&seed) % 1000)), PZ_OK);
        }
        if (i == 100000)
            high = test_env.live_bytes;
    }
    CHECK(test_env.live_bytes <= high + high / 2);
    check_valid(z);
    pz_free(z);
}
