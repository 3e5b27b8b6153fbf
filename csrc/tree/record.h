/* What the records of both trees share: how leaves lie in a snapshot. docs/formats/snapshot.md
 * tells the whole format; the typed parts are in record.tmpl.h.
 *
 *   a record:  0 u32 checksum of what follows | 4 u32 bytes, the record's own, a multiple of 8 |
 *              8 the leaf as it lies in memory from byte 8 on (tree.h), tail folded | zeros
 *   a row:     0 u64 offset of the record | 8 u64 entries of the tree before it | 16 its first key
 *
 * Everything is little-endian. Rows of one tree stand in order, so that a reader of the mapped file
 * can bisect them by key or by position without looking at a record. */
#ifndef PZ_TREE_RECORD_H
#define PZ_TREE_RECORD_H

#include "../base/bits.h"
#include "../base/check.h"
#include "../base/config.h"
#include "../base/status.h"

#include <stddef.h>

#define PZ_RECORD_STEP 8u
#define PZ_ROW_KEY_AT 16u

/* Where bytes go, front to back; small pieces are gathered into larger ones. */
typedef struct pz_sink {
    int (*write)(void *ctx, const void *bytes, size_t n); /* NULL: they are only counted */
    void *ctx;
    uint64_t at; /* bytes so far */
    size_t held; /* of them in the buffer */
    uint8_t buffer[16384];
} pz_sink;

static inline void pz_sink_begin(pz_sink *to, int (*write)(void *ctx, const void *bytes, size_t n),
                                 void *ctx)
{
    to->write = write;
    to->ctx = ctx;
    to->at = 0;
    to->held = 0;
}

/* Hand over what is in the buffer. */
static inline pz_status pz_sink_flush(pz_sink *to)
{
    size_t n = to->held;
    to->held = 0;
    return n > 0 && to->write(to->ctx, to->buffer, n) != 0 ? PZ_IO : PZ_OK;
}

static inline pz_status pz_sink_put(pz_sink *to, const void *bytes, size_t n)
{
    to->at += n;
    if (to->write == NULL)
        return PZ_OK;
    if (n > sizeof to->buffer - to->held)
        PZ_TRY(pz_sink_flush(to));
    if (n > sizeof to->buffer)
        return to->write(to->ctx, bytes, n) != 0 ? PZ_IO : PZ_OK;
    memcpy(to->buffer + to->held, bytes, n);
    to->held += n;
    return PZ_OK;
}

/* Records of one tree being written. */
typedef struct pz_record_writer {
    pz_sink *sink;
    uint8_t *row; /* place of the next row; NULL: none wanted */
    uint64_t position; /* entries written */
    uint64_t index; /* records written */
    uint64_t label_step; /* member tree */
    uint32_t capacity; /* of a leaf: a longer one becomes several records */
    bool rle;
} pz_record_writer;

/* Records of one tree being read, from bytes that nothing is known about. */
typedef struct pz_record_reader {
    const uint8_t *file;
    uint64_t at, end; /* the next record; where records must end */
    const uint8_t *row; /* the next record's row */
    uint64_t position; /* entries read */
    uint64_t index; /* records read */
    uint64_t label_step; /* member tree */
    uint32_t capacity;
    bool rle; /* of the file */
    pz_why *why;
} pz_record_reader;

/* Labels that member leaves get in a snapshot: 0, step, 2 * step ... */
static inline uint64_t pz_record_label_step(uint64_t leaves)
{
    uint64_t step = ((uint64_t)1 << PZ_LABEL_BITS) / (leaves + 1);
    return step > PZ_LABEL_STEP ? PZ_LABEL_STEP : step;
}

#endif
