/* TEMPLATE: random score columns of one width, against plain arrays. needs PZ_S, PZ_S_BITS, PZ_FN
 * and codec/scores.tmpl.h; gives PZ_FN(score_columns)(state, columns). */

/* The image of x, which the score type holds. */
static PZ_S PZ_FN(image_of)(double x)
{
#if PZ_S_BITS == 32
    return pz_sort32(pz_fold_zero32(pz_bits_of_float((float)x)));
#else
    return pz_sort64(pz_fold_zero64(pz_bits_of_double(x)));
#endif
}

static PZ_S PZ_FN(random_image)(uint64_t *state)
{
    PZ_S image;
    do
        image = (PZ_S)test_random(state);
    while (!PZ_FN(image_valid)(image));
    return image;
}

/* Values at which a form, a slot or a conversion ends. */
static PZ_S PZ_FN(edge_image)(uint64_t *state)
{
    static const double edges[] = {0,
                                   254,
                                   255,
                                   256,
                                   65534,
                                   65535,
                                   65536,
                                   16777215,
                                   16777216,
                                   4294967294.0,
                                   4294967295.0,
                                   4294967296.0,
                                   9007199254740991.0,
                                   9007199254740992.0,
                                   1e300,
                                   0.5,
                                   3.25,
                                   (double)INFINITY,
                                   1.401298464324817e-45, /* the smallest float32 */
                                   1.1754942106924411e-38, /* its largest subnormal */
                                   1.1754943508222875e-38};
    double x = edges[test_random(state) % (sizeof edges / sizeof *edges)];
    if (PZ_S_BITS == 32 && x > 4e38)
        x = (double)INFINITY;
    PZ_S image = PZ_FN(image_of)(test_random(state) % 2 == 0 ? x : -x);
    uint32_t nudge = (uint32_t)(test_random(state) % 4);
    if (nudge == 0 && PZ_FN(image_valid)(image + 1))
        image++;
    return image;
}

/* A score as a column of this style mostly has them. */
static PZ_S PZ_FN(style_image)(uint64_t *state, uint32_t style, int64_t base)
{
    uint64_t x = test_random(state);
    switch (style) {
    case 0:
        return PZ_FN(image_of)((double)(x % 255));
    case 1: /* counters: any magnitude, small ones most */
        return PZ_FN(image_of)((double)(x >> 40 >> x % 24));
    case 2:
        return PZ_FN(image_of)((double)(base + (int64_t)(x % 255)));
    case 3:
        return PZ_FN(image_of)((double)(base + (int64_t)(x % 65535)));
    case 4:
        return PZ_FN(image_of)((double)(base + (int64_t)(x % 0xffffffff)));
    case 5:
        return PZ_FN(image_of)((double)(int64_t)(x % 1000) - 500);
    case 6:
        return PZ_FN(image_of)((double)(x % 4000) / 4);
    case 7: /* float32 values, subnormals too */
        return PZ_FN(image_of)((double)pz_float_of_bits((uint32_t)(x % 0x7f800000u)));
    case 8:
        return PZ_FN(image_of)((double)base);
    default:
        return PZ_FN(random_image)(state);
    }
}

static PZ_S PZ_FN(any_image)(uint64_t *state, uint32_t style, int64_t base, uint32_t odd)
{
    if (test_random(state) % 1000 >= odd)
        return PZ_FN(style_image)(state, style, base);
    return test_random(state) % 2 == 0 ? PZ_FN(edge_image)(state) : PZ_FN(random_image)(state);
}

static bool PZ_FN(same_scores)(const PZ_FN(scol) *c, const uint8_t *in, const PZ_S *s)
{
    PZ_S *out = malloc(c->n * sizeof *out); /* no room behind */
    PZ_FN(scol_decode)(c, in, out);
    bool same = memcmp(out, s, c->n * sizeof *s) == 0;
    for (uint32_t i = 0; i < c->n; i++)
        same = same && PZ_FN(scol_get)(c, in, i) == s[i];
    free(out);
    return same;
}

/* A score is set in place, or refused without a trace. */
static void PZ_FN(set_scores)(uint64_t *state, const PZ_FN(scol) *c, uint8_t *col, PZ_S *s,
                              uint32_t style, int64_t base)
{
    uint32_t bytes = PZ_FN(scol_bytes)(c);
    for (uint32_t j = 0; j < 24; j++) {
        uint32_t i = (uint32_t)(test_random(state) % c->n);
        PZ_S image = PZ_FN(any_image)(state, style, base, 300);
        uint8_t *before = test_copy(col, bytes, bytes);
        if (PZ_FN(scol_set)(c, col, i, image))
            s[i] = image;
        else
            CHECK(memcmp(before, col, bytes) == 0);
        free(before);
    }
    CHECK(PZ_FN(same_scores)(c, col, s));
    CHECK(PZ_FN(scol_check)(c, col, bytes));
    for (uint32_t i = 0; i < c->n; i++) /* what stands there fits where it stands */
        CHECK(PZ_FN(scol_set)(c, col, i, s[i]));
    CHECK(PZ_FN(same_scores)(c, col, s));
}

