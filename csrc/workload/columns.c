/* Delimited text: a chunk of bytes in, columns of numbers out, with no object a row.
 *
 *   line    = field { separator field } newline        (a CR before the newline is dropped)
 *   field   = any bytes but separator and newline
 *           | '"' { any byte but '"' | '""' } '"'       (only when quoted)
 *   integer = [ '-' ] digit { digit }                   within 64 bits
 *   decimal = [ '-' | '+' ] digits [ '.' digits ] [ 'e' [ sign ] digits ]   finite
 *
 *   text    | whole lines ......................| begun line |
 *            ^ taken: result.consumed            ^ left to the next call, before more text
 *
 * Invariants: a line is taken whole or not at all; empty lines count as nothing; columns are
 * written for kept rows only, densely. A decimal of at most 15 digits and a power of ten up to 22
 * is one exact product or quotient; others go to the caller's slow reader. */
#include "columns.h"

#include <string.h>

#include "decimal.h"

typedef struct span {
    const char *text;
    size_t size;
    bool escaped; /* holds '""' */
} span;

/* Which fields of a line any column or filter wants. */
typedef struct field_plan {
    uint32_t fields; /* highest wanted + 1 */
    uint8_t wanted[PZ_FIELDS_MAX];
} field_plan;

enum { LINE_WHOLE, LINE_BEGUN, LINE_TOO_LONG };

/* A field in quotes: from after the opening quote to the end of the field. */
static const char *end_of_quoted(const char *at, const char *end, span *field)
{
    field->text = at;
    field->escaped = false;
    for (;;) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (quote == NULL)
            return NULL;
        if (quote + 1 < end && quote[1] == '"') {
            field->escaped = true;
            at = quote + 2;
            continue;
        }
        field->size = (size_t)(quote - field->text);
        return quote + 1;
    }
}

/* Splits one line; fields[k] is set for wanted fields k only. */
static int split_line(const pz_scan *scan, const field_plan *plan, const char **cursor,
                      const char *end, span *fields, uint32_t *count)
{
    const char *at = *cursor;
    for (uint32_t k = 0;; k++) {
        if (k == PZ_FIELDS_MAX)
            return LINE_TOO_LONG;
        span field = {at, 0, false};
        bool quoted = false;
        if (scan->quoted && at < end && *at == '"') {
            at = end_of_quoted(at + 1, end, &field);
            if (at == NULL)
                return LINE_BEGUN;
            quoted = true;
        }
        const char *rest = at;
        while (at < end && *at != scan->separator && *at != '\n')
            at++;
        if (at == end && !scan->final)
            return LINE_BEGUN;
        const bool last = at == end || *at == '\n';
        if (!quoted) {
            field.size = (size_t)(at - rest);
            if (last && field.size > 0 && field.text[field.size - 1] == '\r')
                field.size--;
        }
        if (k < plan->fields && plan->wanted[k] != 0)
            fields[k] = field;
        if (last) {
            *cursor = at == end ? at : at + 1;
            *count = k + 1;
            return LINE_WHOLE;
        }
        at++;
    }
}

static bool equals(const span *field, const char *text, size_t size)
{
    if (!field->escaped)
        return field->size == size && memcmp(field->text, text, size) == 0;
    size_t j = 0;
    for (size_t i = 0; i < field->size; i++, j++) {
        if (j == size || field->text[i] != text[j])
            return false;
        if (field->text[i] == '"')
            i++;
    }
    return j == size;
}

