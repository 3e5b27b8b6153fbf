/* TEMPLATE: look-ups, ranks and ranges. Nothing here changes a byte of the set.
 *
 * Bulk look-ups sort the asked members (12 to 28 bytes a row, twice), so that each leaf is visited
 * once and read in order; when there is no memory for that, or few rows, each goes alone. */

#define PZ_BULK_ROWS_MIN 64u

static inline const void *PZ_FN(in_at)(pz_in in, size_t i)
{
    return (const char *)in.ptr + (ptrdiff_t)i * in.stride;
}

static inline void *PZ_FN(out_at)(pz_out out, size_t i)
{
    return (char *)out.ptr + (ptrdiff_t)i * out.stride;
}

/* ---- one member in its leaf ---- */
typedef enum PZ_FN(where) { PZ_FN(missing), PZ_FN(in_base), PZ_FN(in_tail) } PZ_FN(where);

/* A member-tree leaf opened for finding members in ascending order. */
typedef struct PZ_FN(probe) {
    pz_leaf *l;
    PZ_FN(keys) k;
    PZ_FN(scol) c;
    uint8_t *col;     /* its score column */
    const PZ_M *all;  /* decoded base members and eight more, see members_skip; or NULL: each find
                         searches the coded column */
    uint32_t pos;     /* how far a search of `all` has come */
    uint32_t at;      /* what find found: base position or tail index */
} PZ_FN(probe);

static inline void PZ_FN(probe_open)(PZ_FN(probe) *p, pz_leaf *l, PZ_M *decode)
{
    p->l = l;
    p->k = PZ_FN(mt_keys)(l);
    p->col = PZ_FN(mt_scores)(l, &p->k, &p->c);
    p->all = decode;
    p->pos = p->at = 0;
    if (decode != NULL) {
        PZ_FN(keys_decode)(&p->k, PZ_FN(mt_base)(l), decode, NULL);
        for (uint32_t i = 0; i < 8; i++)
            decode[l->n + i] = (PZ_M)-1;
    }
}

/* First of the ascending members from `at` on that is not below m: eights at a time, the last by a
 * sum, so that no branch depends on where in it m falls. Eight largest members stand behind the
 * n-th. */
static inline uint32_t PZ_FN(members_skip)(const PZ_M *all, uint32_t at, uint32_t n, PZ_M m)
{
    while (at + 8 <= n && all[at + 7] < m)
        at += 8;
    uint32_t below = 0;
    for (uint32_t i = 0; i < 8; i++)
        below += all[at + i] < m;
    return at + below;
}

static inline PZ_FN(where) PZ_FN(probe_find)(PZ_FN(probe) *p, PZ_M m)
{
    const pz_leaf *l = p->l;
    bool is;
    uint32_t at;
    if (p->all != NULL) {
        p->pos = at = PZ_FN(members_skip)(p->all, p->pos, l->n, m);
        is = at < l->n && p->all[at] == m;
    } else {
        at = PZ_FN(keys_find)(&p->k, PZ_FN(mt_base)(l), 0, m, &is);
    }
    p->at = at;
    if (is && !PZ_FN(mt_is_deleted)(l, at))
        return PZ_FN(in_base);
    if (l->adds > 0) {
        at = PZ_FN(mt_adds_lower_bound)(l, 0, m);
        if (PZ_FN(mt_adds_is)(l, at, 0, m)) {
            p->at = at;
            return PZ_FN(in_tail);
        }
    }
    return PZ_FN(missing);
}

static inline PZ_S PZ_FN(probe_score)(const PZ_FN(probe) *p, PZ_FN(where) where)
{
    if (where == PZ_FN(in_base))
        return PZ_FN(scol_get)(&p->c, p->col, p->at);
    return PZ_FN(mt_add_s)(PZ_FN(mt_adds)(p->l), p->at);
}

