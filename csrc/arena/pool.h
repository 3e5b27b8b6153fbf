/* The pool: spans of memory for all sets of a process, cut from mapped chunks.
 *
 * A span is 2**k bytes, PZ_POOL_SPAN_MIN to PZ_POOL_SPAN_MAX, aligned to its size. Taking and
 * giving costs a lock and a few bit operations; only every PZ_POOL_CHUNK bytes is there a mapping.
 * The pool never writes into a span: what its owner does not touch stays address space.
 *
 * Pages return to the system: a span that was touched is discarded when it is given back, but for
 * the most recent PZ_POOL_KEEP bytes; chunks that are free as a whole are unmapped, but for a few.
 *
 * Safe from any thread. */
#ifndef PZ_ARENA_POOL_H
#define PZ_ARENA_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/check.h"
#include "../base/config.h"
#include "../base/env.h"
#include "../base/status.h"

#define PZ_POOL_SPAN_MIN 4096u
#define PZ_POOL_SPAN_MAX (1024u * 1024u)
#define PZ_POOL_KEEP (1024u * 1024u) /* touched bytes kept for the next take */
#define PZ_POOL_KEEP_CHUNKS 4u       /* free chunks kept mapped; untouched or discarded */

typedef struct pz_pool pz_pool;

typedef struct pz_pool_counters {
    uint64_t chunks, free_chunks; /* mapped; of them wholly free */
    uint64_t mapped_bytes;        /* address space */
    uint64_t taken_bytes;         /* spans out */
    uint64_t kept_bytes;          /* touched spans kept in hand, not discarded */
    uint64_t meta_bytes;          /* the pool's own tables */
} pz_pool_counters;

/* A pool on the hooks of `env` (its `pool` field is not looked at; the hooks are copied). */
pz_status pz_pool_new(const pz_env *env, pz_pool **out) PZ_MUST_USE;
/* Unmaps everything. No span may be out. NULL is fine. */
void pz_pool_free(pz_pool *pool);

/* A span of `bytes`, a power of two in the range above; content undefined. `touched` tells that it
 * may hold dirty pages: whoever gives it back unwritten passes that on. PZ_NOMEM: nothing
 * changed. */
pz_status pz_pool_take(pz_pool *pool, size_t bytes, void **out, bool *touched) PZ_MUST_USE;
/* Give back a span as it was taken. `touched`: it was written to, or was touched when taken. */
void pz_pool_give(pz_pool *pool, void *span, size_t bytes, bool touched);

void pz_pool_count(pz_pool *pool, pz_pool_counters *out); /* O(1) */
pz_status pz_pool_validate(pz_pool *pool, pz_why *why) PZ_MUST_USE;

#endif
