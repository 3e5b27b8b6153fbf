/* lock.c: the waiting side of lock.h. See there for the drawing and the invariants.
 *
 * Why no wake-up is lost: a waiter holds the stripe's mutex from before it sets its bit until the
 * condition variable has put it to sleep. A lock given back before the bit was set is seen by the
 * waiter's next look at the word; one given back afterwards sees the bit and must take the mutex,
 * which it gets only when the waiter sleeps. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "lock.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

#define STRIPES 64u /* a power of two; sets that share one only wake each other now and then */

static struct stripe {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} stripes[STRIPES];

static pthread_once_t setup_once = PTHREAD_ONCE_INIT;
static int setup_result;

static struct stripe *stripe_of(const pzpy_lock *lock)
{
    uintptr_t address = (uintptr_t)lock;
    return &stripes[(address >> 6 ^ address >> 12) % STRIPES];
}

static void init_stripes(void)
{
    for (size_t i = 0; i < STRIPES; i++) {
        if (pthread_mutex_init(&stripes[i].mutex, NULL) != 0 ||
            pthread_cond_init(&stripes[i].changed, NULL) != 0)
            setup_result = -1;
    }
}

static void setup(void)
{
    init_stripes();
    /* A mutex may be held by another thread at the moment of a fork; that thread does not exist in
     * the child, so the child starts with new ones. */
    if (pthread_atfork(NULL, NULL, init_stripes) != 0)
        setup_result = -1;
}

int pzpy_lock_setup(void)
{
    return pthread_once(&setup_once, setup) == 0 ? setup_result : -1;
}

static struct timespec deadline_after(unsigned milliseconds)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += (time_t)(milliseconds / 1000u);
    at.tv_nsec += (long)(milliseconds % 1000u) * 1000000l;
    if (at.tv_nsec >= 1000000000l) {
        at.tv_nsec -= 1000000000l;
        at.tv_sec += 1;
    }
    return at;
}

bool pzpy_lock_wait(pzpy_lock *lock, bool write, unsigned milliseconds)
{
    struct stripe *stripe = stripe_of(lock);
    struct timespec deadline = deadline_after(milliseconds);
    uint16_t *waiting = write ? &lock->waiting_writers : &lock->waiting_readers;
    uint32_t bit = write ? PZPY_LOCK_WRITERS_WAIT : PZPY_LOCK_READERS_WAIT;

    pthread_mutex_lock(&stripe->mutex);
    (*waiting)++;
    atomic_fetch_or(&lock->word, bit);
    bool taken = pzpy_lock_try(lock, write);
    int waited = 0;
    while (!taken && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&stripe->changed, &stripe->mutex, &deadline);
        taken = pzpy_lock_try(lock, write);
    }
    if (--(*waiting) == 0) {
        atomic_fetch_and(&lock->word, ~bit);
        if (write && !taken) /* readers that stood behind this writer may go now */
            pthread_cond_broadcast(&stripe->changed);
    }
    pthread_mutex_unlock(&stripe->mutex);
    return taken;
}

void pzpy_lock_wake(pzpy_lock *lock)
{
    struct stripe *stripe = stripe_of(lock);
    pthread_mutex_lock(&stripe->mutex);
    pthread_cond_broadcast(&stripe->changed);
    pthread_mutex_unlock(&stripe->mutex);
}
