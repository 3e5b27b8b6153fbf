/* fuzz_ops.c: bytes as a script of calls on one set, beside the oracle.
 *
 *   | layout | options | fail at | op, its operands | op, its operands | ...
 *
 * After every call: the answer is the oracle's, the set validates, and it holds what the oracle
 * holds. A call that an allocation failed for must have changed nothing. Nothing may be left
 * allocated at the end. */
#define main test_main
#include "test.h"
#undef main
#include "oracle.h"

enum { ROWS_MAX = 400 };

static const double values[] = {0.0,
                                -0.0,
                                1,
                                2,
                                3,
                                -1,
                                0.5,
                                0.1,
                                254,
                                255,
                                256,
                                65534,
                                65535,
                                65536,
                                16777216,
                                16777217,
                                4294967295.0,
                                9007199254740992.0,
                                -2147483648.0,
                                INFINITY,
                                -INFINITY,
                                3.4028234663852886e38,
                                -3.4028234663852886e38,
                                1.1754943508222875e-38,
                                1.401298464324817e-45,
                                4.9e-324,
                                1e300,
                                -1e300,
                                NAN,
                                7,
                                8,
                                9};
enum { VALUES = sizeof values / sizeof values[0] };

typedef struct script {
    const uint8_t *at, *end;
} script;

typedef struct run {
    script in;
    pz_set *set;
    oracle o;
    uint32_t keys[ROWS_MAX];
    double given[ROWS_MAX];
    uint8_t members[ROWS_MAX * 16], scores[ROWS_MAX * 8];
    size_t n;
} run;

#define MUST(cond)                                                     \
    do {                                                               \
        if (!(cond)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
            abort();                                                   \
        }                                                              \
    } while (0)

static uint32_t next(script *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

static uint32_t next_key(script *s)
{
    return (next(s) << 8 | next(s)) % ORACLE_KEYS;
}

static pz_in column(const run *r, bool members)
{
    return members ? (pz_in){r->members, (ptrdiff_t)oracle_member_bytes(r->o.member)}
                   : (pz_in){r->scores, (ptrdiff_t)oracle_score_bytes(r->o.score)};
}

/* Rows: a start, a step and a count, with scores from a few values. A NaN or a value too large for
 * float32 comes only in the layouts that can be given it. */
static void read_rows(run *r)
{
    script *s = &r->in;
    uint32_t count = next(s), key = next_key(s), step = next(s), few = next(s), each = next(s) % 32;
    r->n = (count & 0x80) != 0 ? (size_t)(count & 0x7f) * 3 : count & 3;
    for (size_t i = 0; i < r->n; i++) {
        r->keys[i] = (key + (uint32_t)i * step) % ORACLE_KEYS;
        double value = values[(few + (each == 0 ? 0 : i / each)) % VALUES];
        oracle_put_score(r->o.score, r->scores + i * oracle_score_bytes(r->o.score), value);
        r->given[i] = oracle_get_score(r->o.score, r->scores + i * oracle_score_bytes(r->o.score));
        oracle_member m = oracle_member_of(r->o.member, r->keys[i]);
        memcpy(r->members + i * oracle_member_bytes(r->o.member), &m,
               oracle_member_bytes(r->o.member));
    }
}

static void check_range(run *r, uint64_t start, uint64_t n, bool reverse)
{
    static uint8_t members[ORACLE_KEYS * 16], scores[ORACLE_KEYS * 8];
    const size_t mb = oracle_member_bytes(r->o.member), sb = oracle_score_bytes(r->o.score);
    MUST(pz_range(r->set, start, n, reverse, (pz_out){members, (ptrdiff_t)mb},
                  (pz_out){scores, (ptrdiff_t)sb}, NULL) == PZ_OK);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t key = r->o.order[reverse ? start + n - 1 - i : start + i];
        oracle_member m = oracle_member_of(r->o.member, key);
        MUST(memcmp(members + i * mb, &m, mb) == 0);
        double score = oracle_get_score(r->o.score, scores + i * sb);
        MUST(score == r->o.scores[key] && !(score == 0 && signbit(score)));
    }
}

/* Everything must hold, whatever the last call was. */
static void check_all(run *r)
{
    pz_why why = {0};
    if (pz_validate(r->set, &why) != PZ_OK) {
        fprintf(stderr, "%s at %llu: wanted %llu, got %llu\n", why.what, why.where, why.wanted,
                why.got);
        abort();
    }
    MUST(pz_len(r->set) == r->o.count);
    oracle_sort(&r->o);
    check_range(r, 0, r->o.count, false);
}

