/* The leaf codecs on random and hostile leaves: what goes in comes out, every look-up agrees with
 * plain arrays, reading stays inside the bytes it may touch (buffers are exact, so that a sanitizer
 * sees one byte too many), and bytes that were tampered with are refused or decode to something
 * valid. CODEC_ROUNDS=n in the environment multiplies the work. */
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "test.h"

#include "../../csrc/base/bits.h"
#include "../../csrc/base/config.h"
#include "../../csrc/codec/crc32c.h"

/* `size` bytes of which the first n are those at p; the rest is noise. */
static uint8_t *test_copy(const uint8_t *p, size_t n, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    memset(copy, 0xa5, size);
    if (n > 0)
        memcpy(copy, p, n);
    return copy;
}

static uint32_t test_rounds(uint32_t n)
{
    const char *text = getenv("CODEC_ROUNDS");
    return text != NULL ? n * (uint32_t)strtoul(text, NULL, 10) : n;
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
#undef PZ_M
#undef PZ_M_BITS
#undef PZ_FN

/* ---- keys ---- */
TEST(keys_32_bits)
{
    uint64_t state = test_seed();
    keys_leaves__32(&state, test_rounds(12000));
}

TEST(keys_64_bits)
{
    uint64_t state = test_seed() + 1;
    keys_leaves__64(&state, test_rounds(12000));
}

TEST(keys_128_bits)
{
    uint64_t state = test_seed() + 2;
    keys_leaves__128(&state, test_rounds(12000));
}

TEST(keys_plans_are_cheapest)
{
    uint64_t state = test_seed();
    plans_are_cheapest__32(&state, test_rounds(100000));
    plans_are_cheapest__64(&state, test_rounds(100000));
    plans_are_cheapest__128(&state, test_rounds(100000));
}

/* A well-formed upper vector that no plan would make, with all its bytes there. */
TEST(keys_too_many_zeros)
{
    for (uint32_t stride = 1; stride < 40000; stride += stride < 20 ? 1 : 4999) {
        keys__64 k = {.lo = 1, .stride = stride, .n = 2, .groups = 1, .low_bits = 3};
        uint8_t *in = test_copy(NULL, 0, 8000);
        memset(in, 0, 8000);
        in[0] = 8; /* lows 0 and 1; the ones are the first two bits of the upper vector */
        in[1] = stride > 1 ? 3 : 0;
        CHECK_EQ(keys_check__64(&k, in, 8000), stride <= 18);
        free(in);
    }
}

/* Sizes that the design counts on. */
TEST(keys_known_sizes)
{
    uint32_t m[512];
    keys__32 k;
    for (uint32_t i = 0; i < 512; i++) /* page ids: one in 26 left out */
        m[i] = 1000 + i + i / 25;
    keys_plan__32(m, 512, 1, &k);
    CHECK_EQ(k.low_bits, 0);
    CHECK_EQ(keys_bytes__32(&k), (512 + 532 + 7) / 8);
    for (uint32_t i = 0; i < 512; i++)
        m[i] = i * 1000;
    keys_plan__32(m, 512, 1, &k);
    CHECK_EQ(k.low_bits, 9);
    CHECK_EQ(keys_bytes__32(&k), 512 * 9 / 8 + (512 + 999 + 7) / 8);
    keys_plan__32(m, 512, 512, &k); /* one an entry: whole members, no upper vector */
    CHECK_EQ(k.low_bits, 19);
    CHECK_EQ(keys_bytes__32(&k), 512 * 19 / 8);
    keys_plan__32(m, 1, 1, &k);
    CHECK_EQ(keys_bytes__32(&k), 0);
}

TEST(keys_raised_widths)
{
    for (uint32_t bits = 1; bits < 128; bits++) {
        pz_u128 far[3] = {5, 6, 5 + ((pz_u128)1 << bits)};
        keys__128 k;
        keys_plan__128(far, 3, 3, &k);
        CHECK(k.low_bits <= 57 || (k.low_bits >= 64 && k.low_bits <= 121) || k.low_bits == 128);
        uint8_t *in = test_copy(NULL, 0, keys_bytes__128(&k) + 16);
        keys_encode__128(&k, far, NULL, in);
        pz_u128 out[PZ_LEAF_MAX + 16];
        keys_decode__128(&k, in, out, NULL);
        CHECK(memcmp(out, far, sizeof far) == 0);
        CHECK(keys_check__128(&k, in, keys_bytes__128(&k)));
        free(in);
    }
}

/* Lows of every width, one lane, at every length: neighbours and the noise behind do not matter. */
TEST(lows_every_width)
{
    uint64_t state = test_seed();
    for (uint32_t bits = 0; bits <= 64; bits = bits == 57 ? 64 : bits + 1) {
        for (uint32_t n = 0; n < 40; n++) {
            uint64_t in[40], out[48];
            uint32_t in32[40], out32[48];
            for (uint32_t i = 0; i < n; i++) {
                in[i] = test_random(&state);
                in32[i] = (uint32_t)in[i];
            }
            uint32_t bytes = pz_lows_bytes(n, bits);
            uint8_t *lane = test_copy(NULL, 0, bytes + PZ_LOWS_SLACK);
            pz_lows_pack64(in, n, bits, lane);
            CHECK(pz_lows_check(lane, n, bits));
            memset(lane + bytes, 0x5a, PZ_LOWS_SLACK);
            pz_lows_unpack64(lane, n, bits, out);
            for (uint32_t i = 0; i < n; i++) {
                CHECK(out[i] == (in[i] & pz_mask64(bits)));
                CHECK(pz_lows_get(lane, bits, i) == out[i]);
            }
            if (bits <= 32) {
                uint8_t *lane32 = test_copy(NULL, 0, bytes + PZ_LOWS_SLACK);
                pz_lows_pack32(in32, n, bits, lane32);
                CHECK(memcmp(lane, lane32, bytes) == 0);
                pz_lows_unpack32(lane, n, bits, out32);
                for (uint32_t i = 0; i < n; i++)
                    CHECK(out32[i] == out[i]);
                free(lane32);
            }
            if (n * bits % 8 != 0) {
                lane[bytes - 1] |= 0x80;
                CHECK(!pz_lows_check(lane, n, bits));
            }
            free(lane);
        }
    }
}

/* ---- scores ---- */
TEST(scores_32_bits)
{
    uint64_t state = test_seed();
    score_columns__32(&state, test_rounds(12000));
}

TEST(scores_64_bits)
{
    uint64_t state = test_seed() + 1;
    score_columns__64(&state, test_rounds(12000));
}

static void flush_subnormals(bool on)
{
#if defined(__SSE__)
    uint32_t flags = 0x8040; /* flush to zero, denormals are zero */
    uint32_t csr = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(on ? csr | flags : csr & ~flags);
#elif defined(__aarch64__)
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    fpcr = on ? fpcr | (uint64_t)1 << 24 : fpcr & ~((uint64_t)1 << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(fpcr));
#else
    (void)on;
#endif
}

/* The caller's modes touch no bit. Inputs are made before the mode is set. */
TEST(scores_in_every_mode)
{
    static const int modes[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    uint64_t state = test_seed();
    for (uint32_t round = 0; round < 160; round++) {
        uint64_t s[300];
        uint32_t s32[300];
        uint32_t style = round % 10;
        for (uint32_t i = 0; i < 300; i++) {
            s[i] = any_image__64(&state, style, -70000, 200);
            s32[i] = any_image__32(&state, style, -70000, 200);
        }
        CHECK(fesetround(modes[round / 10 % 4]) == 0);
        flush_subnormals(round / 40 % 2 == 1);
        scol__64 c;
        scol__32 c32;
        uint8_t col[300 * 8], col32[300 * 4];
        scol_plan__64(s, 300, &c);
        scol_encode__64(&c, s, col);
        scol_plan__32(s32, 300, &c32);
        scol_encode__32(&c32, s32, col32);
        CHECK(same_scores__64(&c, col, s));
        CHECK(same_scores__32(&c32, col32, s32));
        CHECK(scol_check__64(&c, col, sizeof col));
        CHECK(scol_check__32(&c32, col32, sizeof col32));
        flush_subnormals(false);
        CHECK(fesetround(FE_TONEAREST) == 0);
    }
}

/* A form and base for values[i] = base + i * step, but for one outlier. */
static void known_form(double base, double step, double outlier, uint32_t form, int64_t want_base,
                       uint32_t exceptions)
{
    uint64_t s[100];
    scol__64 c;
    for (uint32_t i = 0; i < 100; i++)
        s[i] = image_of__64(i == 50 ? outlier : base + i * step);
    scol_plan__64(s, 100, &c);
    CHECK_EQ(c.form, form);
    CHECK_EQ(c.base, want_base);
    CHECK_EQ(c.exceptions, exceptions);
}

TEST(scores_known_forms)
{
    known_form(0, 1, 50, PZ_SCOL_INT1, 0, 0);
    known_form(0, 1, 1e6, PZ_SCOL_INT1, 0, 1);
    known_form(1000, 2, 1100, PZ_SCOL_INT1, 1000, 0);
    known_form(1000, 2, 1e6, PZ_SCOL_INT1, 1000, 1); /* fences: an outlier on either side */
    known_form(1.7e9, 100, 0, PZ_SCOL_INT2, 1700000000, 1);
    known_form(-5e8, 100, -1e15, PZ_SCOL_INT2, -500000000, 1);
    known_form(0, 40000000, 7, PZ_SCOL_INT4, 0, 0);
    known_form(-90000000, 40000000, 7, PZ_SCOL_INT4, -90000000, 0);
    known_form(0.5, 1, 3, PZ_SCOL_RAW4, 0, 0);
    known_form(0.5, 1, 0.1, PZ_SCOL_RAW8, 0, 0);
    known_form(1e15, 1e12, 0, PZ_SCOL_RAW8, 0, 0);
    uint32_t s32[100];
    scol__32 c32;
    for (uint32_t i = 0; i < 100; i++)
        s32[i] = image_of__32(i * 1000000.0);
    scol_plan__32(s32, 100, &c32);
    CHECK(c32.form == PZ_SCOL_RAW4);
}

/* Slots that no score has: past 2**53, or between two float32 values. */
TEST(scores_slots_without_a_score)
{
    const uint8_t slot[2][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}};
    const int64_t edge = PZ_WHOLE_LIMIT - 1;
    scol__64 c = {.base = edge, .n = 1, .exceptions = 0, .form = PZ_SCOL_INT4};
    CHECK(scol_check__64(&c, slot[0], 4));
    CHECK_EQ(scol_get__64(&c, slot[0], 0), image_of__64(9007199254740991.0));
    CHECK(!scol_check__64(&c, slot[1], 4));
    c.base = -edge;
    CHECK(scol_check__64(&c, slot[0], 4) && scol_check__64(&c, slot[1], 4));
    c.base = -edge - 1;
    CHECK(!scol_check__64(&c, slot[0], 4) && !scol_check__64(&c, slot[1], 4));
    scol__32 c32 = {.base = 1 << 24, .n = 1, .exceptions = 0, .form = PZ_SCOL_INT1};
    CHECK(scol_check__32(&c32, slot[0], 4) && !scol_check__32(&c32, slot[1], 4));
    c32.base = 15 << 21; /* steps of two */
    CHECK(!scol_check__32(&c32, slot[1], 4));
    c32.base++;
    CHECK(!scol_check__32(&c32, slot[0], 4) && scol_check__32(&c32, slot[1], 4));
}

/* Columns whose scores are sound but which no plan would make. */
TEST(scores_columns_without_a_plan)
{
    uint8_t col[64] = {0};
    uint64_t one = image_of__64(1);
    scol__64 c = {.base = 0, .n = 1, .exceptions = 0, .form = PZ_SCOL_RAW8};
    pz_store64(col, one);
    CHECK(scol_check__64(&c, col, sizeof col));
    c.base = 1;
    CHECK(!scol_check__64(&c, col, sizeof col));
    c.base = 0;
    c.exceptions = 1;
    CHECK(!scol_check__64(&c, col, sizeof col));
    c.form = PZ_SCOL_INT1; /* an exception for its only entry: more than raw */
    col[0] = 0xff;
    pz_store16(col + 1, 0);
    pz_store64(col + 3, one);
    CHECK_EQ(scol_get__64(&c, col, 0), one);
    CHECK(!scol_check__64(&c, col, sizeof col));
    c.n = 2; /* beside a slot it is less */
    col[1] = 7;
    pz_store16(col + 2, 0);
    pz_store64(col + 4, one);
    CHECK(scol_check__64(&c, col, sizeof col));
}

/* ---- bits and checksum ---- */
TEST(bits_of_scores)
{
    uint64_t state = test_seed();
    uint32_t narrow = 0;
    for (uint32_t i = 0; i < 300000; i++) {
        uint32_t a = (uint32_t)test_random(&state);
        uint32_t b = i % 2 == 0 ? a + 1 : (uint32_t)test_random(&state);
        if (i % 3 == 0)
            a &= 0x807fffffu; /* subnormals and zeros */
        if (pz_is_nan32(a) || pz_is_nan32(b))
            continue;
        float x = pz_float_of_bits(a);
        float y = pz_float_of_bits(b);
        CHECK(pz_unsort32(pz_sort32(a)) == a);
        if (x < y)
            CHECK(pz_sort32(a) < pz_sort32(b));
        CHECK(pz_widen_bits(a) == pz_bits_of_double((double)x));
        CHECK(pz_narrow_bits(pz_widen_bits(a), &narrow) && narrow == a);
        uint64_t wide = test_random(&state) & ~((uint64_t)0xffffffff >> test_random(&state) % 33);
        if (i % 2 == 0)
            wide = (wide & ~(uint64_t)0 >> 12) | (uint64_t)(860 + test_random(&state) % 320) << 52;
        if (pz_is_nan64(wide))
            continue;
        double z = pz_double_of_bits(wide);
        bool exact = (double)(float)z == z; /* overflow gives an infinity, unequal to z */
        CHECK_EQ(pz_narrow_bits(wide, &narrow), exact);
        CHECK(!exact || narrow == pz_bits_of_float((float)z));
        CHECK(pz_unsort64(pz_sort64(wide)) == wide);
        if (z < (double)x)
            CHECK(pz_sort64(wide) < pz_sort64(pz_widen_bits(a)));
        bool whole = fabs(z) < 9007199254740992.0 && trunc(z) == z && wide != 1ull << 63;
        CHECK(pz_whole64(pz_sort64(wide)) == (whole ? (int64_t)z : PZ_NOT_WHOLE));
        whole = fabsf(x) < 9007199254740992.0f && truncf(x) == x && a != 1u << 31;
        CHECK(pz_whole32(pz_sort32(a)) == (whole ? (int64_t)x : PZ_NOT_WHOLE));
    }
    CHECK(pz_sortable_valid32(pz_sort32(pz_bits_of_float(INFINITY))));
    CHECK(pz_sortable_valid64(pz_sort64(pz_bits_of_double(-(double)INFINITY))));
    CHECK(!pz_sortable_valid32(pz_sort32(0x7f800001u)) &&
          !pz_sortable_valid32(pz_sort32(1u << 31)));
    CHECK(!pz_sortable_valid64(pz_sort64(0xfff0000000000001u)));
    CHECK(!pz_sortable_valid64(pz_sort64((uint64_t)1 << 63)));
}

TEST(bits_counted)
{
    uint64_t state = test_seed();
    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t x = test_random(&state) & test_random(&state) >> test_random(&state) % 64;
        uint32_t ones = 0;
        for (uint32_t bit = 0; bit < 64; bit++) {
            if ((x >> bit & 1) == 0)
                continue;
            CHECK_EQ(pz_word_select(x, pz_popcount_bytes(x), ones), bit);
            ones++;
            if (i % 16 != 0)
                break;
        }
        CHECK_EQ(pz_popcount64(x), __builtin_popcountll(x));
        uint8_t bytes[16];
        pz_store128_be(bytes, (pz_u128)x << 64 | ~x);
        CHECK(bytes[0] == x >> 56 && bytes[15] == (~x & 0xff));
        CHECK(pz_load128_be(bytes) == ((pz_u128)x << 64 | ~x));
        uint32_t len = (uint32_t)(x % 8);
        uint8_t *part = test_copy(bytes, len, len);
        CHECK(pz_load_part(part, len) == (pz_load64(bytes) & pz_mask64(8 * len)));
        free(part);
    }
}

static uint32_t crc_by_bits(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < 8 * n; i++) {
        uint32_t bit = (crc ^ (uint32_t)p[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit != 0 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

TEST(crc32c)
{
    uint64_t state = test_seed();
    CHECK_EQ(pz_crc32c(0, "123456789", 9), 0xe3069283);
    CHECK_EQ(pz_crc32c(7, NULL, 0), 7);
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&state);
    for (size_t i = 0; i < 2000; i++) {
        size_t from = test_random(&state) % 150;
        size_t n = test_random(&state) % 150;
        size_t cut = test_random(&state) % (n + 1);
        uint32_t whole = pz_crc32c(0, bytes + from, n);
        CHECK_EQ(whole, crc_by_bits(bytes + from, n));
        CHECK_EQ(whole, pz_crc32c(pz_crc32c(0, bytes + from, cut), bytes + from + cut, n - cut));
    }
}
