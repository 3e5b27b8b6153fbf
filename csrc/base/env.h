/* The environment of a set: where memory comes from. Small allocations (set headers, slot tables,
 * scratch) go through alloc/free, spans through the pool, whose chunks come from map/unmap. Tests
 * build an environment of their own with hooks that count and fail; everybody else uses
 * pz_env_default().
 *
 * An environment must outlive its sets. alloc/free/map/unmap may be called from any thread at the
 * same time. free and unmap are given the size that was asked for. */
#ifndef PZ_BASE_ENV_H
#define PZ_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>

struct pz_pool;

typedef struct pz_env {
    void *(*alloc)(void *ctx, size_t bytes);            /* uninitialised memory, or NULL */
    void (*free)(void *ctx, void *ptr, size_t bytes);   /* ptr may not be NULL */
    void *(*map)(void *ctx, size_t bytes, size_t align); /* zeroed pages, aligned; or NULL */
    void (*unmap)(void *ctx, void *ptr, size_t bytes);
    void (*discard)(void *ctx, void *ptr, size_t bytes); /* give the pages back, keep the mapping */
    void (*advise)(void *ctx, void *ptr, size_t bytes); /* huge pages would do well here; a hint */
    void *ctx;
    struct pz_pool *pool; /* made by pz_pool_new with this environment's hooks */
} pz_env;

static inline void *pz_env_alloc(const pz_env *env, size_t bytes)
{
    return env->alloc(env->ctx, bytes);
}

static inline void pz_env_free(const pz_env *env, void *ptr, size_t bytes)
{
    if (ptr != NULL)
        env->free(env->ctx, ptr, bytes);
}

/* Memory that one call works with and gives back at its end. Large scratch is mapped: an allocator
 * may keep what it is given back, and a call on a million rows works with tens of megabytes. */
#define PZ_SCRATCH_MAPPED (1024u * 1024u)
#define PZ_SCRATCH_PAGE 65536u /* the largest page of any system: mappings are cut at pages */
#define PZ_HUGE_PAGE (2u * 1024u * 1024u) /* x86-64, and AArch64 with pages of 4 KiB */

static inline size_t pz_scratch_bytes(size_t bytes)
{
    return (bytes + (PZ_SCRATCH_PAGE - 1)) & ~(size_t)(PZ_SCRATCH_PAGE - 1);
}

static inline void *pz_scratch_new(const pz_env *env, size_t bytes)
{
    if (bytes < PZ_SCRATCH_MAPPED)
        return env->alloc(env->ctx, bytes);
    /* A call writes all of it once, here and there: huge pages save most faults and misses. */
    bool huge = bytes >= 2 * (size_t)PZ_HUGE_PAGE;
    void *ptr = env->map(env->ctx, pz_scratch_bytes(bytes), huge ? PZ_HUGE_PAGE : PZ_SCRATCH_PAGE);
    if (ptr != NULL && huge)
        env->advise(env->ctx, ptr, bytes & ~(size_t)(PZ_HUGE_PAGE - 1));
    return ptr;
}

static inline void pz_scratch_free(const pz_env *env, void *ptr, size_t bytes)
{
    if (ptr == NULL)
        return;
    if (bytes < PZ_SCRATCH_MAPPED)
        env->free(env->ctx, ptr, bytes);
    else
        env->unmap(env->ctx, ptr, pz_scratch_bytes(bytes));
}

/* Hooks on malloc and mmap; `pool` is NULL. The default environment adds the process's pool. */
extern const pz_env pz_env_system_hooks;

/* The process's environment: pz_env_system_hooks and one pool of spans (arena/pool.c makes it).
 * Never NULL after the first success; NULL when it cannot be made. Safe from any thread, and usable
 * in a forked child. */
const pz_env *pz_env_default(void);

#endif
