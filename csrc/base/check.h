/* Assertions. PZ_ASSERT guards inner claims in debug builds (-DPZ_DEBUG); it costs nothing in
 * release builds. Arguments from outside the core are checked in every build and refused with a
 * status, never asserted. */
#ifndef PZ_BASE_CHECK_H
#define PZ_BASE_CHECK_H

#ifdef PZ_DEBUG
#include <stdio.h>
#include <stdlib.h>
#define PZ_ASSERT(cond)                                                                  \
    do {                                                                                 \
        if (!(cond)) {                                                                   \
            fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                                     \
        }                                                                                \
    } while (0)
#else
#define PZ_ASSERT(cond) ((void)0)
#endif

/* What a validate function found: what was checked, where, what it wanted and what it got. */
typedef struct pz_why {
    const char *what;          /* static text, e.g. "leaf: live count" */
    unsigned long long where;  /* slot, offset or index, as `what` says */
    unsigned long long wanted;
    unsigned long long got;
} pz_why;

/* Fill `why` (when not NULL) and give PZ_CORRUPT: for use as `return PZ_WHY(why, "…", w, a, b);` */
#define PZ_WHY(why, text, at, want, have)                                            \
    (pz_why_set((why), (text), (unsigned long long)(at), (unsigned long long)(want), \
                (unsigned long long)(have)),                                         \
     PZ_CORRUPT)

static inline void pz_why_set(pz_why *why, const char *what, unsigned long long where,
                              unsigned long long wanted, unsigned long long got)
{
    if (why != 0) {
        why->what = what;
        why->where = where;
        why->wanted = wanted;
        why->got = got;
    }
}

#endif
