/* range.c: windows of the order: range, range_by_score, count, top, bottom, around, pops, and
 * removal by position or score.
 *
 * A plan says what is wanted; a window is what it means for the set as it is now. Result arrays
 * are made without the lock (making them may run other code), so the window is worked out twice:
 * once for its length, once again under the lock that reads it. Should the set have changed in
 * between so that the arrays do not fit, it starts over. */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

#include <math.h>

typedef enum plan_kind { BY_POSITION, BY_SCORE, AROUND } plan_kind;

typedef struct plan {
    plan_kind kind;
    bool reverse;
    int64_t start, stop;      /* BY_POSITION, as in a slice; counted from the end if reverse */
    double low, high;         /* BY_SCORE */
    bool low_open, high_open;
    uint64_t offset, limit;   /* BY_SCORE, in the direction of the result */
    pzpy_value member;        /* AROUND: so many on each side */
    uint64_t reach;
} plan;

typedef struct window {
    uint64_t start, n; /* ascending positions */
    bool missing;      /* AROUND a member that is not there */
} window;

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A position of a slice over n entries: negative counts from the end, then clipped to 0 .. n. */
static uint64_t slice_position(int64_t at, uint64_t n)
{
    if (at < 0) {
        uint64_t back = 0 - (uint64_t)at;
        return back > n ? 0 : n - back;
    }
    return min_u64((uint64_t)at, n);
}

/* Needs the lock. */
static window window_of(const plan *p, const pz_set *core)
{
    uint64_t n = pz_len(core);
    uint64_t first, last;
    if (p->kind == BY_POSITION) {
        first = slice_position(p->start, n);
        last = slice_position(p->stop, n);
        if (last <= first)
            return (window){0, 0, false};
        return (window){p->reverse ? n - last : first, last - first, false};
    }
    if (p->kind == AROUND) {
        int64_t rank = pz_rank_one(core, &p->member, false);
        if (rank < 0)
            return (window){0, 0, true};
        first = (uint64_t)rank - min_u64((uint64_t)rank, p->reach);
        last = (uint64_t)rank + min_u64(n - 1 - (uint64_t)rank, p->reach);
        return (window){first, last - first + 1, false};
    }
    first = pz_position_of_score(core, p->low, p->low_open);
    last = pz_position_of_score(core, p->high, !p->high_open);
    if (last <= first || last - first <= p->offset)
        return (window){0, 0, false};
    uint64_t found = min_u64(last - first - p->offset, p->limit);
    return (window){p->reverse ? last - p->offset - found : first + p->offset, found, false};
}

static int look(pzpy_set *set, const plan *p, window *w)
{
    if (pzpy_read_begin(set) < 0)
        return -1;
    *w = window_of(p, set->core);
    pzpy_read_end(set);
    return 0;
}

/* ---- windows to arrays ---- */

typedef struct pair {
    PyObject *members, *scores;
    pz_out to_members, to_scores;
    uint64_t room;
    bool given; /* an array of the caller's: its length must be the window's */
} pair;

static void pair_release(pair *r)
{
    Py_CLEAR(r->members);
    Py_CLEAR(r->scores);
}

static PyObject *one_side(PyObject *given, pzpy_dtype dtype, uint64_t n, pz_out *where)
{
    Py_ssize_t dims[1] = {(Py_ssize_t)n};
    if (given == NULL || given == Py_None)
        return pzpy_np_column(dtype, n, where);
    return pzpy_np_out(given, dtype, "out", 1, dims, where) < 0 ? NULL : Py_NewRef(given);
}

static int pair_make(const pzpy_set *set, PyObject *out, uint64_t n, pair *r)
{
    PyObject *members = NULL, *scores = NULL;
    *r = (pair){.room = n, .given = out != NULL && out != Py_None};
    if (r->given) {
        if (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != 2) {
            PyErr_SetString(PyExc_TypeError, "out: a tuple (members, scores) is needed");
            return -1;
        }
        members = PyTuple_GET_ITEM(out, 0);
        scores = PyTuple_GET_ITEM(out, 1);
    }
    pzpy_dtype member_dtype = pzpy_member_dtype(set->member_kind);
    pzpy_dtype score_dtype = pzpy_score_dtype(set->score_kind);
    r->members = one_side(members, member_dtype, n, &r->to_members);
    if (r->members != NULL)
        r->scores = one_side(scores, score_dtype, n, &r->to_scores);
    if (r->scores == NULL ||
        pzpy_refuse_overlap(&r->to_members, member_dtype, n, r->to_scores.ptr, r->to_scores.stride,
                            n, pzpy_dtype_bytes(score_dtype), "the other") < 0) {
        pair_release(r);
        return -1;
    }
    return 0;
}

static PyObject *pair_result(pair *r, uint64_t n)
{
    if (n < r->room) {
        r->members = pzpy_np_head(r->members, n);
        r->scores = r->members == NULL ? r->scores : pzpy_np_head(r->scores, n);
    }
    PyObject *result = NULL;
    if (r->members != NULL && r->scores != NULL)
        result = PyTuple_Pack(2, r->members, r->scores);
    pair_release(r);
    return result;
}

