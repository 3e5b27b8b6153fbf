/* TEMPLATE: the bulk engine: every change of more than one point goes through here.
 *
 *   1  load     each argument once, checked, into rows (member, value, place)
 *   2  sort     rows by member, stable: the rows of one member apply in argument order
 *   3  check    only where a sum could be refused: a dry run over the set; nothing changed so far
 *   4  reserve  scratch for the key lists and room in the arena: the last step that can fail
 *   5  members  one sweep of the member tree applies the rows and gives, in member order, the keys
 *               (score, member) that cease to be and those that come
 *   6  sort     both lists by score, stable: they are in (score, member) order
 *   7  order    one sweep of the order tree removes and inserts them
 *
 * The list of new keys grows over the rows already read, the list of old keys lies in the sort's
 * other half: two rows and one key of scratch an operation (32 to 56 bytes). */

typedef enum PZ_FN(kind) { PZ_FN(op_add), PZ_FN(op_incr), PZ_FN(op_remove) } PZ_FN(kind);

typedef struct PZ_FN(run) {
    PZ_FN(kind) kind;
    unsigned flags;      /* of add */
    const double *wide;  /* amounts that float32 rows cannot hold, by argument place; or NULL */
    pz_out sums;
    uint64_t added, updated, removed;
    const PZ_FN(row) *rows;
    size_t n, at;        /* rows from `at` on are not yet applied */
    PZ_FN(key) *news, *olds;
    size_t news_n, olds_n;
} PZ_FN(run);

/* The sum that an increment stores; the caller runs in the default floating-point mode. */
static inline pz_status PZ_FN(sum)(PZ_S old, double amount, PZ_S *out)
{
    double sum = PZ_FN(score_double)(old) + amount;
    uint64_t bits = pz_bits_of_double(sum);
    if (pz_is_nan64(bits))
        return PZ_NAN_SUM;
#if PZ_S_BITS == 32
    /* The first double that rounds to infinity is 2**128 - 2**103. */
    if ((bits & 0x7fffffffffffffffu) >= 0x47effffff0000000u &&
        (bits & 0x7fffffffffffffffu) != 0x7ff0000000000000u)
        return PZ_OVERFLOW;
    *out = PZ_SORT(pz_bits_of_float((float)sum));
#else
    *out = PZ_SORT(bits);
#endif
    return PZ_OK;
}

#define PZ_ZERO PZ_SORT(0)

static inline double PZ_FN(amount)(const PZ_FN(run) *r, const PZ_FN(row) *row)
{
    if (r->wide != NULL)
        return r->wide[row->row];
#if PZ_S_BITS == 32
    return pz_double_of_bits(pz_widen_bits(row->v));
#else
    return pz_double_of_bits(row->v);
#endif
}

/* Apply one row to a member's state. Sums are known to be fine. */
static inline void PZ_FN(apply)(PZ_FN(run) *r, const PZ_FN(row) *row, bool *present, PZ_S *s)
{
    if (r->kind == PZ_FN(op_incr)) {
        PZ_S sum = PZ_ZERO;
        pz_status status = PZ_FN(sum)(*present ? *s : PZ_ZERO, PZ_FN(amount)(r, row), &sum);
        PZ_ASSERT(status == PZ_OK);
        (void)status;
        *present = true;
        *s = sum;
        if (r->sums.ptr != NULL)
            PZ_FN(score_store)(PZ_FN(out_at)(r->sums, row->row), sum);
    } else if (r->kind == PZ_FN(op_add)) {
        PZ_S v = row->v;
        if (!*present) {
            if (r->flags & PZ_XX)
                return;
            *present = true;
            *s = v;
            r->added++;
        } else {
            if ((r->flags & PZ_NX) || ((r->flags & PZ_GT) && v <= *s) ||
                ((r->flags & PZ_LT) && v >= *s))
                return;
            r->updated += v != *s;
            *s = v;
        }
    } else {
        r->removed += *present;
        *present = false;
    }
}

static inline void PZ_FN(key_push)(PZ_FN(key) *list, size_t *n, PZ_S s, PZ_M m)
{
    list[*n].s = s;
    list[*n].m = m;
    (*n)++;
}

