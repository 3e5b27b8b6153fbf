/* The system's hooks: malloc for small things, anonymous mappings for chunks of spans.
 *
 *   map(bytes, align):   |..gap..|<------- bytes ------->|.....gap.....|   one mapping of
 *                                ^ multiple of align                       bytes + align,
 *                                                                          gaps unmapped
 *
 * Mappings reserve no swap: a chunk is address space until its pages are touched. Discarded pages
 * may read as zeros or as before, so nobody relies on their content. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */

#include "env.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static void *system_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    return malloc(bytes);
}

static void system_free(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(ptr);
}

static void *map_pages(size_t bytes)
{
    void *ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

/* Chunks are mapped one below the other as a rule, so a plain mapping is often aligned already. */
static void *system_map(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    char *ptr = map_pages(bytes);
    if (ptr == NULL || ((uintptr_t)ptr & (align - 1)) == 0)
        return ptr;
    munmap(ptr, bytes);
    if (bytes > SIZE_MAX - align)
        return NULL;
    ptr = map_pages(bytes + align);
    if (ptr == NULL)
        return NULL;
    size_t before = (size_t)(-(uintptr_t)ptr & (align - 1));
    if (before != 0)
        munmap(ptr, before);
    if (before != align)
        munmap(ptr + before + bytes, align - before);
    return ptr + before;
}

static void system_unmap(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    munmap(ptr, bytes);
}

static void system_discard(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
    madvise(ptr, bytes, MADV_DONTNEED);
}

static void system_advise(void *ctx, void *ptr, size_t bytes)
{
    (void)ctx;
#ifdef MADV_HUGEPAGE
    madvise(ptr, bytes, MADV_HUGEPAGE);
#else
    (void)ptr;
    (void)bytes;
#endif
}

const pz_env pz_env_system_hooks = {
    .alloc = system_alloc,
    .free = system_free,
    .map = system_map,
    .unmap = system_unmap,
    .discard = system_discard,
    .advise = system_advise,
    .ctx = NULL,
    .pool = NULL,
};
