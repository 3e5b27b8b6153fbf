/* Cleaning: live blocks leave the emptiest spans, so that whole spans go back.
 *
 *   victim:  | freed | moved | moved | freed | block | freed | block |  rest  |
 *                                            ^ cursor: what lies before it is dead
 *
 * The victim and the cursor last from call to call, so each call moves about as many bytes as it is
 * told and no more. A victim's free blocks are on no list (I3), or its own blocks would move into
 * it.
 *
 * When to clean: while more than 1/PZ_SLACK_DIVISOR of what the arena holds is not live, and there
 * is something to gain. What is not live is of two kinds: dead bytes, which emptying a span gives
 * back for certain, and rests at the ends of spans, which moving blocks about makes again. So
 *   - with many spans, the one with most dead bytes is emptied, if they are a sixteenth of it or
 *     more: no dead byte costs more than fifteen moved, and few cost that much;
 *   - with few spans a rest counts for more, and one is emptied when its blocks fit the rest of one
 *     other span, or a span that is smaller.
 *
 * Cleaning ends, however large the budget and however often it is called, as long as nothing is
 * taken or dropped between: of the pair (dead bytes, span bytes) each victim makes the first
 * smaller, or leaves it and makes the second smaller. Moved blocks leave no dead bytes outside the
 * victim; with few spans no new span is opened but the smaller one. (An oversized open span is the
 * one exception, and what is opened in its place is not oversized.) Weighing rests in with many
 * spans would break this: where blocks fit spans badly, they would be moved for ever. */
#include "body.h"

#include <string.h>

#define FEW_SPANS 16u

static bool is_wasteful(const pz_arena *a)
{
    uint64_t held = arena_held(a);
    return (held - a->body->live_bytes) * PZ_SLACK_DIVISOR > held;
}

static void victim_make(pz_arena *a, uint32_t id)
{
    pz_arena_body *b = a->body;
    pz_bucket_remove(b, id);
    pz_span_unlist(a, id);
    b->spans[id].state = SPAN_VICTIM;
    b->victim = id;
    b->cursor = 0;
}

/* The first span of the highest bucket: that with most dead bytes, to within a sixteenth. */
static bool pick_deadest(pz_arena *a)
{
    pz_arena_body *b = a->body;
    if (b->bucket_bits < 2) /* nothing above the lowest bucket */
        return false;
    victim_make(a, b->buckets[31 - __builtin_clz(b->bucket_bits)]);
    return true;
}

/* An arena that has shrunk may be left with an open span that is far too large for it. */
static bool pick_oversized(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t id = b->open;
    if (id == NO_SPAN || a->room_bytes != 0)
        return false;
    const span *s = &b->spans[id];
    if (s->bytes <= 4 * pz_span_size(a, 0) || s->live > s->bytes / 2)
        return false;
    pz_span_close(a);
    if (s->state == SPAN_CLOSED) /* else it was empty and is gone already */
        victim_make(a, id);
    return true;
}

static bool holds_blocks(const span *s)
{
    return s->state == SPAN_OPEN || s->state == SPAN_CLOSED;
}

/* Few spans: the one that gives back most among those whose blocks fit the largest rest. */
static bool pick_to_merge(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t to = NO_SPAN, from = NO_SPAN, rest = 0, most = 0;
    for (uint32_t id = 0; id < b->span_top; id++) {
        if (holds_blocks(&b->spans[id]) && b->spans[id].bytes - span_used(a, id) > rest) {
            rest = b->spans[id].bytes - span_used(a, id);
            to = id;
        }
    }
    for (uint32_t id = 0; id < b->span_top; id++) {
        const span *s = &b->spans[id];
        if (holds_blocks(s) && id != to && s->live <= rest && s->bytes - s->live > most) {
            most = s->bytes - s->live;
            from = id;
        }
    }
    if (from == NO_SPAN)
        return false;
    if (to != b->open)
        pz_span_reopen(a, to);
    if (b->spans[from].state == SPAN_CLOSED) /* else it was open, empty, and is gone already */
        victim_make(a, from);
    return true;
}

