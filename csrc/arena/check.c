/* Validation of an arena against the invariants of body.h: every span block by block, every list,
 * every bucket, the slot table in both directions, every account added up anew. Reads only. */
#include "body.h"

/* Sums over the spans, compared with the accounts at the end. */
typedef struct sums {
    uint64_t live_bytes, span_bytes, blocks;
    uint64_t listable; /* free blocks that have to be on a list */
    uint32_t counts[SPAN_VICTIM + 1];
} sums;

static pz_status block_check(const pz_arena *a, uint32_t id, const char *block, sums *sum,
                             uint64_t *live, pz_why *why)
{
    const pz_arena_body *b = a->body;
    pz_block_head head = head_of(block);
    if (head.span != id)
        return PZ_WHY(why, "arena: span of a block", id, id, head.span);
    if (head.slot == PZ_NO_SLOT) {
        sum->listable += b->spans[id].state != SPAN_VICTIM && head_bytes(head) >= FREE_BLOCK_MIN;
        return PZ_OK;
    }
    if (head.slot >= b->slot_top || *slot_entry(a, head.slot) != block)
        return PZ_WHY(why, "arena: slot of a block", id, 0, head.slot);
    *live += head_bytes(head);
    sum->blocks++;
    return PZ_OK;
}

static pz_status span_check(const pz_arena *a, uint32_t id, sums *sum, pz_why *why)
{
    const pz_arena_body *b = a->body;
    const span *s = &b->spans[id];
    if (s->state > SPAN_VICTIM)
        return PZ_WHY(why, "arena: state of a span", id, SPAN_VICTIM, s->state);
    sum->counts[s->state]++;
    if (s->state == SPAN_GONE)
        return PZ_OK;
    if (s->state == SPAN_SPARE)
        return s->bytes == b->spare_size
                   ? PZ_OK
                   : PZ_WHY(why, "arena: size of a spare", id, b->spare_size, s->bytes);
    uint32_t used = span_used(a, id), at = 0;
    uint64_t live = 0;
    if (used > s->bytes || !s->touched)
        return PZ_WHY(why, "arena: span's end", id, s->bytes, used);
    while (at < used) {
        size_t bytes = head_bytes(head_of(s->base + at));
        if (bytes == 0 || bytes > used - at)
            return PZ_WHY(why, "arena: size of a block", id, used - at, bytes);
        PZ_TRY(block_check(a, id, s->base + at, sum, &live, why));
        if (s->state == SPAN_VICTIM && at < b->cursor && head_of(s->base + at).slot != PZ_NO_SLOT)
            return PZ_WHY(why, "arena: block before the cursor", id, b->cursor, at);
        at += (uint32_t)bytes;
    }
    if (live != s->live)
        return PZ_WHY(why, "arena: live bytes of a span", id, live, s->live);
    if (s->state != SPAN_OPEN && live == 0)
        return PZ_WHY(why, "arena: empty span", id, 1, 0);
    sum->live_bytes += live;
    sum->span_bytes += s->bytes;
    return PZ_OK;
}

static pz_status spans_check(const pz_arena *a, sums *sum, pz_why *why)
{
    const pz_arena_body *b = a->body;
    for (uint32_t id = 0; id < b->span_top; id++)
        PZ_TRY(span_check(a, id, sum, why));
    uint32_t used = sum->counts[SPAN_OPEN] + sum->counts[SPAN_CLOSED] + sum->counts[SPAN_VICTIM];
    if (used != b->span_count)
        return PZ_WHY(why, "arena: spans", 0, used, b->span_count);
    if (sum->counts[SPAN_OPEN] != (b->open != NO_SPAN) ||
        (b->open != NO_SPAN && b->spans[b->open].state != SPAN_OPEN))
        return PZ_WHY(why, "arena: open span", 0, sum->counts[SPAN_OPEN], b->open);
    if (sum->counts[SPAN_VICTIM] != (b->victim != NO_SPAN) ||
        (b->victim != NO_SPAN && b->spans[b->victim].state != SPAN_VICTIM))
        return PZ_WHY(why, "arena: victim span", 0, sum->counts[SPAN_VICTIM], b->victim);
    const char *end = b->open == NO_SPAN ? NULL : b->spans[b->open].base + b->spans[b->open].bytes;
    if (a->end != end || (uintptr_t)a->bump > (uintptr_t)end)
        return PZ_WHY(why, "arena: rest of the open span", 0, (uintptr_t)end, (uintptr_t)a->end);
    if (sum->live_bytes != b->live_bytes)
        return PZ_WHY(why, "arena: live bytes", 0, sum->live_bytes, b->live_bytes);
    if (sum->span_bytes != b->span_bytes)
        return PZ_WHY(why, "arena: span bytes", 0, sum->span_bytes, b->span_bytes);
    if (sum->blocks != b->blocks)
        return PZ_WHY(why, "arena: blocks", 0, sum->blocks, b->blocks);
    return PZ_OK;
}

static pz_status records_check(const pz_arena *a, uint32_t head, span_state state, uint32_t wanted,
                               pz_why *why)
{
    const pz_arena_body *b = a->body;
    uint32_t n = 0;
    for (uint32_t id = head; id != NO_SPAN; id = b->spans[id].next, n++) {
        if (id >= b->span_top || b->spans[id].state != state || n == wanted)
            return PZ_WHY(why, "arena: list of spares or gone records", id, wanted, n);
    }
    return n == wanted ? PZ_OK : PZ_WHY(why, "arena: spares or gone records", state, wanted, n);
}

