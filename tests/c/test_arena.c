/* Tests of the arena: blocks and slots beside a model, limits, damage, poisoning. */
#include "arena_model.h"

/* ---- basics ---- */
TEST(new_arena_owns_nothing)
{
    long long before = atomic_load(&test_env.live_bytes);
    pz_arena a;
    CHECK_EQ(pz_arena_init(&a, &test_env.env), PZ_OK);
    CHECK_EQ(atomic_load(&test_env.live_bytes), before);
    CHECK(valid(&a));
    pz_arena_clean(&a, 1000);
    pz_arena_settle(&a);
    CHECK_EQ(count(&a).held_bytes, 0);
    pz_arena_destroy(&a);
    CHECK(sizeof(pz_arena) <= 256);
}

TEST(take_swing_drop)
{
    model *m = model_new();
    CHECK(model_put_one(m, 0, 100));
    CHECK(model_put_one(m, 1, 8));
    model_check(m);
    CHECK_EQ(count(&m->arena).live_bytes, 104 + 8);
    CHECK_EQ(count(&m->arena).blocks_taken, 2);
    CHECK(model_put_one(m, 0, 500));
    model_check(m);
    model_drop(m, 0);
    model_check(m);
    model_drop(m, 0);
    model_check(m);
    CHECK_EQ(count(&m->arena).live_bytes, 0);
    model_free(m);
}

TEST(slot_without_a_block)
{
    model *m = model_new();
    CHECK_EQ(pz_arena_reserve(&m->arena, 0, 0, 2), PZ_OK);
    pz_slot first = pz_arena_slot_new(&m->arena), second = pz_arena_slot_new(&m->arena);
    pz_arena_settle(&m->arena);
    CHECK(first != second);
    m->all[m->count++] = (owned){.slot = first};
    m->all[m->count++] = (owned){.slot = second};
    model_check(m);
    CHECK_EQ(count(&m->arena).span_bytes, 0);
    model_drop(m, 0);
    model_drop(m, 0);
    model_check(m);
    model_free(m);
}

TEST(slots_are_used_again)
{
    model *m = model_new();
    for (uint32_t i = 0; i < 3000; i++)
        REQUIRE(model_put_one(m, i, 24));
    CHECK(model_check(m));
    for (int i = 0; i < 1000; i++)
        model_drop(m, pick(m, m->count));
    CHECK(model_check(m));
    for (uint32_t i = 2000; i < 3000; i++) {
        REQUIRE(model_put_one(m, i, 24));
        CHECK(m->all[i].slot < 3000);
    }
    CHECK(model_check(m));
    model_free(m);
}

TEST(freed_block_is_found_by_its_size)
{
    model *m = model_new();
    for (uint32_t i = 0; i < 200; i++)
        REQUIRE(model_put_one(m, i, 104 + 8 * (i % 20)));
    const void *gone = pz_arena_at(&m->arena, m->all[50].slot); /* of 184 bytes */
    model_drop(m, 50);
    CHECK(model_check(m));
    CHECK(model_put_one(m, 199, 176));
    CHECK(pz_arena_at(&m->arena, m->all[199].slot) != gone);
    CHECK(model_put_one(m, 199, 184));
    CHECK(pz_arena_at(&m->arena, m->all[199].slot) == gone);
    CHECK(model_check(m));
    model_free(m);
}

TEST(last_block_is_taken_back)
{
    model *m = model_new();
    CHECK(model_put_one(m, 0, 104));
    CHECK(model_put_one(m, 1, 200));
    const void *gone = pz_arena_at(&m->arena, m->all[1].slot);
    model_drop(m, 1);
    CHECK(model_put_one(m, 1, 320)); /* another size, the same place */
    CHECK(pz_arena_at(&m->arena, m->all[1].slot) == gone);
    CHECK(model_check(m));
    model_free(m);
}

