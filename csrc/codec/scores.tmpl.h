/* TEMPLATE: the score column of a member tree's leaf, for one score width.
 * needs  PZ_S       unsigned type of a sortable score image (base/bits.h): uint32_t or uint64_t
 *        PZ_S_BITS  32 or 64
 *        PZ_FN(x)   x with the layout's suffix
 * gives  PZ_FN(scol), PZ_FN(scol_plan), _plan_whole, _bytes, _bytes_max, _encode, _encode_whole,
 *        _decode, _get, _set, _check
 *
 *   INT1, INT2, INT4: whole numbers over a whole base, in slots of 1, 2 or 4 bytes. A slot of all
 *   ones marks an exception, whose image stands in a list ascending by index.
 *   +------------------+---------------------------+-------------------------------+
 *   | n slots          | exceptions * u16 index    | exceptions * sortable image   |
 *   +------------------+---------------------------+-------------------------------+
 *   RAW4, RAW8: n sortable images of 4 or 8 bytes, no base, no exceptions. RAW4 in a float64 column
 *   holds images of float32, for columns whose every value is exactly one.
 *
 * The same bits always come back: a score is coded as a whole number only when that number, below
 * 2**53 in magnitude, has exactly these bits; all else (fractions, infinities, subnormals, numbers
 * off the slots) is an exception. An entry that once is an exception stays one until the column is
 * planned again, whatever it is set to, so the column's size never changes in place.
 *
 * Modes. Images become numbers by shifts. Numbers become images through an integer-to-float
 * conversion of a value that the type holds exactly, which C defines to be exact (6.3.1.4): neither
 * rounding nor flushing has a part in it (the result is 0 or at least 1 in magnitude) and it raises
 * no flag, so a caller that traps inexact results is safe too.
 *
 * Nothing outside the column's bytes is read. Encoding writes nothing behind them. Decoding writes
 * n images. Everything is defined for n = 0. */
#ifndef PZ_S
#error "scores.tmpl.h needs PZ_S"
#endif
#ifndef PZ_S_BITS
#error "scores.tmpl.h needs PZ_S_BITS"
#endif
#ifndef PZ_FN
#error "scores.tmpl.h needs PZ_FN"
#endif

#include "../base/bits.h"
#include "../base/check.h"
#include "../base/config.h"
#include "forms.h"

#ifndef PZ_UNUSED
#define PZ_UNUSED __attribute__((unused))
#endif

typedef struct PZ_FN(scol) {
    int64_t base;        /* of the INT forms, else 0 */
    uint16_t n;
    uint16_t exceptions; /* of the INT forms, else 0 */
    uint8_t form;        /* one of PZ_SCOL_* (forms.h) */
} PZ_FN(scol);

/* ---- images and whole numbers ---- */
PZ_UNUSED static inline PZ_S PZ_FN(image_load)(const uint8_t *p)
{
#if PZ_S_BITS == 32
    return pz_load32(p);
#else
    return pz_load64(p);
#endif
}

PZ_UNUSED static inline void PZ_FN(image_store)(uint8_t *p, PZ_S image)
{
#if PZ_S_BITS == 32
    pz_store32(p, image);
#else
    pz_store64(p, image);
#endif
}

/* The whole number with exactly this image, or PZ_NOT_WHOLE. */
PZ_UNUSED static inline int64_t PZ_FN(image_whole)(PZ_S image)
{
#if PZ_S_BITS == 32
    return pz_whole32(image);
#else
    return pz_whole64(image);
#endif
}

/* The bits of a 32-bit whole number that the score type holds exactly. */
PZ_UNUSED static inline PZ_S PZ_FN(float_bits)(int32_t whole)
{
#if PZ_S_BITS == 32
    return pz_bits_of_float((float)whole);
#else
    return pz_bits_of_double((double)whole);
#endif
}

/* The image of a whole number that the score type holds exactly. */
PZ_UNUSED static inline PZ_S PZ_FN(whole_image)(int64_t whole)
{
#if PZ_S_BITS == 32
    return pz_sort32(pz_bits_of_float((float)whole));
#else
    return pz_sort64(pz_bits_of_double((double)whole));
#endif
}

PZ_UNUSED static inline bool PZ_FN(image_valid)(PZ_S image)
{
#if PZ_S_BITS == 32
    return pz_sortable_valid32(image);
#else
    return pz_sortable_valid64(image);
#endif
}

