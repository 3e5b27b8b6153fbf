/* The public functions of pz.h: a set's life, and one indirect call to its layout for the rest. */
#include "../pz.h"

#include <math.h>
#include <string.h>

#include "../zset/set.h"
#include "../zset/snapshot.h"

static const pz_ops *const layouts[] = {
#define X(suffix, member, score, name) &pz_ops_##suffix,
#include "layouts.def"
#undef X
};

static const pz_ops *layout_of(pz_member_kind member, pz_score_kind score)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (layouts[i]->member_kind == member && layouts[i]->score_kind == score)
            return layouts[i];
    }
    return NULL;
}

uint32_t pz_merge_threshold(uint32_t capacity, double exponent)
{
    double exact = pow((double)capacity, exponent);
    uint32_t threshold = (uint32_t)exact;
    if (exact - (double)threshold > 1e-9)
        threshold++;
    return threshold < 1 ? 1 : threshold > capacity ? capacity : threshold;
}

/* ---- life ---- */
static bool capacity_legal(uint32_t capacity)
{
    return capacity >= PZ_LEAF_CAPACITY_MIN && capacity <= PZ_LEAF_MAX;
}

pz_status pz_new(const pz_env *env, pz_member_kind member, pz_score_kind score,
                 const pz_options *options, pz_set **out)
{
    const pz_ops *ops = layout_of(member, score);
    if (env == NULL || ops == NULL || options == NULL)
        return PZ_INVALID;
    uint32_t m = options->member_leaf_capacity, o = options->order_leaf_capacity;
    m = m == 0 ? PZ_LEAF_CAPACITY_DEFAULT : m;
    o = o == 0 ? PZ_LEAF_CAPACITY_DEFAULT : o;
    if (!(options->merge_exponent >= 0 && options->merge_exponent <= 1) || !capacity_legal(m) ||
        !capacity_legal(o))
        return PZ_INVALID;
    pz_set *z = pz_env_alloc(env, sizeof *z);
    if (z == NULL)
        return PZ_NOMEM;
    memset(z, 0, sizeof *z);
    z->env = env;
    z->ops = ops;
    z->merge_exponent = options->merge_exponent;
    z->score_rle = options->score_rle;
    z->member_capacity = (uint16_t)m;
    z->order_capacity = (uint16_t)o;
    *out = z;
    return PZ_OK;
}

pz_status pz_new_like(const pz_set *like, pz_set **out)
{
    pz_options options;
    pz_options_of(like, &options);
    return pz_new(like->env, like->ops->member_kind, like->ops->score_kind, &options, out);
}

static void tree_init(pz_tree *t, uint32_t capacity, double exponent)
{
    memset(t, 0, sizeof *t);
    t->root = PZ_NO_SLOT;
    t->leaf_capacity = capacity;
    t->merge_threshold = pz_merge_threshold(capacity, exponent);
}

pz_status pz_body_new(pz_set *z)
{
    pz_body *b = pz_env_alloc(z->env, sizeof *b);
    if (b == NULL)
        return PZ_NOMEM;
    memset(b, 0, sizeof *b);
    pz_status status = pz_arena_init(&b->arena, z->env);
    if (status != PZ_OK) {
        pz_env_free(z->env, b, sizeof *b);
        return status;
    }
    tree_init(&b->member, z->member_capacity, z->merge_exponent);
    tree_init(&b->order, z->order_capacity, z->merge_exponent);
    z->block = b;
    z->room = 0;
    z->large = true;
    return PZ_OK;
}

void pz_body_free(pz_set *z)
{
    pz_body *b = pz_body_of(z);
    pz_arena_destroy(&b->arena);
    pz_env_free(z->env, b, sizeof *b);
    z->block = NULL;
    z->room = 0;
    z->large = false;
}

static size_t small_bytes(const pz_set *z)
{
    return (size_t)z->room * (z->ops->member_bytes + z->ops->score_bytes);
}

static void drop_content(pz_set *z)
{
    if (z->large)
        pz_body_free(z);
    else
        pz_env_free(z->env, z->block, small_bytes(z));
    z->block = NULL;
    z->room = 0;
    z->len = 0;
}

void pz_free(pz_set *z)
{
    if (z == NULL)
        return;
    drop_content(z);
    pz_env_free(z->env, z, sizeof *z);
}

void pz_clear(pz_set *z)
{
    if (z->len == 0)
        return;
    drop_content(z);
    z->version++;
}

pz_status pz_copy(const pz_set *z, pz_set **out)
{
    return z->ops->copy(z, out);
}

pz_member_kind pz_member_kind_of(const pz_set *z)
{
    return z->ops->member_kind;
}

pz_score_kind pz_score_kind_of(const pz_set *z)
{
    return z->ops->score_kind;
}

void pz_options_of(const pz_set *z, pz_options *out)
{
    out->merge_exponent = z->merge_exponent;
    out->score_rle = z->score_rle;
    out->member_leaf_capacity = z->member_capacity;
    out->order_leaf_capacity = z->order_capacity;
}

uint64_t pz_len(const pz_set *z)
{
    return z->len;
}

uint64_t pz_version(const pz_set *z)
{
    return z->version;
}

/* ---- look-ups ---- */
pz_status pz_score(const pz_set *z, size_t n, pz_in members, pz_out scores, pz_call *call)
{
    return z->ops->score(z, n, members, scores, call);
}

pz_status pz_contains(const pz_set *z, size_t n, pz_in members, pz_out found, pz_call *call)
{
    return z->ops->contains(z, n, members, found, call);
}