/* Changed bytes are refused, or are valid scores on which decode and get agree. */
static void PZ_FN(mutate_scores)(uint64_t *state, const PZ_FN(scol) *good, const uint8_t *col)
{
    PZ_FN(scol) c = *good;
    uint32_t room = PZ_FN(scol_bytes)(good);
    uint8_t *in = test_copy(col, room, room);
    switch (test_random(state) % 8) {
    case 0:
        c.base ^= (int64_t)((uint64_t)1 << test_random(state) % 64);
        break;
    case 1:
        c.form = (uint8_t)(test_random(state) % 32);
        break;
    case 2:
        c.exceptions ^= (uint16_t)(1u << test_random(state) % 16);
        break;
    case 3:
        c.n ^= (uint16_t)(1u << test_random(state) % 16);
        break;
    default:
        in[test_random(state) % room] ^= (uint8_t)(1u << test_random(state) % 8);
    }
    if (PZ_FN(scol_check)(&c, in, room)) {
        PZ_S s[PZ_LEAF_MAX];
        PZ_FN(scol_decode)(&c, in, s);
        bool valid = true;
        for (uint32_t i = 0; i < c.n; i++)
            valid = valid && PZ_FN(image_valid)(s[i]);
        CHECK(valid);
        CHECK(PZ_FN(same_scores)(&c, in, s));
        PZ_S image = PZ_FN(random_image)(state);
        uint32_t i = (uint32_t)(test_random(state) % c.n);
        s[i] = PZ_FN(scol_set)(&c, in, i, image) ? image : s[i];
        CHECK(PZ_FN(same_scores)(&c, in, s));
    }
    free(in);
}

/* The least that an INT form over `base` would take. */
static uint32_t PZ_FN(int_bytes)(const PZ_S *s, uint32_t n, uint32_t form, int64_t base)
{
    uint32_t bytes = n * form;
    for (uint32_t i = 0; i < n; i++) {
        int64_t whole = PZ_FN(image_whole)(s[i]);
        bool fits = whole != PZ_NOT_WHOLE && whole >= base && whole - base < pz_scol_mark(form);
        bytes += fits ? 0 : 2 + PZ_S_BITS / 8;
    }
    return bytes;
}

static void PZ_FN(try_scores)(uint64_t *state, PZ_S *s, uint32_t n, uint32_t style, int64_t base)
{
    PZ_FN(scol) c;
    PZ_FN(scol_plan)(s, n, &c);
    uint32_t bytes = PZ_FN(scol_bytes)(&c);
    CHECK(bytes <= PZ_FN(scol_bytes_max)(n));
    for (uint32_t form = 1; form <= 4; form *= 2) {
        CHECK(bytes <= PZ_FN(int_bytes)(s, n, form, 0));
        if (c.base != 0) /* 0 unless that loses */
            CHECK(bytes < PZ_FN(int_bytes)(s, n, form, 0));
    }
    uint8_t *col = test_copy(NULL, 0, bytes);
    PZ_FN(scol_encode)(&c, s, col);
    CHECK(PZ_FN(same_scores)(&c, col, s));
    PZ_FN(scol) again;
    int64_t whole[PZ_LEAF_MAX];
    uint8_t *other = test_copy(NULL, 0, bytes);
    PZ_FN(scol_plan_whole)(s, n, whole, &again);
    PZ_FN(scol_encode_whole)(&again, s, whole, other);
    CHECK(again.base == c.base && again.form == c.form && again.exceptions == c.exceptions);
    CHECK(memcmp(other, col, bytes) == 0);
    free(other);
    CHECK(PZ_FN(scol_check)(&c, col, bytes));
    CHECK(bytes == 0 || !PZ_FN(scol_check)(&c, col, bytes - 1));
    for (uint32_t j = 0; j < 4; j++)
        PZ_FN(mutate_scores)(state, &c, col);
    PZ_FN(set_scores)(state, &c, col, s, style, base);
    free(col);
}

static void PZ_FN(score_columns)(uint64_t *state, uint32_t columns)
{
    static const uint32_t odds[4] = {0, 10, 100, 500};
    for (uint32_t j = 0; j < columns; j++) {
        uint64_t seed = *state;
        uint32_t most = test_random(state) % 4 == 0 ? 12 : PZ_LEAF_MAX;
        uint32_t n = 1 + (uint32_t)(test_random(state) % most);
        uint32_t style = (uint32_t)(test_random(state) % 10);
        uint32_t odd = odds[test_random(state) % 4];
        int64_t base = (int64_t)(test_random(state) >> 10 >> test_random(state) % 54);
        base = test_random(state) % 2 == 0 ? base : -base;
        PZ_S *s = malloc(n * sizeof *s);
        for (uint32_t i = 0; i < n; i++)
            s[i] = PZ_FN(any_image)(state, style, base, odd);
        int before = test_failures;
        PZ_FN(try_scores)(state, s, n, style, base);
        free(s);
        if (test_failures != before) {
            printf("    column of state %" PRIu64 ": n %u, style %u\n", seed, n, style);
            return;
        }
    }
}