/* ---- sizes ---- */
PZ_UNUSED static inline uint32_t PZ_FN(scol_bytes)(const PZ_FN(scol) *c)
{
    return c->n * pz_scol_slot_bytes(c->form) + c->exceptions * (2u + PZ_S_BITS / 8);
}

/* No plan of n scores takes more. */
PZ_UNUSED static inline uint32_t PZ_FN(scol_bytes_max)(uint32_t n)
{
    return n * (PZ_S_BITS / 8);
}

/* ---- RAW4 in a float64 column ---- */
#if PZ_S_BITS == 64
PZ_UNUSED static inline bool PZ_FN(image_narrow)(PZ_S image, uint32_t *narrow)
{
    uint32_t bits = 0;
    bool exact = pz_narrow_bits(pz_unsort64(image), &bits);
    *narrow = pz_sort32(bits);
    return exact;
}

PZ_UNUSED static inline PZ_S PZ_FN(image_widen)(uint32_t narrow)
{
    return pz_sort64(pz_widen_bits(pz_unsort32(narrow)));
}

PZ_UNUSED static bool PZ_FN(images_narrow)(const PZ_S *s, uint32_t n)
{
    uint32_t narrow;
    for (uint32_t i = 0; i < n; i++)
        if (!PZ_FN(image_narrow)(s[i], &narrow))
            return false;
    return true;
}
#endif

/* ---- plan ---- */
/* Entries that lie past the slots of each form over a base. Those that are not whole always do:
 * PZ_NOT_WHOLE - base is above 2**62 as an unsigned number. */
typedef struct PZ_FN(past) {
    uint32_t int1, int2, int4;
} PZ_FN(past);

PZ_UNUSED static inline void PZ_FN(past_count)(PZ_FN(past) *past, int64_t whole, int64_t base)
{
    uint64_t slot = (uint64_t)whole - (uint64_t)base;
    past->int1 += slot >= 0xff;
    past->int2 += slot >= 0xffff;
    past->int4 += slot >= 0xffffffff;
}

/* Take the cheapest INT form over `base` if it costs less than *cost. */
PZ_UNUSED static void PZ_FN(scol_choose)(const PZ_FN(past) *past, int64_t base, PZ_FN(scol) *c,
                                         uint32_t *cost)
{
    const uint32_t exceptions[3] = {past->int1, past->int2, past->int4};
    /* In a float32 column INT4 never beats RAW4. */
    for (uint32_t j = 0; j < (PZ_S_BITS == 32 ? 2u : 3u); j++) {
        uint32_t bytes = ((uint32_t)c->n << j) + exceptions[j] * (2u + PZ_S_BITS / 8u);
        if (bytes < *cost) {
            *cost = bytes;
            c->base = base;
            c->exceptions = (uint16_t)exceptions[j];
            c->form = (uint8_t)(1u << j);
        }
    }
}

PZ_UNUSED static void PZ_FN(scol_try)(const int64_t *whole, int64_t base, PZ_FN(scol) *c,
                                      uint32_t *cost)
{
    PZ_FN(past) past = {0, 0, 0};
    for (uint32_t i = 0; i < c->n; i++)
        PZ_FN(past_count)(&past, whole[i], base);
    PZ_FN(scol_choose)(&past, base, c, cost);
}

/* Sixteen of the whole numbers, ascending, from all over the leaf. */
PZ_UNUSED static void PZ_FN(whole_sample)(const int64_t *whole, uint32_t n, int64_t *sample)
{
    for (uint32_t i = 0; i < 16; i++) {
        int64_t x = whole[i * n / 16];
        uint32_t j = i;
        for (; j > 0 && sample[j - 1] > x; j--)
            sample[j] = sample[j - 1];
        sample[j] = x;
    }
}

/* A base over which slots of `form` hold most numbers, outliers on either side left out: the reach
 * of the slots is laid where it holds most of the sample, and moved up to the least number in it.
 * False when it holds less than half of the sample. */
