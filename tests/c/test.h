/* The harness of all C tests: one program per test_*.c, which includes this file once.
 *
 *     TEST(adds_one)
 *     {
 *         CHECK(f(1) == 2);
 *         CHECK_EQ(f(1), 2);      both sides are printed as integers
 *         REQUIRE(p != NULL);     ends this test when it fails
 *     }
 *
 * main() runs every test in order (or those whose name contains argv[1]) and prints failures with
 * their place; the last line is `N passed, N failed`. SEED=n in the environment reseeds
 * test_seed(); the seed in use is printed.
 *
 * Each test starts with a fresh environment `test_env`, whose hooks count what is alive and can be
 * told to fail; it must end with nothing alive. Hooks may be called from any thread. */
#ifndef PZ_TEST_H
#define PZ_TEST_H

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../csrc/arena/pool.h"
#include "../../csrc/base/env.h"

/* ---- the environment: counting, failing ---- */
typedef struct pz_test_env {
    pz_env env; /* what the tested code is given; its pool is made from the same hooks */
    atomic_llong live_bytes, live_pieces;  /* allocated and mapped, not given back */
    atomic_llong peak_bytes;               /* largest live_bytes */
    atomic_llong calls;                    /* of alloc and map, failed ones included */
    atomic_llong failed;                   /* of those */
    atomic_llong advised;                  /* mappings that huge pages were asked for */
    long long fail_at; /* this call fails (calls is 1 at the first); 0: none */
    long long fail_from; /* this call and all later ones fail; 0: none */
    unsigned fail_per_mille; /* chance of failing, from `seed` */
    atomic_ullong seed;
} pz_test_env;

__attribute__((unused)) static pz_test_env test_env;

static inline uint64_t test_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline int test_env_fails(pz_test_env *t)
{
    long long call = atomic_fetch_add(&t->calls, 1) + 1;
    int fails = call == t->fail_at || (t->fail_from != 0 && call >= t->fail_from);
    if (t->fail_per_mille != 0) {
        uint64_t state = atomic_fetch_add(&t->seed, 1);
        fails |= test_random(&state) % 1000 < t->fail_per_mille;
    }
    atomic_fetch_add(&t->failed, fails);
    return fails;
}

static inline void *test_env_track(pz_test_env *t, void *ptr, size_t bytes)
{
    if (ptr != NULL) {
        long long live = atomic_fetch_add(&t->live_bytes, (long long)bytes) + (long long)bytes;
        long long peak = atomic_load(&t->peak_bytes);
        while (live > peak && !atomic_compare_exchange_weak(&t->peak_bytes, &peak, live))
            continue;
        atomic_fetch_add(&t->live_pieces, 1);
    }
    return ptr;
}

static void *test_env_alloc(void *ctx, size_t bytes)
{
    void *ptr = test_env_fails(ctx) ? NULL : pz_env_alloc(&pz_env_system_hooks, bytes);
    if (ptr != NULL)
        memset(ptr, 0xa5, bytes); /* nobody may rely on zeros */
    return test_env_track(ctx, ptr, bytes);
}

static void *test_env_map(void *ctx, size_t bytes, size_t align)
{
    const pz_env *sys = &pz_env_system_hooks;
    return test_env_track(ctx, test_env_fails(ctx) ? NULL : sys->map(sys->ctx, bytes, align),
                          bytes);
}

static void test_env_forget(pz_test_env *t, size_t bytes)
{
    atomic_fetch_sub(&t->live_bytes, (long long)bytes);
    atomic_fetch_sub(&t->live_pieces, 1);
}

static void test_env_free(void *ctx, void *ptr, size_t bytes)
{
    test_env_forget(ctx, bytes);
    memset(ptr, 0x5a, bytes); /* also finds a size larger than what was allocated */
    pz_env_free(&pz_env_system_hooks, ptr, bytes);
}

static void test_env_unmap(void *ctx, void *ptr, size_t bytes)
{
    test_env_forget(ctx, bytes);
    pz_env_system_hooks.unmap(pz_env_system_hooks.ctx, ptr, bytes);
}

static void test_env_discard(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    pz_env_system_hooks.discard(pz_env_system_hooks.ctx, ptr, bytes);
}

static void test_env_advise(void *ctx, void *ptr, size_t bytes)
{
    atomic_fetch_add(&((pz_test_env *)ctx)->advised, 1);
    pz_env_system_hooks.advise(pz_env_system_hooks.ctx, ptr, bytes);
}

/* Start counting calls anew, with the n-th call from here failing (0: none), or all from there. */
static inline void test_env_fail(pz_test_env *t, long long at, long long from)
{
    atomic_store(&t->calls, 0);
    t->fail_at = at;
    t->fail_from = from;
    t->fail_per_mille = 0;
}

static inline int test_env_open(pz_test_env *t)
{
    memset(t, 0, sizeof *t);
    t->env = (pz_env){.alloc = test_env_alloc,
                      .free = test_env_free,
                      .map = test_env_map,
                      .unmap = test_env_unmap,
                      .discard = test_env_discard,
                      .advise = test_env_advise,
                      .ctx = t};
    return pz_pool_new(&t->env, &t->env.pool) == PZ_OK;
}

/* ---- tests ---- */
typedef struct test_case {
    const char *name;
    void (*run)(void);
} test_case;

static test_case test_cases[256];
static int test_count, test_failures;

#define TEST(name)                                                      \
    static void test_##name(void);                                      \
    __attribute__((constructor)) static void test_register_##name(void) \
    {                                                                   \
        if (test_count < 256)                                           \
            test_cases[test_count] = (test_case){#name, test_##name};   \
        test_count++;                                                   \
    }                                                                   \
    static void test_##name(void)

static inline int test_fail(const char *file, int line, const char *what)
{
    if (++test_failures <= 20)
        printf("%s:%d: %s\n", file, line, what);
    return 0;
}

static inline int test_check(const char *file, int line, const char *what, int holds)
{
    return holds || test_fail(file, line, what);
}

static inline int test_equal(const char *file, int line, const char *what, long long a, long long b)
{
    if (a == b)
        return 1;
    test_fail(file, line, what);
    if (test_failures <= 20)
        printf("    %lld != %lld\n", a, b);
    return 0;
}

#define CHECK(cond) test_check(__FILE__, __LINE__, #cond, (cond) ? 1 : 0)
#define CHECK_EQ(a, b) test_equal(__FILE__, __LINE__, #a " == " #b, (long long)(a), (long long)(b))
#define REQUIRE(cond)     \
    do {                  \
        if (!CHECK(cond)) \
            return;       \
    } while (0)

__attribute__((unused)) static uint64_t test_seed(void)
{
    const char *text = getenv("SEED");
    return text != NULL ? strtoull(text, NULL, 0) : 1;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    printf("SEED=%" PRIu64 "\n", test_seed());
    for (int i = 0; i < test_count && i < 256; i++) {
        const char *name = test_cases[i].name;
        if (argc > 1 && strstr(name, argv[1]) == NULL)
            continue;
        test_failures = 0;
        if (CHECK(test_env_open(&test_env))) {
            test_cases[i].run();
            pz_pool_free(test_env.env.pool);
            CHECK_EQ(atomic_load(&test_env.live_bytes), 0);
            CHECK_EQ(atomic_load(&test_env.live_pieces), 0);
        }
        printf("%-4s %s\n", test_failures == 0 ? "ok" : "FAIL", name);
        fflush(stdout);
        *(test_failures == 0 ? &passed : &failed) += 1;
    }
    if (test_count > 256) {
        printf("more than 256 tests in one file\n");
        failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

#endif