/* ---- one member in the set ---- */
static bool PZ_FN(find)(const pz_set *z, PZ_M m, PZ_S *s)
{
    if (z->len == 0)
        return false;
    if (!z->large) {
        uint32_t i = PZ_FN(small_find)(z, m);
        if (i == z->len)
            return false;
        *s = PZ_FN(small_keys)(z)[i].s;
        return true;
    }
    const pz_body *b = pz_body_of(z);
    PZ_FN(probe) p;
    PZ_FN(probe_open)(&p, PZ_FN(mt_find_leaf)(&b->arena, &b->member, 0, m), NULL);
    PZ_FN(where) where = PZ_FN(probe_find)(&p, m);
    if (where == PZ_FN(missing))
        return false;
    *s = PZ_FN(probe_score)(&p, where);
    return true;
}

/* Entries below (s, m). */
static uint64_t PZ_FN(rank_of)(const pz_set *z, PZ_S s, PZ_M m)
{
    if (!z->large)
        return PZ_FN(small_lower_bound)(PZ_FN(small_keys)(z), (uint32_t)z->len, s, m);
    const pz_body *b = pz_body_of(z);
    return PZ_FN(ot_rank)(&b->arena, &b->order, s, m);
}

static bool PZ_FN(score_one)(const pz_set *z, const void *member, double *score)
{
    PZ_S s;
    if (!PZ_FN(find)(z, PZ_FN(member_load)(member), &s))
        return false;
    *score = PZ_FN(score_double)(s);
    return true;
}

static int64_t PZ_FN(rank_one)(const pz_set *z, const void *member, bool reverse)
{
    PZ_S s;
    PZ_M m = PZ_FN(member_load)(member);
    if (!PZ_FN(find)(z, m, &s))
        return -1;
    uint64_t rank = PZ_FN(rank_of)(z, s, m);
    return (int64_t)(reverse ? z->len - 1 - rank : rank);
}

/* ---- many members ---- */
/* Rows of the asked members, sorted by member; NULL when one by one is better or memory is short.
 * `block` is to be freed, `bytes` long. */
static pz_status PZ_FN(ask)(const pz_set *z, size_t n, pz_in members, PZ_FN(row) **rows,
                            void **block, size_t *bytes, bool always, pz_call *call)
{
    *rows = NULL;
    *block = NULL;
    if (n > PZ_ROWS_MAX)
        return PZ_FULL;
    if (!always && (!z->large || n < PZ_BULK_ROWS_MIN))
        return PZ_OK;
    *bytes = 2 * n * sizeof **rows;
    *block = pz_scratch_new(z->env, *bytes);
    if (*block == NULL)
        return always ? PZ_NOMEM : PZ_OK;
    PZ_FN(row) *a = *block;
    PZ_M vary = 0, last = 0;
    bool sorted = true;
    pz_status status = PZ_OK;
    for (size_t i = 0; i < n && status == PZ_OK; i++) {
        PZ_M m = PZ_FN(member_load)(PZ_FN(in_at)(members, i));
        sorted = sorted && (i == 0 || last <= m);
        last = m;
        a[i].m = m;
        a[i].v = 0;
        a[i].row = (uint32_t)i;
        vary |= m ^ a[0].m;
        if ((i & 0xffffu) == 0xffffu)
            status = pz_poll(call);
    }
    *rows = a;
    if (status == PZ_OK && !sorted)
        status = PZ_FN(sort_rows)(a, a + n, n, vary, rows, call);
    if (status != PZ_OK) {
        pz_scratch_free(z->env, *block, *bytes);
        *block = NULL;
        *rows = NULL;
    }
    return status;
}

/* Fill in the score of each sorted row; a row whose member is missing gets v = 0, which no score
 * is. */