static PyObject *raise_missing(pzpy_set *set, const plan *p)
{
    PyObject *key = pzpy_member_to_object(set->state, set->member_kind, &p->member);
    if (key != NULL)
        PyErr_SetObject(PyExc_KeyError, key);
    Py_XDECREF(key);
    return NULL;
}

/* Read what a plan means, and remove it too when `remove` is set. */
static PyObject *fetch(pzpy_set *set, const plan *p, bool remove, PyObject *out)
{
    window w;
    pair r;
    pzpy_op op;
    if (look(set, p, &w) < 0)
        return NULL;
    for (;;) {
        if (w.missing)
            return raise_missing(set, p);
        if (pair_make(set, out, w.n, &r) < 0)
            return NULL;
        if (pzpy_op_begin(&op, set, remove) < 0)
            goto failed;
        w = window_of(p, set->core);
        bool fits = !w.missing && (r.given ? w.n == r.room : w.n <= r.room);
        pz_status status = PZ_OK;
        if (fits && w.n > 0) {
            pzpy_op_bulk(&op, w.n);
            status =
                pz_range(set->core, w.start, w.n, p->reverse, r.to_members, r.to_scores, &op.call);
            if (status == PZ_OK && remove)
                status = pz_remove_range(set->core, w.start, w.start + w.n, &op.call);
        }
        pzpy_op_end(&op);
        if (status != PZ_OK) {
            pzpy_raise(status, &op.call, "range", NULL);
            goto failed;
        }
        if (fits)
            return pair_result(&r, w.n);
        pair_release(&r);
    }
failed:
    pair_release(&r);
    return NULL;
}

/* ---- reading ---- */

PyObject *pzpy_set_range(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"start", "stop", "reverse", "out", NULL};
    PyObject *arg[4];
    plan p = {.kind = BY_POSITION};
    if (pzpy_args("range", args, given, kwnames, names, 2, 0, arg) < 0 ||
        pzpy_arg_position(arg[0], "start", 0, &p.start) < 0 ||
        pzpy_arg_position(arg[1], "stop", INT64_MAX, &p.stop) < 0 ||
        pzpy_arg_flag(arg[2], false, &p.reverse) < 0)
        return NULL;
    return fetch(pzpy_self(self), &p, false, arg[3]);
}

/* low, high, low_open, high_open */
static int score_bounds(PyObject *const *arg, plan *p)
{
    p->kind = BY_SCORE;
    p->limit = UINT64_MAX;
    return pzpy_bound(arg[0], "low", -HUGE_VAL, &p->low) < 0 ||
                   pzpy_bound(arg[1], "high", HUGE_VAL, &p->high) < 0 ||
                   pzpy_arg_flag(arg[2], false, &p->low_open) < 0 ||
                   pzpy_arg_flag(arg[3], false, &p->high_open) < 0
               ? -1
               : 0;
}

PyObject *pzpy_set_range_by_score(PyObject *self, PyObject *const *args, Py_ssize_t given,
                                  PyObject *kwnames)
{
    static const char *const names[] = {"low",     "high",   "low_open", "high_open",
                                        "reverse", "offset", "limit",    NULL};
    PyObject *arg[7];
    plan p = {.kind = BY_SCORE};
    if (pzpy_args("range_by_score", args, given, kwnames, names, 2, 0, arg) < 0 ||
        score_bounds(arg, &p) < 0 || pzpy_arg_flag(arg[4], false, &p.reverse) < 0 ||
        pzpy_arg_count(arg[5], "offset", 0, &p.offset) < 0 ||
        pzpy_arg_count(arg[6], "limit", UINT64_MAX, &p.limit) < 0)
        return NULL;
    return fetch(pzpy_self(self), &p, false, NULL);
}

PyObject *pzpy_set_count(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"low", "high", "low_open", "high_open", NULL};
    PyObject *arg[4];
    plan p = {.kind = BY_SCORE};
    window w;
    if (pzpy_args("count", args, given, kwnames, names, 2, 0, arg) < 0 ||
        score_bounds(arg, &p) < 0 || look(pzpy_self(self), &p, &w) < 0)
        return NULL;
    return PyLong_FromUnsignedLongLong(w.n);
}

static PyObject *end_of_order(const char *function, bool reverse, PyObject *self,
                              PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"k", NULL};
    PyObject *arg[1];
    uint64_t k = 0;
    if (pzpy_args(function, args, given, kwnames, names, 1, 1, arg) < 0 ||
        pzpy_arg_count(arg[0], "k", INT64_MAX, &k) < 0)
        return NULL;
    plan p = {.kind = BY_POSITION, .reverse = reverse, .start = 0, .stop = (int64_t)k};
    return fetch(pzpy_self(self), &p, false, NULL);
}

PyObject *pzpy_set_top(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    return end_of_order("top", true, self, args, given, kwnames);
}

PyObject *pzpy_set_bottom(PyObject *self, PyObject *const *args, Py_ssize_t given,
                          PyObject *kwnames)
{
    return end_of_order("bottom", false, self, args, given, kwnames);
}

