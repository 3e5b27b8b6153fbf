/* Damaged snapshots are refused whole, with what and where. Damage comes in three strengths: as it
 * happens (a checksum finds it), with every checksum put right again (what the bytes say must be
 * checked), and aimed at one rule. */
#include "test.h"

#include "snapshots.h"

/* ---- damage as it happens ---- */
TEST(every_truncation)
{
    for (int layout = 0; layout < 6; layout++) {
        for (uint32_t n = 0; n <= 60; n += 30) {
            file f = small_file(layout, n, 8, COUNTERS);
            for (size_t cut = 0; cut < f.n; cut++)
                CHECK(refuses(f.at, cut, ""));
            file_free(&f);
        }
    }
}

TEST(bytes_behind_the_end)
{
    static const uint8_t zeros[64] = {0};
    for (int layout = 0; layout < 6; layout++) {
        file f = small_file(layout, 40, 8, COUNTERS);
        size_t n = f.n;
        for (size_t more = 1; more <= 64; more++) {
            file_append(&f, zeros, more);
            CHECK(refuses(f.at, f.n, "end: magic"));
            f.n = n;
        }
        file_append(&f, f.at, n); /* two snapshots behind each other */
        CHECK(refuses(f.at, f.n, "end: bytes of the snapshot"));
        file_free(&f);
    }
}

TEST(every_bit_flip)
{
    for (int layout = 0; layout < 6; layout++) {
        file f = small_file(layout, layout % 2 == 0 ? 25 : 50, 8, COUNTERS);
        for (size_t at = 0; at < 8 * f.n; at++) {
            f.at[at / 8] ^= (uint8_t)(1u << at % 8);
            CHECK(refuses(f.at, f.n, ""));
            f.at[at / 8] ^= (uint8_t)(1u << at % 8);
        }
        pz_set *z = load(&f);
        CHECK(z != NULL);
        pz_free(z);
        file_free(&f);
    }
}

/* ---- damage behind right checksums ---- */
TEST(every_byte_changed_and_mended)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x10};
    int accepted = 0, refused = 0;
    for (int layout = 0; layout < 6; layout++) {
        for (int shape = 0; shape < SCORE_SHAPES; shape++) {
            file f = small_file(layout, shape % 2 == 0 ? 45 : 12, 8, (score_shape)shape);
            uint8_t *kept = malloc(f.n);
            memcpy(kept, f.at, f.n);
            for (size_t at = 0; at < f.n; at++) {
                f.at[at] ^= changes[(at + (size_t)layout) % 4];
                mend(&f);
                *(survives(&f) ? &accepted : &refused) += 1;
                memcpy(f.at, kept, f.n);
            }
            free(kept);
            file_free(&f);
        }
    }
    /* Checksums, the merge exponent and a few codings of the same content are free to change. */
    CHECK(accepted > 0);
    CHECK(refused > 10 * accepted);
}

TEST(random_changes_mended)
{
    uint64_t seed = test_seed();
    for (int round = 0; round < 6 * 400; round++) {
        int layout = round % 6;
        file f = small_file(layout, 10 + (uint32_t)(test_random(&seed) % 120), 4,
                            (score_shape)(test_random(&seed) % SCORE_SHAPES));
        for (uint64_t i = 0, n = 1 + test_random(&seed) % 4; i < n; i++) {
            uint64_t r = test_random(&seed);
            size_t at = (size_t)(r >> 16) % f.n;
            if (r % 4 == 0 && at + 8 <= f.n) /* plausible numbers where numbers stand */
                pz_store64(f.at + at, (r >> 8) % 300);
            else if (r % 4 == 1)
                f.at[at] = f.at[(at + 1 + r % 64) % f.n];
            else
                f.at[at] ^= (uint8_t)(1u << (r >> 8) % 8);
        }
        mend(&f);
        survives(&f);
        file_free(&f);
    }
}

/* ---- one rule at a time ---- */
#define CHANGE(f, width, offset, value, what)                         \
    do {                                                              \
        uint64_t kept_ = pz_load##width((f).at + (offset));           \
        pz_store##width((f).at + (offset), (uint##width##_t)(value)); \
        mend(&(f));                                                   \
        CHECK(refuses((f).at, (f).n, what));                          \
        pz_store##width((f).at + (offset), (uint##width##_t)kept_);   \
        mend(&(f));                                                   \
    } while (0)