static void op_add(run *r)
{
    static const unsigned flags[] = {0,     0,     PZ_NX,         PZ_XX,
                                     PZ_GT, PZ_LT, PZ_XX | PZ_GT, PZ_XX | PZ_LT};
    unsigned how = flags[next(&r->in) % 8];
    oracle after = r->o;
    uint64_t added = 0, updated = 0, got_added = 0, got_updated = 0, bad = UINT64_MAX;
    read_rows(r);
    for (size_t i = 0; i < r->n && bad == UINT64_MAX; i++) {
        uint32_t key = r->keys[i];
        double score = 0, old = after.scores[key];
        if (!oracle_narrow(r->o.score, r->given[i], &score)) {
            bad = i;
        } else if (!after.present[key]) {
            if ((how & PZ_XX) == 0) {
                oracle_set(&after, key, score);
                added++;
            }
        } else if ((how & PZ_NX) == 0 && score != old && !((how & PZ_GT) != 0 && score < old) &&
                   !((how & PZ_LT) != 0 && score > old)) {
            oracle_set(&after, key, score);
            updated++;
        }
    }
    pz_call call = {.index = 0};
    pz_status status = pz_add(r->set, r->n, column(r, true), column(r, false), how, &got_added,
                              &got_updated, &call);
    if (status == PZ_NOMEM && atomic_load(&test_env.failed) > 0)
        return;
    MUST(status == (bad == UINT64_MAX ? PZ_OK : PZ_NAN));
    if (status == PZ_OK) {
        MUST(got_added == added && got_updated == updated);
        r->o = after;
    } else {
        MUST(call.index == bad);
    }
}

static void op_incr(run *r)
{
    static uint8_t sums[ROWS_MAX * 8];
    const size_t sb = oracle_score_bytes(r->o.score);
    double expected[ROWS_MAX];
    oracle after = r->o;
    uint64_t bad = UINT64_MAX;
    pz_status wanted = PZ_OK;
    bool wants_sums = (next(&r->in) & 1) != 0;
    read_rows(r);
    for (size_t i = 0; i < r->n && wanted == PZ_OK; i++) { /* arguments come before sums */
        if (isnan(r->given[i])) {
            wanted = PZ_NAN;
            bad = i;
        }
    }
    for (size_t i = 0; i < r->n && wanted == PZ_OK; i++) {
        uint32_t key = r->keys[i];
        double old = after.present[key] ? after.scores[key] : 0.0, sum = old + r->given[i];
        if (oracle_narrow(r->o.score, sum, &expected[i])) {
            oracle_set(&after, key, expected[i]);
            continue;
        }
        bad = i;
        wanted = isnan(sum) ? PZ_NAN_SUM : PZ_OVERFLOW;
    }
    pz_call call = {.index = 0};
    pz_out out = {wants_sums ? sums : NULL, (ptrdiff_t)sb};
    pz_status status = pz_incr(r->set, r->n, column(r, true), column(r, false), false, out, &call);
    if (status == PZ_NOMEM && atomic_load(&test_env.failed) > 0)
        return;
    MUST(status == wanted);
    if (status != PZ_OK) {
        MUST(call.index == bad);
        return;
    }
    for (size_t i = 0; wants_sums && i < r->n; i++)
        MUST(oracle_get_score(r->o.score, sums + i * sb) == expected[i]);
    r->o = after;
}

static void op_remove(run *r)
{
    uint64_t removed = 0, expected = 0;
    oracle after = r->o;
    read_rows(r);
    for (size_t i = 0; i < r->n; i++)
        expected += oracle_drop(&after, r->keys[i]);
    pz_status status = pz_remove(r->set, r->n, column(r, true), &removed, NULL);
    if (status == PZ_NOMEM && atomic_load(&test_env.failed) > 0)
        return;
    MUST(status == PZ_OK && removed == expected);
    r->o = after;
}

static void op_remove_range(run *r)
{
    uint32_t count = r->o.count, start = next_key(&r->in), length = next(&r->in);
    start = count == 0 ? 0 : start % (count + 1);
    length = length < count - start ? length : count - start;
    pz_status status = pz_remove_range(r->set, start, start + length, NULL);
    if (status == PZ_NOMEM && atomic_load(&test_env.failed) > 0)
        return;
    MUST(status == PZ_OK);
    for (uint32_t i = start; i < start + length; i++)
        oracle_drop(&r->o, r->o.order[i]);
}

