/* TEMPLATE: random leaves through the key codec of one width, against plain arrays. needs PZ_M,
 * PZ_M_BITS, PZ_FN and codec/keys.tmpl.h; gives PZ_FN(keys_leaves)(state, leaves) and
 * PZ_FN(plans_are_cheapest)(state, rounds). */

typedef struct PZ_FN(leaf) {
    PZ_M m[PZ_LEAF_MAX];
    uint16_t group[PZ_LEAF_MAX];
    uint32_t n, groups;
} PZ_FN(leaf);

static PZ_M PZ_FN(random_member)(uint64_t *state)
{
    PZ_M x = (PZ_M)test_random(state);
#if PZ_M_BITS == 128
    x = x << 64 | test_random(state);
#endif
    return x;
}

/* Below or at `most`, of any magnitude. */
static PZ_M PZ_FN(random_upto)(uint64_t *state, PZ_M most)
{
    PZ_M x = PZ_FN(random_member)(state) >> test_random(state) % PZ_M_BITS;
    return most == (PZ_M) ~(PZ_M)0 ? x : x % (most + 1);
}

/* A step of 1 to `room` to the next of `left` members still to come. */
static PZ_M PZ_FN(random_gap)(uint64_t *state, uint32_t style, PZ_M room, uint32_t left)
{
    PZ_M even = room / left > 0 ? room / left : 1;
    switch (style) {
    case 0: /* dense */
        return 1;
    case 1: /* as wide as the room allows, all equal or nearly so */
        return even;
    case 2:
        return 1 + PZ_FN(random_member)(state) % even;
    case 3: /* clusters */
        return test_random(state) % 64 == 0 ? even : 1;
    case 4: /* two far clusters */
        return left == 1 ? room : 1;
    case 5: /* tenants: the high half changes now and then */
        return test_random(state) % 8 != 0 ? 1 + (PZ_M)test_random(state) % 4 % even
                                           : 1 + ((even - 1) >> PZ_M_BITS / 2 << PZ_M_BITS / 2);
    default: /* any magnitude */
        return 1 + PZ_FN(random_upto)(state, even - 1);
    }
}

/* `count` ascending members inside span values from `lo`. */
static void PZ_FN(random_run)(uint64_t *state, uint32_t style, PZ_M lo, PZ_M span, uint32_t count,
                              PZ_M *m)
{
    PZ_M room = span - (count - 1);
    m[0] = lo;
    if (test_random(state) % 2 == 0)
        m[0] += PZ_FN(random_upto)(state, room);
    for (uint32_t i = 1; i < count; i++) {
        PZ_M above = lo + span - m[i - 1] - (count - 1 - i);
        uint32_t left = style == 4 && i == count / 2 ? 1 : count - i;
        m[i] = m[i - 1] + PZ_FN(random_gap)(state, style, above, left);
    }
}

static void PZ_FN(random_leaf)(uint64_t *state, PZ_FN(leaf) *l)
{
    uint32_t most = test_random(state) % 4 == 0 ? 12 : PZ_LEAF_MAX;
    uint32_t n = l->n = 1 + (uint32_t)(test_random(state) % most);
    uint32_t width = 1 + (uint32_t)(test_random(state) % PZ_M_BITS);
    PZ_M span = (PZ_M) ~(PZ_M)0 >> (PZ_M_BITS - width);
    if (test_random(state) % 2 == 0)
        span = span / 2 + PZ_FN(random_member)(state) % (span / 2 + 1);
    if (span < n)
        span = n;
    PZ_M top = (PZ_M) ~(PZ_M)0 - span;
    PZ_M lo = PZ_FN(random_member)(state);
    lo = test_random(state) % 4 == 0 ? 0 : lo > top || test_random(state) % 4 == 0 ? top : lo;
    const uint32_t bounds[4] = {1, n, 1 + (uint32_t)(test_random(state) % n), n < 8 ? n : 8};
    l->groups = bounds[test_random(state) % 4];
    uint32_t style = (uint32_t)(test_random(state) % 7);
    uint32_t done = 0;
    for (uint32_t g = 0; g < l->groups; g++) {
        uint32_t most_here = n - done - (l->groups - 1 - g);
        uint32_t usual = 2 * (n / l->groups);
        uint32_t count = most_here;
        if (g + 1 < l->groups)
            count = 1 + (uint32_t)(test_random(state) % (usual < most_here ? usual : most_here));
        PZ_FN(random_run)(state, style, lo, span, count, l->m + done);
        for (uint32_t i = 0; i < count; i++)
            l->group[done++] = (uint16_t)g;
    }
}

/* The number of entries below (group, member). */
static uint32_t PZ_FN(model_bound)(const PZ_FN(leaf) *l, uint32_t group, PZ_M member)
{
    uint32_t below = 0;
    for (uint32_t i = 0; i < l->n; i++)
        below += l->group[i] < group || (l->group[i] == group && l->m[i] < member);
    return below;
}