TEST(headers)
{
    file f = small_file(2, 60, 8, COUNTERS), tiny = small_file(2, 4, 8, COUNTERS);
    uint64_t n = pz_load64(f.at + 32), members = pz_load64(f.at + 40), order = pz_load64(f.at + 48);
    REQUIRE(members > 2 && order > 2);
    CHANGE(f, 64, 0, pz_load64(f.at) ^ 1, "header: magic");
    CHANGE(f, 32, 8, 1, "header: version");
    CHANGE(f, 32, 8, 0x01000000, "header: version");
    CHANGE(f, 16, 12, 3, "header: layout");
    CHANGE(f, 16, 12, 0x0201, "header: layout");
    CHANGE(f, 16, 12, 0x0102, "end: offset"); /* rows of another size */
    CHANGE(f, 16, 12, 0x0101, "end: offset");
    CHANGE(f, 16, 12, 0x0000, "end: offset");
    CHANGE(f, 16, 14, 0, "leaf: form of the scores"); /* run coded, without run coding */
    CHANGE(f, 16, 14, 2, "header: reserved");
    CHANGE(f, 16, 14, 0x0101, "header: reserved");
    CHANGE(f, 32, 56, 1, "header: reserved");
    CHANGE(f, 64, 16, 0x8000000000000000u, "header: merge exponent");
    CHANGE(f, 64, 16, 0x7ff8000000000000u, "header: merge exponent");
    CHANGE(f, 64, 16, 0x3ff0000000000001u, "header: merge exponent");
    for (uint32_t at = 24; at <= 28; at += 4) {
        CHANGE(f, 32, at, 0, "leaf capacity");
        CHANGE(f, 32, at, PZ_LEAF_CAPACITY_MIN - 1, "leaf capacity");
        CHANGE(f, 32, at, PZ_LEAF_MAX + 1, "leaf capacity");
        CHANGE(f, 32, at, 8 + 0x10000, "leaf capacity");
        CHANGE(f, 32, at, 4, "leaf: entries");
    }
    CHANGE(f, 64, 32, n + 1, "member tree: entries");
    CHANGE(f, 64, 32, n - 1, "member tree: entries");
    CHANGE(f, 64, 32, 0, "header: member leaves");
    CHANGE(f, 64, 32, f.n + 1, "header: entries");
    CHANGE(f, 64, 32, UINT64_MAX, "header: entries");
    CHANGE(f, 64, 40, 0, "header: member leaves");
    CHANGE(f, 64, 40, members - 1, "end: offset");
    CHANGE(f, 64, 40, n + 1, "header: member leaves");
    CHANGE(f, 64, 40, UINT64_MAX / 12, "header: member leaves");
    CHANGE(f, 64, 48, 0, "header: order leaves");
    CHANGE(f, 64, 48, order + 1, "end: offset");
    CHANGE(f, 64, 48, UINT64_MAX, "header: order leaves");
    CHANGE(tiny, 64, 32, 0, "header: order leaves");
    CHANGE(tiny, 64, 32, pz_load64(tiny.at + 32) + 1, "header: entries");
    CHANGE(tiny, 64, 40, 1, "header: member leaves");
    CHANGE(tiny, 64, 48, 0, "header: order leaves");
    CHANGE(tiny, 64, 48, 2, "header: order leaves");
    CHECK(refuses(f.at, 0, "snapshot: cut short"));
    CHECK(refuses((const uint8_t *)"id,score\n1,2\n", 13, "snapshot: cut short"));
    file_free(&f);
    file_free(&tiny);
}