static bool read_int64(const span *field, void *out)
{
    const char *text = field->text;
    size_t n = field->size;
    const bool negative = n > 0 && text[0] == '-';
    if (negative) {
        text++;
        n--;
    }
    if (n == 0)
        return false;
    const uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t number = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || number > (limit - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    const uint64_t bits = negative ? 0u - number : number;
    memcpy(out, &bits, sizeof bits);
    return true;
}

static bool read_decimal(const pz_scan *scan, const span *field, void *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *text = field->text;
    const size_t n = field->size;
    size_t i = n > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    const bool negative = i == 1 && text[0] == '-';
    uint64_t digits = 0;
    unsigned digit_count = 0, fraction = 0;
    bool point = false;
    for (; i < n; i++) {
        const unsigned digit = (unsigned)text[i] - '0';
        if (digit <= 9 && digit_count < 15) {
            digits = digits * 10 + digit;
            digit_count++;
            fraction += point ? 1u : 0u;
        } else if (text[i] == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    double number;
    if (i < n || digit_count == 0) {
        if (!scan->slow_decimal(text, n, &number))
            return false;
    } else {
        number = (double)digits / powers[fraction];
        number = negative ? -number : number;
    }
    memcpy(out, &number, sizeof number);
    return true;
}

static bool read_text(const span *field, char *out)
{
    if (field->size > PZ_TEXT_BYTES)
        return false;
    memset(out, 0, PZ_TEXT_BYTES);
    memcpy(out, field->text, field->size);
    return true;
}

static pz_scan_error read_column(const pz_scan *scan, size_t c, const span *field, size_t row)
{
    char *out = scan->columns[c].out;
    switch (scan->columns[c].kind) {
    case PZ_COLUMN_INT64:
        return read_int64(field, out + 8 * row) ? PZ_SCAN_FINE : PZ_SCAN_BAD_NUMBER;
    case PZ_COLUMN_FLOAT64:
        return read_decimal(scan, field, out + 8 * row) ? PZ_SCAN_FINE : PZ_SCAN_BAD_NUMBER;
    case PZ_COLUMN_TEXT:
        break;
    }
    return read_text(field, out + PZ_TEXT_BYTES * row) ? PZ_SCAN_FINE : PZ_SCAN_LONG_TEXT;
}

static field_plan make_plan(const pz_scan *scan)
{
    field_plan made = {0};
    for (size_t c = 0; c < scan->column_count + scan->filter_count; c++) {
        const uint32_t field = c < scan->column_count ? scan->columns[c].field
                                                      : scan->filters[c - scan->column_count].field;
        made.wanted[field] = 1;
        if (field + 1 > made.fields)
            made.fields = field + 1;
    }
    return made;
}

/* A split line into the columns, or left out. */
static void take_line(const pz_scan *scan, const span *fields, pz_scan_result *result)
{
    for (size_t f = 0; f < scan->filter_count; f++) {
        const pz_filter *filter = &scan->filters[f];
        if (!equals(&fields[filter->field], filter->text, filter->size)) {
            result->filtered++;
            return;
        }
    }
    if (fields[scan->columns[0].field].size == 0) {
        result->empty++;
        return;
    }
    for (size_t c = 0; c < scan->column_count; c++) {
        const span *field = &fields[scan->columns[c].field];
        result->error = read_column(scan, c, field, result->kept);
        if (result->error != PZ_SCAN_FINE) {
            result->column = c;
            result->field = field->text;
            result->field_size = field->size;
            return;
        }
    }
    result->kept++;
}

void pz_scan_lines(const pz_scan *scan, const char *text, size_t size, pz_scan_result *result)
{
    span fields[PZ_FIELDS_MAX];
    const field_plan made = make_plan(scan);
    const char *at = text;
    const char *end = text + size;
    *result = (pz_scan_result){0};
    while (at < end && result->kept < scan->rows) {
        const char *next = at;
        uint32_t count = 0;
        const int line = split_line(scan, &made, &next, end, fields, &count);
        if (line == LINE_BEGUN)
            return;
        const size_t length = (size_t)(next - at);
        const bool blank = at[0] == '\n' || (at[0] == '\r' && (length == 1 || at[1] == '\n'));
        if (line == LINE_TOO_LONG) {
            result->error = PZ_SCAN_LONG_ROW;
        } else if (!blank && count < made.fields) {
            result->error = PZ_SCAN_SHORT_ROW;
        } else if (!blank) {
            take_line(scan, fields, result);
        }
        if (result->error != PZ_SCAN_FINE)
            return;
        result->lines++;
        result->consumed += length;
        at = next;
    }
}

size_t pz_write_lines(size_t rows, size_t column_count, const void *const *columns, char separator,
                      char *text)
{
    char *at = text;
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < column_count; c++) {
            int64_t number;
            memcpy(&number, (const char *)columns[c] + 8 * row, sizeof number);
            at += pz_decimal_write(at, number);
            *at++ = c + 1 < column_count ? separator : '\n';
        }
    }
    return (size_t)(at - text);
}