/* Apply the rows that fall into the sought member leaf. Scores that fit are changed in place; what
 * is left, a change of the leaf, is made at the end. */
static void PZ_FN(apply_leaf)(PZ_FN(mt_sweep) *w, PZ_FN(mt_scratch) *x, PZ_FN(run) *r)
{
    PZ_FN(key) gone[64], come[64]; /* changes not made in place, while they are few */
    const size_t most = PZ_FN(mt_tail_most)(w->tree), few = most < 64 ? most : 64;
    size_t gone_n = 0, come_n = 0, olds0 = r->olds_n, news0 = r->news_n;
    bool many = false;
    PZ_FN(probe) probe;
    const bool empty = w->leaf == PZ_NO_SLOT;
    if (!empty) {
        pz_leaf *l = pz_leaf_at(w->arena, w->leaf);
        size_t ahead = r->at + l->n / 16u;
        bool dense = ahead < r->n && PZ_FN(mt_sweep_holds)(w, 0, r->rows[ahead].m);
        PZ_FN(probe_open)(&probe, l, dense ? x->lm : NULL);
    }
    do {
        PZ_M m = r->rows[r->at].m;
        PZ_FN(where) where = empty ? PZ_FN(missing) : PZ_FN(probe_find)(&probe, m);
        bool was = where != PZ_FN(missing), is = was;
        PZ_S old = was ? PZ_FN(probe_score)(&probe, where) : PZ_ZERO, s = old;
        do
            PZ_FN(apply)(r, &r->rows[r->at++], &is, &s);
        while (r->at < r->n && r->rows[r->at].m == m);
        if (was == is && s == old)
            continue;
        if (was)
            PZ_FN(key_push)(r->olds, &r->olds_n, old, m);
        if (is)
            PZ_FN(key_push)(r->news, &r->news_n, s, m);
        if (was && is) {
            if (where == PZ_FN(in_tail)) {
                PZ_FN(s_put)(PZ_FN(mt_adds)(probe.l) + (size_t)probe.at * PZ_REC_BYTES, 0, s);
                continue;
            }
            if (PZ_FN(scol_set)(&probe.c, probe.col, probe.at, s))
                continue;
        }
        many = many || gone_n + come_n + was + is > few;
        if (many)
            continue;
        if (was)
            PZ_FN(key_push)(gone, &gone_n, old, m);
        if (is)
            PZ_FN(key_push)(come, &come_n, s, m);
    } while (r->at < r->n && PZ_FN(mt_sweep_holds)(w, 0, r->rows[r->at].m));
    if (many) /* the full lists: what was changed in place is taken out and put in again */
        PZ_FN(mt_leaf_rebuild)(w, x, r->olds + olds0, r->olds_n - olds0, r->news + news0,
                               r->news_n - news0);
    else if (gone_n + come_n > 0)
        PZ_FN(mt_leaf_change)(w, x, gone, gone_n, come, come_n);
    else if (!empty)
        PZ_FN(mt_sweep_same)(w, pz_leaf_live(probe.l));
}

/* Leaves that ran out of labels, see change.tmpl.h: raise what follows the first `leaves` from
 * `from` as far as it stands too low, or all the way when they lie in several places. */
static void PZ_FN(labels_push)(pz_body *b, PZ_M from, uint64_t leaves, bool all)
{
    pz_path path;
    uint64_t last = 0;
    bool renumber = false;
    PZ_FN(mt_find_path)(&b->arena, &b->member, 0, from, &path);
    for (uint64_t walked = 0; !renumber; walked++) {
        pz_leaf *l = pz_leaf_at(&b->arena, path.leaf);
        uint64_t label = PZ_FN(mt_label)(l);
        if (walked > 0 && label <= last) {
            label = last + 1;
            renumber = label >> PZ_LABEL_BITS != 0;
            PZ_FN(mt_label_set)(l, label);
        } else if (walked > leaves && !all) {
            break;
        }
        last = label;
        if (!pz_path_next(&b->arena, &path))
            break;
    }
    if (!renumber)
        return;
    /* The top is reached: all labels anew, and a new epoch for scans. */
    uint64_t step = ((uint64_t)1 << PZ_LABEL_BITS) / (b->member.leaf_count + 1);
    step = step > PZ_LABEL_STEP ? PZ_LABEL_STEP : step;
    last = 0;
    pz_path_first(&b->arena, &b->member, &path);
    do {
        PZ_FN(mt_label_set)(pz_leaf_at(&b->arena, path.leaf), last);
        last += step;
    } while (pz_path_next(&b->arena, &path));
    b->scan_epoch = (b->scan_epoch + 1) & 63u;
}

