/* Every allocation and mapping of every changing call made to fail, in turn: the call then says so,
 * and the set is valid and what it was. The last round of each call lets it succeed. */
#include "test.h"

#include "sets.h"

enum { ROUNDS_MAX = 4000 };

typedef struct change {
    const char *name;
    pz_status (*run)(pz_set *z, pz_set **made);
} change;

static pz_status some_rows(pz_set *z, uint32_t first, uint32_t step, uint32_t n, bool take_away)
{
    score_shape shape = SPECIALS;
    uint64_t seed = test_seed() + n;
    return set_rows(z, first, step, n, take_away ? NULL : &shape, &seed);
}

static pz_status add_one(pz_set *z, pz_set **made)
{
    (void)made;
    return some_rows(z, 1000000, 1, 1, false);
}

static pz_status add_few(pz_set *z, pz_set **made)
{
    (void)made;
    return some_rows(z, 5, 13, 20, false);
}

static pz_status add_many(pz_set *z, pz_set **made)
{
    (void)made;
    return some_rows(z, 1, 2, 1500, false);
}

static pz_status remove_many(pz_set *z, pz_set **made)
{
    (void)made;
    return some_rows(z, 0, 3, 900, true);
}

static pz_status remove_range(pz_set *z, pz_set **made)
{
    (void)made;
    return pz_remove_range(z, pz_len(z) / 3, pz_len(z) - pz_len(z) / 4, NULL);
}

static pz_status incr_with_sums(pz_set *z, pz_set **made)
{
    static const float ones[2] = {1, 1};
    static double sums[600];
    uint8_t members[600 * 16];
    const size_t mb = member_size(pz_member_kind_of(z));
    const double one = 1;
    (void)made;
    for (uint32_t i = 0; i < 600; i++)
        member_put(pz_member_kind_of(z), members + i * mb, i * 2);
    pz_in amounts = {pz_score_kind_of(z) == PZ_FLOAT32 ? (const void *)ones : (const void *)&one,
                     0};
    return pz_incr(z, 600, (pz_in){members, (ptrdiff_t)mb}, amounts, false,
                   (pz_out){sums, sizeof(double)}, NULL);
}

static pz_status optimize(pz_set *z, pz_set **made)
{
    (void)made;
    return pz_optimize(z, NULL);
}

static pz_status copy(pz_set *z, pz_set **made)
{
    return pz_copy(z, made);
}

static pz_status unite(pz_set *z, pz_set **made)
{
    const pz_set *both[2] = {z, z};
    return pz_combine(PZ_UNION, 2, both, NULL, PZ_MAX, made, NULL);
}

static pz_status intersect(pz_set *z, pz_set **made)
{
    const pz_set *both[2] = {z, z};
    return pz_combine(PZ_INTERSECTION, 2, both, NULL, PZ_MIN, made, NULL);
}

static const change changes[] = {
    {"add_one", add_one},
    {"add_few", add_few},
    {"add_many", add_many},
    {"remove_many", remove_many},
    {"remove_range", remove_range},
    {"incr_with_sums", incr_with_sums},
    {"optimize", optimize},
    {"copy", copy},
    {"unite", unite},
    {"intersect", intersect},
};

static void dump_of(const pz_set *z, file *out)
{
    *out = (file){0};
    CHECK(pz_dump(z, text_append, out) == PZ_OK);
}

/* One change on one set, with the n-th call of the environment failing for n = 1, 2, ... */
static void fail_in_turn(const set_plan *plan, const change *c)
{
    for (long long n = 1;; n++) {
        pz_set *z = set_make(plan), *made = NULL;
        file before, after;
        pz_why why = {0};
        REQUIRE(z != NULL && n < ROUNDS_MAX);
        dump_of(z, &before);
        test_env_fail(&test_env, n, 0);
        long long failed = atomic_load(&test_env.failed);
        pz_status status = c->run(z, &made);
        bool hit = atomic_load(&test_env.failed) > failed;
        test_env_fail(&test_env, 0, 0);
        CHECK(status == PZ_OK || (status == PZ_NOMEM && hit && made == NULL));
        if (!CHECK(pz_validate(z, &why) == PZ_OK))
            printf("    %s: %s at %llu\n", c->name, why.what, why.where);
        dump_of(z, &after);
        if (status != PZ_OK && !CHECK(file_equal(&before, &after)))
            printf("    %s, call %lld: the set has changed\n", c->name, n);
        CHECK(made == NULL || pz_validate(made, NULL) == PZ_OK);
        file_free(&before);
        file_free(&after);
        pz_free(made);
        pz_free(z);
        if (!hit)
            return;
    }
}

