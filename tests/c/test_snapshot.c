/* Snapshots: what is saved comes back, byte for byte when saved again, and a call that cannot
 * finish leaves nothing behind. */
#include "test.h"

#include "snapshots.h"

/* ---- round trips ---- */
static void check_options(const pz_set *a, const pz_set *b)
{
    pz_options x, y;
    pz_options_of(a, &x);
    pz_options_of(b, &y);
    CHECK(x.merge_exponent == y.merge_exponent);
    CHECK_EQ(x.score_rle, y.score_rle);
    CHECK_EQ(x.member_leaf_capacity, y.member_leaf_capacity);
    CHECK_EQ(x.order_leaf_capacity, y.order_leaf_capacity);
}

/* Load with run coding switched, save, and switch back: the first file again. */
static void switch_rle(const file *first, const pz_set *z)
{
    pz_options options;
    pz_set *other = NULL, *back = NULL;
    pz_options_of(z, &options);
    bool on = options.score_rle, off = !on;
    double exponent = 0.25;
    REQUIRE(pz_load(&test_env.env, first->at, first->n, &off, &exponent, &other, NULL) == PZ_OK);
    pz_options_of(other, &options);
    CHECK(options.score_rle == off && options.merge_exponent == exponent);
    CHECK(is_valid(other));
    CHECK(pz_equal(z, other));
    file f = save(other);
    pz_options_of(z, &options);
    REQUIRE(pz_load(&test_env.env, f.at, f.n, &on, &options.merge_exponent, &back, NULL) == PZ_OK);
    file again = save(back);
    CHECK(file_equal(first, &again));
    file_free(&f);
    file_free(&again);
    pz_free(other);
    pz_free(back);
}

static void round_trip(const set_plan *p)
{
    pz_set *z = set_make(p);
    REQUIRE(z != NULL);
    file f = save(z);
    pz_set *copy = load(&f);
    REQUIRE(copy != NULL);
    CHECK(is_valid(copy));
    CHECK(pz_equal(z, copy));
    check_options(z, copy);
    file again = save(copy);
    CHECK(file_equal(&f, &again));
    file_free(&again);
    switch_rle(&f, z);
    use(copy);
    pz_free(copy);
    pz_free(z);
    file_free(&f);
}

TEST(round_trips)
{
    static const uint32_t sizes[] = {0, 1, 2, 7, 20, 128, 129, 150, 900, 5000};
    static const uint32_t capacities[] = {0, 4, 33, PZ_LEAF_MAX};
    static const double exponents[] = {0.5, 0, 1};
    uint64_t seed = test_seed();
    for (int layout = 0; layout < 6; layout++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (size_t c = 0; c < 4; c++) {
                set_plan p = {.member = member_kinds[layout / 2],
                              .score = score_kinds[layout % 2],
                              .n = sizes[i],
                              .capacity = capacities[c],
                              .exponent = exponents[test_random(&seed) % 3],
                              .rle = test_random(&seed) % 2 == 0,
                              .shape = (score_shape)(test_random(&seed) % SCORE_SHAPES),
                              .seed = test_random(&seed)};
                round_trip(&p);
            }
        }
    }
}

/* Saving folds tails: leaves longer than their capacity become two. */
TEST(long_tails_are_split)
{
    for (int layout = 0; layout < 6; layout++) {
        set_plan p = {.member = member_kinds[layout / 2],
                      .score = score_kinds[layout % 2],
                      .capacity = 8,
                      .exponent = 1,
                      .shape = DISTINCT};
        pz_set *z = set_make(&p);
        uint64_t seed = test_seed();
        REQUIRE(z != NULL);
        REQUIRE(set_rows(z, 0, 4, 300, &p.shape, &seed) == PZ_OK);
        for (uint32_t i = 0; i < 600; i++)
            REQUIRE(set_rows(z, (uint32_t)(test_random(&seed) % 1200), 1, 1, &p.shape, &seed) ==
                    PZ_OK);
        pz_memory before, after;
        file f = save(z);
        pz_set *copy = load(&f);
        REQUIRE(copy != NULL);
        CHECK(is_valid(copy) && pz_equal(z, copy));
        pz_memory_of(z, &before);
        pz_memory_of(copy, &after);
        CHECK(before.order.tail_entries > 0 && after.order.tail_entries == 0);
        CHECK(before.member.tail_entries > 0 && after.member.tail_entries == 0);
        CHECK(after.order.leaf_count > before.order.leaf_count);
        CHECK(after.arena_free_bytes * 4 <= after.arena_mapped_bytes);
        file_free(&f);
        pz_free(copy);
        pz_free(z);
    }
}

