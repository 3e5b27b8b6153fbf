/* The arena's everyday side: slots, reservations, taking and freeing blocks, accounts. See body.h
 * for the bytes and the invariants; spans.c for spans, lists.c for free blocks, clean.c for
 * cleaning.
 *
 *   slot table, small:   chunks ──> [ 0 ] ──> | 8, 16, ... 1,024 entries |      doubled by copying
 *   and larger:          chunks ──> [ 0 ][ 1 ][ 2 ] ...                         doubled by copying
 *                                     |    |    └─> | 1,024 entries |           never copied
 *                                     |    └──────> | 1,024 entries |
 *                                     └───────────> | 1,024 entries |
 *
 * What the first reservation allocates stays until pz_arena_destroy, but for chunks of slots that
 * were never used: pz_arena_settle gives those back. A failed reservation may have made tables
 * larger, but never changes what they say. */
#include "body.h"

#include <string.h>

#define FIRST_SLOTS 8u
#define FIRST_DIRECTORY 1u
#define SLOT_LIMIT 0xfffffffeu

_Static_assert(sizeof(void *) == 8, "a free slot's entry holds a 32-bit slot and a tag");
_Static_assert(sizeof(pz_arena) <= 80, "the arena of a set without blocks is small");
_Static_assert(sizeof(span) == 32, "one record a span, two a cache line");

pz_status pz_arena_init(pz_arena *a, const pz_env *env)
{
    *a = (pz_arena){.slot_limit = SLOT_LIMIT, .span_limit = SPANS_MAX, .env = env};
    return PZ_OK;
}

static size_t chunk_entries(const pz_arena_body *b)
{
    return b->slot_room < PZ_SLOT_CHUNK ? b->slot_room : PZ_SLOT_CHUNK;
}

void pz_arena_destroy(pz_arena *a)
{
    pz_arena_body *b = a->body;
    if (b == NULL)
        return;
    for (uint32_t id = 0; id < b->span_top; id++) {
        if (b->spans[id].state != SPAN_GONE) {
            b->spans[id].live = 0;
            pz_span_release(a, id);
        }
    }
    pz_env_free(a->env, b->spans, b->span_room * sizeof *b->spans);
    for (uint64_t at = 0; at < b->slot_room; at += PZ_SLOT_CHUNK)
        pz_env_free(a->env, a->chunks[at >> PZ_SLOT_CHUNK_BITS], chunk_entries(b) * sizeof(void *));
    pz_env_free(a->env, a->chunks, b->directory_room * sizeof *a->chunks);
    pz_lists_destroy(a);
    pz_env_free(a->env, b, sizeof *b);
    *a = (pz_arena){.slot_limit = a->slot_limit, .span_limit = a->span_limit, .env = a->env};
}

static pz_status body_make(pz_arena *a)
{
    if (a->body != NULL)
        return PZ_OK;
    pz_arena_body *b = pz_env_alloc(a->env, sizeof *b);
    if (b == NULL)
        return PZ_NOMEM;
    *b = (pz_arena_body){.gone = NO_SPAN,
                         .spare = NO_SPAN,
                         .open = NO_SPAN,
                         .victim = NO_SPAN,
                         .lists = b->few,
                         .list_mask = LISTS_FEW - 1,
                         .slot_free = PZ_NO_SLOT,
                         .table_bytes = sizeof *b};
    for (uint32_t i = 0; i < BUCKETS; i++)
        b->buckets[i] = NO_SPAN;
    a->body = b;
    return PZ_OK;
}

/* ---- slots ---- */
static uint32_t slots_left(const pz_arena *a)
{
    const pz_arena_body *b = a->body;
    uint64_t room = b->slot_room < a->slot_limit ? b->slot_room : a->slot_limit;
    return room > b->slots ? (uint32_t)room - b->slots : 0;
}

static pz_status directory_grow(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t room = b->directory_room == 0 ? FIRST_DIRECTORY : 2 * b->directory_room;
    void ***chunks = pz_env_alloc(a->env, room * sizeof *chunks);
    if (chunks == NULL)
        return PZ_NOMEM;
    if (b->directory_room != 0)
        memcpy(chunks, a->chunks, b->directory_room * sizeof *chunks);
    pz_env_free(a->env, a->chunks, b->directory_room * sizeof *chunks);
    b->table_bytes += (room - b->directory_room) * sizeof *chunks;
    a->chunks = chunks;
    b->directory_room = room;
    return PZ_OK;
}

