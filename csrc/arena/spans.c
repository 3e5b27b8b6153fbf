/* Spans: their memory, their records, the buckets, and how many of them an operation may need.
 *
 *   record:  GONE ──new──> SPARE ──use──> OPEN ──close──> CLOSED ──pick──> VICTIM
 *             ^              │              │                │                │
 *             └──────────────┴──release─────┴────────────────┴────────────────┘
 *
 * Spans of PZ_POOL_SPAN_MIN bytes and more come from the pool and are powers of two; smaller ones,
 * of small sets, are plain allocations in steps of SMALL_STEP.
 *
 * How large a span should be. Two kinds of waste oppose each other: the rest of a closed span, half
 * a block as a rule, so blocks / (2 * blocks in a span) blocks in all; and the open span, half of
 * which is empty. Their sum is least when a span holds about as many blocks as there are spans:
 * span = live bytes / sqrt(blocks). */
#include "body.h"

#define SMALL_STEP 64u

_Static_assert(PZ_SPAN_MIN % SMALL_STEP == 0 && PZ_SPAN_MIN < PZ_POOL_SPAN_MIN, "small spans");
_Static_assert(PZ_BLOCK_MAX <= PZ_SPAN_MAX && PZ_SPAN_MAX <= PZ_POOL_SPAN_MAX, "a block fits");

static uint32_t bit_width(uint64_t x)
{
    return x == 0 ? 0 : 64u - (uint32_t)__builtin_clzll(x);
}

static uint64_t power_of_two_up(uint64_t x)
{
    return x <= 1 ? 1 : 1ull << bit_width(x - 1);
}

uint32_t pz_span_size(const pz_arena *a, size_t need)
{
    const pz_arena_body *b = a->body;
    uint64_t root = 1ull << ((bit_width(b->blocks) + 1) / 2);
    uint64_t size = b->live_bytes / root;
    if (b->span_count >= a->span_limit / 2) /* ids run out: few and large from here */
        size = b->span_count >= a->span_limit / 4 * 3 ? PZ_POOL_SPAN_MAX : 2 * PZ_SPAN_MAX;
    else if (size > PZ_SPAN_MAX)
        size = PZ_SPAN_MAX;
    else if (size >= PZ_POOL_SPAN_MIN)
        size = power_of_two_up(size - size / 4); /* the nearer power */
    else if (size < PZ_SPAN_MIN)
        size = PZ_SPAN_MIN;
    if (size < need || (2 * need > size && need < PZ_POOL_SPAN_MIN))
        size = need; /* a small span for one block, rather than one and a half */
    size = (size + SMALL_STEP - 1) / SMALL_STEP * SMALL_STEP;
    return (uint32_t)(size < PZ_POOL_SPAN_MIN ? size : power_of_two_up(size));
}

/* ---- records and memory ---- */
static pz_status record_new(pz_arena *a, uint32_t *id)
{
    pz_arena_body *b = a->body;
    if (b->span_count + a->spares >= a->span_limit)
        return PZ_FULL;
    if (b->gone != NO_SPAN) {
        *id = b->gone;
        b->gone = b->spans[*id].next;
        return PZ_OK;
    }
    if (b->span_top == b->span_room) {
        uint32_t room = b->span_room == 0 ? 2 : 2 * b->span_room;
        if (room > SPANS_MAX)
            room = SPANS_MAX;
        span *spans = pz_env_alloc(a->env, room * sizeof *spans);
        if (spans == NULL)
            return PZ_NOMEM;
        for (uint32_t i = 0; i < b->span_top; i++)
            spans[i] = b->spans[i];
        pz_env_free(a->env, b->spans, b->span_room * sizeof *spans);
        b->table_bytes += (room - b->span_room) * sizeof *spans;
        b->spans = spans;
        b->span_room = room;
    }
    *id = b->span_top++;
    return PZ_OK;
}

static void record_gone(pz_arena_body *b, uint32_t id)
{
    b->spans[id].state = SPAN_GONE;
    b->spans[id].next = (uint16_t)b->gone;
    b->gone = id;
}