static pz_status buckets_check(const pz_arena *a, const sums *sum, pz_why *why)
{
    const pz_arena_body *b = a->body;
    uint32_t n = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uint32_t before = NO_SPAN;
        if ((b->buckets[i] != NO_SPAN) != (b->bucket_bits >> i & 1))
            return PZ_WHY(why, "arena: bit of a bucket", i, b->buckets[i], b->bucket_bits);
        for (uint32_t id = b->buckets[i]; id != NO_SPAN; id = b->spans[id].next) {
            const span *s = &b->spans[id];
            if (s->state != SPAN_CLOSED || s->bucket != i || dead_sixteenths(s) != i)
                return PZ_WHY(why, "arena: bucket of a span", id, i, s->bucket);
            if (s->prev != before)
                return PZ_WHY(why, "arena: link in a bucket", id, before, s->prev);
            before = id;
            n++;
        }
    }
    return n == sum->counts[SPAN_CLOSED]
               ? PZ_OK
               : PZ_WHY(why, "arena: spans in buckets", 0, sum->counts[SPAN_CLOSED], n);
}

static pz_status lists_check(const pz_arena *a, const sums *sum, pz_why *why)
{
    const pz_arena_body *b = a->body;
    uint64_t n = 0;
    for (uint32_t i = 0; i <= b->list_mask; i++) {
        const free_block *before = NULL;
        for (const free_block *at = b->lists[i]; at != NULL; at = link_next(at)) {
            pz_block_head head = head_of(at);
            if (head.slot != PZ_NO_SLOT || (head.steps & b->list_mask) != i)
                return PZ_WHY(why, "arena: free block on a list", i, PZ_NO_SLOT, head.slot);
            if (head.span >= b->span_top || link_prev(at) != before)
                return PZ_WHY(why, "arena: link of a free block", i, 0, head.span);
            uint64_t offset = (uintptr_t)at - (uintptr_t)b->spans[head.span].base;
            if (offset >= span_used(a, head.span) || b->spans[head.span].state == SPAN_VICTIM)
                return PZ_WHY(why, "arena: place of a free block", head.span, 0, offset);
            before = at;
            n++;
        }
    }
    return n == sum->listable ? PZ_OK : PZ_WHY(why, "arena: free blocks", 0, sum->listable, n);
}

/* Blocks in use name their entries (block_check), each its own; so equal numbers mean that every
 * entry names a block too. */
static pz_status slots_check(const pz_arena *a, const sums *sum, pz_why *why)
{
    const pz_arena_body *b = a->body;
    uint64_t used = 0, named = 0, gone = 0;
    for (pz_slot slot = 0; slot < b->slot_top; slot++) {
        const void *entry = *slot_entry(a, slot);
        used += !entry_is_free(entry);
        named += entry != NULL && !entry_is_free(entry);
    }
    if (used != b->slots)
        return PZ_WHY(why, "arena: slots in use", 0, used, b->slots);
    if (named != sum->blocks)
        return PZ_WHY(why, "arena: slots that name a block", 0, sum->blocks, named);
    for (pz_slot slot = b->slot_free; slot != PZ_NO_SLOT; gone++) {
        if (slot >= b->slot_top || !entry_is_free(*slot_entry(a, slot)) || gone > b->slot_top)
            return PZ_WHY(why, "arena: list of free slots", slot, b->slot_top, gone);
        slot = (pz_slot)((uintptr_t)*slot_entry(a, slot) >> 1);
    }
    if (gone != b->slot_top - used)
        return PZ_WHY(why, "arena: free slots", 0, b->slot_top - used, gone);
    uint64_t room = b->slot_room < a->slot_limit ? b->slot_room : a->slot_limit;
    uint64_t ready = room > used ? room - used : 0;
    return ready == a->slots_ready ? PZ_OK
                                   : PZ_WHY(why, "arena: slots ready", 0, ready, a->slots_ready);
}

pz_status pz_arena_validate(const pz_arena *a, pz_why *why)
{
    const pz_arena_body *b = a->body;
    sums sum = {0};
    if (b == NULL)
        return a->chunks == NULL && a->spares == 0 && a->bump == NULL && a->end == NULL
                   ? PZ_OK
                   : PZ_WHY(why, "arena: without a body", 0, 0, 1);
    PZ_TRY(spans_check(a, &sum, why));
    PZ_TRY(records_check(a, b->spare, SPAN_SPARE, a->spares, why));
    PZ_TRY(records_check(a, b->gone, SPAN_GONE, sum.counts[SPAN_GONE], why));
    if (sum.counts[SPAN_SPARE] != a->spares)
        return PZ_WHY(why, "arena: spares", 0, sum.counts[SPAN_SPARE], a->spares);
    PZ_TRY(buckets_check(a, &sum, why));
    PZ_TRY(lists_check(a, &sum, why));
    PZ_TRY(slots_check(a, &sum, why));
    uint64_t tables = sizeof *b + b->span_room * sizeof(span) + b->slot_room * sizeof(void *) +
                      b->directory_room * sizeof(void **) +
                      (b->lists == b->few ? 0 : (b->list_mask + 1ull) * sizeof *b->lists);
    if (tables != b->table_bytes)
        return PZ_WHY(why, "arena: bytes of tables", 0, tables, b->table_bytes);
    return PZ_OK;
}