/* One more chunk, or the first one doubled. */
static pz_status slots_grow(pz_arena *a)
{
    pz_arena_body *b = a->body;
    size_t have = chunk_entries(b), index = 0, room = PZ_SLOT_CHUNK;
    if (have == PZ_SLOT_CHUNK)
        index = (size_t)(b->slot_room >> PZ_SLOT_CHUNK_BITS);
    else
        room = have == 0 ? FIRST_SLOTS : 2 * have;
    if (index >= b->directory_room)
        PZ_TRY(directory_grow(a));
    void **chunk = pz_env_alloc(a->env, room * sizeof *chunk);
    if (chunk == NULL)
        return PZ_NOMEM;
    b->table_bytes += room * sizeof *chunk;
    b->slot_room += room;
    if (index == 0 && have != 0) {
        memcpy(chunk, a->chunks[0], have * sizeof *chunk);
        pz_env_free(a->env, a->chunks[0], have * sizeof *chunk);
        b->table_bytes -= have * sizeof *chunk;
        b->slot_room -= have;
    }
    a->chunks[index] = chunk;
    a->slots_ready = slots_left(a);
    return PZ_OK;
}

static pz_status slots_reserve(pz_arena *a, size_t n)
{
    if (n > a->slot_limit || a->body->slots > a->slot_limit - n)
        return PZ_FULL;
    while (a->slots_ready < n)
        PZ_TRY(slots_grow(a));
    return PZ_OK;
}

pz_slot pz_arena_slot_new(pz_arena *a)
{
    pz_arena_body *b = a->body;
    if (a->slots_ready == 0)
        return PZ_NO_SLOT;
    pz_slot slot = b->slot_free;
    if (slot != PZ_NO_SLOT)
        b->slot_free = (pz_slot)((uintptr_t)*slot_entry(a, slot) >> 1);
    else
        slot = b->slot_top++;
    *slot_entry(a, slot) = NULL;
    b->slots++;
    a->slots_ready--;
    return slot;
}

static void slot_free(pz_arena *a, pz_slot slot)
{
    pz_arena_body *b = a->body;
    *slot_entry(a, slot) = (void *)((uintptr_t)b->slot_free << 1 | 1);
    b->slot_free = slot;
    b->slots--;
    a->slots_ready = slots_left(a);
}

/* Give back the chunks at the end in which no slot was ever used, but for one. */
static void slots_trim(pz_arena *a)
{
    pz_arena_body *b = a->body;
    while (b->slot_room >= b->slot_top + 2 * (uint64_t)PZ_SLOT_CHUNK) {
        b->slot_room -= PZ_SLOT_CHUNK;
        b->table_bytes -= PZ_SLOT_CHUNK * sizeof(void *);
        pz_env_free(a->env, a->chunks[b->slot_room >> PZ_SLOT_CHUNK_BITS],
                    PZ_SLOT_CHUNK * sizeof(void *));
    }
    a->slots_ready = slots_left(a);
}

/* ---- reservations ---- */
void pz_arena_settle_slow(pz_arena *a)
{
    pz_spares_release(a);
    if (a->slots_ready > 2 * PZ_SLOT_CHUNK)
        slots_trim(a);
}

pz_status pz_arena_reserve_slow(pz_arena *a, size_t bytes, size_t blocks, size_t slots)
{
    pz_status status = body_make(a);
    if (status == PZ_OK)
        status = slots_reserve(a, slots);
    if (status == PZ_OK)
        status = pz_spares_reserve(a, bytes, blocks);
    if (status != PZ_OK)
        pz_arena_settle(a);
    return status;
}

/* ---- blocks ---- */
static void *block_bump(pz_arena *a, size_t bytes, uint32_t *id)
{
    void *place = a->bump;
    a->bump += bytes;
    *id = a->body->open;
    return place;
}

/* The block goes to the start of another span; the larger of the two rests stays open. */
static void *block_place_in_new(pz_arena *a, size_t bytes, bool spares, uint32_t *id)
{
    pz_arena_body *b = a->body;
    *id = pz_span_obtain(a, bytes, spares);
    if (*id == NO_SPAN)
        return NULL;
    pz_lists_grow(a);
    pz_span_begin(a, *id, (uint32_t)bytes);
    const span *s = &b->spans[*id];
    if (s->bytes - bytes >= (size_t)(a->end - a->bump))
        pz_span_reopen(a, *id);
    return s->base;
}

void *pz_block_place(pz_arena *a, size_t bytes, bool spares, uint32_t *id)
{
    void *place = pz_lists_pop(a->body, bytes);
    if (place != NULL) {
        *id = head_of(place).span;
        return place;
    }
    size_t rest = (size_t)(a->end - a->bump);
    if (bytes > rest)
        return block_place_in_new(a, bytes, spares, id);
    if (!spares && a->room_bytes > rest - bytes &&
        pz_span_spares_needed(a->room_bytes, a->room_blocks, rest - bytes,
                              a->spares != 0 ? a->body->spare_size : PZ_POOL_SPAN_MAX) > a->spares)
        return block_place_in_new(a, bytes, spares, id);
    return block_bump(a, bytes, id);
}

