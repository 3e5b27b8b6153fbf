/* Status codes of every fallible function in the core. 0 is success; a function that fails leaves
 * its out-pointers alone and the structure it was called on as it was. */
#ifndef PZ_BASE_STATUS_H
#define PZ_BASE_STATUS_H

#if defined(__GNUC__)
#define PZ_MUST_USE __attribute__((warn_unused_result))
#else
#define PZ_MUST_USE
#endif

typedef enum pz_status {
    PZ_OK = 0,
    PZ_NOMEM,       /* an allocation or mapping failed */
    PZ_FULL,        /* a limit of the structure was reached (slots, spans, rows in one call) */
    PZ_NAN,         /* a score argument is NaN */
    PZ_NAN_SUM,     /* an increment of an infinity by the opposite infinity */
    PZ_OVERFLOW,    /* a finite sum does not fit the set's float32 scores */
    PZ_INVALID,     /* an argument outside its documented domain */
    PZ_CORRUPT,     /* bytes that are no valid snapshot, or a structure that fails validation */
    PZ_INTERRUPTED, /* the caller's poll function asked to stop before anything was changed */
    PZ_IO           /* the caller's read or write function failed */
} pz_status;

/* Early return for functions that own nothing at the point of the call. */
#define PZ_TRY(expr)                       \
    do {                                   \
        pz_status pz_try_status_ = (expr); \
        if (pz_try_status_ != PZ_OK)       \
            return pz_try_status_;         \
    } while (0)

#endif
