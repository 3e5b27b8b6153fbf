/* Tests of reservations in an arena: what was reserved is there though every call to the system
 * fails, and what was refused has changed nothing. */
#include "arena_model.h"

TEST(settle_keeps_no_spare)
{
    model *m = model_new();
    CHECK(model_put_one(m, 0, 1000));
    uint64_t held = count(&m->arena).held_bytes;
    for (uint64_t bytes = 8; bytes < 100u << 20; bytes = bytes * 5 / 8 * 8 + 8) {
        REQUIRE(pz_arena_reserve(&m->arena, bytes, bytes / 8, 0) == PZ_OK);
        CHECK(model_check(m));
        pz_arena_settle(&m->arena);
        CHECK_EQ(count(&m->arena).spare_bytes, 0);
        CHECK(model_check(m));
    }
    /* All that is left is a larger table of spans. */
    CHECK_EQ(count(&m->arena).span_bytes, 1024);
    CHECK(count(&m->arena).held_bytes - held < 64 * 1024);
    model_free(m);
}

TEST(settle_keeps_few_unused_slots)
{
    model *m = model_new();
    for (uint32_t i = 0; i < 3000; i++)
        REQUIRE(model_put_one(m, i, 24));
    uint64_t held = count(&m->arena).held_bytes;
    REQUIRE(pz_arena_reserve(&m->arena, 0, 0, 100000) == PZ_OK);
    CHECK(count(&m->arena).held_bytes >= held + 97000 * sizeof(void *));
    CHECK(model_check(m));
    pz_arena_settle(&m->arena);
    CHECK(model_check(m));
    /* A chunk of slots, and the directory's pointers to the others. */
    CHECK(count(&m->arena).held_bytes <= held + (PZ_SLOT_CHUNK + 128) * sizeof(void *));
    CHECK(model_put_one(m, 3000, 24));
    CHECK(model_check(m));
    model_free(m);
}

/* The most spares that any order of blocks can need, by trying them all in units of 8 KiB: what
 * pz_span_spares_needed must not stay below. most[r][t]: rest of r units, t units to come. */
static void worst_cases(uint32_t span_units, uint32_t largest, uint32_t total)
{
    static uint8_t most[129][321];
    for (uint32_t t = 0; t <= total; t++) {
        for (uint32_t r = 0; r <= span_units; r++) {
            most[r][t] = 0;
            for (uint32_t size = 1; size <= largest && size <= t; size++) {
                uint32_t rest = span_units - size > r ? span_units - size : r;
                uint32_t n = size <= r ? most[r - size][t - size] : most[rest][t - size] + 1u;
                if (n > most[r][t])
                    most[r][t] = (uint8_t)n;
            }
            uint64_t bound =
                pz_span_spares_needed(t * 8192ull, UINT64_MAX, r * 8192ull, span_units * 8192ull);
            CHECK(bound >= most[r][t]);
            CHECK(bound <= 2u * most[r][t] + 1); /* nor is it far above */
        }
    }
}

TEST(spares_needed_is_the_worst_case)
{
    worst_cases(16, 16, 160); /* spans as large as the largest block */
    worst_cases(32, 16, 320);
    worst_cases(128, 16, 320); /* the largest spans */
    CHECK_EQ(pz_span_spares_needed(80000, 3, 0, 131072), 1);
    CHECK_EQ(pz_span_spares_needed(800000, 3, 0, 131072), 3); /* no more spans than blocks */
    CHECK_EQ(pz_span_spares_needed(80000, 100, 80000, 131072), 0);
}

/* The size of the next block of a reservation with `left` bytes left, as `style` says. */
static uint32_t next_size(model *m, uint64_t left, int style, bool last)
{
    uint64_t spare = m->arena.spares != 0 ? m->arena.body->spare_size : 4096, size;
    uint64_t rest = (uint64_t)(m->arena.end - m->arena.bump);
    switch (style) {
    case 0: /* as large as can be */
        size = PZ_BLOCK_MAX;
        break;
    case 1: /* a little more than half a spare */
        size = spare / 2 + 8;
        break;
    case 2: /* just too large for the open span's rest */
        size = rest + 8;
        break;
    case 3: /* the same, or a small one that spoils the next span */
        size = pick(m, 2) == 0 ? rest + 8 : 8 + pick(m, 64);
        break;
    case 4:
        size = 8 + pick(m, 64);
        break;
    case 5:
        size = 8u << pick(m, 15);
        break;
    default:
        size = 8 + pick(m, PZ_BLOCK_MAX - 8);
    }
    if (last || size > left)
        size = left;
    return (uint32_t)(size > PZ_BLOCK_MAX ? PZ_BLOCK_MAX : size / 8 * 8);
}

/* After a reservation every call to the system fails, and each take has to succeed all the same. */
static void reserved_takes(model *m, uint64_t total, int style, uint32_t max_blocks)
{
    REQUIRE(pz_arena_reserve(&m->arena, total, max_blocks, max_blocks) == PZ_OK);
    test_env_fail(&test_env, 0, 1);
    uint64_t left = total;
    for (uint32_t i = 0; left >= 8 && i < max_blocks; i++) {
        uint32_t size = next_size(m, left, style, i == max_blocks - 1);
        left -= size;
        model_put(m, m->count < MODEL_MAX - 1 ? m->count : pick(m, m->count), size);
        if (pick(m, 3) == 0)
            model_drop(m, pick(m, m->count));
        if (pick(m, 3) == 0)
            pz_arena_clean(&m->arena, pick(m, 20000));
    }
    test_env_fail(&test_env, 0, 0);
    pz_arena_settle(&m->arena);
}

