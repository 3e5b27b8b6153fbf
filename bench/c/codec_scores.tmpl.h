/* TEMPLATE: timings of the score column of one width. needs PZ_S, PZ_S_BITS, PZ_FN and
 * codec/scores.tmpl.h; gives PZ_FN(bench_scores)(name). */

static PZ_S PZ_FN(bench_image)(double x)
{
#if PZ_S_BITS == 32
    return pz_sort32(pz_bits_of_float((float)x));
#else
    return pz_sort64(pz_bits_of_double(x));
#endif
}

static void PZ_FN(bench_column)(const char *name, const char *data, const double *values)
{
    static PZ_S s[LEAVES][PZ_LEAF_MAX];
    static uint8_t coded[LEAVES][PZ_LEAF_MAX * sizeof(PZ_S)];
    static PZ_S out[PZ_LEAF_MAX];
    static PZ_FN(scol) c[LEAVES];
    double encode = 1e9, decode = 1e9, get = 1e9, set = 1e9, bytes = 0;
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
        for (uint32_t i = 0; i < ENTRIES; i++)
            s[leaf][i] = PZ_FN(bench_image)(values[leaf * ENTRIES + i]);
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        double start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
            int64_t whole[PZ_LEAF_MAX];
            PZ_FN(scol_plan_whole)(s[leaf], ENTRIES, whole, &c[leaf]);
            PZ_FN(scol_encode_whole)(&c[leaf], s[leaf], whole, coded[leaf]);
        }
        encode = least(encode, now_ns() - start);
        start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
            PZ_FN(scol_decode)(&c[leaf], coded[leaf], out);
            bench_sink += out[leaf];
        }
        decode = least(decode, now_ns() - start);
        start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
            for (uint32_t j = 0; j < ENTRIES; j++)
                bench_sink += PZ_FN(scol_get)(&c[leaf], coded[leaf], probe[j]);
        get = least(get, now_ns() - start);
        start = now_ns();
        for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
            for (uint32_t j = 0; j < ENTRIES; j++)
                bench_sink += PZ_FN(scol_set)(&c[leaf], coded[leaf], probe[j], s[leaf][probe[j]]);
        set = least(set, now_ns() - start);
    }
    const double entries = LEAVES * ENTRIES;
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++)
        bytes += PZ_FN(scol_bytes)(&c[leaf]);
    printf("%-7s %-10s form %-2u base %-11lld %6.3f bytes  encode %5.2f  decode %5.2f  get %5.2f  "
           "set %5.2f\n",
           name, data, c[0].form, (long long)c[0].base, bytes / entries, encode / entries,
           decode / entries, get / entries, set / entries);
}

static void PZ_FN(bench_scores)(const char *name)
{
    static double values[6][LEAVES * ENTRIES];
    for (uint32_t i = 0; i < LEAVES * ENTRIES; i++) {
        uint64_t x = next_random();
        values[0][i] = (double)(x % 250);
        values[1][i] = (double)(x % 64 == 0 ? x >> 50 : x % 100); /* counters: 1.5 % pass a byte */
        values[2][i] = 1000 + (double)(x % 1400);
        values[3][i] = 1.7e9 + (double)(x % 31536000);
        values[4][i] = (double)(x % 100000) / 4;
        values[5][i] = (double)(x >> 11) / 9007199254740992.0;
    }
    static const char *const data[6] = {"small",   "counters", "ratings",
                                        "seconds", "quarters", "uniform"};
    for (uint32_t j = 0; j < 6; j++)
        PZ_FN(bench_column)(name, data[j], values[j]);
}
