/* TEMPLATE: the bodies of fuzz_codec.c for one width.
 * needs PZ_M, PZ_M_BITS, PZ_FN, and for score columns PZ_S, PZ_S_BITS; undefines them.
 * gives PZ_FN(try_keys), and PZ_FN(try_scores) where there are scores. */
#include "../../csrc/codec/keys.tmpl.h"

static PZ_M PZ_FN(take_member)(input *in)
{
    PZ_M value = (PZ_M)take(in, PZ_M_BITS < 64 ? PZ_M_BITS / 8 : 8);
#if PZ_M_BITS == 128
    value |= (PZ_M)take(in, 8) << 64;
#endif
    return value;
}

/* Everything that reads a column that passed its check. */
static void PZ_FN(read_keys)(const PZ_FN(keys) *k, const uint8_t *column)
{
    static PZ_M members[PZ_LEAF_MAX + 16];
    static uint16_t groups[PZ_LEAF_MAX + 16];
    PZ_FN(keys_decode)(k, column, members, groups);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t group = 0;
        MUST(PZ_FN(keys_get)(k, column, i, &group) == members[i] && group == groups[i]);
        MUST(PZ_FN(keys_lower_bound)(k, column, group, members[i]) == i);
        MUST(i == 0 || groups[i] > groups[i - 1] ||
             (groups[i] == groups[i - 1] && members[i] > members[i - 1]));
    }
    MUST(PZ_FN(keys_lower_bound)(k, column, k->groups, 0) == k->n);

    /* What was read can be coded, in no more room, and reads the same. */
    static PZ_M again[PZ_LEAF_MAX + 16];
    static uint16_t again_groups[PZ_LEAF_MAX + 16];
    PZ_FN(keys) planned;
    PZ_FN(keys_plan)(members, k->n, k->groups, &planned);
    const size_t bytes = PZ_FN(keys_bytes)(&planned);
    MUST(bytes <= PZ_FN(keys_bytes_max)(k->n));
    uint8_t *coded = malloc(bytes + 16);
    MUST(coded != NULL);
    PZ_FN(keys_encode)(&planned, members, groups, coded);
    MUST(PZ_FN(keys_check)(&planned, coded, bytes));
    PZ_FN(keys_decode)(&planned, coded, again, again_groups);
    MUST(memcmp(members, again, k->n * sizeof members[0]) == 0);
    MUST(memcmp(groups, again_groups, k->n * sizeof groups[0]) == 0);
    free(coded);
}

static void PZ_FN(try_keys)(input *in)
{
    PZ_FN(keys) k;
    k.n = (uint16_t)(take(in, 2) % (PZ_LEAF_MAX + 2));
    k.groups = (uint16_t)take(in, 2);
    k.stride = (uint32_t)take(in, 4);
    k.low_bits = (uint8_t)take(in, 1);
    k.lo = PZ_FN(take_member)(in);
    /* Half of the inputs get small fields, or hardly any would pass. */
    if ((take(in, 1) & 1) != 0) {
        k.groups = (uint16_t)(1 + k.groups % 4);
        k.stride = 1 + k.stride % 64;
        k.low_bits = k.low_bits % 12;
    }
    const size_t avail = in->n;
    uint8_t *column = rest(in, avail + PZ_LOWS_SLACK);
    if (PZ_FN(keys_check)(&k, column, avail))
        PZ_FN(read_keys)(&k, column);
    free(column);
}

#ifdef PZ_S
#include "../../csrc/codec/scores.tmpl.h"

static void PZ_FN(read_scores)(PZ_FN(scol) *c, uint8_t *column)
{
    static PZ_S scores[PZ_LEAF_MAX + 16], again[PZ_LEAF_MAX + 16];
    PZ_FN(scol_decode)(c, column, scores);
    for (uint32_t i = 0; i < c->n; i++) {
        MUST(PZ_FN(scol_get)(c, column, i) == scores[i]);
        MUST(PZ_S_BITS == 32 ? pz_sortable_valid32((uint32_t)scores[i])
                             : pz_sortable_valid64((uint64_t)scores[i]));
    }
    PZ_FN(scol) planned;
    PZ_FN(scol_plan)(scores, c->n, &planned);
    const size_t bytes = PZ_FN(scol_bytes)(&planned);
    uint8_t *coded = malloc(bytes > 0 ? bytes : 1);
    MUST(coded != NULL);
    PZ_FN(scol_encode)(&planned, scores, coded);
    MUST(PZ_FN(scol_check)(&planned, coded, bytes));
    PZ_FN(scol_decode)(&planned, coded, again);
    MUST(memcmp(scores, again, c->n * sizeof scores[0]) == 0);
    free(coded);

    /* A score set in place is there, and the others are as they were. */
    const PZ_S last = scores[c->n - 1];
    if (PZ_FN(scol_set)(c, column, 0, last))
        scores[0] = last;
    PZ_FN(scol_decode)(c, column, again);
    MUST(memcmp(scores, again, c->n * sizeof scores[0]) == 0);
}

static void PZ_FN(try_scores)(input *in)
{
    PZ_FN(scol) c;
    c.n = (uint16_t)(take(in, 2) % (PZ_LEAF_MAX + 2));
    c.exceptions = (uint16_t)take(in, 1);
    c.form = (uint8_t)take(in, 1);
    c.base = (int64_t)take(in, 8);
    const size_t avail = in->n;
    uint8_t *column = rest(in, avail);
    if (PZ_FN(scol_check)(&c, column, avail) && c.n > 0)
        PZ_FN(read_scores)(&c, column);
    free(column);
}

#undef PZ_S
#undef PZ_S_BITS
#endif

#undef PZ_M
#undef PZ_M_BITS
#undef PZ_FN
