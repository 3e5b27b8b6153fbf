/* The two synthetic workloads: edits of pages and ratings of players, in time order, from a seed.
 * Always to be labelled synthetic. What they draw is defined in shape.c and docs/workbench.md. */
#ifndef PZ_WORKLOAD_SHAPE_H
#define PZ_WORKLOAD_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/status.h"

#define PZ_SHAPE_COUNT_MAX 2100000u    /* largest number of events of one entity */
#define PZ_SHAPE_ENTITIES_MAX 0x7fffffffu
#define PZ_SHAPE_ID_SPAN 84000000u     /* PZ_IDS_FULL_SCALE spreads its ids over 1 .. this */

typedef enum pz_shape_kind { PZ_SHAPE_WIKIPEDIA, PZ_SHAPE_LICHESS } pz_shape_kind;
typedef enum pz_shape_ids { PZ_IDS_DENSE, PZ_IDS_FULL_SCALE, PZ_IDS_RANDOM } pz_shape_ids;

typedef struct pz_shape_options {
    pz_shape_kind kind;
    pz_shape_ids ids;      /* Lichess: dense only */
    uint64_t seed;
    uint64_t entities;     /* pages or players, 1 .. PZ_SHAPE_ENTITIES_MAX */
    uint64_t
        room_records; /* events held at a time, 8 bytes each; time cells larger than that win */
} pz_shape_options;

typedef struct pz_shape pz_shape;

pz_status pz_shape_new(const pz_shape_options *options, pz_shape **out) PZ_MUST_USE;
void pz_shape_free(pz_shape *shape);

/* First pass, in pieces so that the caller may look around: draws the counts of at most `entities`
 * further entities. `*done` once all are drawn; then the events may be read. */
pz_status pz_shape_draw(pz_shape *shape, uint64_t entities, bool *done) PZ_MUST_USE;

/* Events to come in all. Lichess: the last few that find no opponent are among them, but are
 * never written. */
uint64_t pz_shape_events(const pz_shape *shape);

/* The next events in time order, at most n; `*written` 0 at the end. ids: one a row. values (or
 * NULL): 1.0 (Wikipedia), the rating before the game (Lichess). ticks (or NULL): time in units of
 * 2**-32 of the whole span. PZ_INVALID before all counts are drawn. */
pz_status pz_shape_next(pz_shape *shape, size_t n, int64_t *ids, double *values, uint32_t *ticks,
                        size_t *written) PZ_MUST_USE;

#endif