void pz_block_begin(pz_arena *a, void *place, pz_slot slot, size_t asked, size_t bytes, uint32_t id)
{
    pz_arena_body *b = a->body;
    span *s = &b->spans[id];
    s->live += (uint32_t)bytes;
    b->live_bytes += bytes;
    b->blocks++;
    if (s->state == SPAN_CLOSED)
        pz_bucket_update(b, id);
    head_write(place, slot, bytes, id);
    PZ_UNPOISON((char *)place + sizeof(pz_block_head), asked - sizeof(pz_block_head));
}

void *pz_arena_take(pz_arena *a, pz_slot slot, size_t asked)
{
    size_t bytes = (asked + (PZ_BLOCK_STEP - 1)) & ~(size_t)(PZ_BLOCK_STEP - 1);
    PZ_ASSERT(asked >= sizeof(pz_block_head));
    PZ_ASSERT(bytes <= PZ_BLOCK_MAX);
    uint32_t id = NO_SPAN;
    if (a->body == NULL)
        return NULL;
    void *place = pz_block_place(a, bytes, true, &id);
    if (place == NULL)
        return NULL;
    pz_block_begin(a, place, slot, asked, bytes, id);
    a->body->blocks_taken++;
    a->room_bytes -= bytes < a->room_bytes ? bytes : a->room_bytes;
    a->room_blocks -= a->room_blocks != 0;
    return place;
}

/* The last block of a span went: the open one starts again, another one goes back. */
static void span_emptied(pz_arena *a, uint32_t id)
{
    pz_arena_body *b = a->body;
    span *s = &b->spans[id];
    if (s->state == SPAN_OPEN) {
        pz_span_unlist(a, id);
        a->bump = s->base;
        return;
    }
    if (s->state == SPAN_VICTIM) {
        b->victim = NO_SPAN;
    } else {
        pz_span_unlist(a, id);
        pz_bucket_remove(b, id);
    }
    pz_span_release(a, id);
}

static void block_free(pz_arena *a, void *block)
{
    pz_arena_body *b = a->body;
    pz_block_head head = head_of(block);
    size_t bytes = head_bytes(head);
    span *s = &b->spans[head.span];
    PZ_POISON(block, bytes);
    s->live -= (uint32_t)bytes;
    b->live_bytes -= bytes;
    b->blocks--;
    if (s->state == SPAN_OPEN && (char *)block + bytes == a->bump) {
        a->bump = block; /* nothing was cut since: as if it had not been taken */
    } else {
        head_write(block, PZ_NO_SLOT, bytes, head.span);
        if (s->state != SPAN_VICTIM && bytes >= FREE_BLOCK_MIN)
            pz_lists_push(b, block, bytes);
    }
    if (s->live == 0)
        span_emptied(a, head.span);
    else if (s->state == SPAN_CLOSED)
        pz_bucket_update(b, head.span);
}

void pz_arena_swing(pz_arena *a, pz_slot slot, void *block)
{
    void **entry = slot_entry(a, slot), *old = *entry;
    PZ_ASSERT(!entry_is_free(old));
    *entry = block;
    if (old != NULL)
        block_free(a, old);
}

void pz_arena_drop(pz_arena *a, pz_slot slot)
{
    void *block = *slot_entry(a, slot);
    PZ_ASSERT(!entry_is_free(block));
    if (block != NULL)
        block_free(a, block);
    slot_free(a, slot);
}

void pz_arena_limit(pz_arena *a, uint32_t slots, uint32_t spans)
{
    a->slot_limit = slots < SLOT_LIMIT ? slots : SLOT_LIMIT;
    a->span_limit = spans < SPANS_MAX ? spans : SPANS_MAX;
    if (a->body != NULL)
        a->slots_ready = slots_left(a);
}

void pz_arena_count(const pz_arena *a, pz_arena_counters *out)
{
    const pz_arena_body *b = a->body;
    *out = (pz_arena_counters){0};
    if (b == NULL)
        return;
    *out = (pz_arena_counters){.held_bytes = arena_held(a),
                               .span_bytes = b->span_bytes,
                               .live_bytes = b->live_bytes,
                               .free_bytes = b->span_bytes - b->live_bytes,
                               .spare_bytes = (uint64_t)a->spares * b->spare_size,
                               .spans = b->span_count,
                               .slots = b->slots,
                               .blocks = b->blocks,
                               .blocks_taken = b->blocks_taken,
                               .blocks_moved = b->blocks_moved,
                               .bytes_moved = b->bytes_moved};
}
