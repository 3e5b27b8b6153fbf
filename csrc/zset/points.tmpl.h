/* TEMPLATE: single changes, and the entry points of add, incr and remove.
 *
 * The usual single change fits what the leaves have: a score changes in place in the member leaf,
 * a tombstone and an added key go to the tails of two order leaves. It is made at once, without the
 * arena. Whatever needs a fold or a wider block goes through the bulk engine as a run of one
 * row. */

/* What the tail of a leaf would hold and leave after one removal and one insertion. */
typedef struct PZ_FN(tail_plan) {
    uint32_t count, room, threshold;
    bool ok;
} PZ_FN(tail_plan);

static inline PZ_FN(tail_plan)
    PZ_FN(tail_plan_of)(uint32_t records, uint32_t room, uint32_t threshold)
{
    PZ_FN(tail_plan) t = {records, room, threshold, true};
    return t;
}

static inline void PZ_FN(tail_spend)(PZ_FN(tail_plan) *t, uint32_t bytes)
{
    t->count++;
    t->ok = t->ok && t->count < t->threshold && t->room >= bytes;
    t->room -= bytes;
}

static inline void PZ_FN(tail_regain)(PZ_FN(tail_plan) *t, uint32_t bytes)
{
    t->count--;
    t->room += bytes;
}

/* One order key in its leaf. */
typedef struct PZ_FN(order_place) {
    pz_path path;
    pz_leaf *l;
    PZ_S s;
    uint32_t at;   /* tail index or base position */
    bool in_tail;
    bool revives;  /* insertion: the key stands removed in the base */
} PZ_FN(order_place);

/* One row's change: where it goes in both trees. */
typedef struct PZ_FN(point) {
    PZ_M m;
    bool was, is;  /* in the set before, and after */
    PZ_FN(where) where;
    PZ_FN(probe) probe;
    pz_path path;  /* of the member leaf */
    PZ_FN(order_place) from, to;
    bool moves;    /* from one order leaf to another, or out of the set */
} PZ_FN(point);

static inline void PZ_FN(order_find)(const pz_body *b, PZ_S s, PZ_M m, PZ_FN(order_place) *p)
{
    p->s = s;
    p->l = PZ_FN(ot_find_path)(&b->arena, &b->order, s, m, &p->path);
}

static inline PZ_FN(tail_plan) PZ_FN(order_tail)(const pz_body *b, const pz_leaf *l)
{
    return PZ_FN(tail_plan_of)((uint32_t)l->adds + l->dels, PZ_FN(ot_leaf_room)(l),
                               b->order.merge_threshold);
}

static inline void PZ_FN(plan_order_removal)(PZ_M m, PZ_FN(order_place) *p, PZ_FN(tail_plan) *t)
{
    p->at = PZ_FN(ot_adds_lower_bound)(p->l, p->s, m);
    p->in_tail = PZ_FN(ot_adds_is)(p->l, p->at, p->s, m);
    if (p->in_tail) {
        PZ_FN(tail_regain)(t, PZ_REC_BYTES);
    } else {
        p->at = PZ_FN(ot_base_lower_bound)(p->l, p->s, m);
        PZ_FN(tail_spend)(t, 2);
    }
}

static inline void PZ_FN(plan_order_insertion)(PZ_M m, PZ_FN(order_place) *p, PZ_FN(tail_plan) *t)
{
    p->revives = false;
    if (p->l->dels > 0)
        p->at = PZ_FN(ot_base_find)(p->l, p->s, m, &p->revives);
    if (p->revives)
        PZ_FN(tail_regain)(t, 2);
    else
        PZ_FN(tail_spend)(t, PZ_REC_BYTES);
}

/* Does the change fit the two order leaves? Both are found before either is read: their lines come
 * together. */