static void PZ_FN(ask_scores)(const pz_set *z, PZ_FN(row) *rows, size_t n)
{
    if (!z->large) {
        for (size_t i = 0; i < n; i++) {
            PZ_S s;
            rows[i].v = PZ_FN(find)(z, rows[i].m, &s) ? s : 0;
        }
        return;
    }
    const pz_body *b = pz_body_of(z);
    PZ_M all[PZ_LEAF_MAX + 16];
    PZ_FN(mt_spot) spot;
    PZ_FN(probe) probe;
    for (size_t i = 0; i < n;) {
        PZ_FN(mt_find_spot)(&b->arena, &b->member, 0, rows[i].m, &spot);
        /* Many rows for this leaf: decode its members once. */
        size_t ahead = i + spot.leaf->n / 16u;
        bool dense = ahead < n && PZ_FN(mt_spot_holds)(&spot, 0, rows[ahead].m);
        PZ_FN(probe_open)(&probe, spot.leaf, dense ? all : NULL);
        do {
            PZ_FN(where) where = PZ_FN(probe_find)(&probe, rows[i].m);
            rows[i].v = where == PZ_FN(missing) ? 0 : PZ_FN(probe_score)(&probe, where);
            i++;
        } while (i < n && PZ_FN(mt_spot_holds)(&spot, 0, rows[i].m));
    }
}

static inline void PZ_FN(nan_store)(void *p)
{
#if PZ_S_BITS == 32
    const uint32_t nan = 0x7fc00000u;
#else
    const uint64_t nan = 0x7ff8000000000000u;
#endif
    memcpy(p, &nan, sizeof nan);
}

static pz_status PZ_FN(score)(const pz_set *z, size_t n, pz_in members, pz_out out, pz_call *call)
{
    PZ_FN(row) *rows;
    void *block;
    size_t bytes;
    PZ_TRY(PZ_FN(ask)(z, n, members, &rows, &block, &bytes, false, call));
    if (rows != NULL) {
        PZ_FN(ask_scores)(z, rows, n);
        for (size_t i = 0; i < n; i++) {
            void *p = PZ_FN(out_at)(out, rows[i].row);
            if (rows[i].v == 0)
                PZ_FN(nan_store)(p);
            else
                PZ_FN(score_store)(p, rows[i].v);
        }
        pz_scratch_free(z->env, block, bytes);
        return PZ_OK;
    }
    for (size_t i = 0; i < n; i++) {
        PZ_S s;
        void *p = PZ_FN(out_at)(out, i);
        if (PZ_FN(find)(z, PZ_FN(member_load)(PZ_FN(in_at)(members, i)), &s))
            PZ_FN(score_store)(p, s);
        else
            PZ_FN(nan_store)(p);
    }
    return PZ_OK;
}

static pz_status PZ_FN(contains)(const pz_set *z, size_t n, pz_in members, pz_out out,
                                 pz_call *call)
{
    PZ_FN(row) *rows;
    void *block;
    size_t bytes;
    PZ_TRY(PZ_FN(ask)(z, n, members, &rows, &block, &bytes, false, call));
    if (rows != NULL) {
        PZ_FN(ask_scores)(z, rows, n);
        for (size_t i = 0; i < n; i++)
            *(uint8_t *)PZ_FN(out_at)(out, rows[i].row) = rows[i].v != 0;
        pz_scratch_free(z->env, block, bytes);
        return PZ_OK;
    }
    for (size_t i = 0; i < n; i++) {
        PZ_S s;
        PZ_M m = PZ_FN(member_load)(PZ_FN(in_at)(members, i));
        *(uint8_t *)PZ_FN(out_at)(out, i) = PZ_FN(find)(z, m, &s);
    }
    return PZ_OK;
}

/* ---- ranks ---- */
static inline void PZ_FN(rank_store)(pz_out out, size_t row, bool average, int64_t twice)
{
    if (average) {
        double r = twice < 0 ? -1.0 : (double)twice * 0.5;
        memcpy(PZ_FN(out_at)(out, row), &r, sizeof r);
    } else {
        int64_t r = twice < 0 ? -1 : twice / 2;
        memcpy(PZ_FN(out_at)(out, row), &r, sizeof r);
    }
}

