/* The arena's private parts, shared by arena.c, spans.c, clean.c and check.c.
 *
 *   pz_arena ──> body ──> spans     one record a span, named by a 16-bit id
 *            │        ├─> lists     heads of free blocks, hashed by size
 *            │        └─> buckets   closed spans by sixteenths of free bytes
 *            └─> chunks             slot table: directory ──> chunks of 1,024 entries
 *
 *   a span:   | block | block | freed block | block |  rest  |
 *             0                                     used     bytes      live = sum of blocks in use
 *
 *   a freed block:   | head: slot = PZ_NO_SLOT, steps, span | next | prev | ... | 24 bytes up;
 *                    smaller ones are only counted and carry a head, so that walks go on
 *
 *   a slot's entry:  block's address | NULL: no block yet | (next free slot << 1) | 1: slot is free
 *
 * I1  Blocks fill a span from 0 to `used` without gaps; a head's `span` is its span's id.
 * I2  A block in use is named by the table entry of its head's slot (at safe points).
 * I3  Every freed block of FREE_BLOCK_MIN bytes or more is on exactly one list, that of its size;
 *     but for those of the victim span, which are on none.
 * I4  `live` of a span, and live_bytes of the arena, are the sums over blocks in use.
 * I5  A closed span hangs in the bucket of its dead sixteenths and holds at least one block in use.
 *     Dead bytes are those of freed blocks: used - live. The rest behind them is not dead.
 * I6  At most one span is open (bump .. end is its rest) and at most one is the victim.
 * I7  Spares are untouched, all of spare_size bytes, and no smaller than any block of the
 *     reservation they were taken for.
 * I8  While room_bytes > 0: pz_span_spares_needed(...) never passed what is there, or the
 *     worst case from here needs no more than `spares` (spans.c proves it). */
#ifndef PZ_ARENA_BODY_H
#define PZ_ARENA_BODY_H

#include "arena.h"
#include "pool.h"

#define NO_SPAN 0xffffu
#define SPANS_MAX 65535u
#define FREE_BLOCK_MIN sizeof(free_block)
#define BUCKETS 16u
#define LISTS_FEW 4u

typedef enum span_state { SPAN_GONE, SPAN_SPARE, SPAN_OPEN, SPAN_CLOSED, SPAN_VICTIM } span_state;

typedef struct span {
    char *base;
    uint32_t bytes;
    uint32_t used; /* of a closed or victim span; the open one's is bump - base */
    uint32_t live;
    uint16_t prev, next; /* in a bucket; `next` also in the lists of spares and of gone records */
    uint8_t state;
    uint8_t bucket;
    bool touched;
} span;

typedef struct free_block {
    pz_block_head head;
    struct free_block *next, *prev;
} free_block;

typedef struct pz_arena_body {
    /* spans */
    span *spans;
    uint32_t span_room, span_top; /* records allocated; ever used */
    uint32_t span_count;          /* open, closed, victim */
    uint32_t gone, spare;         /* heads of lists of records */
    uint32_t open, victim, cursor; /* the cleaner's next block in the victim */
    uint32_t spare_size;
    uint32_t bucket_bits; /* which buckets are not empty */
    uint16_t buckets[BUCKETS];
    /* free blocks */
    free_block **lists; /* `few` until the arena is larger */
    uint32_t list_mask;
    free_block *few[LISTS_FEW];
    /* slots */
    uint64_t slot_room;                  /* entries allocated */
    uint32_t slot_top, slot_free, slots; /* ever used; head of the free ones; in use */
    uint32_t directory_room;
    /* accounts */
    uint64_t span_bytes, live_bytes, table_bytes;
    uint64_t blocks, blocks_taken, blocks_moved, bytes_moved;
} pz_arena_body;

/* ---- poisoned places: heads and links ---- */
static PZ_SEES_POISON pz_block_head head_of(const void *block)
{
    return *(const pz_block_head *)block;
}

static PZ_SEES_POISON void head_write(void *block, uint32_t slot, size_t bytes, uint32_t span_id)
{
    *(pz_block_head *)block =
        (pz_block_head){slot, (uint16_t)(bytes / PZ_BLOCK_STEP), (uint16_t)span_id};
}

static PZ_SEES_POISON free_block *link_next(const free_block *block)
{
    return block->next;
}

static PZ_SEES_POISON free_block *link_prev(const free_block *block)
{
    return block->prev;
}

