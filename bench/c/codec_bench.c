/* Timings of the leaf codecs: encode (with the plan) and decode in ns an entry, search and get in
 * ns each, least of PASSES passes over LEAVES leaves that stay in cache. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "../../csrc/base/bits.h"
#include "../../csrc/base/config.h"
#include "../../csrc/codec/crc32c.h"

#define LEAVES 16u
#define ENTRIES 384u
#define PASSES 60u
#define SEARCHES 512u

static uint64_t bench_sink;
static uint32_t probe[SEARCHES];

static uint64_t next_random(void) /* splitmix64 */
{
    static uint64_t state = 1;
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double now_ns(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

#define PZ_M uint32_t
#define PZ_M_BITS 32
#define PZ_S uint32_t
#define PZ_S_BITS 32
#define PZ_FN(name) name##__32
#include "../../csrc/codec/keys.tmpl.h"
#include "../../csrc/codec/scores.tmpl.h"
#include "codec_keys.tmpl.h"
#include "codec_scores.tmpl.h"
#undef PZ_M
#undef PZ_M_BITS
#undef PZ_S
#undef PZ_S_BITS
#undef PZ_FN

#define PZ_M uint64_t
#define PZ_M_BITS 64
#define PZ_S uint64_t
#define PZ_S_BITS 64
#define PZ_FN(name) name##__64
#include "../../csrc/codec/keys.tmpl.h"
#include "../../csrc/codec/scores.tmpl.h"
#include "codec_keys.tmpl.h"
#include "codec_scores.tmpl.h"
#undef PZ_M
#undef PZ_M_BITS
#undef PZ_S
#undef PZ_S_BITS
#undef PZ_FN

#define PZ_M pz_u128
#define PZ_M_BITS 128
#define PZ_FN(name) name##__128
#include "../../csrc/codec/keys.tmpl.h"
#include "codec_keys.tmpl.h"

static void bench_crc(void)
{
    static uint8_t bytes[1u << 16];
    double best = 1e18;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        double start = now_ns();
        bench_sink += pz_crc32c((uint32_t)pass, bytes, sizeof bytes);
        best = least(best, now_ns() - start);
    }
    printf("crc32c  %.2f GB/s\n", sizeof bytes / best);
}

int main(void)
{
    for (uint32_t j = 0; j < SEARCHES; j++)
        probe[j] = (uint32_t)next_random() % ENTRIES;
    static const uint32_t groups[] = {1, 2, 15, 200, ENTRIES};
    for (uint32_t gap = 0; gap <= 20; gap += gap < 2 ? 1 : 6)
        for (uint32_t j = 0; j < sizeof groups / sizeof *groups; j++)
            bench_keys__32("int32", gap, groups[j]);
    for (uint32_t gap = 8; gap <= 48; gap += 20)
        for (uint32_t j = 0; j < 3; j++)
            bench_keys__64("int64", gap, groups[2 * j]);
    for (uint32_t gap = 40; gap <= 120; gap += 40)
        for (uint32_t j = 0; j < 3; j++)
            bench_keys__128("uuid", gap, groups[2 * j]);
    bench_scores__32("float32");
    bench_scores__64("float64");
    bench_crc();
    return bench_sink == 42; /* keeps what was computed */
}