PZ_UNUSED static bool PZ_FN(scol_fence)(const int64_t *whole, uint32_t n, const int64_t *sample,
                                        uint32_t form, int64_t *base)
{
    int64_t reach = pz_scol_mark(form) - 1;
    uint32_t most = 0;
    int64_t top = 0;
    for (uint32_t first = 0, end = 0; first < 16; first++) {
        if (sample[first] == PZ_NOT_WHOLE)
            continue;
        end = end < first ? first : end;
        while (end < 16 && sample[end] - sample[first] <= reach)
            end++;
        if (end - first > most) {
            most = end - first;
            top = sample[end - 1];
        }
    }
    if (most < 8)
        return false;
    int64_t least = top;
    for (uint32_t i = 0; i < n; i++)
        least = whole[i] >= top - reach && whole[i] < least ? whole[i] : least;
    *base = least;
    return true;
}

/* Base 0 first; fences only where one could win a quarter of a byte an entry. Fills
 * whole[0 .. n-1], which scol_encode_whole wants. */
PZ_UNUSED static void PZ_FN(scol_plan_whole)(const PZ_S *s, uint32_t n, int64_t *whole,
                                             PZ_FN(scol) *c)
{
    PZ_FN(past) past = {0, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        whole[i] = PZ_FN(image_whole)(s[i]);
        PZ_FN(past_count)(&past, whole[i], 0);
    }
    uint32_t cost = PZ_FN(scol_bytes_max)(n);
    *c = (PZ_FN(scol)){.n = (uint16_t)n, .form = PZ_S_BITS == 32 ? PZ_SCOL_RAW4 : PZ_SCOL_RAW8};
    PZ_FN(scol_choose)(&past, 0, c, &cost);
    if (cost > n + n / 4) {
        int64_t sample[16];
        PZ_FN(whole_sample)(whole, n, sample);
        for (uint32_t form = 1; form <= PZ_S_BITS / 16; form *= 2) {
            int64_t base;
            if (cost > n * form + n / 4 && PZ_FN(scol_fence)(whole, n, sample, form, &base))
                PZ_FN(scol_try)(whole, base, c, &cost);
        }
    }
#if PZ_S_BITS == 64
    if (cost > 4 * n && PZ_FN(images_narrow)(s, n))
        *c = (PZ_FN(scol)){.n = (uint16_t)n, .form = PZ_SCOL_RAW4};
#endif
}

PZ_UNUSED static void PZ_FN(scol_plan)(const PZ_S *s, uint32_t n, PZ_FN(scol) *c)
{
    int64_t whole[PZ_LEAF_MAX];
    PZ_FN(scol_plan_whole)(s, n, whole, c);
}

/* ---- encode ---- */
PZ_UNUSED static void PZ_FN(scol_encode_raw)(const PZ_FN(scol) *c, const PZ_S *s, uint8_t *out)
{
#if PZ_S_BITS == 64
    if (c->form == PZ_SCOL_RAW4) {
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t narrow;
            (void)PZ_FN(image_narrow)(s[i], &narrow);
            pz_store32(out + 4 * i, narrow);
        }
        return;
    }
#endif
    for (uint32_t i = 0; i < c->n; i++)
        PZ_FN(image_store)(out + (PZ_S_BITS / 8u) * i, s[i]);
}

/* `form` is a constant where this is called. */
PZ_UNUSED static inline void PZ_FN(scol_encode_int)(const PZ_FN(scol) *c, const PZ_S *s,
                                                    const int64_t *whole, uint32_t form,
                                                    uint8_t *out)
{
    uint32_t n = c->n;
    int64_t base = c->base;
    uint32_t mark = pz_scol_mark(form);
    uint8_t *index = out + n * form;
    uint8_t *image = index + 2u * c->exceptions;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t slot = (uint64_t)whole[i] - (uint64_t)base;
        if (slot >= mark) {
            slot = mark;
            pz_store16(index, (uint16_t)i);
            PZ_FN(image_store)(image, s[i]);
            index += 2;
            image += PZ_S_BITS / 8;
        }
        pz_slot_store(out, form, i, (uint32_t)slot);
    }
}

/* With the whole numbers that scol_plan_whole found for these scores. */
PZ_UNUSED static void PZ_FN(scol_encode_whole)(const PZ_FN(scol) *c, const PZ_S *s,
                                               const int64_t *whole, uint8_t *out)
{
    if (c->form == PZ_SCOL_INT1)
        PZ_FN(scol_encode_int)(c, s, whole, PZ_SCOL_INT1, out);
    else if (c->form == PZ_SCOL_INT2)
        PZ_FN(scol_encode_int)(c, s, whole, PZ_SCOL_INT2, out);
    else if (c->form == PZ_SCOL_INT4)
        PZ_FN(scol_encode_int)(c, s, whole, PZ_SCOL_INT4, out);
    else
        PZ_FN(scol_encode_raw)(c, s, out);
}

