/* Tests of cleaning: its budget, what it gives back, and how much an arena holds beside its
 * blocks. */
#include "arena_model.h"

TEST(cleaning_keeps_to_its_budget)
{
    model *m = model_new();
    fragment(m, 3000);
    uint64_t moved = 0, spans = count(&m->arena).span_bytes;
    int calls = 0;
    for (;; calls++) {
        size_t budget = pick(m, 20000);
        pz_arena_clean(&m->arena, budget);
        uint64_t now = count(&m->arena).bytes_moved;
        CHECK(now - moved < budget + 3000);
        if (now == moved && budget != 0)
            break;
        moved = now;
        if (calls % 16 == 0)
            REQUIRE(model_check(m));
    }
    CHECK(calls > 20);
    CHECK(model_check(m));
    pz_arena_counters c = count(&m->arena);
    CHECK(c.held_bytes * 10 <=
          c.live_bytes * 11); /* a twelfth is not live, the last budget aside */
    /* It took the emptiest first: not many more bytes moved than went back. */
    CHECK(moved < (spans - c.span_bytes) * 3 / 2);
    pz_arena_clean(&m->arena, 1u << 30);
    CHECK_EQ(count(&m->arena).bytes_moved, moved);
    model_free(m);
}

/* Call after call, with nothing taken or dropped between them, cleaning comes to an end, whatever
 * the sizes: what does not fit at the ends of spans is not moved around for ever. */
static void cleaning_ends(uint32_t blocks, uint32_t least, uint32_t spread, uint32_t drop_percent)
{
    model *m = model_new();
    while (m->count < blocks)
        REQUIRE(model_put_one(m, m->count, least + pick(m, spread)));
    for (uint32_t i = m->count * drop_percent / 100; i > 0; i--)
        model_drop(m, pick(m, m->count));
    uint64_t most = 20 * count(&m->arena).span_bytes, moved = 0;
    for (;;) {
        pz_arena_clean(&m->arena, 2000);
        uint64_t now = count(&m->arena).bytes_moved;
        if (now == moved || now > most)
            break;
        moved = now;
    }
    if (!CHECK(moved <= most && count(&m->arena).bytes_moved <= most))
        printf("    %u blocks of %u to %u bytes, %u %% dropped\n", blocks, least, least + spread,
               drop_percent);
    pz_arena_clean(&m->arena, most); /* nor does a larger budget find anything to do */
    CHECK_EQ(count(&m->arena).bytes_moved, moved);
    CHECK(model_check(m));
    model_free(m);
}

TEST(cleaning_comes_to_an_end)
{
    static const uint32_t sizes[] = {8, 24, 100, 144, 232, 400, 1000, 3000, 12000, 60000, 131000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint32_t blocks = 3; blocks < 700 && blocks * sizes[i] < 12000000;
             blocks += blocks / 2) {
            for (uint32_t drop = 0; drop <= 60; drop += 20) {
                cleaning_ends(blocks, sizes[i], 64, drop);
                cleaning_ends(blocks, sizes[i] / 3 + 8, sizes[i] * 2 / 3 + 8, drop);
            }
        }
    }
}

TEST(cleaning_without_memory_does_nothing)
{
    model *m = model_new();
    fragment(m, 600);
    test_env_fail(&test_env, 0, 1);
    pz_arena_clean(&m->arena, 1u << 30);
    CHECK(model_check(m));
    test_env_fail(&test_env, 0, 0);
    pz_arena_clean(&m->arena, 1u << 30);
    CHECK(model_check(m));
    model_free(m);
}

TEST(nothing_left_gives_everything_back)
{
    model *m = model_new();
    fragment(m, 4000);
    CHECK(count(&m->arena).span_bytes > 2u << 20);
    while (m->count > 3)
        model_drop(m, pick(m, m->count));
    pz_arena_clean(&m->arena, 1u << 20);
    CHECK(model_check(m));
    CHECK(count(&m->arena).span_bytes <= 16384);
    while (m->count > 0)
        model_drop(m, 0);
    pz_arena_clean(&m->arena, 1);
    CHECK(model_check(m));
    CHECK_EQ(count(&m->arena).span_bytes, 0);
    model_free(m);
}

