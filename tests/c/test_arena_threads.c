/* Test of arenas in several threads over one pool. */
#include <pthread.h>

#include "arena_model.h"

typedef struct worker {
    model *m;
    uint64_t seed;
} worker;

static void *worker_run(void *arg)
{
    model *m = ((worker *)arg)->m;
    m->rng = ((worker *)arg)->seed;
    for (int step = 0; step < 3000; step++) {
        random_operation(m, step % 100 == 0 ? ANY : LEAVES);
        while (m->count > 200)
            model_drop(m, pick(m, m->count));
    }
    return NULL;
}

TEST(arenas_in_threads_share_a_pool)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){model_new(), test_seed() + (uint64_t)i};
        REQUIRE(pthread_create(&threads[i], NULL, worker_run, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        model *m = workers[i].m;
        CHECK(valid(&m->arena));
        for (uint32_t k = 0; k < m->count; k++)
            CHECK(holds(pz_arena_at(&m->arena, m->all[k].slot), m->all[k].asked, m->all[k].seed));
        model_free(m);
    }
}