/* Twice the rank of a present key by a method other than dense. */
static inline int64_t PZ_FN(rank_twice)(const pz_set *z, PZ_S s, PZ_M m, bool reverse,
                                        pz_rank_method method)
{
    int64_t top = 2 * ((int64_t)z->len - 1), twice;
    bool first = method == PZ_RANK_MIN || method == PZ_RANK_AVERAGE;
    bool last = method == PZ_RANK_MAX || method == PZ_RANK_AVERAGE;
    if (reverse && method != PZ_RANK_AVERAGE) {
        bool swap = first; /* from the top the last of equals comes first */
        first = last;
        last = swap;
    }
    if (first && last)
        twice = (int64_t)(PZ_FN(rank_of)(z, s, 0) + PZ_FN(rank_of)(z, (PZ_S)(s + 1), 0)) - 1;
    else if (first)
        twice = 2 * (int64_t)PZ_FN(rank_of)(z, s, 0);
    else if (last)
        twice = 2 * ((int64_t)PZ_FN(rank_of)(z, (PZ_S)(s + 1), 0) - 1);
    else
        twice = 2 * (int64_t)PZ_FN(rank_of)(z, s, m);
    return reverse ? top - twice : twice;
}

/* All entries leaf by leaf in order; at most PZ_LEAF_ENTRIES_MAX at a time. */
typedef struct PZ_FN(walk) {
    const pz_set *z;
    pz_path path;
    bool started, ended;
} PZ_FN(walk);

static uint32_t PZ_FN(walk_next)(PZ_FN(walk) *w, PZ_M *m, PZ_S *s)
{
    const pz_set *z = w->z;
    if (w->ended || z->len == 0)
        return 0;
    if (!z->large) {
        const PZ_FN(key) *keys = PZ_FN(small_keys)(z);
        for (uint32_t i = 0; i < z->len; i++) {
            m[i] = keys[i].m;
            s[i] = keys[i].s;
        }
        w->ended = true;
        return (uint32_t)z->len;
    }
    const pz_body *b = pz_body_of(z);
    if (!w->started)
        pz_path_first(&b->arena, &b->order, &w->path);
    else if (!pz_path_next(&b->arena, &w->path)) {
        w->ended = true;
        return 0;
    }
    w->started = true;
    return PZ_FN(ot_leaf_decode)(pz_leaf_at(&b->arena, w->path.leaf), m, s);
}

/* Dense ranks of rows sorted by score: one pass over the order; gives the distinct scores. */
static uint64_t PZ_FN(rank_dense)(const pz_set *z, const PZ_FN(row) *rows, size_t n, bool reverse,
                                  uint64_t distinct, pz_out out)
{
    PZ_FN(walk) walk = {.z = z};
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S last = 0;
    uint64_t seen = 0;
    size_t r = 0;
    for (uint32_t live; (live = PZ_FN(walk_next)(&walk, m, s)) > 0;) {
        for (uint32_t i = 0; i < live; i++) {
            if (s[i] == last)
                continue;
            last = s[i];
            for (; r < n && rows[r].v <= last; r++) {
                int64_t rank = reverse ? (int64_t)(distinct - 1 - seen) : (int64_t)seen;
                PZ_FN(rank_store)(out, rows[r].row, false, rows[r].v == 0 ? -1 : 2 * rank);
            }
            seen++;
        }
    }
    for (; r < n; r++) /* only in an empty set: every row is missing */
        PZ_FN(rank_store)(out, rows[r].row, false, -1);
    return seen;
}