static bool PZ_FN(order_fits)(const pz_body *b, PZ_FN(point) *p, PZ_S old, PZ_S s)
{
    PZ_FN(tail_plan) t;
    if (p->was)
        PZ_FN(order_find)(b, old, p->m, &p->from);
    if (p->is)
        PZ_FN(order_find)(b, s, p->m, &p->to);
    bool same = p->was && p->is && p->from.l == p->to.l;
    p->moves = p->was && !same;
    if (p->was) {
        t = PZ_FN(order_tail)(b, p->from.l);
        PZ_FN(plan_order_removal)(p->m, &p->from, &t);
        if (!t.ok || (p->moves && pz_leaf_live(p->from.l) == 1))
            return false;
    }
    if (p->is) {
        if (!same)
            t = PZ_FN(order_tail)(b, p->to.l);
        PZ_FN(plan_order_insertion)(p->m, &p->to, &t);
        return t.ok;
    }
    return true;
}

/* And the member leaf? */
static bool PZ_FN(member_fits)(const pz_body *b, const PZ_FN(point) *p)
{
    const pz_leaf *l = p->probe.l;
    PZ_FN(tail_plan) t = PZ_FN(tail_plan_of)((uint32_t)l->adds + l->dels, PZ_FN(mt_leaf_room)(l),
                                             b->member.merge_threshold);
    if (!p->was) {
        PZ_FN(tail_spend)(&t, PZ_REC_BYTES);
        return t.ok && l->dels == 0; /* it might be revived: left to the bulk engine */
    }
    if (!p->is) {
        if (p->where == PZ_FN(in_base))
            PZ_FN(tail_spend)(&t, 2);
        return t.ok && pz_leaf_live(l) > 1;
    }
    return true;
}

/* Nothing can fail here. A score in the member leaf's base is set already. */
static void PZ_FN(point_commit)(pz_body *b, PZ_FN(point) *p, PZ_S s)
{
    pz_leaf *l = p->probe.l;
    if (p->was && p->is && p->where == PZ_FN(in_tail)) {
        PZ_FN(s_put)(PZ_FN(mt_adds)(l) + (size_t)p->probe.at * PZ_REC_BYTES, 0, s);
    } else if (!p->was) {
        PZ_FN(mt_adds_insert)(l, PZ_FN(mt_adds_lower_bound)(l, 0, p->m), s, p->m);
        pz_path_count(&b->arena, &b->member, &p->path, 1);
    } else if (!p->is) {
        if (p->where == PZ_FN(in_base))
            PZ_FN(mt_dels_insert)(l, p->probe.at);
        else
            PZ_FN(mt_adds_erase)(l, p->probe.at);
        pz_path_count(&b->arena, &b->member, &p->path, -1);
    }
    if (p->was) {
        if (p->from.in_tail)
            PZ_FN(ot_adds_erase)(p->from.l, p->from.at);
        else
            PZ_FN(ot_dels_insert)(p->from.l, p->from.at);
        if (p->moves)
            pz_path_count(&b->arena, &b->order, &p->from.path, -1);
    }
    if (p->is) {
        pz_leaf *to = p->to.l;
        if (p->to.revives)
            PZ_FN(ot_dels_erase)(to, p->to.at);
        else
            PZ_FN(ot_adds_insert)(to, PZ_FN(ot_adds_lower_bound)(to, s, p->m), s, p->m);
        if (p->moves || !p->was)
            pz_path_count(&b->arena, &b->order, &p->to.path, 1);
    }
}

/* Make one row's change if it needs nothing from the arena; false, with nothing changed, if not. A
 * refused sum is an answer too: *status says. */