#define PZ_SWEEP_CLEAN_BYTES 16384u /* moved at most a touched leaf */
/* From so many rows on a sweep cleans as it goes. Before, cleaning waits for the end of the
 * reservation: room held for a few rows is more than a span, and a block that moves beside it would
 * open a span each time. */
#define PZ_SWEEP_CLEAN_ROWS 32u

static inline void PZ_FN(sweep_clean)(pz_body *b, size_t rows)
{
    if (rows >= PZ_SWEEP_CLEAN_ROWS)
        pz_arena_clean(&b->arena, PZ_SWEEP_CLEAN_BYTES);
}

/* After the reservation: a row touches a member leaf and two order leaves. */
static inline void PZ_FN(sweep_settle)(pz_body *b, size_t rows)
{
    pz_arena_settle(&b->arena);
    size_t leaves = rows >= PZ_SWEEP_CLEAN_ROWS ? 1 : 3 * rows;
    pz_arena_clean(&b->arena, leaves * PZ_SWEEP_CLEAN_BYTES);
}

/* A batch that touches most leaves: each is likely to be written by the next batch too, so leaves
 * keep next to no room for tails and fold them at a quarter of their length. Else leaves keep the
 * room of a whole tail, since changes come in small numbers. */
static inline bool PZ_FN(is_broad)(const pz_tree *t, uint64_t changes)
{
    return changes >= t->leaf_count && changes > 2;
}

static inline uint32_t PZ_FN(keep_bytes)(const pz_tree *t, uint64_t changes)
{
    return PZ_FN(is_broad)(t, changes) ? 16u : t->merge_threshold * PZ_REC_BYTES;
}

static inline uint32_t PZ_FN(tail_limit)(const pz_tree *t, uint64_t changes)
{
    uint32_t part = (t->merge_threshold + PZ_TAIL_DIVISOR - 1) / PZ_TAIL_DIVISOR;
    return PZ_FN(is_broad)(t, changes) ? part : t->merge_threshold;
}

static void PZ_FN(sweep_members)(pz_body *b, bool rle, PZ_FN(run) *r)
{
    PZ_FN(mt_sweep) w;
    PZ_FN(mt_scratch) x;
    uint32_t keep = PZ_FN(keep_bytes)(&b->member, r->n);
    PZ_FN(mt_sweep_begin)(&w, &b->arena, &b->member, &b->work, rle, keep);
    w.tail_limit = PZ_FN(tail_limit)(&b->member, r->n);
    while (r->at < r->n) {
        PZ_FN(mt_sweep_seek)(&w, 0, r->rows[r->at].m);
        PZ_FN(apply_leaf)(&w, &x, r);
        PZ_FN(sweep_clean)(b, r->n);
    }
    PZ_FN(mt_sweep_end)(&w);
    b->member.entries += r->news_n;
    b->member.entries -= r->olds_n;
    if (w.relabels > 0)
        PZ_FN(labels_push)(b, w.relabel_m, w.relabel_leaves, w.relabels > 1);
}