static void op_questions(run *r)
{
    uint32_t key = next_key(&r->in), count = r->o.count;
    oracle_member m = oracle_member_of(r->o.member, key);
    double score = 0, bound = values[next(&r->in) % VALUES];
    MUST(pz_score_one(r->set, &m, &score) == r->o.present[key]);
    MUST(!r->o.present[key] || score == r->o.scores[key]);
    int64_t rank = -1;
    uint64_t below = 0, upto = 0;
    for (uint32_t i = 0; i < count; i++) {
        rank = r->o.order[i] == key && r->o.present[key] ? (int64_t)i : rank;
        below += r->o.scores[r->o.order[i]] < bound;
        upto += r->o.scores[r->o.order[i]] <= bound;
    }
    MUST(pz_rank_one(r->set, &m, false) == rank);
    MUST(pz_rank_one(r->set, &m, true) == (rank < 0 ? -1 : (int64_t)count - 1 - rank));
    if (!isnan(bound)) {
        MUST(pz_position_of_score(r->set, bound, false) == below);
        MUST(pz_position_of_score(r->set, bound, true) == upto);
    }
    uint32_t start = count == 0 ? 0 : next_key(&r->in) % count;
    check_range(r, start, (count - start) / 2, true);
}

typedef struct bytes {
    uint8_t *at;
    size_t n, room;
} bytes;

static int keep_bytes(void *ctx, const void *from, size_t n)
{
    bytes *b = ctx;
    if (b->n + n > b->room)
        return 1;
    memcpy(b->at + b->n, from, n);
    b->n += n;
    return 0;
}

static int count_text(void *ctx, const char *text, size_t n)
{
    (void)text;
    *(size_t *)ctx += n;
    return 0;
}

/* Through a snapshot and back. */
static pz_status reload(const pz_set *set, pz_set **copy)
{
    bytes b = {.room = pz_save_bound(set)};
    b.at = malloc(b.room + 1);
    MUST(b.at != NULL);
    pz_status status = pz_save(set, keep_bytes, &b, NULL);
    if (status == PZ_OK)
        status = pz_load(&test_env.env, b.at, b.n, NULL, NULL, copy, NULL);
    free(b.at);
    return status;
}

/* A copy must be equal and replaces the original; or the original is packed anew. */
static void op_whole(run *r)
{
    pz_set *copy = NULL;
    size_t dumped = 0;
    pz_status status;
    switch (next(&r->in) % 4) {
    case 0:
        status = pz_copy(r->set, &copy);
        break;
    case 1:
        status = reload(r->set, &copy);
        break;
    case 2:
        status = pz_optimize(r->set, NULL);
        break;
    default:
        status = pz_dump(r->set, count_text, &dumped);
        MUST(status != PZ_OK || dumped > 0);
    }
    if (status == PZ_NOMEM && atomic_load(&test_env.failed) > 0)
        return;
    MUST(status == PZ_OK);
    if (copy != NULL) {
        MUST(pz_equal(r->set, copy));
        pz_free(r->set);
        r->set = copy;
    }
}

static bool begin(run *r)
{
    static const uint32_t capacities[] = {4, 5, 8, 16, 64, 0, 0, 512};
    static const double exponents[] = {0, 0.5, 1, 0.75};
    uint32_t layout = next(&r->in) % 6, options = next(&r->in), fail = next(&r->in);
    r->o.member = (pz_member_kind)(layout / 2);
    r->o.score = (pz_score_kind)(layout % 2);
    pz_options chosen = {.merge_exponent = exponents[options & 3],
                         .score_rle = (options & 4) != 0,
                         .member_leaf_capacity = capacities[options >> 3 & 7],
                         .order_leaf_capacity = capacities[options >> 5 & 7]};
    if (fail > 127)
        test_env.fail_per_mille = fail - 127;
    return pz_new(&test_env.env, r->o.member, r->o.score, &chosen, &r->set) == PZ_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const ops[])(run *) = {op_add,    op_add,          op_incr,      op_incr,
                                         op_remove, op_remove_range, op_questions, op_whole};
    static run r;
    memset(&r, 0, sizeof r);
    r.in = (script){data, data + (size < 2000 ? size : 2000)};
    MUST(test_env_open(&test_env));
    if (begin(&r)) {
        while (r.in.at < r.in.end) {
            ops[next(&r.in) % 8](&r);
            check_all(&r);
        }
    }
    pz_free(r.set);
    pz_pool_free(test_env.env.pool);
    MUST(atomic_load(&test_env.live_bytes) == 0);
    return 0;
}