static PZ_SEES_POISON void link_set_next(free_block *block, free_block *next)
{
    block->next = next;
}

static PZ_SEES_POISON void link_set_prev(free_block *block, free_block *prev)
{
    block->prev = prev;
}

static inline size_t head_bytes(pz_block_head head)
{
    return (size_t)head.steps * PZ_BLOCK_STEP;
}

/* ---- slot entries ---- */
static inline void **slot_entry(const pz_arena *a, pz_slot slot)
{
    return &a->chunks[slot >> PZ_SLOT_CHUNK_BITS][slot & (PZ_SLOT_CHUNK - 1)];
}

static inline bool entry_is_free(const void *entry)
{
    return ((uintptr_t)entry & 1) != 0;
}

/* Of a closed span. */
static inline uint32_t dead_sixteenths(const span *s)
{
    uint32_t n = (uint32_t)((uint64_t)(s->used - s->live) * BUCKETS / s->bytes);
    return n < BUCKETS ? n : BUCKETS - 1;
}

/* Where the span's blocks end. */
static inline uint32_t span_used(const pz_arena *a, uint32_t id)
{
    const span *s = &a->body->spans[id];
    return s->state == SPAN_OPEN ? (uint32_t)(a->bump - s->base) : s->used;
}

static inline uint64_t arena_held(const pz_arena *a)
{
    const pz_arena_body *b = a->body;
    return b->span_bytes + b->table_bytes + (uint64_t)a->spares * b->spare_size;
}

/* ---- lists.c: free blocks by size ---- */
void pz_lists_push(pz_arena_body *b, void *block, size_t bytes);
void pz_lists_remove(pz_arena_body *b, void *block);
/* A free block of exactly `bytes`, off its list; or NULL. */
void *pz_lists_pop(pz_arena_body *b, size_t bytes);
/* More heads when the arena has grown; without memory it stays as it is. */
void pz_lists_grow(pz_arena *a);
void pz_lists_destroy(pz_arena *a);

/* ---- spans.c ---- */
/* The size of the next span when a block of `need` bytes has to go into it. */
uint32_t pz_span_size(const pz_arena *a, size_t need);
/* A span for blocks, of pz_span_size(a, need); a spare one when `spares` allows it and there is no
 * other. It is counted, holds no block and is in no state yet. NO_SPAN: there is none. */
uint32_t pz_span_obtain(pz_arena *a, size_t need, bool spares);
/* Give the span's memory and record back. Its blocks are dead; it hangs in no bucket. */
void pz_span_release(pz_arena *a, uint32_t id);
/* Take every free block of the span off the lists. */
void pz_span_unlist(pz_arena *a, uint32_t id);
/* Closed spans by dead sixteenths; update moves a span to where its `live` asks for. */
void pz_bucket_add(pz_arena_body *b, uint32_t id);
void pz_bucket_remove(pz_arena_body *b, uint32_t id);
void pz_bucket_update(pz_arena_body *b, uint32_t id);
/* Close the open span, if any; an empty one is released. */
void pz_span_close(pz_arena *a);
/* Make an obtained span a closed one whose first `used` bytes are about to be a block. */
void pz_span_begin(pz_arena *a, uint32_t id, uint32_t used);
/* Close the open span and go on cutting blocks from this closed one. */
void pz_span_reopen(pz_arena *a, uint32_t id);
/* Worst-case number of spare spans of `size` for takes of `bytes` in `blocks` blocks, when the open
 * span has `rest` bytes left. */
uint64_t pz_span_spares_needed(uint64_t bytes, uint64_t blocks, uint64_t rest, uint64_t size);
/* Give every spare span back. */
void pz_spares_release(pz_arena *a);
/* The room of a reservation. When it fails, the spares that were taken are still there. */
pz_status pz_spares_reserve(pz_arena *a, uint64_t bytes, uint64_t blocks) PZ_MUST_USE;

/* ---- arena.c ---- */
/* A place for a block of `bytes`: free list, open span, new span. Without `spares` it uses no spare
 * span and leaves the room that is reserved. NULL: there is none. */
void *pz_block_place(pz_arena *a, size_t bytes, bool spares, uint32_t *id);
/* Make the place a block in use, of `asked` bytes rounded up to `bytes`. */
void pz_block_begin(pz_arena *a, void *place, pz_slot slot, size_t asked, size_t bytes,
                    uint32_t id);

#endif