static void PZ_FN(sweep_order)(pz_body *b, bool rle, size_t rows, const PZ_FN(key) *olds,
                               size_t olds_n, const PZ_FN(key) *news, size_t news_n)
{
    PZ_FN(ot_sweep) w;
    PZ_FN(ot_scratch) x;
    uint32_t keep = PZ_FN(keep_bytes)(&b->order, olds_n + news_n);
    PZ_FN(ot_sweep_begin)(&w, &b->arena, &b->order, &b->work, rle, keep);
    w.tail_limit = PZ_FN(tail_limit)(&b->order, olds_n + news_n);
    size_t d = 0, i = 0;
    while (d < olds_n || i < news_n) {
        bool old = i == news_n ||
                   (d < olds_n && PZ_FN(ot_less)(olds[d].s, olds[d].m, news[i].s, news[i].m));
        PZ_FN(ot_sweep_seek)(&w, old ? olds[d].s : news[i].s, old ? olds[d].m : news[i].m);
        size_t d0 = d, i0 = i;
        while (d < olds_n && PZ_FN(ot_sweep_holds)(&w, olds[d].s, olds[d].m))
            d++;
        while (i < news_n && PZ_FN(ot_sweep_holds)(&w, news[i].s, news[i].m))
            i++;
        PZ_FN(ot_leaf_change)(&w, &x, olds + d0, d - d0, news + i0, i - i0);
        PZ_FN(sweep_clean)(b, rows);
    }
    PZ_FN(ot_sweep_end)(&w);
    b->order.entries += news_n;
    b->order.entries -= olds_n;
}

/* ---- the small form as a whole ---- */
/* Back to the small form when at most `most` are left; without memory for it the set stays as it
 * is. Single changes shrink a set only at a quarter of the small capacity, so that it does not go
 * to and fro. */
static void PZ_FN(shrink)(pz_set *z, uint64_t most)
{
    if (!z->large || z->len > most)
        return;
    PZ_FN(key) *keys = NULL;
    uint32_t n = (uint32_t)z->len;
    if (n > 0) {
        keys = pz_env_alloc(z->env, (size_t)n * PZ_REC_BYTES);
        if (keys == NULL)
            return;
        pz_body *b = pz_body_of(z);
        pz_path path;
        uint32_t at = 0;
        pz_path_first(&b->arena, &b->order, &path);
        do {
            PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
            PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
            uint32_t live = PZ_FN(ot_leaf_decode)(pz_leaf_at(&b->arena, path.leaf), m, s);
            for (uint32_t i = 0; i < live; i++, at++) {
                keys[at].s = s[i];
                keys[at].m = m[i];
            }
        } while (pz_path_next(&b->arena, &path));
    }
    pz_body_free(z);
    z->block = keys;
    z->room = (uint16_t)n;
}

static pz_status PZ_FN(reserve)(pz_body *b, uint64_t rows)
{
    size_t bytes = 0, blocks = 0, slots = 0;
    PZ_FN(mt_change_room)(&b->member, rows, &bytes, &blocks, &slots);
    PZ_FN(ot_change_room)(&b->order, 2 * rows, &bytes, &blocks, &slots);
    return pz_arena_reserve(&b->arena, bytes, blocks, slots);
}

static int PZ_FN(by_member)(const void *a, const void *b)
{
    PZ_M am = ((const PZ_FN(key) *)a)->m, bm = ((const PZ_FN(key) *)b)->m;
    return am < bm ? -1 : am > bm;
}

/* To the large form; the entries stay. */
static pz_status PZ_FN(enlarge)(pz_set *z)
{
    if (z->large)
        return PZ_OK;
    pz_set large = *z;
    PZ_FN(key) order[PZ_SMALL_CAPACITY], members[PZ_SMALL_CAPACITY];
    PZ_FN(row) rows[PZ_SMALL_CAPACITY];
    PZ_FN(key) news[PZ_SMALL_CAPACITY];
    uint32_t n = (uint32_t)z->len;
    PZ_TRY(pz_body_new(&large));
    pz_body *b = pz_body_of(&large);
    pz_status status = PZ_FN(reserve)(b, n);
    if (status != PZ_OK) {
        pz_body_free(&large);
        return status;
    }
    if (n > 0) {
        memcpy(order, z->block, n * sizeof *order);
        memcpy(members, z->block, n * sizeof *members);
        qsort(members, n, sizeof *members, PZ_FN(by_member));
        for (uint32_t i = 0; i < n; i++) {
            rows[i].m = members[i].m;
            rows[i].v = members[i].s;
            rows[i].row = i;
        }
        /* No entry is old; `members` only stands for an empty list. */
        PZ_FN(run) r = {.kind = PZ_FN(op_add), .rows = rows, .n = n, .news = news, .olds = members};
        PZ_FN(sweep_members)(b, z->score_rle, &r);
        PZ_FN(sweep_order)(b, z->score_rle, n, members, 0, order, n);
    }
    pz_arena_settle(&b->arena);
    pz_env_free(z->env, z->block, (size_t)z->room * PZ_REC_BYTES);
    z->block = b;
    z->room = 0;
    z->large = true;
    return PZ_OK;
}

