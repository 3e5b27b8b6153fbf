/* TEMPLATE: whole sets: packing, copy, optimize; union, intersection and difference.
 *
 * Combining goes set by set, in argument order: a list of (member, value as double) in member order
 * is merged with the next set's members. Time is the sum of the lists merged, memory two lists of
 * 16 to 32 bytes an entry. */

/* ---- packing: new trees from entries in order ---- */
typedef struct PZ_FN(pack) {
    uint32_t n, fill;
    PZ_FN(key) keys[PZ_LEAF_MAX];
} PZ_FN(pack);

#define PZ_T mt
#include "pack.tmpl.h"
#undef PZ_T
#define PZ_T ot
#include "pack.tmpl.h"
#undef PZ_T

/* Write the entries of a large set into a new body's trees; it has been reserved. */
static void PZ_FN(pack_body)(const pz_body *from, pz_body *to, bool rle, bool full)
{
    if (from->member.root == PZ_NO_SLOT)
        return;
    PZ_FN(mt_pack_tree)(from, &from->member, to, &to->member, rle, full);
    PZ_FN(ot_pack_tree)(from, &from->order, to, &to->order, rle, full);
}

/* Room that packing `n` entries into both trees of an empty body may take. */
static pz_status PZ_FN(pack_reserve)(pz_body *b, uint64_t n)
{
    size_t bytes = 0, blocks = 0, slots = 0;
    PZ_FN(mt_change_room)(&b->member, n, &bytes, &blocks, &slots);
    PZ_FN(ot_change_room)(&b->order, n, &bytes, &blocks, &slots);
    return pz_arena_reserve(&b->arena, bytes, blocks, slots);
}

/* A packed twin of a large set's body, held by `twin`, which is otherwise a copy of `z`. */
static pz_status PZ_FN(pack_twin)(const pz_set *z, pz_set *twin, bool full)
{
    *twin = *z;
    PZ_TRY(pz_body_new(twin));
    pz_status status = PZ_FN(pack_reserve)(pz_body_of(twin), z->len);
    if (status != PZ_OK) {
        pz_body_free(twin);
        return status;
    }
    PZ_FN(pack_body)(pz_body_of(z), pz_body_of(twin), z->score_rle, full);
    pz_arena_settle(&pz_body_of(twin)->arena);
    return PZ_OK;
}

static pz_status PZ_FN(copy)(const pz_set *z, pz_set **out)
{
    pz_set *copy;
    PZ_TRY(pz_new_like(z, &copy));
    pz_status status;
    if (z->large) {
        pz_set twin;
        status = PZ_FN(pack_twin)(z, &twin, false);
        if (status == PZ_OK) {
            copy->block = twin.block;
            copy->large = true;
        }
    } else {
        status = PZ_FN(small_resize)(copy, (uint32_t)z->len);
        if (status == PZ_OK && z->len > 0)
            memcpy(copy->block, z->block, (size_t)z->len * PZ_REC_BYTES);
    }
    if (status != PZ_OK) {
        pz_free(copy);
        return status;
    }
    copy->len = z->len;
    *out = copy;
    return PZ_OK;
}

static pz_status PZ_FN(optimize)(pz_set *z, pz_call *call)
{
    (void)call;
    if (!z->large)
        return PZ_FN(small_resize)(z, (uint32_t)z->len);
    pz_set twin;
    PZ_TRY(PZ_FN(pack_twin)(z, &twin, true));
    /* A scan that is under way starts over: every leaf has a new label. */
    pz_body_of(&twin)->scan_epoch = (pz_body_of(z)->scan_epoch + 1) & 63u;
    pz_body_of(&twin)->work = pz_body_of(z)->work;
    pz_body_free(z);
    z->block = twin.block;
    z->large = true;
    return PZ_OK;
}

/* ---- combining ---- */
typedef struct PZ_FN(term) {
    double d;
    PZ_M m;
} PZ_FN(term);

/* A set's entries in member order, leaf by leaf. */
typedef struct PZ_FN(members) {
    const pz_set *z;
    pz_path path;
    bool started, ended;
    uint32_t n, at;
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
} PZ_FN(members);

static bool PZ_FN(members_more)(PZ_FN(members) *w)
{
    if (w->at < w->n)
        return true;
    if (w->ended || w->z->len == 0)
        return false;
    w->at = 0;
    if (!w->z->large) {
        PZ_FN(key) keys[PZ_SMALL_CAPACITY];
        w->n = (uint32_t)w->z->len;
        memcpy(keys, w->z->block, w->n * sizeof *keys);
        qsort(keys, w->n, sizeof *keys, PZ_FN(by_member));
        for (uint32_t i = 0; i < w->n; i++) {
            w->m[i] = keys[i].m;
            w->s[i] = keys[i].s;
        }
        w->ended = true;
        return true;
    }
    const pz_body *b = pz_body_of(w->z);
    if (!w->started) {
        pz_path_first(&b->arena, &b->member, &w->path);
        w->started = true;
    } else if (!pz_path_next(&b->arena, &w->path)) {
        w->ended = true;
        w->n = 0;
        return false;
    }
    w->n = PZ_FN(mt_leaf_decode)(pz_leaf_at(&b->arena, w->path.leaf), w->m, w->s);
    return true;
}