PZ_UNUSED static void PZ_FN(scol_encode)(const PZ_FN(scol) *c, const PZ_S *s, uint8_t *out)
{
    int64_t whole[PZ_LEAF_MAX];
    whole[0] = 0; /* for n = 0 */
    for (uint32_t i = 0; i < c->n && !pz_scol_is_raw(c->form); i++)
        whole[i] = PZ_FN(image_whole)(s[i]);
    PZ_FN(scol_encode_whole)(c, s, whole, out);
}

/* ---- decode ---- */
PZ_UNUSED static void PZ_FN(scol_decode_raw)(const PZ_FN(scol) *c, const uint8_t *in, PZ_S *s)
{
#if PZ_S_BITS == 64
    if (c->form == PZ_SCOL_RAW4) {
        uint32_t special = 0;
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t narrow = pz_load32(in + 4 * i);
            s[i] = pz_widen_normal(narrow);
            special |= pz_is_special(narrow);
        }
        for (uint32_t i = 0; special != 0 && i < c->n; i++)
            s[i] = PZ_FN(image_widen)(pz_load32(in + 4 * i));
        return;
    }
#endif
    for (uint32_t i = 0; i < c->n; i++)
        s[i] = PZ_FN(image_load)(in + (PZ_S_BITS / 8u) * i);
}

/* `form` is a constant where this is called. */
PZ_UNUSED static inline void PZ_FN(scol_decode_int)(const PZ_FN(scol) *c, const uint8_t *in,
                                                    uint32_t form, PZ_S *s)
{
    const PZ_S top = (PZ_S)1 << (PZ_S_BITS - 1);
    uint32_t n = c->n;
    int64_t base = c->base;
    if (form != PZ_SCOL_INT4 && base >= 0 && base < INT32_MAX - 0xffff) {
        /* Small and not negative: 32-bit conversions, which come in vectors. */
        int32_t small = (int32_t)base;
        for (uint32_t i = 0; i < n; i++)
            s[i] = PZ_FN(float_bits)(small + (int32_t)pz_slot_load(in, form, i)) | top;
    } else {
        for (uint32_t i = 0; i < n; i++)
            s[i] = PZ_FN(whole_image)(base + pz_slot_load(in, form, i));
    }
    const uint8_t *index = in + n * form;
    const uint8_t *image = index + 2u * c->exceptions;
    for (uint32_t j = 0; j < c->exceptions; j++)
        s[pz_load16(index + 2 * j)] = PZ_FN(image_load)(image + (PZ_S_BITS / 8u) * j);
}

PZ_UNUSED static void PZ_FN(scol_decode)(const PZ_FN(scol) *c, const uint8_t *in, PZ_S *s)
{
    if (c->form == PZ_SCOL_INT1)
        PZ_FN(scol_decode_int)(c, in, PZ_SCOL_INT1, s);
    else if (c->form == PZ_SCOL_INT2)
        PZ_FN(scol_decode_int)(c, in, PZ_SCOL_INT2, s);
    else if (c->form == PZ_SCOL_INT4)
        PZ_FN(scol_decode_int)(c, in, PZ_SCOL_INT4, s);
    else
        PZ_FN(scol_decode_raw)(c, in, s);
}

/* ---- one entry ---- */
/* Offset of the image of entry i, which is an exception. */
PZ_UNUSED static uint32_t PZ_FN(scol_exception)(const PZ_FN(scol) *c, const uint8_t *in, uint32_t i)
{
    const uint8_t *index = in + c->n * c->form;
    uint32_t first = 0;
    uint32_t end = c->exceptions;
    while (end - first > 1) {
        uint32_t middle = first + (end - first) / 2;
        if (pz_load16(index + 2 * middle) <= i)
            first = middle;
        else
            end = middle;
    }
    return c->n * c->form + 2u * c->exceptions + (PZ_S_BITS / 8u) * first;
}

