/* The pool: a buddy allocator over mapped chunks, its tables outside the spans.
 *
 *   chunk, 4 MiB, aligned:   |        1 MiB        |  512 K  | 256K |128|..| ... pages of 4 KiB
 *   its table (malloc):      one bit for every aligned 2**k bytes, k = 12 .. 22: set when exactly
 *                            that piece is free (its halves' bits are then clear)
 *
 *   bits:  | order 0: 1024 | order 1: 512 | ... | order 10: 1 |
 *   words: 0               16             24    36           37
 *
 * I1  No two buddies are both free: they are one free piece of the next order.
 * I2  free_count[k] is the number of set bits of order k; `list` is the largest order that has one,
 *     -1 when the chunk is full; the chunk hangs in the pool's list of that number.
 * I3  `sorted` holds every chunk by address.
 * I4  Free pieces hold no dirty pages. Spans in `kept` count as taken in the tables of their chunk.
 * I5  mapped bytes = taken + kept + free bytes + bytes that some thread is discarding just now.
 * I6  kept bytes <= PZ_POOL_KEEP; wholly free chunks <= PZ_POOL_KEEP_CHUNKS.
 *
 * A take looks among the kept spans first (same size, newest first), then splits the smallest free
 * piece of a chunk whose largest piece is smallest, so that emptier chunks get to be empty. */
#define _DEFAULT_SOURCE

#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ORDERS 11
#define CHUNK_WORDS 37
#define KEPT_MAX 32

_Static_assert(PZ_POOL_CHUNK == PZ_POOL_SPAN_MIN << (ORDERS - 1), "orders cover a chunk");

typedef struct chunk {
    char *base;
    struct chunk *prev, *next; /* I2 */
    int list;
    uint16_t free_count[ORDERS];
    uint64_t free[CHUNK_WORDS];
} chunk;

typedef struct kept_span {
    char *base;
    uint32_t order;
    bool touched;
} kept_span;

struct pz_pool {
    pz_env env;
    pthread_mutex_t lock;
    chunk *lists[ORDERS];
    chunk **sorted;
    size_t count, room; /* of `sorted` */
    kept_span kept[KEPT_MAX];
    uint32_t kept_count;
    uint64_t discarding_bytes;
    pz_pool_counters counters;
};

static const uint8_t order_word[ORDERS] = {0, 16, 24, 28, 30, 31, 32, 33, 34, 35, 36};

static size_t order_bytes(int order)
{
    return (size_t)PZ_POOL_SPAN_MIN << order;
}

static int order_of(size_t bytes)
{
    return __builtin_ctzll((unsigned long long)bytes) - __builtin_ctz(PZ_POOL_SPAN_MIN);
}

/* ---- one chunk ---- */
static bool piece_is_free(const chunk *c, int order, size_t index)
{
    return c->free[order_word[order] + index / 64] >> (index % 64) & 1;
}

static void piece_flip(chunk *c, int order, size_t index)
{
    c->free[order_word[order] + index / 64] ^= 1ull << (index % 64);
}

static void piece_add(chunk *c, int order, size_t index)
{
    piece_flip(c, order, index);
    c->free_count[order]++;
}

static void piece_remove(chunk *c, int order, size_t index)
{
    piece_flip(c, order, index);
    c->free_count[order]--;
}

/* Cut a piece of `order` from the smallest piece that holds one. There is one (list >= order). */
static char *chunk_cut(chunk *c, int order)
{
    int from = order;
    while (c->free_count[from] == 0)
        from++;
    const uint64_t *word = c->free + order_word[from];
    size_t index = 0;
    while (*word == 0) {
        word++;
        index += 64;
    }
    index += (size_t)__builtin_ctzll(*word);
    piece_remove(c, from, index);
    while (from > order) {
        from--;
        index *= 2;
        piece_add(c, from, index + 1);
    }
    return c->base + index * order_bytes(order);
}

static void chunk_join(chunk *c, int order, const char *base)
{
    size_t index = (size_t)(base - c->base) / order_bytes(order);
    while (order < ORDERS - 1 && piece_is_free(c, order, index ^ 1)) {
        piece_remove(c, order, index ^ 1);
        index /= 2;
        order++;
    }
    piece_add(c, order, index);
}

static int chunk_largest(const chunk *c)
{
    int order = ORDERS - 1;
    while (order >= 0 && c->free_count[order] == 0)
        order--;
    return order;
}

