/* The arena of a set: blocks named by slots, in spans that are cleaned.
 *
 *   slot ──> slot table ──> block in a span
 *                           +-----------+------------+-----------+----------------------+
 *                           | u32 slot  | u16 steps  | u16 span  | the owner's bytes ...|
 *                           +-----------+------------+-----------+----------------------+
 *                           0           4            6           8             8 * steps
 *
 * A block is found only through its slot, so moving it touches one table entry. `steps` is the
 * block's whole size, head included, in 8-byte steps; `span` names the span it lies in. The head
 * belongs to the arena: owners read it through pz_block_bytes and pz_block_slot and never copy it
 * (in address sanitizer builds it is poisoned, so that an overrun of the block before is seen, and
 * so are the bytes behind the size that was asked for).
 *
 * Reserve, then commit: pz_arena_reserve maps room for the worst case of an operation and may fail;
 * after it, takes and new slots within what was reserved cannot fail, in any order, whatever is
 * dropped in between. pz_arena_settle gives back what was not used. Reserved spans that are never
 * touched cost address space only.
 *
 * Cleaning moves blocks, so pointers into the arena hold only until the next pz_arena_clean (and
 * for the block itself, the next pz_arena_swing or pz_arena_drop); nothing else moves a block.
 *
 * Not thread-safe: the set's lock covers its arena. The pool behind it is shared and locks
 * itself. */
#ifndef PZ_ARENA_ARENA_H
#define PZ_ARENA_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/check.h"
#include "../base/config.h"
#include "../base/env.h"
#include "../base/poison.h"
#include "../base/status.h"

typedef uint32_t pz_slot;
#define PZ_NO_SLOT 0xffffffffu

typedef struct pz_block_head {
    uint32_t slot;
    uint16_t steps;
    uint16_t span;
} pz_block_head;

_Static_assert(sizeof(pz_block_head) == PZ_BLOCK_STEP, "a head is one step");
_Static_assert(PZ_BLOCK_MAX / PZ_BLOCK_STEP <= 0xffff, "steps fit their field");

#define PZ_SLOT_CHUNK_BITS 10u
#define PZ_SLOT_CHUNK (1u << PZ_SLOT_CHUNK_BITS)

typedef struct pz_arena_counters {
    uint64_t held_bytes; /* all memory owned: spans whole, spares, slot table, span table, lists;
                              not sizeof(struct pz_arena) */
    uint64_t span_bytes; /* of that: spans that blocks are cut from (spares are not yet) */
    uint64_t live_bytes; /* blocks in use, heads and rounding included */
    uint64_t free_bytes; /* span_bytes - live_bytes: freed blocks, remainders, open span's rest */
    uint64_t spare_bytes; /* untouched spans of the running operation; 0 after pz_arena_settle */
    uint64_t spans; /* behind span_bytes */
    uint64_t slots; /* in use */
    uint64_t blocks; /* in use */
    uint64_t blocks_taken; /* ever */
    uint64_t blocks_moved; /* by cleaning, ever */
    uint64_t bytes_moved; /* by cleaning, ever */
} pz_arena_counters;

/* What every operation looks at stands here; the rest is allocated with the first reservation, so
 * a set without blocks pays for this struct alone. All fields but `chunks` are private. */
typedef struct pz_arena {
    void ***chunks; /* slot table: chunks of PZ_SLOT_CHUNK entries; the first may be shorter */
    char *bump; /* the open span's next free byte; bump == end without an open span */
    char *end;
    uint64_t room_bytes; /* left of the reservation */
    uint32_t room_blocks; /* left of the reservation, saturated */
    uint32_t slots_ready; /* slots that can be given without growing the table */
    uint32_t spares; /* untouched spans held for the running operation */
    uint32_t slot_limit;
    uint32_t span_limit;
    struct pz_arena_body *body; /* NULL until the first reservation */
    const pz_env *env;
} pz_arena;

/* Allocates nothing; PZ_OK. */
pz_status pz_arena_init(pz_arena *a, const pz_env *env) PZ_MUST_USE;
/* Frees everything. The arena is then as after pz_arena_init. */
void pz_arena_destroy(pz_arena *a);