TEST(directories_and_end)
{
    file f = small_file(2, 60, 8, COUNTERS);
    size_t end = f.n - END;
    uint64_t rows = pz_load64(f.at + end), members = pz_load64(f.at + 40);
    size_t order_rows = rows + members * (PZ_ROW_KEY_AT + 8);
    for (int tree = 0; tree < 2; tree++) {
        size_t row = tree == 0 ? rows : order_rows;
        uint32_t key = PZ_ROW_KEY_AT;
        CHANGE(f, 64, row, pz_load64(f.at + row) + 8, "directory: offset");
        CHANGE(f, 64, row + 8, 1, "directory: position");
        CHANGE(f, 64, row + key, pz_load64(f.at + row + key) + 1, "directory: first key");
    }
    CHANGE(f, 64, end, rows - 8, "end: offset");
    CHANGE(f, 64, end, rows + 8, "end: offset");
    CHANGE(f, 64, end, UINT64_MAX, "end: offset");
    CHANGE(f, 64, end + 8, f.n + 1, "end: bytes");
    CHANGE(f, 32, end + 20, 1, "end: reserved");
    CHANGE(f, 32, end + 24, 0, "end: magic");
    file_free(&f);
}

TEST(leaf_records)
{
    file f = small_file(2, 60, 8, DISTINCT);
    uint64_t rows = pz_load64(f.at + f.n - END), members = pz_load64(f.at + 40);
    uint64_t order = pz_load64(f.at + rows + members * (PZ_ROW_KEY_AT + 8));
    for (int tree = 0; tree < 2; tree++) {
        size_t at = tree == 0 ? HEADER : order;
        uint32_t size = pz_load32(f.at + at + 4);
        CHANGE(f, 32, at + 4, size - 8, "leaf");
        CHANGE(f, 32, at + 4, size + 8, "leaf");
        CHANGE(f, 32, at + 4, 0, "leaf: bytes of the record");
        CHANGE(f, 32, at + 4, 0xfffffff8u, "leaf: bytes of the record");
        CHANGE(f, 16, at + 8, 0, "leaf: entries");
        CHANGE(f, 16, at + 8, 9, "leaf: entries");
        CHANGE(f, 16, at + 10, 1, "leaf: entries");
        CHANGE(f, 16, at + 12, 1, "leaf: entries");
        CHANGE(f, 16, at + 14, 0xffff, "leaf: bytes of the base");
        CHANGE(f, 32, at + 16, 0, "leaf: fields of the keys");
        CHANGE(f, 32, at + 16, 0xffffffffu, "leaf: fields of the keys");
        CHANGE(f, 16, at + 20, 0xffff, "leaf:");
        CHANGE(f, 16, at + 22, 0xffff, "leaf:");
    }
    CHANGE(f, 32, HEADER + 32, 1, "leaf: label");
    uint32_t padded = 0;
    for (uint64_t leaf = HEADER; leaf < order; leaf += pz_load32(f.at + leaf + 4)) {
        uint32_t tail = pz_load16(f.at + leaf + 14) + 24 + 8 + 5;
        for (uint32_t at = tail; at < pz_load32(f.at + leaf + 4); at++, padded++) {
            f.at[leaf + at] = 1;
            mend(&f);
            CHECK(refuses(f.at, f.n, "leaf: padding"));
            f.at[leaf + at] = 0;
        }
    }
    CHECK(padded > 0);
    file_free(&f);
}

/* A small set of int64, float64 whose leaf is put together by hand. */
static file hand_made(const int64_t *members, const uint64_t *images, uint32_t n, bool runs)
{
    file f = {0};
    uint32_t base = n * 16, size = (32 + base + 7) & ~7u;
    pz_snapshot_header h = {.member = PZ_INT64,
                            .score = PZ_FLOAT64,
                            .options = {0.5, true, 512, 512},
                            .entries = n,
                            .order_records = 1};
    f.n = f.room = HEADER + size + PZ_ROW_KEY_AT + 16 + END;
    f.at = calloc(1, f.room);
    uint8_t *leaf = f.at + HEADER, *row = leaf + size;
    int64_t lo = members[0];
    for (uint32_t i = 1; i < n; i++)
        lo = members[i] < lo ? members[i] : lo;
    pz_snapshot_header_write(&h, f.at);
    pz_store32(leaf + 4, size);
    pz_store16(leaf + 8, (uint16_t)n);
    pz_store16(leaf + 14, (uint16_t)base);
    pz_store32(leaf + 16, 1); /* stride: all of a member is in its low part */
    pz_store16(leaf + 20, (uint16_t)n); /* groups */
    leaf[22] = 64; /* low bits */
    leaf[23] = runs;
    pz_store64(leaf + 24, pz_unsigned64(lo));
    for (uint32_t i = 0; i < n; i++) {
        pz_store64(leaf + 32 + 8 * i, pz_unsigned64(members[i]) - pz_unsigned64(lo));
        pz_store64(leaf + 32 + 8 * n + 8 * i, images[i]);
    }
    pz_store64(row, HEADER);
    pz_store64(row + 16, images[0]);
    pz_store64(row + 24, pz_unsigned64(members[0]));
    pz_snapshot_end_write(HEADER + size, row, PZ_ROW_KEY_AT + 16, f.at + f.n - END);
    mend(&f);
    return f;
}