/* Rows in argument order on a set that stays small: made on a copy, which then takes its place. */
static pz_status PZ_FN(run_small)(pz_set *z, PZ_FN(run) *r, const PZ_FN(row) *rows, size_t n,
                                  pz_call *call)
{
    PZ_FN(key) keys[PZ_SMALL_CAPACITY + 1];
    pz_set work = *z;
    if (z->len > 0)
        memcpy(keys, z->block, (size_t)z->len * sizeof *keys);
    work.block = keys;
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        uint32_t at = PZ_FN(small_find)(&work, rows[i].m);
        bool was = at < work.len, is = was;
        PZ_S old = was ? keys[at].s : PZ_ZERO, s = old;
        if (r->kind == PZ_FN(op_incr)) {
            PZ_S sum;
            pz_status status = PZ_FN(sum)(old, PZ_FN(amount)(r, &rows[i]), &sum);
            if (status != PZ_OK) {
                if (call != NULL)
                    call->index = rows[i].row;
                return status;
            }
        }
        PZ_FN(apply)(r, &rows[i], &is, &s);
        if (was == is && s == old)
            continue;
        changed = true;
        if (was)
            PZ_FN(small_erase)(keys, (uint32_t)work.len--, at);
        if (is)
            PZ_FN(small_insert)(keys, (uint32_t)work.len++, s, rows[i].m);
    }
    if (!changed)
        return PZ_OK;
    uint32_t room = z->room;
    if (work.len > room)
        room = n == 1 ? PZ_FN(small_room_for)(z, work.len) : (uint32_t)work.len;
    else if (work.len <= room - room / 4)
        room = (uint32_t)work.len;
    pz_status status = PZ_OK;
    if (room != z->room) {
        uint64_t len = z->len;
        z->len = len < work.len ? len : work.len; /* what a resize carries over is written anew */
        status = PZ_FN(small_resize)(z, room);
        z->len = len;
        if (status != PZ_OK && work.len <= z->room)
            status = PZ_OK; /* a smaller block is only a wish */
    }
    if (status != PZ_OK)
        return status;
    if (work.len > 0)
        memcpy(z->block, keys, (size_t)work.len * sizeof *keys);
    z->len = work.len;
    z->version++;
    return PZ_OK;
}

/* ---- the checking run of increments ---- */
/* Can any sum be refused? Decided by bounds where that is enough. */
static bool PZ_FN(sums_safe)(const pz_set *z, size_t n, double largest, bool infinite)
{
    if (infinite)
        return false;
#if PZ_S_BITS == 64
    (void)z;
    (void)n;
    (void)largest;
    return true; /* finite amounts: a sum may become infinite, never NaN */
#else
    double held = 0;
    for (uint32_t end = 0; end < 2 && z->len > 0; end++) {
        PZ_S s;
        PZ_M m;
        pz_path path;
        const pz_body *b = pz_body_of(z);
        uint64_t k = end == 0 ? 0 : z->len - 1;
        uint64_t before = pz_path_select(&b->arena, &b->order, k, &path);
        PZ_FN(ot_leaf_get)(pz_leaf_at(&b->arena, path.leaf), (uint32_t)(k - before), &s, &m);
        double d = fabs(PZ_FN(score_double)(s));
        if (!isfinite(d)) /* hides the largest finite score */
            return false;
        held = d > held ? d : held;
    }
    return held + largest * (double)n < 3.0e38;
#endif
}