/* Bits of the column at this width. */
static uint64_t PZ_FN(model_cost)(PZ_M span, uint32_t n, uint32_t groups, uint32_t bits)
{
    PZ_M strides = bits == PZ_M_BITS ? 0 : span >> bits;
    if (strides > 0xffffffffu)
        return ~(uint64_t)0;
    bool upper = strides > 0 || (groups != 1 && groups != n);
    return (uint64_t)n * bits + (upper ? n + groups * ((uint64_t)strides + 1) : 0);
}

/* The cost of the cheapest width, by trying all. */
static uint64_t PZ_FN(least_cost)(PZ_M span, uint32_t n, uint32_t groups)
{
    uint64_t least = ~(uint64_t)0;
    for (uint32_t bits = 0; bits <= PZ_M_BITS; bits++) {
        if ((bits > 57 && bits < 64) || (bits > 121 && bits < 128))
            continue;
        uint64_t cost = PZ_FN(model_cost)(span, n, groups, bits);
        least = cost < least ? cost : least;
    }
    return least;
}

/* A plan looks at the ends alone, so members of every span can be made up at once. */
static void PZ_FN(plans_are_cheapest)(uint64_t *state, uint32_t rounds)
{
    PZ_M m[PZ_LEAF_MAX] = {0};
    for (uint32_t j = 0; j < rounds; j++) {
        uint32_t n = 1 + (uint32_t)(test_random(state) % (j % 2 == 0 ? 12 : PZ_LEAF_MAX));
        uint32_t groups = 1 + (uint32_t)(test_random(state) % n);
        groups = j % 3 == 0 ? 1 : j % 3 == 1 ? n : groups;
        PZ_M span = n == 1 ? 0 : PZ_FN(random_upto)(state, (PZ_M) ~(PZ_M)0);
        m[n - 1] = span;
        PZ_FN(keys) k;
        PZ_FN(keys_plan)(m, n, groups, &k);
        m[n - 1] = 0;
        uint64_t cost = PZ_FN(model_cost)(span, n, groups, k.low_bits);
        if (!CHECK(k.stride == (k.low_bits == PZ_M_BITS ? 0 : span >> k.low_bits) + 1) ||
            !CHECK_EQ(cost, PZ_FN(least_cost)(span, n, groups)) ||
            !CHECK((uint64_t)groups * k.stride <= PZ_UPPER_ZEROS_MAX(n)))
            return;
    }
}

/* What the codec says of `in` is what stands in l. */
static bool PZ_FN(same_leaf)(const PZ_FN(keys) *k, const uint8_t *in, const PZ_FN(leaf) *l)
{
    PZ_M m[PZ_LEAF_MAX + 16];
    uint16_t group[PZ_LEAF_MAX + 16];
    PZ_FN(keys_decode)(k, in, m, group);
    if (memcmp(m, l->m, l->n * sizeof *m) != 0 ||
        memcmp(group, l->group, l->n * sizeof *group) != 0)
        return false;
    if (l->groups == 1 || l->groups == l->n) {
        PZ_FN(keys_decode)(k, in, m, NULL);
        return memcmp(m, l->m, l->n * sizeof *m) == 0;
    }
    return true;
}

static bool PZ_FN(same_entry)(const PZ_FN(keys) *k, const uint8_t *in, const PZ_FN(leaf) *l,
                              uint32_t i)
{
    uint32_t group = ~0u;
    return PZ_FN(keys_get)(k, in, i, &group) == l->m[i] && group == l->group[i] &&
           PZ_FN(keys_get)(k, in, i, NULL) == l->m[i];
}

static bool PZ_FN(same_bound)(const PZ_FN(keys) *k, const uint8_t *in, const PZ_FN(leaf) *l,
                              uint32_t group, PZ_M member)
{
    uint32_t want = PZ_FN(model_bound)(l, group, member);
    bool there = want < l->n && l->group[want] == group && l->m[want] == member;
    bool exact = !there;
    return PZ_FN(keys_find)(k, in, group, member, &exact) == want && exact == there &&
           PZ_FN(keys_lower_bound)(k, in, group, member) == want;
}

static void PZ_FN(search_leaf)(uint64_t *state, const PZ_FN(keys) *k, const uint8_t *in,
                               const PZ_FN(leaf) *l)
{
    bool found = true;
    bool same = true;
    for (uint32_t j = 0; j < 8; j++) {
        uint32_t i = (uint32_t)(test_random(state) % l->n);
        uint32_t other = (uint32_t)(test_random(state) % (l->groups + 2));
        same = same && PZ_FN(same_entry)(k, in, l, i);
        found = found && PZ_FN(same_bound)(k, in, l, l->group[i], l->m[i]);
        found = found && PZ_FN(same_bound)(k, in, l, l->group[i], l->m[i] + 1);
        found = found && PZ_FN(same_bound)(k, in, l, l->group[i], l->m[i] - 1);
        found = found && PZ_FN(same_bound)(k, in, l, other, l->m[i]);
        found = found && PZ_FN(same_bound)(k, in, l, other, PZ_FN(random_upto)(state, ~(PZ_M)0));
    }
    found = found && PZ_FN(same_bound)(k, in, l, l->groups - 1, (PZ_M) ~(PZ_M)0);
    found = found && PZ_FN(same_bound)(k, in, l, 0, 0);
    CHECK(same && PZ_FN(same_entry)(k, in, l, 0) && PZ_FN(same_entry)(k, in, l, l->n - 1));
    CHECK(found);
}