/* ---- the pool's chunks ---- */
static void list_remove(pz_pool *p, chunk *c)
{
    if (c->list < 0)
        return;
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        p->lists[c->list] = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
}

static void list_add(pz_pool *p, chunk *c)
{
    c->list = chunk_largest(c);
    if (c->list < 0)
        return;
    c->prev = NULL;
    c->next = p->lists[c->list];
    if (c->next != NULL)
        c->next->prev = c;
    p->lists[c->list] = c;
}

static void list_update(pz_pool *p, chunk *c)
{
    if (c->list == chunk_largest(c))
        return;
    p->counters.free_chunks -= c->list == ORDERS - 1;
    list_remove(p, c);
    list_add(p, c);
    p->counters.free_chunks += c->list == ORDERS - 1;
}

/* The number of chunks at or below `base`; the last of them holds it, if any does. */
static size_t chunks_up_to(const pz_pool *p, const char *base)
{
    size_t low = 0, high = p->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)p->sorted[middle]->base <= (uintptr_t)base)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool sorted_grow(pz_pool *p)
{
    if (p->count < p->room)
        return true;
    size_t room = p->room == 0 ? 16 : p->room * 2;
    chunk **sorted = pz_env_alloc(&p->env, room * sizeof *sorted);
    if (sorted == NULL)
        return false;
    if (p->count != 0)
        memcpy(sorted, p->sorted, p->count * sizeof *sorted);
    pz_env_free(&p->env, p->sorted, p->room * sizeof *sorted);
    p->counters.meta_bytes += (room - p->room) * sizeof *sorted;
    p->sorted = sorted;
    p->room = room;
    return true;
}

static chunk *chunk_map(pz_pool *p)
{
    if (!sorted_grow(p))
        return NULL;
    chunk *c = pz_env_alloc(&p->env, sizeof *c);
    if (c == NULL)
        return NULL;
    memset(c, 0, sizeof *c);
    c->base = p->env.map(p->env.ctx, PZ_POOL_CHUNK, PZ_POOL_CHUNK);
    if (c->base == NULL) {
        pz_env_free(&p->env, c, sizeof *c);
        return NULL;
    }
    size_t at = chunks_up_to(p, c->base);
    memmove(p->sorted + at + 1, p->sorted + at, (p->count - at) * sizeof *p->sorted);
    p->sorted[at] = c;
    p->count++;
    piece_add(c, ORDERS - 1, 0);
    list_add(p, c);
    p->counters.chunks++;
    p->counters.free_chunks++;
    p->counters.mapped_bytes += PZ_POOL_CHUNK;
    p->counters.meta_bytes += sizeof *c;
    return c;
}

/* Take a free chunk out of the tables. The caller unmaps it. */
static void chunk_forget(pz_pool *p, chunk *c)
{
    size_t at = chunks_up_to(p, c->base) - 1;
    list_remove(p, c);
    p->count--;
    memmove(p->sorted + at, p->sorted + at + 1, (p->count - at) * sizeof *p->sorted);
    p->counters.chunks--;
    p->counters.free_chunks--;
    p->counters.mapped_bytes -= PZ_POOL_CHUNK;
    p->counters.meta_bytes -= sizeof *c;
}

static void chunk_unmap(const pz_env *env, chunk *c)
{
    env->unmap(env->ctx, c->base, PZ_POOL_CHUNK);
    pz_env_free(env, c, sizeof *c);
}

/* A clean span becomes free. Gives the chunk when it is to be unmapped, chained by `next`. */
static void span_free(pz_pool *p, int order, const char *base, chunk **unmap)
{
    chunk *c = p->sorted[chunks_up_to(p, base) - 1];
    chunk_join(c, order, base);
    list_update(p, c);
    if (c->list == ORDERS - 1 && p->counters.free_chunks > PZ_POOL_KEEP_CHUNKS) {
        chunk_forget(p, c);
        c->next = *unmap;
        *unmap = c;
    }
}

/* ---- kept spans ---- */
static void kept_remove(pz_pool *p, uint32_t at)
{
    p->counters.kept_bytes -= order_bytes((int)p->kept[at].order);
    p->kept_count--;
    memmove(p->kept + at, p->kept + at + 1, (p->kept_count - at) * sizeof *p->kept);
}

static bool kept_take(pz_pool *p, int order, void **out, bool *touched)
{
    for (uint32_t i = p->kept_count; i-- > 0;) {
        if (p->kept[i].order == (uint32_t)order) {
            *out = p->kept[i].base;
            *touched = p->kept[i].touched;
            kept_remove(p, i);
            return true;
        }
    }
    return false;
}