/* ---- random operations ---- */
TEST(random_operations)
{
    for (mix kind = 0; kind < MIXES; kind++) {
        model *m = model_new();
        int steps = kind == LARGE ? 400 : 1500;
        for (int step = 0; step < steps; step++) {
            random_operation(m, kind);
            uint32_t target = step < steps / 2 ? 120 : 4; /* grows, then shrinks */
            while (m->count > target)
                model_drop(m, pick(m, m->count));
            if (!model_check(m)) {
                printf("    mix %d, step %d\n", (int)kind, step);
                return;
            }
        }
        model_free(m);
    }
}

/* ---- limits ---- */
TEST(slot_limit_is_full)
{
    model *m = model_new();
    pz_arena_limit(&m->arena, 100, 65535);
    for (uint32_t i = 0; i < 100; i++)
        REQUIRE(model_put_one(m, i, 64));
    CHECK_EQ(pz_arena_reserve(&m->arena, 64, 1, 1), PZ_FULL);
    CHECK(model_check(m));
    CHECK_EQ(pz_arena_reserve(&m->arena, 64, 1, 0), PZ_OK);
    pz_arena_settle(&m->arena);
    model_drop(m, 17);
    CHECK(model_put_one(m, 99, 64));
    CHECK_EQ(pz_arena_reserve(&m->arena, 64, 1, 1), PZ_FULL);
    CHECK_EQ(pz_arena_reserve(&m->arena, 64, 1, SIZE_MAX), PZ_FULL);
    CHECK(model_check(m));
    model_free(m);
}

TEST(span_limit_is_full_after_spans_have_grown)
{
    model *m = model_new();
    enum { SPANS = 24 };
    pz_arena_limit(&m->arena, 0xffffffffu, SPANS);
    pz_status status;
    while ((status = pz_arena_reserve(&m->arena, PZ_BLOCK_MAX, 1, 1)) == PZ_OK) {
        model_put(m, m->count, PZ_BLOCK_MAX);
        pz_arena_settle(&m->arena);
        REQUIRE(m->count < MODEL_MAX);
    }
    CHECK_EQ(status, PZ_FULL);
    CHECK(model_check(m));
    CHECK_EQ(count(&m->arena).spans, SPANS);
    /* The last half: a quarter of all of 512 KiB, a quarter of 1 MiB. */
    CHECK(count(&m->arena).span_bytes >= SPANS / 4 * 1536u * 1024);
    CHECK_EQ(pz_arena_reserve(&m->arena, 64u << 20, 512, 0), PZ_FULL);
    model_drop(m, 0);
    CHECK(model_check(m));
    model_free(m);
}

TEST(many_small_arenas_need_few_mappings)
{
    enum { N = 2000 };
    pz_arena *all = calloc(N, sizeof *all);
    REQUIRE(all != NULL);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(pz_arena_init(&all[i], &test_env.env), PZ_OK);
        CHECK_EQ(pz_arena_reserve(&all[i], 5000, 4, 4), PZ_OK);
        for (int k = 0; k < 4; k++) {
            pz_slot slot = pz_arena_slot_new(&all[i]);
            pz_arena_swing(&all[i], slot, pz_arena_take(&all[i], slot, 1200));
        }
        pz_arena_settle(&all[i]);
        CHECK(count(&all[i]).held_bytes <= 9000);
    }
    pz_pool_counters p;
    pz_pool_count(test_env.env.pool, &p);
    CHECK(p.chunks <= 1 + N * 9000u / PZ_POOL_CHUNK);
    for (int i = 0; i < N; i++)
        pz_arena_destroy(&all[i]);
    free(all);
}

/* ---- damage is found ---- */
static void expect_damage(pz_arena *a, const char *what)
{
    pz_why why = {0};
    CHECK_EQ(pz_arena_validate(a, &why), PZ_CORRUPT);
    if (!CHECK(why.what != NULL && strcmp(why.what, what) == 0))
        printf("    %s instead of %s\n", why.what, what);
}

#define DAMAGE(field, value, what)      \
    do {                                \
        __typeof__(field) was = field;  \
        field = (value);                \
        expect_damage(&m->arena, what); \
        field = was;                    \
        CHECK(valid(&m->arena));        \
    } while (0)