PZ_UNUSED static inline PZ_S PZ_FN(scol_get)(const PZ_FN(scol) *c, const uint8_t *in, uint32_t i)
{
#if PZ_S_BITS == 64
    if (c->form == PZ_SCOL_RAW4)
        return PZ_FN(image_widen)(pz_load32(in + 4 * i));
#endif
    if (pz_scol_is_raw(c->form))
        return PZ_FN(image_load)(in + (PZ_S_BITS / 8) * i);
    uint32_t slot = pz_slot_load(in, c->form, i);
    if (slot == pz_scol_mark(c->form))
        return PZ_FN(image_load)(in + PZ_FN(scol_exception)(c, in, i));
    return PZ_FN(whole_image)(c->base + slot);
}

/* Sets entry i in place. False when its slot cannot hold the score; nothing has then changed. */
PZ_UNUSED static inline bool PZ_FN(scol_set)(const PZ_FN(scol) *c, uint8_t *col, uint32_t i,
                                             PZ_S image)
{
#if PZ_S_BITS == 64
    if (c->form == PZ_SCOL_RAW4) {
        uint32_t narrow;
        bool exact = PZ_FN(image_narrow)(image, &narrow);
        if (exact)
            pz_store32(col + 4 * i, narrow);
        return exact;
    }
#endif
    if (pz_scol_is_raw(c->form)) {
        PZ_FN(image_store)(col + (PZ_S_BITS / 8) * i, image);
        return true;
    }
    uint32_t mark = pz_scol_mark(c->form);
    if (pz_slot_load(col, c->form, i) == mark) {
        PZ_FN(image_store)(col + PZ_FN(scol_exception)(c, col, i), image);
        return true;
    }
    uint64_t slot = (uint64_t)PZ_FN(image_whole)(image) - (uint64_t)c->base;
    if (slot >= mark)
        return false;
    pz_slot_store(col, c->form, i, (uint32_t)slot);
    return true;
}

/* ---- untrusted bytes ---- */
PZ_UNUSED static bool PZ_FN(scol_check_fields)(const PZ_FN(scol) *c)
{
    if (c->n == 0 || c->n > PZ_LEAF_MAX)
        return false;
    switch (c->form) {
    case PZ_SCOL_RAW4:
    case PZ_SCOL_RAW8:
        return (c->form == PZ_SCOL_RAW4 || PZ_S_BITS == 64) && c->base == 0 && c->exceptions == 0;
    case PZ_SCOL_INT1:
    case PZ_SCOL_INT2:
    case PZ_SCOL_INT4:
        return (c->form != PZ_SCOL_INT4 || PZ_S_BITS == 64) && c->exceptions <= c->n &&
               c->base > -PZ_WHOLE_LIMIT && c->base < PZ_WHOLE_LIMIT;
    default:
        return false;
    }
}

/* Every exception stands in the list, in order, and every slot is a number the type holds. */
PZ_UNUSED static bool PZ_FN(scol_check_slots)(const PZ_FN(scol) *c, const uint8_t *in)
{
    const uint8_t *index = in + c->n * c->form;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t slot = pz_slot_load(in, c->form, i);
        if (slot != pz_scol_mark(c->form)) {
            int64_t whole = c->base + slot;
            if (whole <= -PZ_WHOLE_LIMIT || whole >= PZ_WHOLE_LIMIT ||
                (PZ_S_BITS == 32 && !pz_whole_fits32(whole)))
                return false;
        } else {
            if (seen == c->exceptions || pz_load16(index + 2 * seen) != i)
                return false;
            seen++;
        }
    }
    return seen == c->exceptions;
}

/* True when the column lies in `avail` bytes, is no larger than raw images and holds only scores
 * that valid data can hold; all functions are then safe on it. */
PZ_UNUSED static bool PZ_FN(scol_check)(const PZ_FN(scol) *c, const uint8_t *in, size_t avail)
{
    if (!PZ_FN(scol_check_fields)(c) || PZ_FN(scol_bytes)(c) > avail ||
        PZ_FN(scol_bytes)(c) > PZ_FN(scol_bytes_max)(c->n))
        return false;
    if (!pz_scol_is_raw(c->form) && !PZ_FN(scol_check_slots)(c, in))
        return false;
    PZ_S s[PZ_LEAF_MAX];
    PZ_FN(scol_decode)(c, in, s);
    for (uint32_t i = 0; i < c->n; i++)
        if (!PZ_FN(image_valid)(s[i]))
            return false;
    return true;
}
