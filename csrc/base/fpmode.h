/* The caller's floating-point mode (rounding direction, flush-to-zero) must not change what a set
 * stores: code that adds or narrows scores runs between pz_fp_enter and pz_fp_leave, which set the
 * default mode and give the caller's back. The usual case, default mode already, costs one read. */
#ifndef PZ_BASE_FPMODE_H
#define PZ_BASE_FPMODE_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

typedef unsigned pz_fp;

static inline pz_fp pz_fp_enter(void)
{
    unsigned mode = _mm_getcsr();
    /* All exceptions masked, to nearest, no flushing; the low 6 bits are sticky flags. */
    if ((mode & ~0x3fu) != 0x1f80u)
        _mm_setcsr(0x1f80u | (mode & 0x3fu));
    return mode;
}

static inline void pz_fp_leave(pz_fp mode)
{
    if ((mode & ~0x3fu) != 0x1f80u)
        _mm_setcsr(mode);
}

#elif defined(__aarch64__)

typedef uint64_t pz_fp;

static inline pz_fp pz_fp_enter(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    if (mode != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return mode;
}

static inline void pz_fp_leave(pz_fp mode)
{
    if (mode != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

#else
#include <fenv.h>

typedef fenv_t pz_fp;

static inline pz_fp pz_fp_enter(void)
{
    fenv_t mode;
    fegetenv(&mode);
    fesetenv(FE_DFL_ENV);
    return mode;
}

static inline void pz_fp_leave(pz_fp mode)
{
    fesetenv(&mode);
}

#endif
#endif
