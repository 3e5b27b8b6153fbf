/* Synthetic event streams in time order, without sorting them all at once.
 *
 * Entity i of N has a count c_i and a birth b_i; its first event is at b_i, each other one at
 * b_i + (1 - b_i) f(u), u uniform in [0, 1):
 *
 *              c_i                                         b_i             f(u)
 *   Wikipedia  min(ceil(exp(1.35 + 1.75 z)), 2,100,000)    i / N           u * u
 *   Lichess    max(round(exp(ln 20 - 2 + 2 z)), 1), same   sqrt(i / N)     u
 *              limit (mean 20 before rounding)
 *
 * Time is a 32-bit tick; equal ticks are in entity order. The span of ticks is cut into cells:
 *
 *   pass 1   counts of all entities kept (4 bytes each); events counted a cell
 *   pass 2   for as many cells as there is room: all entities born so far are run again, each event
 *            in these cells is put into its cell
 *
 *      records   | cell 7           | cell 8      | cell 9               |      8 bytes each:
 *                |  tick32 | id32 ..|             |                      |      tick << 32 | entity
 *                 ^ sorted by tick when it is reached (stable, so ties stay in entity order)
 *
 *   and again from the next cell on. Nothing is written to a file; memory is bounded by the room.
 *
 * Invariants: the stream depends on kind, ids, seed and N only, never on the room or on how it is
 * read. Cells before `cell` are used up, those from `cell_end` on not yet loaded. */
#define _DEFAULT_SOURCE /* madvise */

#include "shape.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "random.h"

__extension__ typedef unsigned __int128 pz_u128;

enum { CELL_BITS_MIN = 4, CELL_BITS_MAX = 16, CELL_EVENTS_WANTED = 16384 };
enum { STREAM_COUNTS = 1, STREAM_TIMES = 2, STREAM_RATINGS = 3 };

struct pz_shape {
    pz_shape_options options;
    uint32_t *counts;      /* one an entity */
    uint64_t drawn;        /* entities whose count is known */
    pz_random count_stream;
    pz_random time_stream; /* of pass 1 */
    uint64_t events;

    unsigned cell_bits;
    uint64_t *cell_sizes;  /* 1 << cell_bits */
    uint64_t *cell_ends;   /* write positions of the loaded cells */
    uint64_t largest_cell;

    uint64_t *records;     /* the loaded cells, one after the other */
    uint64_t *scratch;     /* for sorting: the largest cell */
    uint64_t room;
    uint32_t cell, cell_end;
    uint64_t position, sorted_end; /* in records: next to be read, end of the sorted cell */

    /* Lichess only */
    int16_t *ratings;
    uint32_t *games;
    pz_random rating_stream;
    uint32_t white, deferred; /* the waiting player + 1, and how many more slots of his wait */
    uint32_t black, black_tick; /* the second row of a game, black + 1, 0: none */
};

static uint64_t high_product(uint64_t a, uint64_t b)
{
    return (uint64_t)(((pz_u128)a * b) >> 64);
}

static uint64_t birth_of(const pz_shape *shape, uint64_t entity)
{
    const uint64_t n = shape->options.entities;
    if (shape->options.kind == PZ_SHAPE_WIKIPEDIA)
        return (uint64_t)(((pz_u128)entity << 64) / n);
    return (uint64_t)(sqrt((double)entity / (double)n) * 4294967296.0) << 32;
}

static uint32_t draw_count(pz_shape_kind kind, pz_random *stream)
{
    const double z = pz_random_normal(stream);
    double count;
    if (kind == PZ_SHAPE_WIKIPEDIA)
        count = ceil(pz_random_exp(1.35 + 1.75 * z));
    else
        count = floor(pz_random_exp(2.995732273553991 - 2.0 + 2.0 * z) + 0.5);
    if (count < 1.0)
        count = 1.0;
    return count > (double)PZ_SHAPE_COUNT_MAX ? PZ_SHAPE_COUNT_MAX : (uint32_t)count;
}