static bool hand_made_is(const int64_t *members, const uint64_t *images, uint32_t n, bool runs,
                         const char *what)
{
    file f = hand_made(members, images, n, runs);
    bool right;
    if (what != NULL) {
        right = refuses(f.at, f.n, what);
    } else {
        pz_set *z = load(&f);
        right = z != NULL && is_valid(z) && pz_len(z) == n;
        pz_free(z);
    }
    file_free(&f);
    return right;
}

static uint64_t image(double x)
{
    return pz_sort64(pz_bits_of_double(x));
}

TEST(values_that_no_set_can_hold)
{
    const int64_t m[4] = {5, -9, 7, 8};
    uint64_t s[4] = {image(-1), image(0), image(1), image(2.5)};
    static const uint64_t bad[] = {
        0x7fffffffffffffffu, /* -0.0 */
        0xfff8000000000000u, /* NaN, sorted above all */
        0xfff0000000000001u, /* the first NaN above infinity */
        0xffffffffffffffffu, 0x0007ffffffffffffu, /* NaN, negative */
        0x000ffffffffffffeu, 0,
    };
    for (int runs = 0; runs < 2; runs++) {
        CHECK(hand_made_is(m, s, 4, runs, NULL));
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            for (int at = 0; at < 4; at++) {
                uint64_t kept = s[at];
                s[at] = bad[i];
                CHECK(hand_made_is(m, s, 4, runs, "leaf: a score that no valid data can hold"));
                s[at] = kept;
            }
        }
        s[0] = image(-INFINITY);
        s[3] = image(INFINITY);
        CHECK(hand_made_is(m, s, 4, runs, NULL));
        s[0] = image(-1);
        s[3] = image(2.5);
    }
}

TEST(order_and_uniqueness)
{
    const int64_t twice[3] = {5, 6, 5}, once[3] = {5, 6, 7}, same[2] = {5, 5}, falling[2] = {6, 5};
    const uint64_t s[3] = {image(1), image(2), image(3)}, back[3] = {image(1), image(3), image(2)};
    const uint64_t equal[2] = {image(1), image(1)};
    for (int runs = 0; runs < 2; runs++) {
        CHECK(hand_made_is(once, s, 3, runs, NULL));
        CHECK(hand_made_is(twice, s, 3, runs, "order tree: a member stands twice"));
        CHECK(hand_made_is(same, s, 2, runs, "order tree: a member stands twice"));
        CHECK(hand_made_is(once, back, 3, runs, "leaf: order of the"));
        CHECK(hand_made_is(same, equal, 2, runs, "leaf: order of the"));
        CHECK(hand_made_is(falling, equal, 2, runs, "leaf: order of the"));
        CHECK(hand_made_is(falling, s, 2, runs, NULL));
    }
    CHECK(hand_made_is(once, equal, 2, false, NULL));
    CHECK(hand_made_is(once, equal, 2, true, "leaf: order of the scores"));
}

