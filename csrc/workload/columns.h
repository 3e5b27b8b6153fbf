/* Delimited text to columns and back; columns.c has the grammar. */
#ifndef PZ_WORKLOAD_COLUMNS_H
#define PZ_WORKLOAD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PZ_FIELDS_MAX 4096u  /* columns that a row may have */
#define PZ_WANTED_MAX 32u    /* columns and filters that one call may name */
#define PZ_TEXT_BYTES 32u    /* of a text column; longer fields are refused */

typedef enum pz_column_kind { PZ_COLUMN_INT64, PZ_COLUMN_FLOAT64, PZ_COLUMN_TEXT } pz_column_kind;

/* A column to read. `out` has room for `rows` elements, contiguous, of any alignment. */
typedef struct pz_column {
    uint32_t field; /* 0 is the first of a row */
    pz_column_kind kind;
    void *out;
} pz_column;

/* Keeps the rows whose field is equal to the text. */
typedef struct pz_filter {
    uint32_t field;
    const char *text;
    size_t size;
} pz_filter;

typedef struct pz_scan {
    char separator;
    bool quoted;  /* fields may stand in double quotes, as in CSV */
    bool final;   /* the text ends here: the last line needs no newline */
    size_t rows;  /* room */
    size_t column_count, filter_count;
    pz_column
        columns[PZ_WANTED_MAX]; /* the first is the member: a row where it is empty is left out */
    pz_filter filters[PZ_WANTED_MAX];
    /* Reads a decimal that the exact short cut cannot; false: not a finite number. */
    bool (*slow_decimal)(const char *text, size_t size, double *number);
} pz_scan;

typedef enum pz_scan_error {
    PZ_SCAN_FINE,
    PZ_SCAN_SHORT_ROW,  /* a named column is not there */
    PZ_SCAN_LONG_ROW,   /* more than PZ_FIELDS_MAX fields */
    PZ_SCAN_BAD_NUMBER, /* not an integer of 64 bits, not a finite decimal */
    PZ_SCAN_LONG_TEXT
} pz_scan_error;

typedef struct pz_scan_result {
    size_t consumed;              /* bytes of whole lines taken */
    size_t lines, kept, filtered, empty;
    pz_scan_error error;          /* in line `lines` (not counted), of `column` */
    size_t column;
    const char *field;
    size_t field_size;
} pz_scan_result;

/* Takes whole lines until the text or the room ends or a line is in error. */
void pz_scan_lines(const pz_scan *scan, const char *text, size_t size, pz_scan_result *result);

/* Lines of decimal integers, `column_count` columns of int64; bytes written, at most
 * rows * column_count * 21. */
size_t pz_write_lines(size_t rows, size_t column_count, const void *const *columns, char separator,
                      char *text);

#endif