TEST(reserved_takes_cannot_fail)
{
    static const uint64_t totals[] = {64, 1000, 4104, 20000, 131072, 300000, 3000000};
    for (int style = 0; style <= 6; style++) { /* of next_size */
        model *m = model_new();
        for (int round = 0; round < 30; round++) {
            uint64_t total = totals[pick(m, 7)] / 8 * 8;
            /* As many blocks as the bytes allow, or so few that the last must be the largest. */
            uint32_t most = (uint32_t)(total / 8 < 3000 ? total / 8 : 3000);
            uint32_t least = (uint32_t)((total + PZ_BLOCK_MAX - 1) / PZ_BLOCK_MAX);
            reserved_takes(m, total, style, round % 3 == 0 ? least : most);
            if (!model_check(m)) {
                printf("    style %d, round %d\n", style, round);
                return;
            }
            while (m->count > 1000)
                model_drop(m, pick(m, m->count));
        }
        model_free(m);
    }
}

/* Cleaning between the takes of a reservation that the open span alone covers. */
TEST(cleaning_leaves_the_reserved_room)
{
    model *m = model_new();
    for (int round = 0; round < 300; round++) {
        while (m->count < 300)
            REQUIRE(model_put_one(m, m->count, 300 + pick(m, 2700)));
        for (int i = 0; i < 100; i++)
            model_drop(m, pick(m, m->count));
        size_t rest = (size_t)(m->arena.end - m->arena.bump);
        if (rest < 16)
            continue;
        REQUIRE(pz_arena_reserve(&m->arena, rest, rest / 8, 1) == PZ_OK);
        CHECK_EQ(m->arena.spares, 0);
        pz_arena_clean(&m->arena, 100000);
        CHECK(m->arena.room_bytes <= (uint64_t)(m->arena.end - m->arena.bump));
        test_env_fail(&test_env, 0, 1);
        model_put(m, m->count, (uint32_t)(rest < PZ_BLOCK_MAX ? rest : PZ_BLOCK_MAX));
        test_env_fail(&test_env, 0, 0);
        pz_arena_settle(&m->arena);
        REQUIRE(model_check(m));
    }
    model_free(m);
}

/* ---- failing hooks ---- */
/* A fixed run of operations; refused ones leave the model as it is. Gives how many were refused. */
static int script(model *m)
{
    int refused = 0;
    for (int step = 0; step < 120; step++) {
        uint32_t blocks = 1 + pick(m, 5), bytes = 40 + pick(m, step % 20 == 0 ? 60000 : 3000);
        pz_status status = pz_arena_reserve(&m->arena, (size_t)bytes * blocks, blocks, blocks);
        CHECK(status == PZ_OK || status == PZ_NOMEM);
        refused += status != PZ_OK;
        if (status == PZ_OK) {
            for (uint32_t i = 0; i < blocks; i++)
                model_put(m, pick(m, 3) != 0 || m->count == 0 ? m->count : pick(m, m->count),
                          bytes / 8 * 8);
            pz_arena_settle(&m->arena);
        }
        while (m->count > 0 && pick(m, 2) == 0)
            model_drop(m, pick(m, m->count));
        pz_arena_clean(&m->arena, 4000);
        if (!CHECK(valid(&m->arena)))
            break;
    }
    return refused;
}

/* The pool is new for each run: else mappings would be made once only. */
static int script_on_new_pool(long long fail_at, unsigned per_mille, uint64_t seed)
{
    pz_pool *kept = test_env.env.pool, *own = NULL;
    int refused = -1;
    if (!CHECK(pz_pool_new(&test_env.env, &own) == PZ_OK))
        return -1;
    test_env.env.pool = own;
    model *m = model_new();
    m->rng = seed;
    test_env_fail(&test_env, fail_at, 0);
    test_env.fail_per_mille = per_mille;
    refused = script(m);
    test_env.fail_per_mille = 0;
    long long calls = atomic_load(&test_env.calls);
    test_env_fail(&test_env, 0, 0);
    for (uint32_t i = 0; i < m->count; i++)
        CHECK(holds(pz_arena_at(&m->arena, m->all[i].slot), m->all[i].asked, m->all[i].seed));
    model_free(m);
    pz_pool_free(own);
    test_env.env.pool = kept;
    return fail_at > calls ? -1 : refused;
}

TEST(every_call_fails_in_turn)
{
    long long n = 1;
    int refused = 0;
    while (n < 5000) {
        int one = script_on_new_pool(n, 0, test_seed());
        if (one < 0)
            break;
        refused += one;
        n++;
    }
    CHECK(n > 20 && n < 5000);
    CHECK(refused > 10); /* the others had a spare span to fall back to */
}

TEST(calls_fail_at_random)
{
    int refused = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        atomic_store(&test_env.seed, seed * 1000);
        refused += script_on_new_pool(0, 20 + (unsigned)seed * 8, test_seed() + seed);
    }
    CHECK(refused > 100);
}

TEST(refused_reservation_changes_nothing)
{
    model *m = model_new();
    for (uint32_t i = 0; i < 50; i++)
        REQUIRE(model_put_one(m, i, 500));
    pz_arena_counters before = count(&m->arena);
    test_env_fail(&test_env, 0, 1);
    CHECK_EQ(pz_arena_reserve(&m->arena, 64u << 20, 100000, 1), PZ_NOMEM);
    CHECK_EQ(pz_arena_reserve(&m->arena, 0, 0, 100), PZ_NOMEM);
    test_env_fail(&test_env, 0, 0);
    CHECK(model_check(m));
    pz_arena_counters after = count(&m->arena);
    CHECK_EQ(memcmp(&before, &after, sizeof before), 0);
    model_free(m);
}