static inline double PZ_FN(weigh)(PZ_S s, double weight)
{
    double d = PZ_FN(score_double)(s) * weight;
    return isnan(d) ? 0.0 : d; /* an infinity times 0 */
}

static inline double PZ_FN(aggregate)(double a, double b, pz_aggregate how)
{
    if (how == PZ_MIN)
        return b < a ? b : a;
    if (how == PZ_MAX)
        return b > a ? b : a;
    double sum = a + b;
    return isnan(sum) ? 0.0 : sum; /* an infinity and its opposite */
}

/* Merge a list with the next set; `to` has the room. Gives the new length. */
static size_t PZ_FN(combine_next)(pz_algebra op, const PZ_FN(term) *from, size_t n,
                                  PZ_FN(members) *w, double weight, pz_aggregate how,
                                  PZ_FN(term) *to)
{
    size_t i = 0, out = 0;
    bool more = PZ_FN(members_more)(w);
    while (i < n || (more && op == PZ_UNION)) {
        bool left = i < n && (!more || from[i].m < w->m[w->at]);
        if (left) {
            if (op != PZ_INTERSECTION)
                to[out++] = from[i];
            i++;
            continue;
        }
        PZ_M m = w->m[w->at];
        bool both = i < n && from[i].m == m;
        double d = PZ_FN(weigh)(w->s[w->at], weight);
        if (both && op != PZ_DIFFERENCE) {
            to[out].m = m;
            to[out++].d = PZ_FN(aggregate)(from[i].d, d, how);
        } else if (!both && op == PZ_UNION) {
            to[out].m = m;
            to[out++].d = d;
        }
        i += both;
        w->at++;
        more = PZ_FN(members_more)(w);
    }
    return out;
}

/* Fill an empty set from a list in member order; the list's memory is used up. */
static pz_status PZ_FN(fill)(pz_set *z, PZ_FN(term) *terms, size_t n, pz_call *call)
{
    PZ_FN(key) *keys = (PZ_FN(key) *)(void *)terms; /* not longer than a term: packed in place */
    for (size_t i = 0; i < n; i++) {
        PZ_S s;
        pz_status status = PZ_FN(sum)(PZ_ZERO, terms[i].d, &s);
        PZ_M m = terms[i].m;
        if (status != PZ_OK) {
            if (call != NULL)
                call->index = i;
            return status;
        }
        keys[i].s = s;
        keys[i].m = m;
    }
    pz_in members = {(char *)keys + offsetof(PZ_FN(key), m), PZ_REC_BYTES};
    pz_in scores = {keys, PZ_REC_BYTES};
    for (size_t i = 0; i < n; i++) { /* to the form that add takes */
        PZ_FN(member_store)((char *)&keys[i] + offsetof(PZ_FN(key), m), keys[i].m);
        PZ_FN(score_store)(&keys[i], keys[i].s);
    }
    uint64_t added, updated;
    return PZ_FN(add)(z, n, members, scores, 0, &added, &updated, call);
}

static pz_status PZ_FN(combine)(pz_algebra op, size_t count, const pz_set *const *sets,
                                const double *weights, pz_aggregate how, pz_set **out,
                                pz_call *call)
{
    pz_status status = PZ_NOMEM;
    size_t room = 0, n = 0;
    for (size_t i = 0; i < count; i++)
        room += op == PZ_UNION || i == 0 ? (size_t)sets[i]->len : 0;
    if (room > PZ_ROWS_MAX)
        return PZ_FULL;
    const pz_env *env = sets[0]->env;
    const size_t bytes = (room + 1) * sizeof(PZ_FN(term));
    PZ_FN(term) *from = pz_scratch_new(env, bytes), *to = pz_scratch_new(env, bytes);
    PZ_FN(members) *w = pz_env_alloc(env, sizeof *w);
    pz_set *z = NULL;
    pz_fp mode = pz_fp_enter();
    if (from == NULL || to == NULL || w == NULL)
        goto done;
    for (size_t i = 0; i < count; i++) {
        w->z = sets[i];
        w->started = w->ended = false;
        w->n = w->at = 0;
        double weight = weights != NULL ? weights[i] : 1.0;
        n = PZ_FN(combine_next)(i == 0 ? PZ_UNION : op, from, n, w, weight, how, to);
        PZ_FN(term) *swap = from;
        from = to;
        to = swap;
        status = pz_poll(call);
        if (status != PZ_OK)
            goto done;
    }
    pz_scratch_free(env, to, bytes);
    to = NULL;
    status = pz_new_like(sets[0], &z);
    if (status == PZ_OK)
        status = PZ_FN(fill)(z, from, n, call);
done:
    pz_fp_leave(mode);
    pz_env_free(env, w, sizeof *w);
    pz_scratch_free(env, to, bytes);
    pz_scratch_free(env, from, bytes);
    if (status != PZ_OK) {
        pz_free(z);
        return status;
    }
    *out = z;
    return PZ_OK;
}
