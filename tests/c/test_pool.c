/* Tests of the pool of spans: against a model, under failing hooks, from many threads, over
 * fork. */
#define _DEFAULT_SOURCE

#include "test.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct piece {
    char *base;
    size_t bytes;
    bool touched;
    uint64_t mark;
} piece;

static pz_pool *pool(void)
{
    return test_env.env.pool;
}

static int valid(pz_pool *p)
{
    pz_why why = {0};
    if (pz_pool_validate(p, &why) == PZ_OK)
        return 1;
    printf("    %s at %llu: wanted %llu, got %llu\n", why.what, why.where, why.wanted, why.got);
    return 0;
}

static pz_pool_counters count(void)
{
    pz_pool_counters c;
    pz_pool_count(pool(), &c);
    return c;
}

/* Pages in [base, base + bytes) that are in memory. */
static size_t resident(const char *base, size_t bytes)
{
    static unsigned char seen[4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
    if (mincore((void *)(uintptr_t)base, bytes, (void *)seen) != 0)
        return SIZE_MAX;
    for (size_t i = 0; i < bytes / page; i++)
        n += seen[i] & 1;
    return n;
}

static int piece_take(pz_pool *p, piece *s, size_t bytes)
{
    void *base = NULL;
    if (pz_pool_take(p, bytes, &base, &s->touched) != PZ_OK)
        return 0;
    s->base = base;
    s->bytes = bytes;
    return 1;
}

/* Mark both ends, so that overlapping pieces are found. */
static void piece_mark(piece *s, uint64_t mark)
{
    s->mark = mark;
    s->touched = true;
    memcpy(s->base, &mark, 8);
    memcpy(s->base + s->bytes - 8, &mark, 8);
}

static int piece_intact(const piece *s)
{
    return s->mark == 0 ||
           (memcmp(s->base, &s->mark, 8) == 0 && memcmp(s->base + s->bytes - 8, &s->mark, 8) == 0);
}

static void piece_give(pz_pool *p, const piece *s)
{
    pz_pool_give(p, s->base, s->bytes, s->touched);
}

TEST(new_pool_maps_nothing)
{
    CHECK_EQ(count().mapped_bytes, 0);
    CHECK_EQ(count().meta_bytes, atomic_load(&test_env.live_bytes));
    CHECK(valid(pool()));
}

TEST(spans_are_aligned_and_apart)
{
    piece all[9 * 4];
    int n = 0;
    for (int round = 0; round < 4; round++) {
        for (size_t bytes = PZ_POOL_SPAN_MIN; bytes <= PZ_POOL_SPAN_MAX; bytes *= 2, n++) {
            REQUIRE(piece_take(pool(), &all[n], bytes));
            CHECK_EQ((uintptr_t)all[n].base % bytes, 0);
            piece_mark(&all[n], (uint64_t)n + 1);
        }
    }
    for (int i = 0; i < n; i++)
        CHECK(piece_intact(&all[i]));
    CHECK_EQ(count().chunks, 2); /* 4 * 2,044 KiB in chunks of 4 MiB: no more than needed */
    for (int i = 0; i < n; i++)
        piece_give(pool(), &all[i]);
    CHECK(valid(pool()));
    CHECK_EQ(count().taken_bytes, 0);
}

TEST(random_takes_and_gives)
{
    enum { PIECES = 300, STEPS = 6000 };
    static piece out[PIECES];
    uint64_t rng = test_seed(), taken = 0;
    int n = 0;
    for (int step = 0; step < STEPS; step++) {
        int grow = (step / 1000) % 2 == 0 ? 60 : 40; /* rises and falls */
        if (n < PIECES && (n == 0 || (int)(test_random(&rng) % 100) < grow)) {
            size_t bytes = (size_t)PZ_POOL_SPAN_MIN << (test_random(&rng) % 9);
            REQUIRE(piece_take(pool(), &out[n], bytes));
            out[n].mark = 0;
            if (test_random(&rng) % 2 == 0)
                piece_mark(&out[n], test_random(&rng) | 1);
            taken += bytes;
            n++;
        } else {
            int i = (int)(test_random(&rng) % (uint64_t)n);
            CHECK(piece_intact(&out[i]));
            piece_give(pool(), &out[i]);
            taken -= out[i].bytes;
            out[i] = out[--n];
        }
        pz_pool_counters c = count();
        REQUIRE(valid(pool()));
        CHECK_EQ(c.taken_bytes, taken);
        CHECK_EQ(c.meta_bytes + c.mapped_bytes, atomic_load(&test_env.live_bytes));
    }
    while (n > 0)
        piece_give(pool(), &out[--n]);
    CHECK(valid(pool()));
}

TEST(untouched_spans_are_never_resident)
{
    enum { N = 64 };
    piece out[N];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            REQUIRE(piece_take(pool(), &out[i], 64 * 1024));
        for (int i = 0; i < N; i++) {
            CHECK(!out[i].touched);
            CHECK_EQ(resident(out[i].base, out[i].bytes), 0);
        }
        for (int i = 0; i < N; i++)
            piece_give(pool(), &out[i]);
    }
    CHECK_EQ(count().chunks, 1);
}

TEST(touched_spans_return_to_the_system)
{
    enum { N = 32 };
    piece out[N];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 0;
    for (int i = 0; i < N; i++) {
        REQUIRE(piece_take(pool(), &out[i], 256 * 1024));
        memset(out[i].base, 1, out[i].bytes);
        out[i].touched = true;
    }
    /* One span that stays out in every chunk: else chunks would be unmapped. */
    for (int i = 0; i < N; i++) {
        if (i % 8 != 0)
            piece_give(pool(), &out[i]);
    }
    for (int i = 0; i < N; i++) {
        if (i % 8 != 0)
            pages += resident(out[i].base, out[i].bytes);
    }
    CHECK(count().kept_bytes <= PZ_POOL_KEEP);
    CHECK(pages * page <= PZ_POOL_KEEP);
    for (int i = 0; i < N; i += 8)
        piece_give(pool(), &out[i]);
    CHECK(valid(pool()));
}