/* Events of an entity after the first, two from a word of the stream. `body` sees `tick`. */
#define FOR_EACH_LATER_TICK(shape, birth, count, stream, tick, body)                        \
    do {                                                                                    \
        const bool square_ = (shape)->options.kind == PZ_SHAPE_WIKIPEDIA;                   \
        uint64_t word_ = 0;                                                                 \
        for (uint32_t k_ = 1; k_ < (count); k_++) {                                         \
            word_ = (k_ & 1u) != 0 ? pz_random_word(stream) : word_ >> 32;                  \
            const uint64_t u_ = word_ & 0xffffffffu;                                        \
            const uint64_t f_ = square_ ? u_ * u_ : u_ << 32;                               \
            const uint32_t tick = (uint32_t)(((birth) + high_product(~(birth), f_)) >> 32); \
            body                                                                            \
        }                                                                                   \
    } while (0)

static pz_status allocate(pz_shape *shape)
{
    const size_t n = (size_t)shape->options.entities;
    const size_t cells = (size_t)1 << shape->cell_bits;
    shape->counts = malloc(n * sizeof *shape->counts);
    shape->cell_sizes = calloc(cells, sizeof *shape->cell_sizes);
    shape->cell_ends = calloc(cells, sizeof *shape->cell_ends);
    if (shape->counts == NULL || shape->cell_sizes == NULL || shape->cell_ends == NULL)
        return PZ_NOMEM;
    if (shape->options.kind == PZ_SHAPE_LICHESS) {
        shape->ratings = malloc(n * sizeof *shape->ratings);
        shape->games = calloc(n, sizeof *shape->games);
        if (shape->ratings == NULL || shape->games == NULL)
            return PZ_NOMEM;
        for (size_t i = 0; i < n; i++)
            shape->ratings[i] = 1500;
    }
    return PZ_OK;
}

pz_status pz_shape_new(const pz_shape_options *options, pz_shape **out)
{
    const bool lichess = options->kind == PZ_SHAPE_LICHESS;
    if (options->entities < 1 || options->entities > PZ_SHAPE_ENTITIES_MAX ||
        (lichess && options->ids != PZ_IDS_DENSE) ||
        (options->ids == PZ_IDS_FULL_SCALE && options->entities > PZ_SHAPE_ID_SPAN))
        return PZ_INVALID;
    pz_shape *shape = calloc(1, sizeof *shape);
    if (shape == NULL)
        return PZ_NOMEM;
    shape->options = *options;
    shape->cell_bits = CELL_BITS_MIN;
    while (shape->cell_bits < CELL_BITS_MAX &&
           (options->entities * 20 >> shape->cell_bits) > CELL_EVENTS_WANTED)
        shape->cell_bits++;
    shape->count_stream = pz_random_stream(options->seed, STREAM_COUNTS);
    shape->time_stream = pz_random_stream(options->seed, STREAM_TIMES);
    shape->rating_stream = pz_random_stream(options->seed, STREAM_RATINGS);
    const pz_status status = allocate(shape);
    if (status != PZ_OK) {
        pz_shape_free(shape);
        return status;
    }
    *out = shape;
    return PZ_OK;
}

void pz_shape_free(pz_shape *shape)
{
    if (shape == NULL)
        return;
    free(shape->counts);
    free(shape->cell_sizes);
    free(shape->cell_ends);
    free(shape->records);
    free(shape->scratch);
    free(shape->ratings);
    free(shape->games);
    free(shape);
}

