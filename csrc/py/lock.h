/* lock.h: a readers-writer lock of eight bytes that needs no GIL.
 *
 *   word   30        29            28            27 .. 0
 *          a writer  writers wait  readers wait  number of readers
 *
 * I1. A writer holds the lock alone; readers hold it together.
 * I2. While a writer waits no new reader gets in, so writers do not starve.
 * I3. A bit "wait" is set while, and only while, the counter beside it is not zero; both change
 *     under the mutex of the lock's stripe.
 *
 * Taking a free lock and giving it back is one atomic operation each. Only a thread that has to
 * wait touches a mutex: one of a few that all locks of the process share, chosen by address, so
 * that a set pays eight bytes and not a hundred. Waiting has an end, so that the caller can look
 * for signals in between; it must be done without the GIL. The lock does not know its owner. */
#ifndef PZPY_LOCK_H
#define PZPY_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pzpy_lock {
    _Atomic uint32_t word;
    uint16_t waiting_readers;
    uint16_t waiting_writers;
} pzpy_lock;

#define PZPY_LOCK_WRITER (1u << 30)
#define PZPY_LOCK_WRITERS_WAIT (1u << 29)
#define PZPY_LOCK_READERS_WAIT (1u << 28)
#define PZPY_LOCK_READERS (PZPY_LOCK_READERS_WAIT - 1u)
#define PZPY_LOCK_ANY_WAIT (PZPY_LOCK_WRITERS_WAIT | PZPY_LOCK_READERS_WAIT)

/* Once a process, before the first wait; 0 on success. Afterwards a fork leaves the child with
 * usable stripes, and with usable locks where no call was running in the parent. */
int pzpy_lock_setup(void);

/* Wait up to `milliseconds`; true when the lock was taken. Call without the GIL. */
bool pzpy_lock_wait(pzpy_lock *lock, bool write, unsigned milliseconds);

/* Wakes whoever waits: only for pzpy_lock_give. */
void pzpy_lock_wake(pzpy_lock *lock);

static inline void pzpy_lock_init(pzpy_lock *lock)
{
    atomic_init(&lock->word, 0);
    lock->waiting_readers = 0;
    lock->waiting_writers = 0;
}

/* Take the lock when that needs no waiting. Writers are not served in the order they came. */
static inline bool pzpy_lock_try(pzpy_lock *lock, bool write)
{
    uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
    uint32_t bar = PZPY_LOCK_WRITER | (write ? PZPY_LOCK_READERS : PZPY_LOCK_WRITERS_WAIT);
    uint32_t step = write ? PZPY_LOCK_WRITER : 1u;
    do {
        if ((word & bar) != 0)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&lock->word, &word, word + step,
                                                    memory_order_acquire, memory_order_relaxed));
    return true;
}

static inline void pzpy_lock_give(pzpy_lock *lock, bool write)
{
    uint32_t step = write ? PZPY_LOCK_WRITER : 1u;
    /* Sequentially consistent: either this sees the bit of a waiter, or the waiter, who set its
     * bit first and looked afterwards, sees this. */
    uint32_t before = atomic_fetch_sub(&lock->word, step);
    bool last = write || (before & PZPY_LOCK_READERS) == 1;
    if (last && (before & PZPY_LOCK_ANY_WAIT) != 0)
        pzpy_lock_wake(lock);
}

#endif