/* Add a span; what has to leave for it, oldest first, is written to `old`. Gives their number. */
static uint32_t kept_add(pz_pool *p, kept_span span, kept_span old[KEPT_MAX])
{
    size_t bytes = order_bytes((int)span.order);
    uint32_t n = 0;
    while (p->kept_count == KEPT_MAX || p->counters.kept_bytes + bytes > PZ_POOL_KEEP) {
        old[n++] = p->kept[0];
        kept_remove(p, 0);
    }
    p->kept[p->kept_count++] = span;
    p->counters.kept_bytes += bytes;
    return n;
}

/* ---- the pool ---- */
pz_status pz_pool_new(const pz_env *env, pz_pool **out)
{
    pz_pool *p = pz_env_alloc(env, sizeof *p);
    if (p == NULL)
        return PZ_NOMEM;
    memset(p, 0, sizeof *p);
    p->env = *env;
    p->env.pool = NULL;
    if (pthread_mutex_init(&p->lock, NULL) != 0) {
        pz_env_free(env, p, sizeof *p);
        return PZ_NOMEM;
    }
    p->counters.meta_bytes = sizeof *p;
    *out = p;
    return PZ_OK;
}

void pz_pool_free(pz_pool *p)
{
    if (p == NULL)
        return;
    PZ_ASSERT(p->counters.taken_bytes == 0);
    pz_env env = p->env;
    for (size_t i = 0; i < p->count; i++)
        chunk_unmap(&env, p->sorted[i]);
    pz_env_free(&env, p->sorted, p->room * sizeof *p->sorted);
    pthread_mutex_destroy(&p->lock);
    pz_env_free(&env, p, sizeof *p);
}

