/* A model of an arena for its tests: which slots are in use and what each block holds. Every change
 * goes through model_put and model_drop, which check what they can; model_check compares all. */
#ifndef PZ_ARENA_MODEL_H
#define PZ_ARENA_MODEL_H

#include "test.h"

#include "../../csrc/arena/body.h"

enum { MODEL_MAX = 4096 };

typedef struct owned {
    pz_slot slot;
    uint32_t asked; /* 0: the slot names no block */
    uint64_t seed; /* of the content */
} owned;

typedef struct model {
    pz_arena arena;
    const pz_env *env;
    owned all[MODEL_MAX];
    uint32_t count;
    uint64_t rng;
} model;

static inline void fill(void *block, uint32_t asked, uint64_t seed)
{
    memset((char *)block + 8, (int)(seed & 0xff), asked - 8);
}

static inline int holds(const void *block, uint32_t asked, uint64_t seed)
{
    const unsigned char *bytes = block;
    for (uint32_t i = 8; i < asked; i++) {
        if (bytes[i] != (seed & 0xff))
            return 0;
    }
    return 1;
}

static inline int valid(const pz_arena *a)
{
    pz_why why = {0};
    if (pz_arena_validate(a, &why) == PZ_OK)
        return 1;
    printf("    %s at %llu: wanted %llu, got %llu\n", why.what, why.where, why.wanted, why.got);
    return 0;
}

static inline pz_arena_counters count(const pz_arena *a)
{
    pz_arena_counters c;
    pz_arena_count(a, &c);
    return c;
}

static inline uint64_t rounded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static inline model *model_new(void)
{
    model *m = calloc(1, sizeof *m);
    if (m == NULL || pz_arena_init(&m->arena, &test_env.env) != PZ_OK)
        abort();
    m->env = &test_env.env;
    m->rng = test_seed();
    return m;
}

static inline void model_free(model *m)
{
    pz_arena_destroy(&m->arena);
    CHECK(valid(&m->arena));
    CHECK_EQ(count(&m->arena).held_bytes, 0);
    free(m);
}

/* Contents, numbers of slots and bytes, and that held_bytes is what the hooks have given. */
static inline int model_check(const model *m)
{
    pz_arena_counters c = count(&m->arena);
    uint64_t live = 0, blocks = 0;
    int ok = CHECK(valid(&m->arena));
    for (uint32_t i = 0; i < m->count; i++) {
        const owned *o = &m->all[i];
        const void *block = pz_arena_at(&m->arena, o->slot);
        if (o->asked == 0) {
            ok &= CHECK(block == NULL);
            continue;
        }
        ok &= CHECK(pz_block_slot(block) == o->slot);
        ok &= CHECK_EQ(pz_block_bytes(block), rounded(o->asked));
        ok &= CHECK(holds(block, o->asked, o->seed));
        live += rounded(o->asked);
        blocks++;
    }
    ok &= CHECK_EQ(c.slots, m->count);
    ok &= CHECK_EQ(c.blocks, blocks);
    ok &= CHECK_EQ(c.live_bytes, live);
    ok &= CHECK_EQ(c.free_bytes, c.span_bytes - live);
    pz_pool_counters p;
    pz_pool_count(test_env.env.pool, &p);
    ok &= CHECK_EQ(c.held_bytes, (uint64_t)atomic_load(&test_env.live_bytes) - p.meta_bytes -
                                     p.mapped_bytes + p.taken_bytes);
    return ok;
}

/* Within a reservation: a new slot with a block, or a new block for an old slot. */
static inline void model_put(model *m, uint32_t index, uint32_t asked)
{
    if (index == m->count) {
        pz_slot slot = pz_arena_slot_new(&m->arena);
        if (!CHECK(slot != PZ_NO_SLOT))
            return;
        CHECK(pz_arena_at(&m->arena, slot) == NULL);
        m->all[m->count++] = (owned){.slot = slot};
    }
    owned *o = &m->all[index];
    const void *old = pz_arena_at(&m->arena, o->slot);
    void *block = pz_arena_take(&m->arena, o->slot, asked);
    if (!CHECK(block != NULL))
        return;
    CHECK_EQ((uintptr_t)block % PZ_BLOCK_STEP, 0);
    CHECK(pz_arena_at(&m->arena, o->slot) == old);
    o->seed = test_random(&m->rng);
    o->asked = asked;
    fill(block, asked, o->seed);
    pz_arena_swing(&m->arena, o->slot, block);
    CHECK(pz_arena_at(&m->arena, o->slot) == block);
}

static inline void model_drop(model *m, uint32_t index)
{
    pz_arena_drop(&m->arena, m->all[index].slot);
    m->all[index] = m->all[--m->count];
}

/* One block as an operation of its own; false when it was refused. */
static inline int model_put_one(model *m, uint32_t index, uint32_t asked)
{
    if (pz_arena_reserve(&m->arena, asked, 1, index == m->count) != PZ_OK)
        return 0;
    model_put(m, index, asked);
    pz_arena_settle(&m->arena);
    return 1;
}

static inline uint32_t pick(model *m, uint32_t n)
{
    return (uint32_t)(test_random(&m->rng) % n);
}

/* Sizes that owners ask for. */
typedef enum mix { LEAVES, TINY, FEW_SIZES, LARGE, ANY, MIXES } mix;

static inline uint32_t size_of_mix(model *m, mix sizes)
{
    switch (sizes) {
    case LEAVES:
        return 300 + pick(m, 2700);
    case TINY:
        return 8 + pick(m, 40);
    case FEW_SIZES:
        return 64u << pick(m, 6);
    case LARGE:
        return PZ_BLOCK_MAX - pick(m, 70000);
    default:
        return 8 + pick(m, 1u << (3 + pick(m, 15)));
    }
}

/* One operation: a reservation, some takes, drops and cleaning within it, and its end. */
static inline void random_operation(model *m, mix kind)
{
    uint32_t blocks = 1 + pick(m, 6), sizes[6];
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        sizes[i] = size_of_mix(m, kind);
        bytes += rounded(sizes[i]);
    }
    uint32_t spare = pick(m, 3);
    if (m->count + blocks > MODEL_MAX ||
        !CHECK_EQ(pz_arena_reserve(&m->arena, bytes + 8 * spare, blocks + spare, blocks), PZ_OK))
        return;
    for (uint32_t i = 0; i < blocks; i++) {
        model_put(m, pick(m, 2) == 0 || m->count == 0 ? m->count : pick(m, m->count), sizes[i]);
        if (pick(m, 4) == 0)
            model_drop(m, pick(m, m->count));
        if (pick(m, 8) == 0)
            pz_arena_clean(&m->arena, pick(m, 5000));
    }
    if (pick(m, 8) != 0) /* else the next reservation finds spares */
        pz_arena_settle(&m->arena);
    pz_arena_clean(&m->arena, pick(m, 2) * bytes);
}

/* Blocks as leaves are, a third of them dropped again. */
static inline void fragment(model *m, uint32_t blocks)
{
    while (m->count < blocks)
        model_put_one(m, m->count, 300 + pick(m, 2700));
    for (uint32_t i = blocks / 3; i > 0; i--)
        model_drop(m, pick(m, m->count));
}

#endif