/* Few spans: the one whose blocks fit a span that is smaller by most; that one is opened. */
static bool pick_to_shrink(pz_arena *a)
{
    pz_arena_body *b = a->body;
    uint32_t from = NO_SPAN, most = 0, least = pz_span_size(a, 0);
    for (uint32_t id = 0; id < b->span_top; id++) {
        const span *s = &b->spans[id];
        uint32_t size = s->live == 0 ? 0 : s->live <= least ? least : pz_span_size(a, s->live);
        if (holds_blocks(s) && s->bytes > size && s->bytes - size > most) {
            most = s->bytes - size;
            from = id;
        }
    }
    if (from == NO_SPAN)
        return false;
    if (b->spans[from].live == 0) { /* only the open span may be empty */
        pz_span_close(a);
        return true;
    }
    uint32_t to = pz_span_obtain(a, b->spans[from].live, false);
    if (to == NO_SPAN)
        return false;
    pz_span_begin(a, to, 0);
    pz_span_reopen(a, to);
    victim_make(a, from);
    return true;
}

/* Choose a victim, or give a span back; false when nothing is worth it. */
static bool victim_pick(pz_arena *a)
{
    if (a->body->span_count > FEW_SPANS)
        return pick_deadest(a) || pick_oversized(a);
    return a->room_bytes == 0 && (pick_to_merge(a) || pick_to_shrink(a));
}

/* How many of the block's bytes its owner asked for: those that are not poisoned. */
static size_t asked_bytes(const char *block, size_t bytes)
{
#ifdef PZ_POISONS
    const char *own = block + sizeof(pz_block_head);
    const char *end =
        __asan_region_is_poisoned((void *)(uintptr_t)own, bytes - sizeof(pz_block_head));
    return end == NULL ? bytes : (size_t)(end - block);
#else
    (void)block;
    return bytes;
#endif
}

/* Move one block; false when there is no place for it. */
static bool block_move(pz_arena *a, char *block, size_t bytes, pz_slot slot)
{
    pz_arena_body *b = a->body;
    void **entry = slot_entry(a, slot);
    PZ_ASSERT(*entry == block);
    uint32_t to = NO_SPAN, from = b->victim;
    char *place = pz_block_place(a, bytes, false, &to);
    if (place == NULL)
        return false;
    size_t asked = asked_bytes(block, bytes);
    pz_block_begin(a, place, slot, asked, bytes, to);
    memcpy(place + sizeof(pz_block_head), block + sizeof(pz_block_head),
           asked - sizeof(pz_block_head));
    *entry = place;
    PZ_POISON(block, bytes);
    head_write(block, PZ_NO_SLOT, bytes, from);
    b->spans[from].live -= (uint32_t)bytes;
    b->live_bytes -= bytes;
    b->blocks--;
    b->blocks_moved++;
    b->bytes_moved += bytes;
    return true;
}

/* Move the victim's blocks from the cursor on, while `budget` lasts. True when it was emptied. */
static bool victim_drain(pz_arena *a, size_t *budget)
{
    pz_arena_body *b = a->body;
    uint32_t id = b->victim;
    while (b->spans[id].live != 0) { /* moving may move the records */
        char *block = b->spans[id].base + b->cursor;
        pz_block_head head = head_of(block);
        size_t bytes = head_bytes(head);
        if (head.slot != PZ_NO_SLOT) {
            if (*budget == 0 || !block_move(a, block, bytes, head.slot))
                return false;
            *budget -= bytes < *budget ? bytes : *budget;
        }
        b->cursor += (uint32_t)bytes;
    }
    b->victim = NO_SPAN;
    pz_span_release(a, id);
    return true;
}

void pz_arena_clean(pz_arena *a, size_t budget)
{
    if (a->body == NULL)
        return;
    while (is_wasteful(a)) {
        if (a->body->victim == NO_SPAN) {
            if (budget == 0 || !victim_pick(a))
                return;
        } else if (!victim_drain(a, &budget)) {
            return;
        }
    }
}