/* Memory that is written all over the place: in large pages where the system has them. */
static uint64_t *alloc_records(uint64_t count)
{
    const size_t page = (size_t)1 << 21;
    const size_t bytes = ((size_t)count * sizeof(uint64_t) + page - 1) / page * page;
    void *memory = NULL;
    if (posix_memalign(&memory, page, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* advice: slower without, never wrong */
#endif
    return memory;
}

/* Once all counts are known: how much is held at a time. */
static pz_status make_room(pz_shape *shape)
{
    for (uint32_t cell = 0; cell < 1u << shape->cell_bits; cell++)
        if (shape->cell_sizes[cell] > shape->largest_cell)
            shape->largest_cell = shape->cell_sizes[cell];
    uint64_t room = shape->options.room_records;
    if (room > shape->events)
        room = shape->events;
    if (room < shape->largest_cell)
        room = shape->largest_cell;
    if (shape->records == NULL)
        shape->records = alloc_records(room);
    if (shape->scratch == NULL)
        shape->scratch = malloc((size_t)shape->largest_cell * sizeof *shape->scratch);
    shape->room = room;
    return shape->records == NULL || shape->scratch == NULL ? PZ_NOMEM : PZ_OK;
}

pz_status pz_shape_draw(pz_shape *shape, uint64_t entities, bool *done)
{
    const unsigned shift = 32 - shape->cell_bits;
    uint64_t end = shape->options.entities;
    if (end - shape->drawn > entities)
        end = shape->drawn + entities;
    for (; shape->drawn < end; shape->drawn++) {
        const uint64_t birth = birth_of(shape, shape->drawn);
        const uint32_t count = draw_count(shape->options.kind, &shape->count_stream);
        shape->counts[shape->drawn] = count;
        shape->events += count;
        shape->cell_sizes[birth >> 32 >> shift]++;
        FOR_EACH_LATER_TICK(shape, birth, count, &shape->time_stream, tick,
                            { shape->cell_sizes[tick >> shift]++; });
    }
    *done = shape->drawn == shape->options.entities;
    return *done ? make_room(shape) : PZ_OK;
}

uint64_t pz_shape_events(const pz_shape *shape)
{
    return shape->events;
}

/* Pass 2 for the cells from `cell_end` on, as many as there is room for. */
static void load_cells(pz_shape *shape)
{
    const unsigned shift = 32 - shape->cell_bits;
    const uint32_t cells = 1u << shape->cell_bits;
    const uint32_t first = shape->cell_end;
    uint64_t used = 0;
    uint32_t end = first;
    for (; end < cells && used + shape->cell_sizes[end] <= shape->room; end++) {
        shape->cell_ends[end] = used;
        used += shape->cell_sizes[end];
    }
    pz_random stream = pz_random_stream(shape->options.seed, STREAM_TIMES);
    uint64_t *records = shape->records;
    uint64_t *ends = shape->cell_ends;
    for (uint64_t i = 0; i < shape->options.entities; i++) {
        const uint64_t birth = birth_of(shape, i);
        const uint32_t birth_tick = (uint32_t)(birth >> 32);
        const uint32_t count = shape->counts[i];
        if (birth_tick >> shift >= end)
            break;
        if (birth_tick >> shift >= first)
            records[ends[birth_tick >> shift]++] = (uint64_t)birth_tick << 32 | i;
        FOR_EACH_LATER_TICK(shape, birth, count, &stream, tick, {
            const uint32_t cell = tick >> shift;
            if (cell >= first && cell < end)
                records[ends[cell]++] = (uint64_t)tick << 32 | i;
        });
    }
    shape->cell = first;
    shape->cell_end = end;
    shape->position = 0;
    shape->sorted_end = 0;
}

/* One stable pass by one byte of the record. */
static void sort_by_byte(const uint64_t *from, uint64_t *to, uint64_t n, unsigned shift)
{
    uint64_t starts[256] = {0};
    for (uint64_t i = 0; i < n; i++)
        starts[from[i] >> shift & 0xff]++;
    uint64_t sum = 0;
    for (unsigned b = 0; b < 256; b++) {
        const uint64_t size = starts[b];
        starts[b] = sum;
        sum += size;
    }
    for (uint64_t i = 0; i < n; i++)
        to[starts[from[i] >> shift & 0xff]++] = from[i];
}

static void sort_cell(const pz_shape *shape, uint64_t *records, uint64_t n)
{
    uint64_t *from = records;
    uint64_t *to = shape->scratch;
    for (unsigned shift = 32; shift < 64 - shape->cell_bits; shift += 8) {
        sort_by_byte(from, to, n, shift);
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != records)
        memcpy(records, from, (size_t)n * sizeof *records);
}

/* The next sorted records: their number, 0 at the end. */
static uint64_t peek_records(pz_shape *shape, const uint64_t **records)
{
    while (shape->position == shape->sorted_end) {
        if (shape->cell == shape->cell_end) {
            if (shape->cell_end == 1u << shape->cell_bits)
                return 0;
            load_cells(shape);
        }
        const uint64_t size = shape->cell_sizes[shape->cell++];
        sort_cell(shape, shape->records + shape->sorted_end, size);
        shape->sorted_end += size;
    }
    *records = shape->records + shape->position;
    return shape->sorted_end - shape->position;
}

/* A bijection of 32 bits: xor-shifts and odd factors (from the golden ratio and the root of 3). */
static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x9E3779B1u;
    x ^= x >> 15;
    x *= 0xBB67AE85u;
    return x ^ (x >> 16);
}

static int64_t id_of(const pz_shape *shape, uint32_t entity)
{
    const uint64_t n = shape->options.entities;
    if (shape->options.kind == PZ_SHAPE_LICHESS)
        return (int64_t)entity + 1;
    switch (shape->options.ids) {
    case PZ_IDS_FULL_SCALE:
        return n == 1 ? 1 : 1 + (int64_t)(entity * (uint64_t)(PZ_SHAPE_ID_SPAN - 1) / (n - 1));
    case PZ_IDS_RANDOM:
        return (int32_t)scramble(entity);
    case PZ_IDS_DENSE:
        break;
    }
    return (int64_t)entity + entity / 25 + 1;
}

/* A player's rating before a game; the game then moves it. */
static double play(pz_shape *shape, uint32_t player)
{
    const int rating = shape->ratings[player];
    const uint32_t game = shape->games[player]++;
    const double deviation = 10.0 + 110.0 / sqrt((double)game + 1.0);
    double next = floor(rating + pz_random_normal(&shape->rating_stream) * deviation + 0.5);
    next = next < 400.0 ? 400.0 : next > 3300.0 ? 3300.0 : next;
    shape->ratings[player] = (int16_t)next;
    return rating;
}

static void write_row(int64_t *ids, double *values, uint32_t *ticks, size_t at, int64_t id,
                      double value, uint32_t tick)
{
    ids[at] = id;
    if (values != NULL)
        values[at] = value;
    if (ticks != NULL)
        ticks[at] = tick;
}

/* Players meet in the order of their slots: a slot waits until one of somebody else comes. A slot
 * of the waiting player himself waits behind him, so that all waiting slots are always of one. */
static bool meet(pz_shape *shape, uint32_t player, uint32_t tick, uint32_t *white)
{
    if (shape->white == 0) {
        shape->white = player + 1;
        return false;
    }
    if (shape->white == player + 1) {
        shape->deferred++;
        return false;
    }
    *white = shape->white - 1;
    if (shape->deferred > 0)
        shape->deferred--;
    else
        shape->white = 0;
    shape->black = player + 1;
    shape->black_tick = tick;
    return true;
}

static size_t next_ratings(pz_shape *shape, size_t n, int64_t *ids, double *values, uint32_t *ticks)
{
    size_t at = 0;
    while (at < n) {
        if (shape->black != 0) {
            const uint32_t black = shape->black - 1;
            write_row(ids, values, ticks, at++, id_of(shape, black), play(shape, black),
                      shape->black_tick);
            shape->black = 0;
            continue;
        }
        const uint64_t *records;
        if (peek_records(shape, &records) == 0)
            break;
        shape->position++;
        const uint32_t tick = (uint32_t)(records[0] >> 32);
        uint32_t white;
        if (meet(shape, (uint32_t)records[0], tick, &white))
            write_row(ids, values, ticks, at++, id_of(shape, white), play(shape, white), tick);
    }
    return at;
}

static size_t next_edits(pz_shape *shape, size_t n, int64_t *ids, double *values, uint32_t *ticks)
{
    size_t at = 0;
    while (at < n) {
        const uint64_t *records;
        uint64_t size = peek_records(shape, &records);
        if (size == 0)
            break;
        if (size > n - at)
            size = n - at;
        for (uint64_t i = 0; i < size; i++)
            write_row(ids, values, ticks, at++, id_of(shape, (uint32_t)records[i]), 1.0,
                      (uint32_t)(records[i] >> 32));
        shape->position += size;
    }
    return at;
}

pz_status pz_shape_next(pz_shape *shape, size_t n, int64_t *ids, double *values, uint32_t *ticks,
                        size_t *written)
{
    if (shape->drawn != shape->options.entities)
        return PZ_INVALID;
    if (shape->options.kind == PZ_SHAPE_LICHESS)
        *written = next_ratings(shape, n, ids, values, ticks);
    else
        *written = next_edits(shape, n, ids, values, ticks);
    return PZ_OK;
}