TEST(kept_spans_are_given_again)
{
    piece first, second;
    REQUIRE(piece_take(pool(), &first, 16384));
    piece_mark(&first, 7);
    piece_give(pool(), &first);
    CHECK_EQ(count().kept_bytes, 16384);
    REQUIRE(piece_take(pool(), &second, 16384));
    CHECK(second.base == first.base);
    CHECK(second.touched);
    piece_give(pool(), &second);
    CHECK(valid(pool()));
}

TEST(free_chunks_are_unmapped)
{
    enum { N = 100 };
    static piece out[N];
    for (int i = 0; i < N; i++)
        REQUIRE(piece_take(pool(), &out[i], PZ_POOL_SPAN_MAX));
    CHECK_EQ(count().chunks, N / 4);
    CHECK_EQ(count().free_chunks, 0);
    for (int i = 0; i < N; i++)
        piece_give(pool(), &out[i]);
    CHECK_EQ(count().free_chunks, PZ_POOL_KEEP_CHUNKS);
    CHECK(count().chunks <= PZ_POOL_KEEP_CHUNKS + 1); /* one is held by the kept span */
    CHECK(valid(pool()));
}

TEST(every_call_fails_in_turn)
{
    enum { N = 300 };
    static piece out[N];
    long long failures = 0;
    for (int n = 1;; n++) {
        pz_env hooks = test_env.env;
        pz_pool *p = NULL;
        test_env_fail(&test_env, n, 0);
        pz_status status = pz_pool_new(&hooks, &p);
        CHECK_EQ(status, n == 1 ? PZ_NOMEM : PZ_OK);
        int taken = 0, tries = 0;
        for (; status == PZ_OK && taken < N && tries < N + 1; tries++) {
            if (piece_take(p, &out[taken], PZ_POOL_SPAN_MAX))
                taken++;
            REQUIRE(valid(p));
        }
        if (status == PZ_OK)
            CHECK_EQ(taken, N);
        for (int i = 0; i < taken; i++)
            piece_give(p, &out[i]);
        long long calls = atomic_load(&test_env.calls);
        pz_pool_free(p);
        if (n > calls)
            break;
        failures++;
    }
    test_env_fail(&test_env, 0, 0);
    CHECK(failures > N / 4); /* each chunk's mapping and table failed once */
}

typedef struct worker {
    uint64_t seed;
    pz_pool *pool;
    int bad;
} worker;

static void *worker_run(void *arg)
{
    enum { PIECES = 64, STEPS = 4000 };
    worker *w = arg;
    piece out[PIECES];
    int n = 0;
    uint64_t rng = w->seed;
    for (int step = 0; step < STEPS; step++) {
        if (n < PIECES && test_random(&rng) % 2 == 0) {
            if (!piece_take(w->pool, &out[n], (size_t)PZ_POOL_SPAN_MIN << (test_random(&rng) % 9)))
                continue;
            out[n].mark = 0;
            if (test_random(&rng) % 4 != 0)
                piece_mark(&out[n], test_random(&rng) | 1);
            n++;
        } else if (n > 0) {
            int i = (int)(test_random(&rng) % (uint64_t)n);
            w->bad += !piece_intact(&out[i]);
            piece_give(w->pool, &out[i]);
            out[i] = out[--n];
        }
    }
    while (n > 0) {
        w->bad += !piece_intact(&out[--n]);
        piece_give(w->pool, &out[n]);
    }
    return NULL;
}

TEST(threads_share_a_pool)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){test_seed() + (uint64_t)i, pool(), 0};
        REQUIRE(pthread_create(&threads[i], NULL, worker_run, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(workers[i].bad, 0);
    }
    CHECK_EQ(count().taken_bytes, 0);
    CHECK(valid(pool()));
}

static void *default_env_run(void *arg)
{
    *(const pz_env **)arg = pz_env_default();
    return NULL;
}

TEST(threads_get_one_default_environment)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    const pz_env *got[THREADS] = {NULL};
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, default_env_run, &got[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(got[0] != NULL);
    CHECK(got[0] != NULL && got[0]->pool != NULL);
    for (int i = 1; i < THREADS; i++)
        CHECK(got[i] == got[0]);
}

static atomic_int stop;

static void *busy_run(void *arg)
{
    pz_pool *p = arg;
    piece s;
    while (!atomic_load(&stop)) {
        if (piece_take(p, &s, 8192))
            piece_give(p, &s);
    }
    return NULL;
}

/* The child of a fork made while another thread is inside the pool finds it usable. */
TEST(pool_works_in_a_child_forked_beside_threads)
{
    pz_pool *p = pz_env_default()->pool;
    pthread_t thread;
    atomic_store(&stop, 0);
    REQUIRE(pthread_create(&thread, NULL, busy_run, p) == 0);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) {
            piece s;
            alarm(20); /* a lock that nobody holds any more would never open */
            int ok = piece_take(p, &s, 65536);
            if (ok) {
                memset(s.base, 1, s.bytes);
                pz_pool_give(p, s.base, s.bytes, true);
            }
            _exit(ok && pz_pool_validate(p, NULL) == PZ_OK ? 0 : 1);
        }
        int status = -1;
        if (!CHECK(child > 0 && waitpid(child, &status, 0) == child))
            break;
        CHECK_EQ(status, 0);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    CHECK(valid(p));
}
