/* TEMPLATE: the sorts of the bulk engine.
 *
 * Rows are sorted by member, stable, so that rows of one member stay in argument order. Keys that
 * stand in member order are sorted by score, stable, which gives (score, member) order; keys of
 * UUID layouts are sorted in place instead, to stay within 64 bytes of scratch a row. */

typedef struct __attribute__((packed, may_alias)) PZ_FN(row) {
    PZ_M m;
    PZ_S v;       /* the row's score (sortable) or amount (IEEE bits) */
    uint32_t row; /* its place in the arguments */
} PZ_FN(row);

#define PZ_DIGIT_BITS 11u
#define PZ_DIGITS (1u << PZ_DIGIT_BITS)

#define PZ_R_NAME PZ_FN(sort_rows)
#define PZ_R_TYPE PZ_FN(row)
#define PZ_R_FIELD m
#define PZ_R_WORD PZ_M
#include "radix.tmpl.h"

#define PZ_R_NAME PZ_FN(sort_rows_by_value)
#define PZ_R_TYPE PZ_FN(row)
#define PZ_R_FIELD v
#define PZ_R_WORD PZ_S
#include "radix.tmpl.h"

/* PZ_SORT_SCRATCH: scratch bytes a key that sort_keys needs. */
#if PZ_M_BITS != 128
#define PZ_SORT_SCRATCH PZ_REC_BYTES
#define PZ_R_NAME PZ_FN(sort_keys_radix)
#define PZ_R_TYPE PZ_FN(key)
#define PZ_R_FIELD s
#define PZ_R_WORD PZ_S
#include "radix.tmpl.h"
#else
#define PZ_SORT_SCRATCH 0u
static inline void PZ_FN(key_swap)(PZ_FN(key) *a, PZ_FN(key) *b)
{
    PZ_FN(key) t = *a;
    *a = *b;
    *b = t;
}

static inline bool PZ_FN(key_less)(const PZ_FN(key) *a, const PZ_FN(key) *b)
{
    return PZ_FN(ot_less)(a->s, a->m, b->s, b->m);
}

static void PZ_FN(sort_heap)(PZ_FN(key) *a, size_t n)
{
    for (size_t root = n / 2, end = n; end > 1;) {
        if (root > 0) {
            root--;
        } else {
            end--;
            PZ_FN(key_swap)(&a[0], &a[end]);
        }
        for (size_t i = root, child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && PZ_FN(key_less)(&a[child], &a[child + 1]))
                child++;
            if (!PZ_FN(key_less)(&a[i], &a[child]))
                break;
            PZ_FN(key_swap)(&a[i], &a[child]);
        }
    }
}

/* Quicksort by the middle of three, heap sort where that goes deep, insertion sort at the end. */
static void PZ_FN(sort_in_place)(PZ_FN(key) *a, size_t n)
{
    struct {
        size_t from, to;
        uint32_t depth;
    } stack[64];
    uint32_t top = 0;
    stack[top].from = 0;
    stack[top].to = n;
    stack[top++].depth = 2 * pz_width64(n);
    while (top > 0) {
        size_t from = stack[--top].from, to = stack[top].to;
        uint32_t depth = stack[top].depth;
        while (to - from > 24) {
            if (depth-- == 0) {
                PZ_FN(sort_heap)(a + from, to - from);
                break;
            }
            size_t mid = from + (to - from) / 2, i = from, j = to - 1;
            if (PZ_FN(key_less)(&a[mid], &a[i]))
                PZ_FN(key_swap)(&a[mid], &a[i]);
            if (PZ_FN(key_less)(&a[j], &a[mid]))
                PZ_FN(key_swap)(&a[j], &a[mid]);
            if (PZ_FN(key_less)(&a[mid], &a[i]))
                PZ_FN(key_swap)(&a[mid], &a[i]);
            PZ_FN(key) pivot = a[mid];
            while (i <= j) {
                while (PZ_FN(key_less)(&a[i], &pivot))
                    i++;
                while (PZ_FN(key_less)(&pivot, &a[j]))
                    j--;
                if (i <= j) {
                    PZ_FN(key_swap)(&a[i], &a[j]);
                    i++;
                    j--;
                }
            }
            /* Keep the larger part for later: the stack stays as deep as the logarithm. */
            bool left = j + 1 - from > to - i;
            stack[top].from = left ? from : i;
            stack[top].to = left ? j + 1 : to;
            stack[top++].depth = depth;
            if (left)
                from = i;
            else
                to = j + 1;
        }
        if (to - from > 24)
            continue;
        for (size_t i = from + 1; i < to; i++) {
            PZ_FN(key) t = a[i];
            size_t j = i;
            for (; j > from && PZ_FN(key_less)(&t, &a[j - 1]); j--)
                a[j] = a[j - 1];
            a[j] = t;
        }
    }
}
#endif

/* Sort keys that stand in member order into (score, member) order; scratch holds n keys where
 * PZ_SORT_SCRATCH says so. Gives where the result lies. */
static PZ_FN(key) *PZ_FN(sort_keys)(PZ_FN(key) *a, PZ_FN(key) *scratch, size_t n)
{
    PZ_S vary = 0;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        vary |= a[i].s ^ a[0].s;
        sorted = sorted && a[i - 1].s <= a[i].s;
    }
    if (sorted)
        return a;
#if PZ_M_BITS == 128
    (void)vary;
    (void)scratch;
    PZ_FN(sort_in_place)(a, n);
    return a;
#else
    PZ_FN(key) *out = a;
    pz_status status = PZ_FN(sort_keys_radix)(a, scratch, n, vary, &out, NULL);
    PZ_ASSERT(status == PZ_OK); /* only a poll could stop it */
    (void)status;
    return out;
#endif
}