pz_status pz_pool_take(pz_pool *p, size_t bytes, void **out, bool *touched)
{
    PZ_ASSERT(bytes >= PZ_POOL_SPAN_MIN && bytes <= PZ_POOL_SPAN_MAX);
    PZ_ASSERT((bytes & (bytes - 1)) == 0);
    int order = order_of(bytes);
    pz_status status = PZ_OK;
    pthread_mutex_lock(&p->lock);
    if (!kept_take(p, order, out, touched)) {
        chunk *c = NULL;
        for (int o = order; o < ORDERS && c == NULL; o++)
            c = p->lists[o];
        if (c == NULL)
            c = chunk_map(p);
        if (c != NULL) {
            *out = chunk_cut(c, order);
            *touched = false;
            list_update(p, c);
        } else {
            status = PZ_NOMEM;
        }
    }
    if (status == PZ_OK)
        p->counters.taken_bytes += bytes;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Discarding and unmapping are system calls: they happen outside the lock, while the pieces belong
 * to nobody. */
void pz_pool_give(pz_pool *p, void *span, size_t bytes, bool touched)
{
    kept_span old[KEPT_MAX];
    chunk *unmap = NULL;
    uint32_t dirty = 0;
    pthread_mutex_lock(&p->lock);
    p->counters.taken_bytes -= bytes;
    uint32_t n = kept_add(p, (kept_span){span, (uint32_t)order_of(bytes), touched}, old);
    for (uint32_t i = 0; i < n; i++) {
        if (old[i].touched) {
            p->discarding_bytes += order_bytes((int)old[i].order);
            old[dirty++] = old[i];
        } else {
            span_free(p, (int)old[i].order, old[i].base, &unmap);
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (dirty != 0) {
        for (uint32_t i = 0; i < dirty; i++)
            p->env.discard(p->env.ctx, old[i].base, order_bytes((int)old[i].order));
        pthread_mutex_lock(&p->lock);
        for (uint32_t i = 0; i < dirty; i++) {
            p->discarding_bytes -= order_bytes((int)old[i].order);
            span_free(p, (int)old[i].order, old[i].base, &unmap);
        }
        pthread_mutex_unlock(&p->lock);
    }
    while (unmap != NULL) {
        chunk *next = unmap->next;
        chunk_unmap(&p->env, unmap);
        unmap = next;
    }
}

void pz_pool_count(pz_pool *p, pz_pool_counters *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->counters;
    pthread_mutex_unlock(&p->lock);
}

/* ---- validation ---- */
/* Free bytes of a chunk's table, or -1: two buddies free, a free piece inside another, wrong
 * count. */
static int64_t chunk_check(const chunk *c)
{
    uint64_t covered[16] = {0}; /* pages that a larger free piece covers */
    int64_t bytes = 0;
    for (int order = ORDERS - 1; order >= 0; order--) {
        uint32_t count = 0;
        size_t pieces = PZ_POOL_CHUNK / order_bytes(order);
        for (size_t i = 0; i < pieces; i++) {
            if (!piece_is_free(c, order, i))
                continue;
            count++;
            bytes += (int64_t)order_bytes(order);
            if (order < ORDERS - 1 && piece_is_free(c, order, i ^ 1))
                return -1;
            for (size_t page = i << order; page < (i + 1) << order; page++) {
                if (covered[page / 64] >> (page % 64) & 1)
                    return -1;
                covered[page / 64] |= 1ull << (page % 64);
            }
        }
        if (count != c->free_count[order])
            return -1;
    }
    return bytes;
}

static bool chunk_is_listed(const pz_pool *p, const chunk *c)
{
    if (c->list < 0)
        return true;
    return (c->prev == NULL ? p->lists[c->list] : c->prev->next) == c &&
           (c->next == NULL || c->next->prev == c);
}

static pz_status pool_check(const pz_pool *p, pz_why *why)
{
    uint64_t free_bytes = 0, free_chunks = 0, kept_bytes = 0;
    for (size_t i = 0; i < p->count; i++) {
        const chunk *c = p->sorted[i];
        int64_t bytes = chunk_check(c);
        if (bytes < 0)
            return PZ_WHY(why, "pool: table of a chunk", i, 0, 1);
        if (i != 0 && (uintptr_t)c->base <= (uintptr_t)p->sorted[i - 1]->base)
            return PZ_WHY(why, "pool: order of chunks", i, 1, 0);
        if (c->list != chunk_largest(c) || !chunk_is_listed(p, c))
            return PZ_WHY(why, "pool: list of a chunk", i, chunk_largest(c), c->list);
        free_bytes += (uint64_t)bytes;
        free_chunks += bytes == PZ_POOL_CHUNK;
    }
    for (uint32_t i = 0; i < p->kept_count; i++)
        kept_bytes += order_bytes((int)p->kept[i].order);
    const pz_pool_counters *n = &p->counters;
    if (kept_bytes != n->kept_bytes || kept_bytes > PZ_POOL_KEEP)
        return PZ_WHY(why, "pool: kept bytes", 0, kept_bytes, n->kept_bytes);
    if (n->chunks != p->count || n->mapped_bytes != (uint64_t)p->count * PZ_POOL_CHUNK)
        return PZ_WHY(why, "pool: chunks", 0, p->count, n->chunks);
    if (free_chunks != n->free_chunks || free_chunks > PZ_POOL_KEEP_CHUNKS)
        return PZ_WHY(why, "pool: free chunks", 0, free_chunks, n->free_chunks);
    uint64_t sum = free_bytes + kept_bytes + n->taken_bytes + p->discarding_bytes;
    if (sum != n->mapped_bytes)
        return PZ_WHY(why, "pool: sum of bytes", 0, n->mapped_bytes, sum);
    return PZ_OK;
}

pz_status pz_pool_validate(pz_pool *p, pz_why *why)
{
    pthread_mutex_lock(&p->lock);
    pz_status status = pool_check(p, why);
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- the process's environment ----
 * Its pool's lock is held across fork, so that the child finds the tables whole and the lock free
 * whatever other threads did. */
static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static pz_env default_env;
static const pz_env *_Atomic default_ready;

static void before_fork(void)
{
    pthread_mutex_lock(&default_env.pool->lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&default_env.pool->lock);
}

const pz_env *pz_env_default(void)
{
    const pz_env *ready = atomic_load_explicit(&default_ready, memory_order_acquire);
    if (ready != NULL)
        return ready;
    pthread_mutex_lock(&default_lock);
    ready = atomic_load_explicit(&default_ready, memory_order_relaxed);
    if (ready == NULL) {
        pz_pool *pool = NULL;
        default_env = pz_env_system_hooks;
        if (pz_pool_new(&default_env, &pool) == PZ_OK) {
            default_env.pool = pool;
            if (pthread_atfork(before_fork, after_fork, after_fork) == 0) {
                atomic_store_explicit(&default_ready, &default_env, memory_order_release);
                ready = &default_env;
            } else {
                pz_pool_free(pool);
            }
        }
    }
    pthread_mutex_unlock(&default_lock);
    return ready;
}