static bool PZ_FN(quick)(pz_set *z, PZ_FN(run) *r, const PZ_FN(row) *row, pz_status *status)
{
    pz_body *b = pz_body_of(z);
    PZ_FN(run) counted = *r; /* its counts are taken over when the change is made */
    PZ_FN(point) p;
    p.m = row->m;
    pz_leaf *leaf = PZ_FN(mt_find_path)(&b->arena, &b->member, 0, p.m, &p.path);
    PZ_FN(probe_open)(&p.probe, leaf, NULL);
    p.where = PZ_FN(probe_find)(&p.probe, p.m);
    p.was = p.is = p.where != PZ_FN(missing);
    PZ_S old = p.was ? PZ_FN(probe_score)(&p.probe, p.where) : PZ_ZERO, s = old;
    *status = PZ_OK;
    if (r->kind == PZ_FN(op_incr)) {
        *status = PZ_FN(sum)(old, PZ_FN(amount)(r, row), &s);
        if (*status != PZ_OK)
            return true;
        p.is = true;
    } else {
        PZ_FN(apply)(&counted, row, &p.is, &s);
    }
    if (p.was != p.is || s != old) {
        if (!PZ_FN(member_fits)(b, &p) || !PZ_FN(order_fits)(b, &p, old, s))
            return false;
        if (p.was && p.is &&
            p.where == PZ_FN(in_base) &&!PZ_FN(scol_set)(&p.probe.c, p.probe.col, p.probe.at, s))
            return false;
        PZ_FN(point_commit)(b, &p, s);
        z->len = b->member.entries;
        z->version++;
    }
    *r = counted;
    if (r->sums.ptr != NULL)
        PZ_FN(score_store)(PZ_FN(out_at)(r->sums, row->row), s);
    return true;
}

/* A call of one row on a large set. */
static pz_status PZ_FN(run_one)(pz_set *z, PZ_FN(run) *r, pz_in member, pz_in value, bool wide,
                                pz_call *call, bool *done)
{
    PZ_FN(row) row;
    PZ_FN(load_facts) f;
    double amount;
    *done = true;
    pz_fp mode = pz_fp_enter();
    r->wide = wide ? &amount : NULL;
    pz_status status =
        PZ_FN(load_rows)(r->kind, 1, member, value, wide ? &amount : NULL, &row, &f, call);
    if (status == PZ_OK) {
        *done = PZ_FN(quick)(z, r, &row, &status);
        if (status != PZ_OK && call != NULL)
            call->index = 0;
        if (*done)
            PZ_FN(shrink)(z, pz_small_capacity(z) / 4);
    }
    pz_fp_leave(mode);
    return status;
}

static pz_status PZ_FN(run_call)(pz_set *z, PZ_FN(run) *r, size_t n, pz_in members, pz_in values,
                                 bool wide, pz_call *call)
{
    if (n == 1 && z->large) {
        bool done;
        pz_status status = PZ_FN(run_one)(z, r, members, values, wide, call, &done);
        if (done)
            return status;
    }
    return PZ_FN(run_rows)(z, r, n, members, values, wide, call);
}

static pz_status PZ_FN(add)(pz_set *z, size_t n, pz_in members, pz_in scores, unsigned flags,
                            uint64_t *added, uint64_t *updated, pz_call *call)
{
    bool nx = flags & PZ_NX, gt = flags & PZ_GT, lt = flags & PZ_LT;
    if ((nx && (flags & (PZ_XX | PZ_GT | PZ_LT))) || (gt && lt))
        return PZ_INVALID;
    PZ_FN(run) r = {.kind = PZ_FN(op_add), .flags = flags};
    PZ_TRY(PZ_FN(run_call)(z, &r, n, members, scores, false, call));
    *added = r.added;
    *updated = r.updated;
    return PZ_OK;
}

static pz_status PZ_FN(incr)(pz_set *z, size_t n, pz_in members, pz_in amounts, bool wide,
                             pz_out sums, pz_call *call)
{
    PZ_FN(run) r = {.kind = PZ_FN(op_incr), .sums = sums};
    return PZ_FN(run_call)(z, &r, n, members, amounts, wide && PZ_S_BITS == 32, call);
}

static pz_status PZ_FN(remove)(pz_set *z, size_t n, pz_in members, uint64_t *removed, pz_call *call)
{
    const pz_in none = {NULL, 0};
    PZ_FN(run) r = {.kind = PZ_FN(op_remove)};
    PZ_TRY(PZ_FN(run_call)(z, &r, n, members, none, false, call));
    *removed = r.removed;
    return PZ_OK;
}