/* A new record with memory, in state SPARE and on no list. */
static pz_status span_new(pz_arena *a, uint32_t bytes, uint32_t *id)
{
    PZ_TRY(record_new(a, id));
    void *base = NULL;
    bool touched = true;
    pz_status status = PZ_OK;
    if (bytes < PZ_POOL_SPAN_MIN) {
        base = pz_env_alloc(a->env, bytes);
        if (base == NULL)
            status = PZ_NOMEM;
    } else {
        status = pz_pool_take(a->env->pool, bytes, &base, &touched);
    }
    if (status != PZ_OK) {
        record_gone(a->body, *id);
        return status;
    }
    a->body->spans[*id] = (span){.base = base,
                                 .bytes = bytes,
                                 .prev = NO_SPAN,
                                 .next = NO_SPAN,
                                 .state = SPAN_SPARE,
                                 .touched = touched};
    PZ_POISON(base, bytes);
    return PZ_OK;
}

static void memory_give(pz_arena *a, span *s)
{
    PZ_UNPOISON(s->base, s->bytes);
    if (s->bytes < PZ_POOL_SPAN_MIN)
        pz_env_free(a->env, s->base, s->bytes);
    else
        pz_pool_give(a->env->pool, s->base, s->bytes, s->touched);
}

/* The next spare span, off its list; NO_SPAN. */
static uint32_t spare_pop(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t id = b->spare;
    if (id != NO_SPAN) {
        b->spare = b->spans[id].next;
        a->spares--;
    }
    return id;
}

uint32_t pz_span_obtain(pz_arena *a, size_t need, bool spares)
{
    pz_arena_body *b = a->body;
    uint32_t size = pz_span_size(a, need), id = NO_SPAN;
    if (spares && a->spares != 0 && b->spare_size == size)
        id = spare_pop(a);
    else if (span_new(a, size, &id) != PZ_OK)
        id = spares ? spare_pop(a) : NO_SPAN;
    if (id == NO_SPAN)
        return NO_SPAN;
    b->spans[id].touched = true;
    b->span_count++;
    b->span_bytes += b->spans[id].bytes;
    return id;
}

void pz_span_release(pz_arena *a, uint32_t id)
{
    pz_arena_body *b = a->body;
    span *s = &b->spans[id];
    PZ_ASSERT(s->live == 0);
    if (s->state != SPAN_SPARE) {
        b->span_count--;
        b->span_bytes -= s->bytes;
    }
    memory_give(a, s);
    record_gone(b, id);
}

void pz_span_unlist(pz_arena *a, uint32_t id)
{
    const span *s = &a->body->spans[id];
    uint32_t used = span_used(a, id);
    for (uint32_t at = 0; at < used;) {
        pz_block_head head = head_of(s->base + at);
        if (head.slot == PZ_NO_SLOT && head_bytes(head) >= FREE_BLOCK_MIN)
            pz_lists_remove(a->body, s->base + at);
        at += (uint32_t)head_bytes(head);
    }
}

void pz_span_close(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t id = b->open;
    if (id == NO_SPAN)
        return;
    span *s = &b->spans[id];
    s->used = (uint32_t)(a->bump - s->base);
    a->bump = a->end = NULL;
    b->open = NO_SPAN;
    if (s->live == 0) { /* it was reset when its last block went, so nothing is listed */
        pz_span_release(a, id);
    } else {
        s->state = SPAN_CLOSED;
        pz_bucket_add(b, id);
    }
}

void pz_span_begin(pz_arena *a, uint32_t id, uint32_t used)
{
    a->body->spans[id].used = used;
    a->body->spans[id].state = SPAN_CLOSED;
    pz_bucket_add(a->body, id);
}

void pz_span_reopen(pz_arena *a, uint32_t id)
{
    pz_arena_body *b = a->body;
    span *s = &b->spans[id];
    pz_span_close(a);
    pz_bucket_remove(b, id);
    s->state = SPAN_OPEN;
    b->open = id;
    a->bump = s->base + s->used;
    a->end = s->base + s->bytes;
}

/* ---- buckets ---- */
void pz_bucket_add(pz_arena_body *b, uint32_t id)
{
    span *s = &b->spans[id];
    s->bucket = (uint8_t)dead_sixteenths(s);
    uint16_t first = b->buckets[s->bucket];
    s->prev = NO_SPAN;
    s->next = first;
    if (first != NO_SPAN)
        b->spans[first].prev = (uint16_t)id;
    b->buckets[s->bucket] = (uint16_t)id;
    b->bucket_bits |= 1u << s->bucket;
}