TEST(validate_finds_damage)
{
    model *m = model_new();
    fragment(m, 300);
    pz_arena_body *b = m->arena.body;
    pz_block_head *head = pz_arena_at(&m->arena, m->all[0].slot);
    PZ_UNPOISON(head, sizeof *head);
    uint32_t list = 0;
    while (b->lists[list] == NULL && list < b->list_mask)
        list++;
    uint32_t closed = b->buckets[31 - __builtin_clz(b->bucket_bits)];
    DAMAGE(head->slot, head->slot + 1, "arena: slot of a block");
    DAMAGE(head->slot, PZ_NO_SLOT, "arena: live bytes of a span");
    DAMAGE(head->steps, 0, "arena: size of a block");
    DAMAGE(head->span, (uint16_t)(head->span + 1), "arena: span of a block");
    DAMAGE(b->spans[closed].live, b->spans[closed].live + 8, "arena: live bytes of a span");
    DAMAGE(b->spans[closed].state, SPAN_VICTIM + 1, "arena: state of a span");
    DAMAGE(b->spans[closed].bucket, 0, "arena: bucket of a span");
    DAMAGE(b->bucket_bits, 0, "arena: bit of a bucket");
    DAMAGE(b->live_bytes, b->live_bytes + 8, "arena: live bytes");
    DAMAGE(b->span_bytes, b->span_bytes + 8, "arena: span bytes");
    DAMAGE(b->table_bytes, b->table_bytes + 8, "arena: bytes of tables");
    DAMAGE(b->blocks, b->blocks + 1, "arena: blocks");
    DAMAGE(b->span_count, b->span_count + 1, "arena: spans");
    DAMAGE(b->slots, b->slots + 1, "arena: slots in use");
    DAMAGE(b->slot_free, PZ_NO_SLOT, "arena: free slots");
    DAMAGE(b->lists[list], NULL, "arena: free blocks");
    DAMAGE(b->open, NO_SPAN, "arena: open span");
    DAMAGE(b->victim, b->open, "arena: victim span");
    DAMAGE(m->arena.end, m->arena.end - 8, "arena: rest of the open span");
    DAMAGE(m->arena.slots_ready, m->arena.slots_ready + 1, "arena: slots ready");
    model_free(m);
}

#ifdef PZ_POISONS
TEST(what_is_no_blocks_own_is_poisoned)
{
    model *m = model_new();
    CHECK(model_put_one(m, 0, 61)); /* rounded to 64 */
    CHECK(model_put_one(m, 1, 80));
    CHECK(model_put_one(m, 2, 80));
    const char *first = pz_arena_at(&m->arena, m->all[0].slot);
    const char *second = pz_arena_at(&m->arena, m->all[1].slot);
    CHECK_EQ(second - first, 64);
    CHECK(__asan_address_is_poisoned(first));
    CHECK(__asan_region_is_poisoned((void *)(uintptr_t)(first + 8), 53) == NULL);
    CHECK(__asan_address_is_poisoned(first + 61));
    CHECK(__asan_address_is_poisoned(second));
    model_drop(m, 1);
    CHECK(__asan_address_is_poisoned(second + 8));
    CHECK(__asan_address_is_poisoned(m->arena.bump));
    model_free(m);
}

TEST(moved_blocks_keep_their_exact_end)
{
    model *m = model_new();
    fragment(m, 500);
    pz_arena_clean(&m->arena, 1u << 30);
    CHECK(count(&m->arena).blocks_moved > 10);
    for (uint32_t i = 0; i < m->count; i++) {
        const char *block = pz_arena_at(&m->arena, m->all[i].slot);
        CHECK(!__asan_address_is_poisoned(block + m->all[i].asked - 1));
        CHECK(m->all[i].asked % 8 == 0 || __asan_address_is_poisoned(block + m->all[i].asked));
    }
    model_free(m);
}
#endif
