/* What score columns of both widths share: their forms, and whole numbers read off an image. */
#ifndef PZ_CODEC_FORMS_H
#define PZ_CODEC_FORMS_H

#include "../base/bits.h"

/* Bytes a slot, and 16 for raw images. */
enum { PZ_SCOL_INT1 = 1, PZ_SCOL_INT2 = 2, PZ_SCOL_INT4 = 4, PZ_SCOL_RAW4 = 20, PZ_SCOL_RAW8 = 24 };

static inline bool pz_scol_is_raw(uint32_t form)
{
    return form >= 16;
}

static inline uint32_t pz_scol_slot_bytes(uint32_t form)
{
    return form & 15u;
}

/* The slot that marks an exception: all ones. */
static inline uint32_t pz_scol_mark(uint32_t form)
{
    return (uint32_t)pz_mask64(8 * form);
}

static inline uint32_t pz_slot_load(const uint8_t *slots, uint32_t form, uint32_t i)
{
    if (form == PZ_SCOL_INT1)
        return slots[i];
    return form == PZ_SCOL_INT2 ? pz_load16(slots + 2 * i) : pz_load32(slots + 4 * i);
}

static inline void pz_slot_store(uint8_t *slots, uint32_t form, uint32_t i, uint32_t slot)
{
    if (form == PZ_SCOL_INT1)
        slots[i] = (uint8_t)slot;
    else if (form == PZ_SCOL_INT2)
        pz_store16(slots + 2 * i, (uint16_t)slot);
    else
        pz_store32(slots + 4 * i, slot);
}

/* Stands for "no whole number of magnitude below 2**53". */
#define PZ_NOT_WHOLE INT64_MIN
#define PZ_WHOLE_LIMIT ((int64_t)1 << 53)

/* ---- sortable images to whole numbers, by shifts alone: no flag is raised, no mode matters.
 * A positive image is the float's bits under a set top bit, so `drop`, the number of fraction bits
 * behind the binary point, comes out huge for negative ones, and the image of -x is ~image of x. */
static inline int64_t pz_positive_whole64(uint64_t image)
{
    uint32_t drop = 2048 + 1075 - (uint32_t)(image >> 52);
    uint64_t mantissa = (image & pz_mask64(52)) | (uint64_t)1 << 52;
    uint64_t whole = mantissa >> (drop & 63);
    return drop <= 52 && whole << (drop & 63) == mantissa ? (int64_t)whole : PZ_NOT_WHOLE;
}

static inline int64_t pz_whole64(uint64_t image)
{
    int64_t whole = pz_positive_whole64(image);
    if (whole != PZ_NOT_WHOLE)
        return whole;
    whole = pz_positive_whole64(~image);
    if (whole != PZ_NOT_WHOLE)
        return -whole;
    return image == (uint64_t)1 << 63 ? 0 : PZ_NOT_WHOLE;
}

/* The same of a float32, whose last bits may also stand before the binary point. */
static inline int64_t pz_positive_whole32(uint32_t image)
{
    uint32_t drop = 256 + 150 - (image >> 23);
    uint32_t mantissa = (image & 0x7fffffu) | 0x800000u;
    uint32_t whole = mantissa >> (drop & 31);
    if (drop <= 23 && whole << (drop & 31) == mantissa)
        return whole;
    uint32_t raise = 0 - drop;
    return raise <= 29 ? (int64_t)((uint64_t)mantissa << raise) : PZ_NOT_WHOLE;
}

static inline int64_t pz_whole32(uint32_t image)
{
    int64_t whole = pz_positive_whole32(image);
    if (whole != PZ_NOT_WHOLE)
        return whole;
    whole = pz_positive_whole32(~image);
    if (whole != PZ_NOT_WHOLE)
        return -whole;
    return image == 0x80000000u ? 0 : PZ_NOT_WHOLE;
}

/* Has a float32 exactly this value? |whole| is below 2**53. */
static inline bool pz_whole_fits32(int64_t whole)
{
    uint64_t size = whole < 0 ? (uint64_t)-whole : (uint64_t)whole;
    return size == 0 || pz_width64(size) - pz_ctz64(size) <= 24;
}

#endif