/* A NaN in a raw column of the member tree, and as an exception of an integer column. */
TEST(bad_scores_in_the_member_tree)
{
    for (int raw = 0; raw < 2; raw++) {
        file f = {0};
        pz_set *z = NULL;
        pz_options o = {0.5, true, 512, 512};
        REQUIRE(pz_new(&test_env.env, PZ_INT64, PZ_FLOAT64, &o, &z) == PZ_OK);
        for (uint32_t i = 0; i < 200; i++) {
            int64_t m = i;
            double s = raw ? 0.1 * i : i == 7 ? 0.1 : 3;
            uint64_t a, b;
            REQUIRE(pz_add(z, 1, (pz_in){&m, 0}, (pz_in){&s, 0}, 0, &a, &b, NULL) == PZ_OK);
        }
        f = save(z);
        uint8_t *leaf = f.at + HEADER;
        size_t last = HEADER + 37 + (size_t)pz_load16(leaf + 14) - 8;
        CHECK_EQ(pz_load16(leaf + 20), raw ? 0 : 1); /* exceptions */
        CHECK(pz_load64(f.at + last) == image(raw ? 0.1 * 199 : 0.1));
        CHANGE(f, 64, last, 0xfff8000000000000u, "leaf: scores");
        CHANGE(f, 64, last, 0x7fffffffffffffffu, "leaf: scores");
        CHANGE(f, 64, last, image(0.7), "order tree: lacks an entry");
        file_free(&f);
        pz_free(z);
    }
}

/* Both trees are sound, but come from two sets that differ in two scores. */
TEST(trees_of_two_sets)
{
    for (int layout = 0; layout < 6; layout++) {
        pz_member_kind member = member_kinds[layout / 2];
        pz_score_kind score = score_kinds[layout % 2];
        uint8_t m[2][16], s[2][8];
        uint64_t a, b;
        file f[2];
        for (int k = 0; k < 2; k++) {
            pz_set *z = NULL;
            pz_options o = {0.0, true, 16, 16};
            REQUIRE(pz_new(&test_env.env, member, score, &o, &z) == PZ_OK);
            for (uint32_t i = 0; i < 400; i++) {
                member_put(member, m[0], i);
                score_put(score, s[0], i % 200 / 2 + 1);
                REQUIRE(pz_add(z, 1, (pz_in){m[0], 0}, (pz_in){s[0], 0}, 0, &a, &b, NULL) == PZ_OK);
            }
            /* Members 10 and 390 with scores 3 and 7, or the other way round. */
            for (int j = 0; j < 2; j++) {
                member_put(member, m[j], j == 0 ? 10 : 390);
                score_put(score, s[j], (j ^ k) == 0 ? 3 : 7);
            }
            REQUIRE(pz_add(z, 2, (pz_in){m, 16}, (pz_in){s, 8}, 0, &a, &b, NULL) == PZ_OK);
            f[k] = save(z);
            pz_free(z);
        }
        uint64_t order[2], member_row = PZ_ROW_KEY_AT + member_size(member);
        for (int k = 0; k < 2; k++) {
            uint64_t rows = pz_load64(f[k].at + f[k].n - END);
            order[k] = pz_load64(f[k].at + rows + pz_load64(f[k].at + 40) * member_row);
        }
        REQUIRE(order[0] == order[1]);
        CHECK(memcmp(f[0].at + HEADER, f[1].at + HEADER, order[0] - HEADER) != 0);
        memcpy(f[0].at + HEADER, f[1].at + HEADER, order[0] - HEADER);
        CHECK(refuses(f[0].at, f[0].n, "order tree: lacks an entry"));
        file_free(&f[0]);
        file_free(&f[1]);
    }
}

/* More entries than are compared at a time: the last one counts as much as the first. */
TEST(several_pieces)
{
    file f = small_file(0, 1200000, 512, EQUAL);
    uint64_t rows = pz_load64(f.at + f.n - END), members = pz_load64(f.at + 40);
    REQUIRE(pz_load64(f.at + 32) > 1100000);
    pz_set *z = load(&f);
    REQUIRE(z != NULL && is_valid(z));
    for (uint64_t i = 0; i < members; i += members - 1) {
        size_t leaf = pz_load64(f.at + rows + i * (PZ_ROW_KEY_AT + 4));
        size_t slot = leaf + 24 + 4 + 5 + pz_load16(f.at + leaf + 14) - 1;
        REQUIRE(f.at[slot] == 7); /* the score of the leaf's last entry */
        f.at[slot] = 6;
        mend(&f);
        CHECK(refuses(f.at, f.n, "order tree: lacks an entry"));
        f.at[slot] = 7;
    }
    pz_free(z);
    file_free(&f);
}