PyObject *pzpy_set_around(PyObject *self, PyObject *const *args, Py_ssize_t given,
                          PyObject *kwnames)
{
    static const char *const names[] = {"member", "k", "reverse", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[3];
    plan p = {.kind = AROUND};
    pzpy_column member;
    if (pzpy_args("around", args, given, kwnames, names, 2, 2, arg) < 0 ||
        pzpy_arg_count(arg[1], "k", INT64_MAX, &p.reach) < 0 ||
        pzpy_arg_flag(arg[2], false, &p.reverse) < 0 ||
        pzpy_members(set, arg[0], "member", &member) < 0)
        return NULL;
    bool scalar = member.ndim == 0;
    p.member = member.one;
    pzpy_column_release(&member);
    if (!scalar) {
        PyErr_SetString(PyExc_TypeError, "member: one member is needed, not an array");
        return NULL;
    }
    return fetch(set, &p, false, NULL);
}

/* ---- removing ---- */

static PyObject *drop(pzpy_set *set, const plan *p)
{
    pzpy_op op;
    if (pzpy_op_begin(&op, set, true) < 0)
        return NULL;
    window w = window_of(p, set->core);
    pz_status status = PZ_OK;
    if (w.n > 0) {
        pzpy_op_bulk(&op, w.n);
        status = pz_remove_range(set->core, w.start, w.start + w.n, &op.call);
    }
    pzpy_op_end(&op);
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "range", NULL);
    return PyLong_FromUnsignedLongLong(w.n);
}

PyObject *pzpy_set_remove_range(PyObject *self, PyObject *const *args, Py_ssize_t given,
                                PyObject *kwnames)
{
    static const char *const names[] = {"start", "stop", "reverse", NULL};
    PyObject *arg[3];
    plan p = {.kind = BY_POSITION};
    if (pzpy_args("remove_range", args, given, kwnames, names, 2, 2, arg) < 0 ||
        pzpy_arg_position(arg[0], "start", 0, &p.start) < 0 ||
        pzpy_arg_position(arg[1], "stop", INT64_MAX, &p.stop) < 0 ||
        pzpy_arg_flag(arg[2], false, &p.reverse) < 0)
        return NULL;
    return drop(pzpy_self(self), &p);
}

PyObject *pzpy_set_remove_range_by_score(PyObject *self, PyObject *const *args, Py_ssize_t given,
                                         PyObject *kwnames)
{
    static const char *const names[] = {"low", "high", "low_open", "high_open", NULL};
    PyObject *arg[4];
    plan p = {.kind = BY_SCORE};
    if (pzpy_args("remove_range_by_score", args, given, kwnames, names, 2, 2, arg) < 0 ||
        score_bounds(arg, &p) < 0)
        return NULL;
    return drop(pzpy_self(self), &p);
}

/* ---- pops ---- */

static PyObject *pop_one(pzpy_set *set, bool top)
{
    pzpy_value member, score;
    pzpy_op op;
    pz_status status = PZ_OK;
    if (pzpy_op_begin(&op, set, true) < 0)
        return NULL;
    uint64_t n = pz_len(set->core);
    uint64_t at = top && n > 0 ? n - 1 : 0;
    if (n > 0) {
        status =
            pz_range(set->core, at, 1, false, (pz_out){&member, 0}, (pz_out){&score, 0}, &op.call);
        if (status == PZ_OK)
            status = pz_remove_range(set->core, at, at + 1, &op.call);
    }
    pzpy_op_end(&op);
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "pop", NULL);
    if (n == 0) {
        PyErr_SetString(PyExc_KeyError, "pop from an empty set");
        return NULL;
    }
    PyObject *first = pzpy_member_to_object(set->state, set->member_kind, &member);
    PyObject *second = pzpy_score_to_object(set->score_kind, &score);
    PyObject *result = NULL;
    if (first != NULL && second != NULL)
        result = PyTuple_Pack(2, first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return result;
}

static PyObject *pop(const char *function, bool top, PyObject *self, PyObject *const *args,
                     Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"count", NULL};
    PyObject *arg[1];
    uint64_t count = 0;
    if (pzpy_args(function, args, given, kwnames, names, 1, 0, arg) < 0 ||
        pzpy_arg_count(arg[0], "count", 0, &count) < 0)
        return NULL;
    if (arg[0] == NULL || arg[0] == Py_None)
        return pop_one(pzpy_self(self), top);
    plan p = {.kind = BY_POSITION, .reverse = top, .start = 0, .stop = (int64_t)count};
    return fetch(pzpy_self(self), &p, true, NULL);
}

PyObject *pzpy_set_pop_min(PyObject *self, PyObject *const *args, Py_ssize_t given,
                           PyObject *kwnames)
{
    return pop("pop_min", false, self, args, given, kwnames);
}

PyObject *pzpy_set_pop_max(PyObject *self, PyObject *const *args, Py_ssize_t given,
                           PyObject *kwnames)
{
    return pop("pop_max", true, self, args, given, kwnames);
}
