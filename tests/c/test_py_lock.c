/* The readers-writer lock of the binding (csrc/py/lock.h): exclusion, no lost wake-ups, writers
 * before readers, waiting that ends. Run under the thread sanitizer too. */
#define _DEFAULT_SOURCE /* clock_gettime: lock.c comes in as text */

#include <pthread.h>
#include <sched.h>

#include "test.h"

#include "../../csrc/py/lock.c"

#define THREADS 6
#define ROUNDS 3000

typedef struct shared {
    pzpy_lock lock;
    long first, second; /* written together, under the lock; no atomics, on purpose */
    atomic_int torn;
} shared;

static void take_lock(pzpy_lock *lock, bool write)
{
    while (!pzpy_lock_try(lock, write) && !pzpy_lock_wait(lock, write, 1000))
        continue;
}

static void *reader_and_writer(void *arg)
{
    shared *s = arg;
    for (int round = 0; round < ROUNDS; round++) {
        take_lock(&s->lock, true);
        s->first++;
        if (round % 16 == 0)
            sched_yield();
        s->second++;
        pzpy_lock_give(&s->lock, true);
        take_lock(&s->lock, false);
        if (s->first != s->second)
            atomic_fetch_add(&s->torn, 1);
        pzpy_lock_give(&s->lock, false);
    }
    return NULL;
}

TEST(threads_writers_are_alone)
{
    shared s = {.first = 0};
    pthread_t threads[THREADS];
    REQUIRE(pzpy_lock_setup() == 0);
    pzpy_lock_init(&s.lock);
    for (int i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, reader_and_writer, &s) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(s.first, THREADS * ROUNDS);
    CHECK_EQ(atomic_load(&s.torn), 0);
    CHECK_EQ(atomic_load(&s.lock.word), 0);
    CHECK_EQ(s.lock.waiting_readers, 0);
    CHECK_EQ(s.lock.waiting_writers, 0);
}

TEST(threads_readers_share_and_writers_do_not)
{
    pzpy_lock lock;
    pzpy_lock_init(&lock);
    CHECK(pzpy_lock_try(&lock, false));
    CHECK(pzpy_lock_try(&lock, false));
    CHECK(!pzpy_lock_try(&lock, true));
    pzpy_lock_give(&lock, false);
    CHECK(!pzpy_lock_try(&lock, true));
    pzpy_lock_give(&lock, false);
    CHECK(pzpy_lock_try(&lock, true));
    CHECK(!pzpy_lock_try(&lock, true));
    CHECK(!pzpy_lock_try(&lock, false));
    pzpy_lock_give(&lock, true);
    CHECK_EQ(atomic_load(&lock.word), 0);
}

TEST(threads_waiting_ends)
{
    pzpy_lock lock;
    REQUIRE(pzpy_lock_setup() == 0);
    pzpy_lock_init(&lock);
    CHECK(pzpy_lock_try(&lock, true));
    CHECK(!pzpy_lock_wait(&lock, true, 2));
    CHECK(!pzpy_lock_wait(&lock, false, 2));
    CHECK_EQ(atomic_load(&lock.word), PZPY_LOCK_WRITER); /* nobody is left waiting */
    pzpy_lock_give(&lock, true);
    CHECK(pzpy_lock_wait(&lock, false, 2));
    pzpy_lock_give(&lock, false);
}

static void *writer(void *arg)
{
    shared *s = arg;
    take_lock(&s->lock, true);
    s->first = 1;
    pzpy_lock_give(&s->lock, true);
    return NULL;
}

static void *late_reader(void *arg)
{
    shared *s = arg;
    take_lock(&s->lock, false);
    if (s->first != 1)
        atomic_fetch_add(&s->torn, 1);
    pzpy_lock_give(&s->lock, false);
    return NULL;
}

TEST(threads_a_waiting_writer_goes_before_later_readers)
{
    shared s = {.first = 0};
    pthread_t a, b;
    REQUIRE(pzpy_lock_setup() == 0);
    pzpy_lock_init(&s.lock);
    CHECK(pzpy_lock_try(&s.lock, false));
    REQUIRE(pthread_create(&a, NULL, writer, &s) == 0);
    while ((atomic_load(&s.lock.word) & PZPY_LOCK_WRITERS_WAIT) == 0)
        sched_yield();
    CHECK(!pzpy_lock_try(&s.lock, false));
    REQUIRE(pthread_create(&b, NULL, late_reader, &s) == 0);
    while ((atomic_load(&s.lock.word) & PZPY_LOCK_READERS_WAIT) == 0)
        sched_yield();
    pzpy_lock_give(&s.lock, false);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    CHECK_EQ(s.first, 1);
    CHECK_EQ(atomic_load(&s.torn), 0);
    CHECK_EQ(atomic_load(&s.lock.word), 0);
}
