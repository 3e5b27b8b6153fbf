/* TEMPLATE: timings of the key codec of one width. needs PZ_M, PZ_M_BITS, PZ_FN and
 * codec/keys.tmpl.h; gives PZ_FN(bench_keys)(name, gap_bits, groups). */

typedef struct PZ_FN(bench) {
    PZ_M m[LEAVES][PZ_LEAF_MAX + 16];
    uint16_t group[LEAVES][PZ_LEAF_MAX + 16];
    PZ_FN(keys) k[LEAVES];
    uint8_t coded[LEAVES][PZ_LEAF_MAX * (PZ_M_BITS / 8 + 1) + 32];
} PZ_FN(bench);

static PZ_FN(bench) PZ_FN(b);

/* ENTRIES members in `groups` groups, gaps in a group up to 2**gap_bits. */
static void PZ_FN(fill)(uint32_t leaf, uint32_t gap_bits, uint32_t groups)
{
    PZ_M lo = (PZ_M)next_random() >> 8;
    PZ_M at = lo;
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t g = (uint32_t)((uint64_t)i * groups / ENTRIES);
        PZ_M gap = (PZ_M)next_random();
#if PZ_M_BITS == 128
        gap = gap << 64 | next_random();
#endif
        gap &= ((PZ_M)1 << gap_bits) - 1;
        if (i > 0 && g != PZ_FN(b).group[leaf][i - 1])
            at = lo;
        at += 1 + gap;
        PZ_FN(b).m[leaf][i] = at;
        PZ_FN(b).group[leaf][i] = (uint16_t)g;
    }
}

static double PZ_FN(time_encode)(uint32_t groups)
{
    double best = 1e9;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        double start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
            PZ_FN(keys_plan)(PZ_FN(b).m[leaf], ENTRIES, groups, &PZ_FN(b).k[leaf]);
            PZ_FN(keys_encode)
            (&PZ_FN(b).k[leaf], PZ_FN(b).m[leaf], PZ_FN(b).group[leaf], PZ_FN(b).coded[leaf]);
        }
        best = least(best, (now_ns() - start) / (LEAVES * ENTRIES));
    }
    return best;
}

static double PZ_FN(time_decode)(void)
{
    static PZ_M m[PZ_LEAF_MAX + 16];
    static uint16_t group[PZ_LEAF_MAX + 16];
    double best = 1e9;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        double start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
            const PZ_FN(keys) *k = &PZ_FN(b).k[leaf];
            PZ_FN(keys_decode)(k, PZ_FN(b).coded[leaf], m, k->groups == 1 ? NULL : group);
            bench_sink += (uint64_t)m[leaf];
        }
        best = least(best, (now_ns() - start) / (LEAVES * ENTRIES));
    }
    return best;
}

/* One search after another, each for a key that depends on the answer before. */
static double PZ_FN(time_search)(bool bound)
{
    double best = 1e9;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        uint32_t i = 0;
        uint32_t group = 0;
        double start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
            const PZ_FN(keys) *k = &PZ_FN(b).k[leaf];
            for (uint32_t j = 0; j < SEARCHES; j++) {
                uint32_t want = (i + probe[j]) % ENTRIES;
                if (bound)
                    i = PZ_FN(keys_lower_bound)(k, PZ_FN(b).coded[leaf], PZ_FN(b).group[leaf][want],
                                                PZ_FN(b).m[leaf][want]);
                else
                    i = (uint32_t)PZ_FN(keys_get)(k, PZ_FN(b).coded[leaf], want, &group) & 255;
                bench_sink += i;
            }
        }
        best = least(best, (now_ns() - start) / (LEAVES * SEARCHES));
    }
    return best;
}

static void PZ_FN(bench_keys)(const char *name, uint32_t gap_bits, uint32_t groups)
{
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
        PZ_FN(fill)(leaf, gap_bits, groups);
    double encode = PZ_FN(time_encode)(groups);
    double bytes = 0;
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
        bytes += PZ_FN(keys_bytes)(&PZ_FN(b).k[leaf]);
    double decode = PZ_FN(time_decode)();
    printf("%-7s gap 2**%-3u groups %-4u low bits %-3u %7.3f bytes  encode %5.2f  decode %5.2f  "
           "search %5.1f  get %5.1f\n",
           name, gap_bits, groups, PZ_FN(b).k[0].low_bits, bytes / (LEAVES * ENTRIES), encode,
           decode, PZ_FN(time_search)(true), PZ_FN(time_search)(false));
}
