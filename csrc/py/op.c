/* op.c: the frame around every call into the core: lock, GIL, signals, accounting. pzpy.h tells
 * the order of the steps.
 *
 * Signals: while a bulk call is in its checking and sorting phases the core asks every now and
 * then whether to stop. The answer needs the GIL, so it is sought at most every POLL_NS, and not
 * at all by short calls. Signal handlers, and on newer Pythons finalizers, may then run Python code
 * while this thread holds locks; `holding` counts such calls, and a lock that is not free at once
 * is then refused. */
#define _DEFAULT_SOURCE

#include "pzpy.h"

#include <time.h>

#define FIRST_POLL_NS 5000000ull
#define POLL_NS 20000000ull
#define WAIT_MS 100u /* how long a thread waits for a lock before it looks for signals */

static _Thread_local unsigned holding;

static uint64_t now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000ull + (uint64_t)at.tv_nsec;
}

static int poll_signals(void *ctx)
{
    pzpy_op *op = ctx;
    if (now_ns() < op->next_poll_ns)
        return 0;
    PyEval_RestoreThread(op->thread);
    int stop = PyErr_CheckSignals();
    op->thread = PyEval_SaveThread();
    op->next_poll_ns = now_ns() + POLL_NS;
    return stop;
}

/* `signals` is false while the thread holds another lock: a handler must not meet it. */
static int lock_slowly(pzpy_set *set, bool write, bool signals)
{
    if (holding > 0) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the set is in use, and this code runs inside a call that may be the user");
        return -1;
    }
    for (;;) {
        bool taken;
        Py_BEGIN_ALLOW_THREADS taken = pzpy_lock_wait(&set->lock, write, WAIT_MS);
        Py_END_ALLOW_THREADS if (taken) return 0;
        if (signals && PyErr_CheckSignals() < 0)
            return -1;
    }
}

int pzpy_lock_slowly(pzpy_set *set, bool write)
{
    return lock_slowly(set, write, true);
}

int pzpy_op_begin(pzpy_op *op, pzpy_set *set, bool write)
{
    *op = (pzpy_op){.set = set, .write = write};
    if (pzpy_lock_try(&set->lock, write))
        return 0;
    return pzpy_lock_slowly(set, write);
}

void pzpy_op_bulk(pzpy_op *op, uint64_t rows)
{
    if (rows < PZPY_BULK_ROWS)
        return;
    op->bulk = true;
    op->next_poll_ns = now_ns() + FIRST_POLL_NS;
    op->call.poll = poll_signals;
    op->call.ctx = op;
    holding++;
    op->thread = PyEval_SaveThread();
}

void pzpy_op_end(pzpy_op *op)
{
    pzpy_set *set = op->set;
    uint64_t bytes = 0;
    if (op->write) {
        bytes = pz_allocated_bytes(set->core);
        atomic_store_explicit(&set->version, pz_version(set->core), memory_order_relaxed);
    }
    if (set != NULL)
        pzpy_lock_give(&set->lock, op->write);
    if (op->bulk) {
        PyEval_RestoreThread(op->thread);
        holding--;
    }
    if (op->write)
        pzpy_trace(set, bytes);
}

/* Another thread may have reported a later state first; then the figure is behind until the next
 * change. It is a figure for a profiler, and exact whenever nothing runs. */
void pzpy_trace(pzpy_set *set, uint64_t bytes)
{
    if (bytes == set->traced_bytes)
        return;
    if (PyTraceMalloc_Track(PZPY_TRACE_DOMAIN, (uintptr_t)set, (size_t)bytes) == 0)
        set->traced_bytes = bytes;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(pzpy_set *const *)a;
    uintptr_t y = (uintptr_t)*(pzpy_set *const *)b;
    return (x > y) - (x < y);
}

int pzpy_read_many(pzpy_set **sets, size_t count)
{
    qsort(sets, count, sizeof sets[0], by_address);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && sets[i] == sets[i - 1])
            continue;
        if (!pzpy_lock_try(&sets[i]->lock, false) && lock_slowly(sets[i], false, i == 0) < 0) {
            pzpy_unread_many(sets, i);
            return -1;
        }
    }
    return 0;
}

void pzpy_unread_many(pzpy_set **sets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || sets[i] != sets[i - 1])
            pzpy_read_end(sets[i]);
    }
}
