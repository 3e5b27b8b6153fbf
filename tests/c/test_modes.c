/* The caller's floating-point modes: under any rounding, and with denormals flushed or taken as
 * zero, a set gives what it gives in the usual mode, and leaves the mode as it found it. */
#include <fenv.h>

#include "test.h"

#include "sets.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
enum { FLUSH = 0x8040 }; /* results flushed, operands taken as zero */
static unsigned mode_get(void)
{
    return _mm_getcsr() & ~0x3fu; /* without the flags that arithmetic raises */
}
static void mode_flush(void)
{
    _mm_setcsr(_mm_getcsr() | FLUSH);
}
#elif defined(__aarch64__)
static unsigned mode_get(void)
{
    unsigned long mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return (unsigned)mode;
}
static void mode_flush(void)
{
    __asm__ volatile("msr fpcr, %0" ::"r"((unsigned long)(mode_get() | 1u << 24)));
}
#endif

enum { ROWS = 64 };

/* What a script is given: made in the usual mode, for the tests' own arithmetic follows the
 * mode. */
typedef struct inputs {
    pz_member_kind member;
    pz_score_kind score;
    uint32_t n;
    uint8_t *members, *scores;
    uint8_t amounts[ROWS * 8];
    double weights[2], bounds[8];
} inputs;

static void inputs_make(pz_member_kind member, pz_score_kind score, uint32_t n, inputs *in)
{
    static const double bounds[8] = {0.0,   1e-310, -1e-320, 1.401298464324817e-45,
                                     7e-46, 0.1,    1e30,    -0.1};
    const size_t mb = member_size(member), sb = score_size(score);
    uint64_t seed = test_seed();
    *in = (inputs){.member = member, .score = score, .n = n, .weights = {0.3, 1e-3}};
    memcpy(in->bounds, bounds, sizeof bounds);
    in->members = malloc(n * mb);
    in->scores = malloc(n * sb);
    for (uint32_t i = 0; i < n; i++) {
        member_put(member, in->members + i * mb, i);
        score_put(score, in->scores + i * sb, score_of(SPECIALS, &seed));
    }
    for (uint32_t i = 0; i < ROWS; i++)
        score_put(score, in->amounts + i * sb, i % 2 == 0 ? 1e-45 * (i + 1) : 0.1 * i);
}

static void inputs_free(inputs *in)
{
    free(in->members);
    free(in->scores);
}

/* Everything that touches scores; the bytes that come out are the set and all answers. */
static bool run_script(const inputs *in, file *out)
{
    const size_t mb = member_size(in->member), sb = score_size(in->score);
    const pz_options options = {.merge_exponent = 0.5,
                                .score_rle = true,
                                .member_leaf_capacity = 16,
                                .order_leaf_capacity = 16};
    const pz_in members = {in->members, (ptrdiff_t)mb}, scores = {in->scores, (ptrdiff_t)sb};
    const pz_in amounts = {in->amounts, (ptrdiff_t)sb};
    uint8_t answers[2 * ROWS * 8] = {0};
    uint64_t counts[2] = {0, 0}, at[16];
    pz_set *z = NULL, *both = NULL;
    pz_call call = {.index = 0};
    if (pz_new(&test_env.env, in->member, in->score, &options, &z) != PZ_OK)
        return false;
    bool ok = pz_add(z, in->n, members, scores, 0, &counts[0], &counts[1], &call) == PZ_OK;
    for (uint32_t i = 0; i < ROWS; i++) { /* some meet infinities: each by itself, refused or not */
        const pz_in one = {in->members + i * mb, 0}, amount = {in->amounts + i * sb, 0};
        pz_status status = pz_incr(z, 1, one, amount, false, (pz_out){answers + i * sb, 0}, NULL);
        ok = ok && (status == PZ_OK || status == PZ_NAN_SUM || status == PZ_OVERFLOW);
    }
    ok = ok &&
         pz_score(z, ROWS, members, (pz_out){answers + ROWS * 8, (ptrdiff_t)sb}, &call) == PZ_OK;
    pz_status status = pz_incr(z, ROWS, members, amounts, false, (pz_out){NULL, 0}, &call);
    file_append(out, &status, sizeof status);
    const pz_set *sets[2] = {z, z};
    ok = ok && pz_combine(PZ_UNION, 2, sets, in->weights, PZ_SUM, &both, &call) == PZ_OK;
    for (size_t i = 0; i < 8; i++) {
        at[2 * i] = pz_position_of_score(z, in->bounds[i], false);
        at[2 * i + 1] = pz_position_of_score(z, in->bounds[i], true);
    }
    file_append(out, at, sizeof at);
    file_append(out, counts, sizeof counts);
    file_append(out, answers, sizeof answers);
    ok = ok && pz_save(z, file_append, out, NULL) == PZ_OK;
    ok = ok && both != NULL && pz_save(both, file_append, out, NULL) == PZ_OK;
    ok = ok && pz_validate(z, NULL) == PZ_OK && pz_equal(z, z);
    pz_free(both);
    pz_free(z);
    return ok;
}

static void check_mode(int rounding, bool flush)
{
    for (unsigned i = 0; i < 18; i++) {
        file usual = {0}, other = {0};
        inputs in;
        inputs_make(member_kinds[i % 3], score_kinds[i / 3 % 2],
                    i < 6    ? 80
                    : i < 12 ? 900
                             : 5000,
                    &in);
        CHECK(run_script(&in, &usual));
        fenv_t before;
        CHECK(fegetenv(&before) == 0 && fesetround(rounding) == 0);
        if (flush)
            mode_flush();
        unsigned mode = mode_get();
        bool ok = run_script(&in, &other);
        bool kept = mode_get() == mode && fegetround() == rounding;
        CHECK(fesetenv(&before) == 0);
        CHECK(ok);
        CHECK(kept);
        CHECK(file_equal(&usual, &other));
        file_free(&usual);
        file_free(&other);
        inputs_free(&in);
    }
}

TEST(rounding_up)
{
    check_mode(FE_UPWARD, false);
}

TEST(rounding_down)
{
    check_mode(FE_DOWNWARD, false);
}

TEST(rounding_to_zero)
{
    check_mode(FE_TOWARDZERO, false);
}

TEST(denormals_flushed)
{
    check_mode(FE_TONEAREST, true);
}

TEST(denormals_flushed_and_rounding_up)
{
    check_mode(FE_UPWARD, true);
}
