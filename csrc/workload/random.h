/* Random numbers of the synthetic workloads: one counter, one mixer, one normal deviate.
 *
 *   counter: seed, seed + G, seed + 2 G, ...     (G: 2**64 over the golden ratio, odd)
 *                |       |          |
 *               mix     mix        mix           (the 64-bit finaliser known as splitmix64)
 *                v       v          v
 *              word    word       word
 *
 * Invariants: a stream is its counter alone, so it can be kept, copied and run again. Logarithm and
 * exponential are written out with +, -, * and / only; with IEEE 754 doubles, round to nearest and
 * no contraction into fused operations (GCC: any -std=c.. ; clang: the pragma below) the same seed
 * gives the same bytes on every platform, whatever its C library does. */
#ifndef PZ_WORKLOAD_RANDOM_H
#define PZ_WORKLOAD_RANDOM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define PZ_RANDOM_STEP 0x9E3779B97F4A7C15ull

typedef struct pz_random {
    uint64_t counter;
} pz_random;

static inline uint64_t pz_random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

/* Streams of one seed do not meet: their counters start at mixed, far apart places. */
static inline pz_random pz_random_stream(uint64_t seed, uint64_t stream)
{
    return (pz_random){pz_random_mix(seed + PZ_RANDOM_STEP) ^ pz_random_mix(~stream)};
}

static inline uint64_t pz_random_word(pz_random *random)
{
    random->counter += PZ_RANDOM_STEP;
    return pz_random_mix(random->counter);
}

/* Natural logarithm of a normal positive double: x = m * 2**e with m in [0.707, 1.414), then the
 * series of atanh in s = (m - 1) / (m + 1), |s| < 0.1716, to s**23. */
static inline double pz_random_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m = m / 2.0;
        exponent += 1;
    }
    const double s = (m - 1.0) / (m + 1.0);
    const double s2 = s * s;
    double sum = 0.0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * s2 + 1.0 / (double)k;
    return 2.0 * s * sum + (double)exponent * 0.6931471805599453;
}

/* Exponential of x in [-700, 700]: x = n ln 2 + r, |r| < 0.35, Taylor's series to r**13 / 13!. */
static inline double pz_random_exp(double x)
{
    const double scaled = x * 1.4426950408889634;
    const int n = (int)(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5);
    const double r = x - (double)n * 0.6931471805599453;
    double sum = 1.0;
    for (int k = 13; k >= 1; k--)
        sum = sum * r / (double)k + 1.0;
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* One standard normal deviate by the polar method: a point drawn in the unit disc gives
 * v sqrt(-2 ln q / q). The second deviate of the point is not kept, so a stream has no state
 * beside its counter. */
static inline double pz_random_normal(pz_random *random)
{
    for (;;) {
        const uint64_t word = pz_random_word(random);
        const double v = (double)(int32_t)(uint32_t)word / 2147483648.0;
        const double w = (double)(int32_t)(uint32_t)(word >> 32) / 2147483648.0;
        const double q = v * v + w * w;
        if (q < 1.0 && q > 0.0)
            return v * sqrt(-2.0 * pz_random_log(q) / q);
    }
}

#endif