static pz_status PZ_FN(rank)(const pz_set *z, size_t n, pz_in members, bool reverse,
                             pz_rank_method method, pz_out out, pz_call *call)
{
    const bool average = method == PZ_RANK_AVERAGE;
    PZ_FN(row) *rows;
    void *block;
    size_t bytes;
    PZ_TRY(PZ_FN(ask)(z, n, members, &rows, &block, &bytes, method == PZ_RANK_DENSE, call));
    if (rows == NULL) {
        for (size_t i = 0; i < n; i++) {
            PZ_S s;
            PZ_M m = PZ_FN(member_load)(PZ_FN(in_at)(members, i));
            bool found = PZ_FN(find)(z, m, &s);
            PZ_FN(rank_store)(out, i, average,
                              found ? PZ_FN(rank_twice)(z, s, m, reverse, method) : -1);
        }
        return PZ_OK;
    }
    PZ_FN(ask_scores)(z, rows, n);
    PZ_S vary = 0;
    for (size_t i = 1; i < n; i++)
        vary |= rows[i].v ^ rows[0].v;
    PZ_FN(row) *other = rows == block ? rows + n : (PZ_FN(row) *)block;
    pz_status status = PZ_FN(sort_rows_by_value)(rows, other, n, vary, &rows, call);
    if (status == PZ_OK && method == PZ_RANK_DENSE) {
        uint64_t distinct = 0;
        if (reverse)
            distinct = PZ_FN(rank_dense)(z, NULL, 0, false, 0, out);
        PZ_FN(rank_dense)(z, rows, n, reverse, distinct, out);
    } else if (status == PZ_OK && method == PZ_RANK_ORDINAL) {
        /* Sorted by (score, member): stay in a leaf while its range lasts. */
        const pz_body *b = pz_body_of(z);
        PZ_FN(ot_spot) spot;
        bool have = false;
        for (size_t i = 0; i < n; i++) {
            int64_t rank = -1;
            if (rows[i].v != 0) {
                if (!have || !PZ_FN(ot_spot_holds)(&spot, rows[i].v, rows[i].m))
                    PZ_FN(ot_find_spot)(&b->arena, &b->order, rows[i].v, rows[i].m, &spot);
                have = true;
                rank =
                    (int64_t)(spot.before + PZ_FN(ot_leaf_rank)(spot.leaf, rows[i].v, rows[i].m));
                rank = 2 * (reverse ? (int64_t)z->len - 1 - rank : rank);
            }
            PZ_FN(rank_store)(out, rows[i].row, false, rank);
        }
    } else if (status == PZ_OK) {
        int64_t twice = -1;
        for (size_t i = 0; i < n; i++) { /* equal scores have equal ranks */
            if (rows[i].v != 0 && (i == 0 || rows[i].v != rows[i - 1].v))
                twice = PZ_FN(rank_twice)(z, rows[i].v, rows[i].m, reverse, method);
            PZ_FN(rank_store)(out, rows[i].row, average, rows[i].v == 0 ? -1 : twice);
        }
    }
    pz_scratch_free(z->env, block, bytes);
    return status;
}

/* ---- ranges ---- */
static void PZ_FN(range_write)(const PZ_M *m, const PZ_S *s, uint32_t n, pz_out *members,
                               pz_out *scores)
{
    if (members->ptr != NULL) {
        char *p = members->ptr;
        ptrdiff_t stride = members->stride;
        for (uint32_t i = 0; i < n; i++, p += stride)
            PZ_FN(member_store)(p, m[i]);
        members->ptr = p;
    }
    if (scores->ptr != NULL) {
        char *p = scores->ptr;
        ptrdiff_t stride = scores->stride;
        for (uint32_t i = 0; i < n; i++, p += stride)
            PZ_FN(score_store)(p, s[i]);
        scores->ptr = p;
    }
}

