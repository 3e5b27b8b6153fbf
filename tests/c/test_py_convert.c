/* The binding's conversions (csrc/py/convert.h) against the machine's own, in every rounding mode
 * and with denormals flushed. */
#include <fenv.h>
#include <math.h>

#include "test.h"

#include "../../csrc/py/convert.c"

static double any_double(uint64_t *state)
{
    uint64_t bits = test_random(state);
    uint64_t way = test_random(state);
    if (way % 3 != 0) /* mostly near what float32 covers */
        bits = (bits & 0x800fffffffffffffull) | (860 + (way >> 8) % 330) << 52;
    if (way % 7 == 0) /* halfway cases */
        bits = (bits & ~0x1fffffffull) | 0x10000000u;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

TEST(narrowing_is_that_of_the_machine)
{
    uint64_t state = test_seed();
    for (int i = 0; i < 300000; i++) {
        double value = any_double(&state);
        float mine = 0.0f, wanted = (float)value;
        bool fits = pzpy_narrow(value, &mine);
        CHECK_EQ(fits, isfinite(value) ? isfinite(wanted) : 1);
        if (fits)
            CHECK(same_float(mine, wanted));
    }
}

TEST(widening_is_that_of_the_machine)
{
    uint64_t state = test_seed();
    for (int i = 0; i < 300000; i++) {
        uint64_t random = test_random(&state);
        uint32_t bits = (uint32_t)random;
        if (random >> 62 == 0) /* denormals */
            bits &= 0x807fffffu;
        float value;
        memcpy(&value, &bits, sizeof value);
        CHECK(same_double(pzpy_widen(value), (double)value));
    }
}

TEST(modes_do_not_matter)
{
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    uint64_t state = test_seed();
    for (int i = 0; i < 20000; i++) {
        double value = any_double(&state);
        float wanted = 0.0f, mine = 0.0f;
        bool fits = pzpy_narrow(value, &wanted);
        for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
            fesetround(modes[m]);
            bool same = pzpy_narrow(value, &mine) == fits;
            fesetround(FE_TONEAREST);
            CHECK(same);
            CHECK(same_float(mine, wanted));
        }
    }
}

static void check_integer(int64_t value, bool wide)
{
    union {
        float f32;
        double f64;
    } out = {.f64 = 0.0};
    size_t row = 9;
    pzpy_source source = {(const char *)&value, 8, 1, PZPY_S64, false};
    pzpy_fault fault = pzpy_convert_scores(&source, wide, &out, &row);
    long double nearest = wide ? (long double)(double)value : (long double)(float)value;
    if (nearest == (long double)value) {
        CHECK_EQ(fault, PZPY_FINE);
        CHECK((wide ? (long double)out.f64 : (long double)out.f32) == nearest);
    } else {
        CHECK_EQ(fault, PZPY_FAULT_INEXACT);
        CHECK_EQ(row, 0);
    }
}

TEST(integers_are_exact_or_refused)
{
    uint64_t state = test_seed();
    for (int bit = 0; bit < 63; bit++) {
        for (int64_t near = -2; near <= 2; near++) {
            int64_t value = (int64_t)(1ull << bit) + near;
            int64_t other = (int64_t)(test_random(&state) >> (63 - bit));
            for (int wide = 0; wide < 2; wide++) {
                check_integer(value, wide != 0);
                check_integer(-value, wide != 0);
                check_integer(other, wide != 0);
            }
        }
    }
    check_integer(INT64_MAX, true);
    check_integer(INT64_MIN, false);
}