pz_status pz_arena_reserve_slow(pz_arena *a, size_t bytes, size_t blocks, size_t slots) PZ_MUST_USE;
void pz_arena_settle_slow(pz_arena *a);

/* Make sure that takes of at most `bytes` in all (each take counts its size rounded up to
 * PZ_BLOCK_STEP; no take above PZ_BLOCK_MAX), in at most `blocks` blocks, and `slots` new slots
 * cannot fail. Reservations do not add up: the room is for the takes until the next reserve.
 * PZ_NOMEM or PZ_FULL: nothing is reserved and every block stands as before. The usual case (the
 * open span has the room, a free slot is there) is a few compares. */
PZ_MUST_USE static inline pz_status pz_arena_reserve(pz_arena *a, size_t bytes, size_t blocks,
                                                     size_t slots)
{
    bytes = (bytes + (PZ_BLOCK_STEP - 1)) & ~(size_t)(PZ_BLOCK_STEP - 1);
    if (bytes > (size_t)(a->end - a->bump) || slots > a->slots_ready || a->body == NULL)
        return pz_arena_reserve_slow(a, bytes, blocks, slots);
    a->room_bytes = bytes;
    a->room_blocks = blocks > 0xffffffffu ? 0xffffffffu : (uint32_t)blocks;
    return PZ_OK;
}

/* End the reservation: untouched spare spans go back to the pool, none is kept. */
static inline void pz_arena_settle(pz_arena *a)
{
    a->room_bytes = 0;
    a->room_blocks = 0;
    if (a->spares != 0 || a->slots_ready > 2 * PZ_SLOT_CHUNK)
        pz_arena_settle_slow(a);
}

/* Take a block of `bytes` (head included) for `slot`. The table still names the old block, if
 * any: pz_arena_swing makes it name the new one and frees the old. Exact-size free blocks first,
 * then the open span, then a new span. Cannot fail within a reservation; beyond one it may give
 * NULL. The content is whatever was there. */
void *pz_arena_take(pz_arena *a, pz_slot slot, size_t bytes);
void pz_arena_swing(pz_arena *a, pz_slot slot, void *block);
/* A slot that names no block yet (pz_arena_at gives NULL); PZ_NO_SLOT only beyond a reservation. */
pz_slot pz_arena_slot_new(pz_arena *a);
/* Frees the block, if any, and the slot. */
void pz_arena_drop(pz_arena *a, pz_slot slot);

/* The block that a slot in use names. */
static inline void *pz_arena_at(const pz_arena *a, pz_slot slot)
{
    return a->chunks[slot >> PZ_SLOT_CHUNK_BITS][slot & (PZ_SLOT_CHUNK - 1)];
}

/* The block's whole size, head included: what was asked for, rounded up to PZ_BLOCK_STEP. */
static PZ_SEES_POISON size_t pz_block_bytes(const void *block)
{
    return (size_t)((const pz_block_head *)block)->steps * PZ_BLOCK_STEP;
}

/* The slot that the block was taken for. */
static PZ_SEES_POISON pz_slot pz_block_slot(const void *block)
{
    return ((const pz_block_head *)block)->slot;
}

/* Move live blocks out of the emptiest spans while more than 1/PZ_SLACK_DIVISOR of what the arena
 * holds is not live; at most about `budget` bytes of blocks are moved (the last block may pass it).
 * Never touches room that is reserved; when there is no room, or when moving would gain too little,
 * does nothing. A span emptied goes back to the pool. Call at safe points only: no block taken
 * and not yet swung in, no pointer into the arena kept. */
void pz_arena_clean(pz_arena *a, size_t budget);

void pz_arena_count(const pz_arena *a, pz_arena_counters *out); /* O(1) */
/* Walks every span block by block, the free lists and the slot table; O(blocks). At safe points. */
pz_status pz_arena_validate(const pz_arena *a, pz_why *why) PZ_MUST_USE;

/* Limits of one arena, lowered by tests: slots (default 2**32 - 2) and spans (65,535). */
void pz_arena_limit(pz_arena *a, uint32_t slots, uint32_t spans);

#endif