void pz_bucket_remove(pz_arena_body *b, uint32_t id)
{
    const span *s = &b->spans[id];
    if (s->next != NO_SPAN)
        b->spans[s->next].prev = s->prev;
    if (s->prev != NO_SPAN) {
        b->spans[s->prev].next = s->next;
    } else {
        b->buckets[s->bucket] = s->next;
        if (s->next == NO_SPAN)
            b->bucket_bits &= ~(1u << s->bucket);
    }
}

void pz_bucket_update(pz_arena_body *b, uint32_t id)
{
    if (b->spans[id].bucket != dead_sixteenths(&b->spans[id])) {
        pz_bucket_remove(b, id);
        pz_bucket_add(b, id);
    }
}

/* ---- reserved room ----
 * Blocks are cut from the open span; one that does not fit takes a spare, and of the two spans the
 * one with the larger rest stays open. Write r for the rest of the open span, S for the size of a
 * spare, B for the largest block, T for the bytes still to come, k for the number of spares taken.
 * From one taking of a spare to the next, the blocks placed are the one that took it and those cut
 * since; at its end the rest is smaller than the block that does not fit, so these blocks have more
 * than S - B bytes, and together with that next block more than S. Hence
 *     T > (k - 1)(S - B)            all stretches but the last
 *     T > floor(k / 2) S            stretches 1 and 2, 3 and 4, ... taken together
 *     T > r + floor((k - 1) / 2) S  the same, beginning with the rest of the open span
 *     k <= blocks
 * and the least of the four bounds on k is what is held. Blocks from free lists, drops and resets
 * of the open span only lower what is needed; so does a further span that becomes open, for the
 * larger rest is kept. */
uint64_t pz_span_spares_needed(uint64_t bytes, uint64_t blocks, uint64_t rest, uint64_t size)
{
    if (bytes <= rest)
        return 0;
    uint64_t largest = bytes < PZ_BLOCK_MAX ? bytes : PZ_BLOCK_MAX;
    uint64_t least = 2 * ((bytes + size - 1) / size) - 1;
    uint64_t from_rest = 2 * ((bytes - rest + size - 1) / size);
    uint64_t by_largest = (bytes - PZ_BLOCK_STEP) / (size - largest + PZ_BLOCK_STEP) + 1;
    if (least > from_rest)
        least = from_rest;
    if (least > by_largest)
        least = by_largest;
    return least < blocks ? least : blocks;
}

void pz_spares_release(pz_arena *a)
{
    while (a->spares != 0)
        pz_span_release(a, spare_pop(a));
}

/* Spare spans need not be of the size that the arena wants next: takes try for such a one first and
 * fall back to a spare. They are large, so that few are needed. */
static uint64_t spare_size_for(const pz_arena *a, uint64_t bytes)
{
    uint64_t size = pz_span_size(a, bytes < PZ_BLOCK_MAX ? bytes : PZ_BLOCK_MAX);
    if (size < PZ_POOL_SPAN_MIN)
        size = PZ_POOL_SPAN_MIN;
    while (size < PZ_POOL_SPAN_MAX && bytes / size > 4)
        size *= 2;
    return size;
}

pz_status pz_spares_reserve(pz_arena *a, uint64_t bytes, uint64_t blocks)
{
    pz_arena_body *b = a->body;
    uint64_t rest = (uint64_t)(a->end - a->bump);
    uint64_t size = spare_size_for(a, bytes);
    if (a->spares != 0 && b->spare_size < size)
        pz_spares_release(a);
    if (a->spares != 0)
        size = b->spare_size;
    uint64_t n = pz_span_spares_needed(bytes, blocks, rest, size);
    b->spare_size = (uint32_t)size;
    while (a->spares < n) {
        uint32_t id = NO_SPAN;
        PZ_TRY(span_new(a, (uint32_t)size, &id));
        b->spans[id].next = (uint16_t)b->spare;
        b->spare = id;
        a->spares++;
    }
    a->room_bytes = bytes;
    a->room_blocks = blocks > 0xffffffffu ? 0xffffffffu : (uint32_t)blocks;
    return PZ_OK;
}