/* A set that is large but holds few entries is saved like a small one. */
TEST(the_form_follows_from_the_number_of_entries)
{
    pz_options o = {0.5, true, 0, 0};
    score_shape shape = COUNTERS;
    uint64_t seed = test_seed();
    pz_set *large = NULL;
    pz_memory m;
    REQUIRE(pz_new(&test_env.env, PZ_INT64, PZ_FLOAT32, &o, &large) == PZ_OK);
    REQUIRE(set_rows(large, 0, 1, 200, &shape, &seed) == PZ_OK);
    for (uint32_t i = 50; i < 150; i++) /* one by one: a bulk call would make it small at once */
        REQUIRE(set_rows(large, i, 1, 1, NULL, &seed) == PZ_OK);
    pz_memory_of(large, &m);
    REQUIRE(!m.small && pz_len(large) == 100);
    file f = save(large);
    pz_set *small = load(&f);
    REQUIRE(small != NULL);
    pz_memory_of(small, &m);
    CHECK(m.small);
    CHECK(is_valid(small) && pz_equal(small, large));
    file again = save(small);
    CHECK(file_equal(&f, &again));
    file_free(&f);
    file_free(&again);
    pz_free(small);
    pz_free(large);
}

/* ---- what can fail on the way ---- */
TEST(every_allocation_fails)
{
    for (int layout = 0; layout < 6; layout++) {
        for (uint32_t n = 60; n <= 3000; n *= 50) {
            file f = small_file(layout, n, n == 60 ? 512 : 16, COUNTERS);
            for (int again = 0; again < 2; again++) { /* once, then from there on */
                pz_set *z = NULL;
                long long at = 1;
                for (; z == NULL && at < 1000; at++) {
                    test_env_fail(&test_env, at, again ? at : 0);
                    pz_status status = load_bytes(f.at, f.n, &z, NULL);
                    CHECK(status == (z == NULL ? PZ_NOMEM : PZ_OK));
                }
                test_env_fail(&test_env, 0, 0);
                REQUIRE(z != NULL && is_valid(z));
                CHECK(at > 2);
                test_env_fail(&test_env, 1, 0);
                file part = {0};
                CHECK(pz_save(z, file_append, &part, NULL) == PZ_NOMEM);
                CHECK_EQ(part.n, 0);
                test_env_fail(&test_env, 0, 0);
                pz_free(z);
            }
            file_free(&f);
        }
    }
}

static int polls_left(void *ctx)
{
    return --*(int *)ctx < 0;
}

TEST(interrupts)
{
    file f = small_file(3, 5000, 8, COUNTERS);
    pz_set *z = load(&f), *other = NULL;
    REQUIRE(z != NULL);
    int polls = 0, left = 1000000;
    pz_call call = {.poll = polls_left, .ctx = &left};
    CHECK(load_bytes(f.at, f.n, &other, &call) == PZ_OK);
    polls = 1000000 - left;
    CHECK(polls > 10);
    pz_free(other);
    other = NULL;
    for (int stop = 0; stop < polls; stop += 3) {
        left = stop;
        CHECK(load_bytes(f.at, f.n, &other, &call) == PZ_INTERRUPTED && other == NULL);
    }
    left = 4;
    file part = {0};
    CHECK(pz_save(z, file_append, &part, &call) == PZ_INTERRUPTED);
    CHECK(part.n < f.n);
    file_free(&part);
    file_free(&f);
    pz_free(z);
}

typedef struct disk {
    int calls, room;
} disk;

static int disk_write(void *ctx, const void *bytes, size_t n)
{
    disk *d = ctx;
    (void)bytes;
    CHECK(n > 0);
    return d->calls++ == d->room;
}

TEST(writes_that_fail)
{
    for (uint32_t n = 0; n <= 20000; n = n * 20 + 50) {
        file f = small_file(5, n, 512, DISTINCT);
        pz_set *z = load(&f);
        disk all = {0, -1};
        REQUIRE(z != NULL);
        CHECK(pz_save(z, disk_write, &all, NULL) == PZ_OK);
        for (int at = 0; at < all.calls; at++) {
            disk full = {0, at};
            CHECK(pz_save(z, disk_write, &full, NULL) == PZ_IO);
            CHECK_EQ(full.calls, at + 1);
        }
        pz_free(z);
        file_free(&f);
    }
}

/* Loading holds the file's leaves, the keys being compared, and no more. */
TEST(memory_of_loading)
{
    file f = small_file(3, 100000, 512, COUNTERS);
    pz_set *z = load(&f);
    REQUIRE(z != NULL);
    uint64_t held = pz_allocated_bytes(z), n = pz_len(z);
    CHECK(held < f.n + f.n / 4);
    pz_free(z);
    CHECK(n > 80000);
    file_free(&f);
}