/* Dry run over sorted rows: the first refused row in argument order. */
static pz_status PZ_FN(check_sums)(const pz_set *z, const PZ_FN(run) *r, const PZ_FN(row) *rows,
                                   size_t n, pz_call *call)
{
    pz_status status = PZ_OK;
    uint32_t first = 0xffffffffu;
    for (size_t i = 0; i < n;) {
        PZ_M m = rows[i].m;
        PZ_S s = PZ_ZERO;
        if (!PZ_FN(find)(z, m, &s))
            s = PZ_ZERO;
        bool ok = true;
        for (; i < n && rows[i].m == m; i++) {
            pz_status one = ok ? PZ_FN(sum)(s, PZ_FN(amount)(r, &rows[i]), &s) : PZ_OK;
            if (one != PZ_OK && (status == PZ_OK || rows[i].row < first)) {
                status = one;
                first = rows[i].row;
            }
            ok = ok && one == PZ_OK;
            if ((i & 0xffffu) == 0xffffu)
                PZ_TRY(pz_poll(call));
        }
    }
    if (status != PZ_OK && call != NULL)
        call->index = first;
    return status;
}

/* ---- loading ---- */
typedef struct PZ_FN(load_facts) {
    PZ_M vary;
    bool sorted;
    double largest; /* magnitude of the largest finite amount */
    bool infinite; /* an amount is infinite */
} PZ_FN(load_facts);

/* Load and check the arguments. `wide_in`: float64 amounts, copied to `wide`. */
static pz_status PZ_FN(load_rows)(PZ_FN(kind) kind, size_t n, pz_in members, pz_in values,
                                  double *wide, PZ_FN(row) *rows, PZ_FN(load_facts) *f,
                                  pz_call *call)
{
    PZ_M last = 0;
    f->vary = 0;
    f->sorted = true;
    f->largest = 0;
    f->infinite = false;
    for (size_t i = 0; i < n; i++) {
        PZ_M m = PZ_FN(member_load)(PZ_FN(in_at)(members, i));
        f->sorted = f->sorted && (i == 0 || last <= m);
        last = m;
        rows[i].m = m;
        rows[i].row = (uint32_t)i;
        f->vary |= m ^ rows[0].m;
        PZ_S v = 0;
        bool nan = false;
        if (wide != NULL) {
            uint64_t bits;
            memcpy(&bits, PZ_FN(in_at)(values, i), sizeof bits);
            wide[i] = pz_double_of_bits(bits);
            nan = pz_is_nan64(bits);
        } else if (kind != PZ_FN(op_remove)) {
            v = PZ_FN(bits_load)(PZ_FN(in_at)(values, i));
            nan = PZ_BITS_NAN(v);
        }
        if (nan) {
            if (call != NULL)
                call->index = i;
            return PZ_NAN;
        }
        rows[i].v = kind == PZ_FN(op_add) ? PZ_SORT(v) : v;
        if (kind == PZ_FN(op_incr)) {
            PZ_FN(run) r = {.wide = wide};
            double size = fabs(PZ_FN(amount)(&r, &rows[i]));
            if (!(size <= 1.7976931348623157e308))
                f->infinite = true;
            else if (size > f->largest)
                f->largest = size;
        }
        if ((i & 0xffffu) == 0xffffu)
            PZ_TRY(pz_poll(call));
    }
    return PZ_OK;
}

/* Memory of one run: rows twice, keys to sort with, wide amounts. */
typedef struct PZ_FN(scratch) {
    PZ_FN(row) *a, *b;
    PZ_FN(key) *keys;
    double *wide;
    void *block;
    size_t bytes;
} PZ_FN(scratch);

#define PZ_STACK_ROWS 16u

typedef struct PZ_FN(stack) {
    PZ_FN(row) a[PZ_STACK_ROWS], b[PZ_STACK_ROWS];
    PZ_FN(key) keys[PZ_STACK_ROWS];
    double wide[PZ_STACK_ROWS];
} PZ_FN(stack);