static void fail_changes(uint32_t n, uint32_t capacity)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        for (unsigned layout = 0; layout < 6; layout++) {
            set_plan plan = {.member = member_kinds[layout / 2],
                             .score = score_kinds[layout % 2],
                             .n = n,
                             .capacity = capacity,
                             .exponent = 0.5,
                             .rle = layout % 4 < 2,
                             .shape = i % 2 == 0 ? COUNTERS : SPECIALS,
                             .seed = test_seed()};
            if (changes[i].run == remove_range && n == 0)
                continue;
            fail_in_turn(&plan, &changes[i]);
        }
    }
}

TEST(changes_of_an_empty_set)
{
    fail_changes(0, 0);
}

TEST(changes_of_a_small_set)
{
    fail_changes(90, 0);
}

TEST(changes_of_tiny_leaves)
{
    fail_changes(700, 4);
}

TEST(changes_of_real_leaves)
{
    fail_changes(3000, 0);
}

/* With everything failing from some call on, not only one call. */
TEST(changes_with_no_memory_left)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        for (long long from = 1; from < 12; from++) {
            set_plan plan = {PZ_INT64, PZ_FLOAT64, 2000, 16, 0.5, true, DISTINCT, test_seed()};
            pz_set *z = set_make(&plan), *made = NULL;
            REQUIRE(z != NULL);
            test_env_fail(&test_env, 0, from);
            pz_status status = changes[i].run(z, &made);
            test_env_fail(&test_env, 0, 0);
            CHECK(status == PZ_OK || status == PZ_NOMEM);
            CHECK(pz_validate(z, NULL) == PZ_OK);
            pz_free(made);
            pz_free(z);
        }
    }
}

/* Rows whose scratch is mapped, and in huge pages: the mapping fails, then what comes after it. */
TEST(changes_with_mapped_scratch)
{
    for (unsigned layout = 0; layout < 6; layout++) {
        set_plan plan = {.member = member_kinds[layout / 2],
                         .score = score_kinds[layout % 2],
                         .n = 2000,
                         .exponent = 0.5,
                         .rle = true,
                         .shape = COUNTERS,
                         .seed = test_seed()};
        pz_set *z = set_make(&plan);
        file before, after;
        REQUIRE(z != NULL);
        dump_of(z, &before);
        for (long long n = 1; n <= 4; n++) {
            test_env_fail(&test_env, n, 0);
            CHECK_EQ(some_rows(z, 1, 1, 200000, false), PZ_NOMEM);
            test_env_fail(&test_env, 0, 0);
            CHECK(pz_validate(z, NULL) == PZ_OK);
            dump_of(z, &after);
            CHECK(file_equal(&before, &after));
            file_free(&after);
        }
        long long advised = atomic_load(&test_env.advised);
        CHECK_EQ(some_rows(z, 1, 1, 1000, false), PZ_OK);
        CHECK_EQ(atomic_load(&test_env.advised), advised);
        CHECK_EQ(some_rows(z, 1, 1, 200000, false), PZ_OK);
        CHECK_EQ(atomic_load(&test_env.advised), advised + 1);
        CHECK(pz_validate(z, NULL) == PZ_OK);
        file_free(&before);
        pz_free(z);
    }
}

/* The arena's own limits refuse as an allocation would. */
TEST(limits_of_the_arena)
{
    set_plan plan = {PZ_INT32, PZ_FLOAT32, 1000, 8, 0.5, true, COUNTERS, test_seed()};
    pz_set *z = set_make(&plan);
    file before, after;
    REQUIRE(z != NULL);
    dump_of(z, &before);
    pz_limit_for_tests(z, 1, 1);
    CHECK_EQ(some_rows(z, 50000, 1, 3000, false), PZ_FULL);
    CHECK(pz_validate(z, NULL) == PZ_OK);
    dump_of(z, &after);
    CHECK(file_equal(&before, &after));
    file_free(&before);
    file_free(&after);
    pz_free(z);
}