static pz_status PZ_FN(range)(const pz_set *z, uint64_t start, uint64_t n, bool reverse,
                              pz_out members, pz_out scores, pz_call *call)
{
    (void)call;
    if (start > z->len || n > z->len - start)
        return PZ_INVALID;
    if (n == 0)
        return PZ_OK;
    if (reverse) { /* the same entries, written from the end */
        if (members.ptr != NULL)
            members.ptr = PZ_FN(out_at)(members, (size_t)(n - 1));
        if (scores.ptr != NULL)
            scores.ptr = PZ_FN(out_at)(scores, (size_t)(n - 1));
        members.stride = -members.stride;
        scores.stride = -scores.stride;
    }
    PZ_M m[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S s[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_FN(walk) walk = {.z = z, .started = true};
    uint32_t live, skip;
    if (z->large) {
        const pz_body *b = pz_body_of(z);
        skip = (uint32_t)(start - pz_path_select(&b->arena, &b->order, start, &walk.path));
        const pz_leaf *l = pz_leaf_at(&b->arena, walk.path.leaf);
        if (n <= 4) { /* a few entries: no need to decode the leaf they lie in */
            for (; n > 0 && skip < pz_leaf_live(l); n--, skip++) {
                PZ_FN(ot_leaf_get)(l, skip, s, m);
                PZ_FN(range_write)(m, s, 1, &members, &scores);
            }
            if (n == 0)
                return PZ_OK;
        }
        live = PZ_FN(ot_leaf_decode)(l, m, s);
    } else {
        skip = (uint32_t)start;
        live = PZ_FN(walk_next)(&walk, m, s);
    }
    while (n > 0) {
        uint32_t take = live - skip < n ? live - skip : (uint32_t)n;
        PZ_FN(range_write)(m + skip, s + skip, take, &members, &scores);
        n -= take;
        skip = 0;
        if (n > 0)
            live = PZ_FN(walk_next)(&walk, m, s);
    }
    return PZ_OK;
}

/* The lowest sortable score whose value is not below `bound` (inclusive: above it). */
static PZ_S PZ_FN(score_bound)(double bound, bool inclusive)
{
    uint64_t want = pz_sort64(pz_fold_zero64(pz_bits_of_double(bound)));
#if PZ_S_BITS == 64
    return want + (inclusive ? 1 : 0);
#else
    uint32_t lo = pz_sort32(0xff800000u), hi = pz_sort32(0x7f800000u) + 1; /* answer in [lo, hi] */
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        uint64_t have = pz_sort64(pz_fold_zero64(pz_widen_bits(pz_unsort32(mid))));
        if (inclusive ? have <= want : have < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
#endif
}

static uint64_t PZ_FN(position_of_score)(const pz_set *z, double bound, bool inclusive)
{
    if (z->len == 0 || pz_is_nan64(pz_bits_of_double(bound)))
        return 0;
    return PZ_FN(rank_of)(z, PZ_FN(score_bound)(bound, inclusive), 0);
}

static pz_status PZ_FN(nth_by_member)(const pz_set *z, uint64_t k, void *member, double *score)
{
    PZ_S s;
    PZ_M m;
    if (k >= z->len)
        return PZ_INVALID;
    if (z->large) {
        const pz_body *b = pz_body_of(z);
        pz_path path;
        uint64_t before = pz_path_select(&b->arena, &b->member, k, &path);
        PZ_FN(mt_leaf_get)(pz_leaf_at(&b->arena, path.leaf), (uint32_t)(k - before), &s, &m);
    } else {
        /* Few and by score: the one that k others are below. */
        const PZ_FN(key) *keys = PZ_FN(small_keys)(z);
        uint32_t i = 0;
        for (;; i++) {
            uint64_t below = 0;
            for (uint32_t j = 0; j < z->len; j++)
                below += keys[j].m < keys[i].m;
            if (below == k)
                break;
        }
        s = keys[i].s;
        m = keys[i].m;
    }
    PZ_FN(member_store)(member, m);
    *score = PZ_FN(score_double)(s);
    return PZ_OK;
}

static bool PZ_FN(equal)(const pz_set *a, const pz_set *b)
{
    if (a->len != b->len)
        return false;
    PZ_M am[PZ_LEAF_ENTRIES_MAX + 16], bm[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_S as[PZ_LEAF_ENTRIES_MAX + 16], bs[PZ_LEAF_ENTRIES_MAX + 16];
    PZ_FN(walk) aw = {.z = a}, bw = {.z = b};
    uint32_t an = 0, bn = 0, ai = 0, bi = 0;
    for (;;) {
        if (ai == an) {
            an = PZ_FN(walk_next)(&aw, am, as);
            ai = 0;
        }
        if (bi == bn) {
            bn = PZ_FN(walk_next)(&bw, bm, bs);
            bi = 0;
        }
        if (an == 0 || bn == 0)
            return an == bn;
        uint32_t n = an - ai < bn - bi ? an - ai : bn - bi;
        if (memcmp(am + ai, bm + bi, n * sizeof *am) != 0 ||
            memcmp(as + ai, bs + bi, n * sizeof *as) != 0)
            return false;
        ai += n;
        bi += n;
    }
}