pz_status pz_rank(const pz_set *z, size_t n, pz_in members, bool reverse, pz_rank_method method,
                  pz_out ranks, pz_call *call)
{
    return z->ops->rank(z, n, members, reverse, method, ranks, call);
}

bool pz_score_one(const pz_set *z, const void *member, double *score)
{
    return z->ops->score_one(z, member, score);
}

int64_t pz_rank_one(const pz_set *z, const void *member, bool reverse)
{
    return z->ops->rank_one(z, member, reverse);
}

/* ---- changes ---- */
pz_status pz_add(pz_set *z, size_t n, pz_in members, pz_in scores, unsigned flags, uint64_t *added,
                 uint64_t *updated, pz_call *call)
{
    return z->ops->add(z, n, members, scores, flags, added, updated, call);
}

pz_status pz_incr(pz_set *z, size_t n, pz_in members, pz_in amounts, bool wide, pz_out sums,
                  pz_call *call)
{
    return z->ops->incr(z, n, members, amounts, wide, sums, call);
}

pz_status pz_remove(pz_set *z, size_t n, pz_in members, uint64_t *removed, pz_call *call)
{
    return z->ops->remove(z, n, members, removed, call);
}

pz_status pz_remove_range(pz_set *z, uint64_t start, uint64_t stop, pz_call *call)
{
    return z->ops->remove_range(z, start, stop, call);
}

/* ---- ranges and member order ---- */
pz_status pz_range(const pz_set *z, uint64_t start, uint64_t n, bool reverse, pz_out members,
                   pz_out scores, pz_call *call)
{
    return z->ops->range(z, start, n, reverse, members, scores, call);
}

uint64_t pz_position_of_score(const pz_set *z, double bound, bool inclusive)
{
    return z->ops->position_of_score(z, bound, inclusive);
}

pz_status pz_nth_by_member(const pz_set *z, uint64_t k, void *member, double *score)
{
    return z->ops->nth_by_member(z, k, member, score);
}

pz_status pz_scan(const pz_set *z, uint64_t cursor, size_t count, size_t room, pz_out members,
                  pz_out scores, size_t *written, uint64_t *next)
{
    return z->ops->scan(z, cursor, count, room, members, scores, written, next);
}

/* ---- sets ---- */
pz_status pz_combine(pz_algebra op, size_t count, const pz_set *const *sets, const double *weights,
                     pz_aggregate aggregate, pz_set **out, pz_call *call)
{
    if (count == 0)
        return PZ_INVALID;
    for (size_t i = 0; i < count; i++) {
        if (sets[i]->ops != sets[0]->ops || (weights != NULL && isnan(weights[i])))
            return PZ_INVALID;
    }
    return sets[0]->ops->combine(op, count, sets, weights, aggregate, out, call);
}

bool pz_equal(const pz_set *a, const pz_set *b)
{
    return a == b || (a->ops == b->ops && a->ops->equal(a, b));
}

/* ---- upkeep and inspection ---- */
pz_status pz_optimize(pz_set *z, pz_call *call)
{
    return z->ops->optimize(z, call);
}

void pz_memory_of(const pz_set *z, pz_memory *out)
{
    z->ops->memory(z, out);
}

uint64_t pz_allocated_bytes(const pz_set *z)
{
    if (!z->large)
        return sizeof *z + small_bytes(z);
    pz_arena_counters c;
    pz_arena_count(&pz_body_of(z)->arena, &c);
    return sizeof *z + sizeof(pz_body) + c.held_bytes;
}

void pz_work_of(const pz_set *z, pz_work *out)
{
    memset(out, 0, sizeof *out);
    if (!z->large)
        return;
    const pz_body *b = pz_body_of(z);
    pz_arena_counters c;
    pz_arena_count(&b->arena, &c);
    out->leaves_coded = b->work.leaves_coded;
    out->bytes_coded = b->work.bytes_coded;
    out->bytes_moved = b->work.bytes_grown + c.bytes_moved;
    out->branches_written = b->work.branches_written;
}

void pz_leaves(const pz_set *z, bool member_tree, int (*visit)(void *, const pz_leaf_info *),
               void *ctx)
{
    z->ops->leaves(z, member_tree, visit, ctx);
}

pz_status pz_validate(const pz_set *z, pz_why *why)
{
    return z->ops->validate(z, why);
}

pz_status pz_dump(const pz_set *z, int (*write)(void *, const char *, size_t), void *ctx)
{
    return z->ops->dump(z, write, ctx);
}

/* ---- snapshots ---- */
uint64_t pz_save_bound(const pz_set *z)
{
    return z->ops->save_bound(z);
}

pz_status pz_save(const pz_set *z, int (*write)(void *, const void *, size_t), void *ctx,
                  pz_call *call)
{
    return z->ops->save(z, write, ctx, call);
}

pz_status pz_load(const pz_env *env, const void *bytes, size_t n, const bool *rle,
                  const double *exponent, pz_set **out, pz_call *call)
{
    pz_snapshot_header header;
    pz_set *z;
    if (bytes == NULL && n > 0)
        return PZ_INVALID;
    PZ_TRY(pz_snapshot_header_read(bytes, n, &header, call));
    if (rle != NULL)
        header.options.score_rle = *rle;
    if (exponent != NULL)
        header.options.merge_exponent = *exponent;
    PZ_TRY(pz_new(env, header.member, header.score, &header.options, &z));
    pz_status status = z->ops->load(z, bytes, n, call);
    if (status != PZ_OK) {
        pz_free(z);
        return status;
    }
    *out = z;
    return PZ_OK;
}

void pz_limit_for_tests(pz_set *z, uint32_t slots, uint32_t spans)
{
    if (z->large)
        pz_arena_limit(&pz_body_of(z)->arena, slots, spans);
}