/* A span opened for one large block, left open when that block has gone, among many small spans. */
TEST(oversized_open_span_is_given_up)
{
    model *m = model_new();
    while (m->count < 400)
        REQUIRE(model_put_one(m, m->count, 500 + pick(m, 1000)));
    REQUIRE(model_put_one(m, 400, PZ_BLOCK_MAX - 40000));
    REQUIRE(model_put_one(m, 401, 500));
    model_drop(m, 400);
    CHECK(count(&m->arena).spans > 16);
    CHECK(m->arena.end - m->arena.bump > 30000);
    pz_arena_clean(&m->arena, 1u << 20);
    CHECK(m->arena.end - m->arena.bump <= 16384);
    CHECK(count(&m->arena).held_bytes * 5 <= count(&m->arena).live_bytes * 6);
    CHECK(model_check(m));
    model_free(m);
}

/* Blocks replaced at random by blocks of nearly the same size, as folds do, with some cleaning
 * after each: what is held stays near what is live, and cleaning moves a share of what is taken. */
static void steady(uint32_t blocks, uint32_t least, uint32_t spread, double most_mean, double most,
                   double most_moved)
{
    model *m = model_new();
    double worst = 0, sum = 0, taken = 0;
    while (m->count < blocks) {
        REQUIRE(model_put_one(m, m->count, least + pick(m, spread)));
        pz_arena_clean(&m->arena, 16 * least);
    }
    uint64_t moved = count(&m->arena).bytes_moved;
    for (uint32_t i = 0; i < 6 * blocks; i++) {
        uint32_t at = pick(m, blocks), asked = m->all[at].asked + 40 - pick(m, 81);
        if (asked < least || asked > least + spread)
            asked = least + pick(m, spread);
        REQUIRE(model_put_one(m, at, asked));
        taken += asked;
        pz_arena_clean(&m->arena, 16 * least);
        pz_arena_counters c = count(&m->arena);
        double ratio = (double)c.held_bytes / (double)c.live_bytes;
        sum += ratio;
        if (ratio > worst)
            worst = ratio;
    }
    double mean = sum / (6 * blocks);
    CHECK(model_check(m));
    double share = (double)(count(&m->arena).bytes_moved - moved) / taken;
    printf("    %u blocks of %u to %u bytes: held/live %.3f, at most %.3f; moved/taken %.2f\n",
           blocks, least, least + spread, mean, worst, share);
    CHECK(mean <= most_mean);
    CHECK(worst <= most);
    CHECK(share <= most_moved);
    model_free(m);
}

TEST(held_to_live_in_steady_state)
{
    steady(4000, 500, 1000, 1.095, 1.12, 0.5); /* 4 MiB */
    steady(1500, 200, 2000, 1.105, 1.15, 2.5); /* 1.7 MiB */
    steady(400, 1200, 800, 1.110, 1.20, 5.0); /* .6 MiB */
    steady(200, 7000, 6000, 1.110, 1.25, 9.0); /* 2 MiB in large blocks */
    steady(30, 500, 1000, 1.320, 1.50, 4.0);
}

/* Two leaves and their tails, about 3 KiB, growing by folds: what a set of some hundred members
 * is. */
TEST(small_arena_holds_little)
{
    model *m = model_new();
    uint32_t sizes[4] = {700, 500, 100, 100}, n = 0;
    double worst = 0, sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        REQUIRE(model_put_one(m, i, sizes[i]));
    for (int step = 0; step < 600; step++) {
        uint32_t at = pick(m, 4);
        if (at < 2 && sizes[at] < 1500)
            sizes[at] += pick(m, 24);
        REQUIRE(model_put_one(m, at, sizes[at] + (at < 2 ? 0 : pick(m, 100))));
        pz_arena_clean(&m->arena, 4096);
        pz_arena_counters c = count(&m->arena);
        if (c.live_bytes < 2800)
            continue;
        double ratio = (double)c.held_bytes / (double)c.live_bytes;
        sum += ratio;
        n++;
        if (ratio > worst)
            worst = ratio;
    }
    printf("    held/live %.3f, at most %.3f\n", sum / n, worst);
    CHECK(n > 100);
    CHECK(sum <= 1.4 * n);
    CHECK(worst <= 1.5);
    CHECK(model_check(m));
    model_free(m);
}
