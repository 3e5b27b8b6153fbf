/* Free blocks by exact size: doubly linked lists whose links lie in the blocks, hashed by size.
 *
 *   lists:  [0] [1] [2] ... [mask]      a block of n steps hangs in list n & mask
 *                |
 *                v
 *              block of n steps <──> block of n + mask + 1 steps <──> block of n steps
 *
 * I1  A list holds blocks of equal steps & mask; the first one's prev is NULL.
 *
 * Leaf blocks take a few hundred sizes, so with the largest table a list is of one size as a rule.
 * The table is kept under half a percent of the arena: it grows when the spans have grown, which
 * moves every block of the old lists once. */
#include "body.h"

/* Blocks of another size that a search passes before it gives up: each is a cache miss. */
#define SEARCH_MAX 8

static free_block **list_of(pz_arena_body *b, size_t bytes)
{
    return &b->lists[(bytes / PZ_BLOCK_STEP) & b->list_mask];
}

void pz_lists_push(pz_arena_body *b, void *block, size_t bytes)
{
    free_block **list = list_of(b, bytes);
    free_block *first = *list;
    link_set_prev(block, NULL);
    link_set_next(block, first);
    if (first != NULL)
        link_set_prev(first, block);
    *list = block;
}

void pz_lists_remove(pz_arena_body *b, void *block)
{
    free_block *next = link_next(block), *prev = link_prev(block);
    if (next != NULL)
        link_set_prev(next, prev);
    if (prev != NULL)
        link_set_next(prev, next);
    else
        *list_of(b, head_bytes(head_of(block))) = next;
}

void *pz_lists_pop(pz_arena_body *b, size_t bytes)
{
    free_block *block = *list_of(b, bytes);
    for (int i = 0; block != NULL && i < SEARCH_MAX; i++) {
        if (head_bytes(head_of(block)) == bytes) {
            pz_lists_remove(b, block);
            return block;
        }
        block = link_next(block);
    }
    return NULL;
}

static size_t lists_bytes(const pz_arena_body *b)
{
    return b->lists == b->few ? 0 : (b->list_mask + (size_t)1) * sizeof *b->lists;
}

void pz_lists_grow(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t wanted = b->span_bytes < 256u * 1024    ? LISTS_FEW
                      : b->span_bytes < 2048u * 1024 ? 128
                                                     : 1024;
    if (wanted <= b->list_mask + 1)
        return;
    free_block **old = b->lists;
    size_t old_heads = b->list_mask + (size_t)1, old_bytes = lists_bytes(b);
    free_block **lists = pz_env_alloc(a->env, wanted * sizeof *lists);
    if (lists == NULL)
        return;
    for (uint32_t i = 0; i < wanted; i++)
        lists[i] = NULL;
    b->lists = lists;
    b->list_mask = wanted - 1;
    for (size_t i = 0; i < old_heads; i++) {
        for (free_block *block = old[i], *next; block != NULL; block = next) {
            next = link_next(block);
            pz_lists_push(b, block, head_bytes(head_of(block)));
        }
        old[i] = NULL;
    }
    if (old != b->few)
        pz_env_free(a->env, old, old_bytes);
    b->table_bytes += lists_bytes(b) - old_bytes;
}

void pz_lists_destroy(pz_arena *a)
{
    pz_arena_body *b = a->body;
    if (b->lists != b->few)
        pz_env_free(a->env, b->lists, lists_bytes(b));
}