static pz_status PZ_FN(scratch_new)(const pz_env *env, size_t n, bool wide, PZ_FN(stack) *stack,
                                    PZ_FN(scratch) *x)
{
    x->block = NULL;
    x->bytes = 0;
    if (n <= PZ_STACK_ROWS) {
        x->a = stack->a;
        x->b = stack->b;
        x->keys = stack->keys;
        x->wide = wide ? stack->wide : NULL;
        return PZ_OK;
    }
    size_t each = 2 * sizeof *x->a + PZ_SORT_SCRATCH + (wide ? sizeof *x->wide : 0);
    x->bytes = n * each;
    x->block = pz_scratch_new(env, x->bytes);
    if (x->block == NULL)
        return PZ_NOMEM;
    char *p = x->block;
    x->wide = wide ? (double *)(void *)p : NULL;
    p += wide ? n * sizeof *x->wide : 0;
    x->a = (PZ_FN(row) *)(void *)p;
    x->b = x->a + n;
    x->keys = (PZ_FN(key) *)(void *)(x->b + n);
    return PZ_OK;
}

/* A whole run on a large set, from sorted rows on. `x->b` or `x->a` holds the rows. */
static pz_status PZ_FN(run_large)(pz_set *z, PZ_FN(run) *r, PZ_FN(row) *rows, size_t n,
                                  PZ_FN(scratch) *x)
{
    pz_body *b = pz_body_of(z);
    PZ_TRY(PZ_FN(reserve)(b, n));
    PZ_FN(row) *other = rows == x->a ? x->b : x->a;
    r->rows = rows;
    r->n = n;
    r->news = (PZ_FN(key) *)(void *)rows;
    r->olds = (PZ_FN(key) *)(void *)other;
    PZ_FN(sweep_members)(b, z->score_rle, r);
    /* Of the three areas, two hold the lists; each sort may leave its list in the third. */
    PZ_FN(key) *spare = x->keys;
    PZ_FN(key) *news = PZ_FN(sort_keys)(r->news, spare, r->news_n);
    if (news == spare)
        spare = r->news;
    PZ_FN(key) *olds = PZ_FN(sort_keys)(r->olds, spare, r->olds_n);
    PZ_FN(sweep_order)(b, z->score_rle, n, olds, r->olds_n, news, r->news_n);
    PZ_FN(sweep_settle)(b, n);
    z->len = b->member.entries;
    if (r->news_n + r->olds_n > 0)
        z->version++;
    PZ_FN(shrink)(z, pz_small_capacity(z) / (n == 1 ? 4 : 1));
    return PZ_OK;
}

/* One call's rows on one set: all of it or nothing. */
static pz_status PZ_FN(run_rows)(pz_set *z, PZ_FN(run) *r, size_t n, pz_in members, pz_in values,
                                 bool wide, pz_call *call)
{
    PZ_FN(stack) stack;
    PZ_FN(scratch) x;
    PZ_FN(load_facts) f;
    if (n > PZ_ROWS_MAX)
        return PZ_FULL;
    if (n == 0)
        return PZ_OK;
    PZ_TRY(PZ_FN(scratch_new)(z->env, n, wide, &stack, &x));
    pz_fp mode = pz_fp_enter();
    const bool was_large = z->large;
    PZ_FN(row) *rows = x.a;
    r->wide = x.wide;
    pz_status status = PZ_FN(load_rows)(r->kind, n, members, values, x.wide, x.a, &f, call);
    if (status == PZ_OK && !z->large &&
        (r->kind == PZ_FN(op_remove) || z->len + n <= pz_small_capacity(z))) {
        status = PZ_FN(run_small)(z, r, x.a, n, call);
        goto done;
    }
    if (status == PZ_OK && !f.sorted)
        status = PZ_FN(sort_rows)(x.a, x.b, n, f.vary, &rows, call);
    if (status == PZ_OK)
        status = PZ_FN(enlarge)(z);
    if (status == PZ_OK &&
        r->kind == PZ_FN(op_incr) &&!PZ_FN(sums_safe)(z, n, f.largest, f.infinite))
        status = PZ_FN(check_sums)(z, r, rows, n, call);
    if (status == PZ_OK)
        status = PZ_FN(run_large)(z, r, rows, n, &x);
    if (status != PZ_OK && !was_large)
        PZ_FN(shrink)(z, pz_small_capacity(z)); /* as it was */
done:
    pz_fp_leave(mode);
    pz_scratch_free(z->env, x.block, x.bytes);
    return status;
}
