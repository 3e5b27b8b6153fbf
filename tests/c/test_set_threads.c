/* Threads: many readers of one set at once, readers and a writer under a lock, and sets of several
 * threads that share one pool. Looked at by the thread sanitizer too. */
#define _DEFAULT_SOURCE
#include <pthread.h>

#include "test.h"

#include "sets.h"

enum { THREADS = 4, MEMBERS = 4000 };

typedef struct worker {
    pthread_t thread;
    pz_set *set;
    pthread_rwlock_t *lock;
    unsigned number;
    bool ok;
} worker;

static bool run_workers(worker *w, void *(*body)(void *))
{
    bool ok = true;
    for (unsigned i = 0; i < THREADS; i++) {
        w[i].number = i;
        ok = pthread_create(&w[i].thread, NULL, body, &w[i]) == 0 && ok;
    }
    for (unsigned i = 0; i < THREADS; i++)
        ok = pthread_join(w[i].thread, NULL) == 0 && w[i].ok && ok;
    return ok;
}

/* Asks everything; true when the answers fit each other. */
static bool ask(const pz_set *z, uint32_t from)
{
    static const ptrdiff_t step = 8;
    bool ok = true;
    uint64_t n = pz_len(z);
    int64_t members[100];
    double scores[100], looked[100];
    int64_t ranks[100];
    uint8_t found[100];
    uint64_t start = n > 100 ? from % (n - 100) : 0, count = n < 100 ? n : 100;
    ok = pz_range(z, start, count, false, (pz_out){members, step}, (pz_out){scores, step}, NULL) ==
             PZ_OK &&
         ok;
    ok = pz_score(z, count, (pz_in){members, step}, (pz_out){looked, step}, NULL) == PZ_OK && ok;
    ok = pz_contains(z, count, (pz_in){members, step}, (pz_out){found, 1}, NULL) == PZ_OK && ok;
    ok = pz_rank(z, count, (pz_in){members, step}, false, PZ_RANK_ORDINAL, (pz_out){ranks, step},
                 NULL) == PZ_OK &&
         ok;
    for (uint64_t i = 0; i < count && ok; i++) {
        double one = 0;
        ok = found[i] == 1 && looked[i] == scores[i] && ranks[i] == (int64_t)(start + i) &&
             pz_score_one(z, &members[i], &one) && one == scores[i] &&
             pz_position_of_score(z, scores[i], false) <= start + i &&
             pz_position_of_score(z, scores[i], true) > start + i;
    }
    return ok;
}

static void *read_only(void *arg)
{
    worker *w = arg;
    w->ok = true;
    for (uint32_t i = 0; i < 200; i++)
        w->ok = ask(w->set, i * 37 + w->number) && w->ok;
    pz_memory memory;
    pz_memory_of(w->set, &memory);
    w->ok = w->ok && pz_validate(w->set, NULL) == PZ_OK && memory.member_count == pz_len(w->set);
    return NULL;
}

TEST(threads_read_one_set)
{
    set_plan plan = {PZ_INT64, PZ_FLOAT64, MEMBERS, 32, 0.5, true, COUNTERS, test_seed()};
    worker w[THREADS] = {0};
    pz_set *z = set_make(&plan);
    REQUIRE(z != NULL);
    for (unsigned i = 0; i < THREADS; i++)
        w[i].set = z;
    CHECK(run_workers(w, read_only));
    pz_free(z);
}

static void *read_and_write(void *arg)
{
    worker *w = arg;
    uint64_t seed = w->number + test_seed();
    score_shape shape = COUNTERS;
    w->ok = true;
    for (uint32_t i = 0; i < 150; i++) {
        if (i % 3 == w->number % 3) {
            pthread_rwlock_wrlock(w->lock);
            uint32_t n = i % 2 == 0 ? 1 : 60;
            const score_shape *given = i % 5 == 4 ? NULL : &shape;
            w->ok = set_rows(w->set, i * 31 % MEMBERS, 3, n, given, &seed) == PZ_OK && w->ok;
        } else {
            pthread_rwlock_rdlock(w->lock);
            w->ok = ask(w->set, i * 41) && w->ok;
        }
        pthread_rwlock_unlock(w->lock);
    }
    return NULL;
}

TEST(threads_take_turns_at_writing)
{
    set_plan plan = {PZ_INT64, PZ_FLOAT64, MEMBERS, 32, 0.5, true, COUNTERS, test_seed()};
    worker w[THREADS] = {0};
    pthread_rwlock_t lock;
    pz_set *z = set_make(&plan);
    REQUIRE(z != NULL && pthread_rwlock_init(&lock, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        w[i].set = z;
        w[i].lock = &lock;
    }
    CHECK(run_workers(w, read_and_write));
    CHECK(pz_validate(z, NULL) == PZ_OK);
    pthread_rwlock_destroy(&lock);
    pz_free(z);
}

static void *own_sets(void *arg)
{
    worker *w = arg;
    score_shape shape = DISTINCT;
    uint64_t seed = w->number;
    w->ok = true;
    for (uint32_t round = 0; round < 6; round++) {
        set_plan plan = {member_kinds[round % 3],
                         score_kinds[round % 2],
                         300u << round,
                         0,
                         0.5,
                         true,
                         COUNTERS,
                         w->number + 1};
        pz_set *z = set_make(&plan), *copied = NULL;
        w->ok = w->ok && z != NULL && pz_copy(z, &copied) == PZ_OK;
        if (!w->ok)
            return NULL;
        w->ok = set_rows(z, 7, 5, 2000, &shape, &seed) == PZ_OK && pz_optimize(z, NULL) == PZ_OK &&
                pz_validate(z, NULL) == PZ_OK && pz_validate(copied, NULL) == PZ_OK;
        pz_free(z);
        pz_free(copied);
    }
    return NULL;
}

TEST(threads_share_a_pool_between_their_sets)
{
    worker w[THREADS] = {0};
    CHECK(run_workers(w, own_sets));
}