/* Bytes changed at random are refused, or are a valid leaf on which all functions agree. */
static void PZ_FN(mutate_leaf)(uint64_t *state, const PZ_FN(keys) *good, const uint8_t *in,
                               size_t room)
{
    PZ_FN(keys) k = *good;
    uint8_t *bytes = test_copy(in, room, room);
    uint64_t what = test_random(state);
    if (what % 2 == 0 && room > 0)
        bytes[test_random(state) % room] ^= (uint8_t)(1u << test_random(state) % 8);
    else if (what % 8 == 1)
        k.lo = (PZ_M)~PZ_FN(random_upto)(state, (PZ_M) ~(PZ_M)0);
    else if (what % 8 == 3)
        k.low_bits = (uint8_t)test_random(state);
    else if (what % 8 == 5)
        k.stride ^= 1u << test_random(state) % 32;
    else
        *(test_random(state) % 2 ? &k.n : &k.groups) ^= (uint16_t)(1u << test_random(state) % 16);
    if (PZ_FN(keys_lows_bytes)(&k) + PZ_LOWS_SLACK <= room && PZ_FN(keys_check)(&k, bytes, room)) {
        PZ_FN(leaf) l = {.n = k.n, .groups = k.groups};
        PZ_M m[PZ_LEAF_MAX + 16];
        uint16_t group[PZ_LEAF_MAX + 16];
        PZ_FN(keys_decode)(&k, bytes, m, group);
        memcpy(l.m, m, sizeof l.m);
        memcpy(l.group, group, sizeof l.group);
        PZ_FN(search_leaf)(state, &k, bytes, &l);
        bool ascends = l.group[0] == 0 && l.group[l.n - 1] == l.groups - 1;
        for (uint32_t i = 1; i < l.n; i++)
            ascends = ascends && (l.group[i - 1] == l.group[i] ? l.m[i - 1] < l.m[i]
                                                               : l.group[i - 1] + 1 == l.group[i]);
        CHECK(ascends);
    }
    free(bytes);
}

static void PZ_FN(try_leaf)(uint64_t *state, const PZ_FN(leaf) *l)
{
    PZ_FN(keys) k;
    PZ_FN(keys_plan)(l->m, l->n, l->groups, &k);
    uint32_t bytes = PZ_FN(keys_bytes)(&k);
    PZ_M low = l->m[0];
    for (uint32_t i = 1; i < l->n; i++)
        low = l->m[i] < low ? l->m[i] : low;
    CHECK(k.lo == low && k.n == l->n && k.groups == l->groups);
    CHECK(bytes <= PZ_FN(keys_bytes_max)(l->n));
    bool implied = l->groups == 1 || l->groups == l->n;
    uint8_t *out = test_copy(NULL, 0, bytes + 16);
    PZ_FN(keys_encode)(&k, l->m, implied ? NULL : l->group, out);
    /* From here on only what reading may touch is there. */
    uint32_t slack = PZ_FN(keys_lows_bytes)(&k) + PZ_LOWS_SLACK;
    size_t room = bytes > slack ? bytes : slack;
    uint8_t *in = test_copy(out, bytes, room);
    CHECK(PZ_FN(same_leaf)(&k, in, l));
    PZ_FN(search_leaf)(state, &k, in, l);
    CHECK(PZ_FN(keys_check)(&k, in, bytes));
    CHECK(bytes == 0 || !PZ_FN(keys_check)(&k, in, bytes - 1));
    for (uint32_t j = 0; j < 4; j++)
        PZ_FN(mutate_leaf)(state, &k, in, room);
    if (l->n * k.low_bits % 8 != 0) {
        in[PZ_FN(keys_lows_bytes)(&k) - 1] |= 0x80;
        CHECK(!PZ_FN(keys_check)(&k, in, bytes));
    }
    free(in);
    free(out);
}

static void PZ_FN(keys_leaves)(uint64_t *state, uint32_t leaves)
{
    for (uint32_t j = 0; j < leaves; j++) {
        PZ_FN(leaf) l;
        uint64_t seed = *state;
        PZ_FN(random_leaf)(state, &l);
        int before = test_failures;
        PZ_FN(try_leaf)(state, &l);
        if (test_failures != before) {
            printf("    leaf of state %" PRIu64 ": n %u, groups %u\n", seed, l.n, l.groups);
            return;
        }
    }
}
