/* change.c: what changes given members: add, incrby, remove, z[m] = s, del z[m], update. */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

/* Two columns of rows as the arguments gave them. */
typedef struct rows {
    pzpy_column members, scores;
} rows;

static void rows_release(rows *r)
{
    pzpy_column_release(&r->members);
    pzpy_column_release(&r->scores);
}

static int rows_take(const pzpy_set *set, PyObject *members, pz_score_kind kind, PyObject *scores,
                     const char *scores_name, rows *r)
{
    r->scores = (pzpy_column)PZPY_COLUMN_INIT;
    if (pzpy_members(set, members, "members", &r->members) < 0)
        return -1;
    if (pzpy_scores(set->state, kind, scores, scores_name, &r->scores) < 0 ||
        pzpy_match(&r->members, "members", &r->scores, scores_name) < 0) {
        rows_release(r);
        return -1;
    }
    return 0;
}

/* Add rows that are already columns: 0, or -1 with an exception set. */
static int add_rows(pzpy_set *set, const rows *r, unsigned flags, uint64_t *added,
                    uint64_t *updated)
{
    pzpy_op op;
    if (pzpy_op_begin(&op, set, true) < 0)
        return -1;
    pzpy_op_bulk(&op, r->members.n);
    pz_status status = pz_add(set->core, r->members.n, r->members.in, r->scores.in, flags, added,
                              updated, &op.call);
    pzpy_op_end(&op);
    if (status == PZ_OK)
        return 0;
    pzpy_raise(status, &op.call, "scores", &r->scores);
    return -1;
}

static PyObject *two_counts(uint64_t added, uint64_t updated)
{
    PyObject *first = PyLong_FromUnsignedLongLong(added);
    PyObject *second = PyLong_FromUnsignedLongLong(updated);
    PyObject *pair = first == NULL || second == NULL ? NULL : PyTuple_Pack(2, first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return pair;
}

static int add_flags(PyObject *const *arg, unsigned *flags)
{
    bool nx, xx, gt, lt;
    if (pzpy_arg_flag(arg[0], false, &nx) < 0 || pzpy_arg_flag(arg[1], false, &xx) < 0 ||
        pzpy_arg_flag(arg[2], false, &gt) < 0 || pzpy_arg_flag(arg[3], false, &lt) < 0)
        return -1;
    if (nx && xx) {
        PyErr_SetString(PyExc_ValueError, "nx and xx exclude each other");
        return -1;
    }
    if ((nx && (gt || lt)) || (gt && lt)) {
        PyErr_SetString(PyExc_ValueError, "nx, gt and lt exclude each other");
        return -1;
    }
    *flags = (nx ? PZ_NX : 0u) | (xx ? PZ_XX : 0u) | (gt ? PZ_GT : 0u) | (lt ? PZ_LT : 0u);
    return 0;
}

PyObject *pzpy_set_add(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"members", "scores", "nx", "xx", "gt", "lt", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[6];
    unsigned flags = 0;
    rows r;
    if (pzpy_args("add", args, given, kwnames, names, 2, 2, arg) < 0 ||
        add_flags(arg + 2, &flags) < 0 ||
        rows_take(set, arg[0], set->score_kind, arg[1], "scores", &r) < 0)
        return NULL;
    uint64_t added = 0, updated = 0;
    int done = add_rows(set, &r, flags, &added, &updated);
    rows_release(&r);
    return done < 0 ? NULL : two_counts(added, updated);
}

/* ---- incrby ---- */

/* Where the new scores go: nowhere, a new array, or the caller's. NULL with no exception set means
 * nowhere. */
static int sums_take(const pzpy_set *set, PyObject *out, const rows *r, pz_score_kind amounts,
                     PyObject **array, pz_out *where)
{
    pzpy_dtype dtype = pzpy_score_dtype(set->score_kind);
    *array = NULL;
    *where = (pz_out){NULL, 0};
    if (out == NULL || out == Py_None)
        return 0;
    if (r->members.ndim == 0)
        return pzpy_refuse(PyExc_TypeError, "out", -1, "one member gives one number, and no array");
    if (out == Py_True) {
        *array = pzpy_np_new(dtype, r->members.ndim, r->members.dims, where);
        return *array == NULL ? -1 : 0;
    }
    if (pzpy_np_out(out, dtype, "out", r->members.ndim, r->members.dims, where) < 0 ||
        pzpy_refuse_overlap_column(where, dtype, r->members.n, &r->members,
                                   pzpy_member_dtype(set->member_kind), "members") < 0 ||
        pzpy_refuse_overlap_column(where, dtype, r->members.n, &r->scores,
                                   pzpy_score_dtype(amounts), "amounts") < 0)
        return -1;
    *array = Py_NewRef(out);
    return 0;
}

PyObject *pzpy_set_incrby(PyObject *self, PyObject *const *args, Py_ssize_t given,
                          PyObject *kwnames)
{
    static const char *const names[] = {"members", "amounts", "out", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[3];
    rows r;
    if (pzpy_args("incrby", args, given, kwnames, names, 2, 1, arg) < 0)
        return NULL;
    PyObject *amounts = arg[1] == NULL ? PyLong_FromLong(1) : Py_NewRef(arg[1]);
    if (amounts == NULL)
        return NULL;
    /* Amounts enter the sum unrounded: float32 only when they are that already, to spare a copy. */
    bool narrow = set->score_kind == PZ_FLOAT32 && pzpy_np_is_float32(amounts);
    pz_score_kind kind = narrow ? PZ_FLOAT32 : PZ_FLOAT64;
    int taken = rows_take(set, arg[0], kind, amounts, "amounts", &r);
    Py_DECREF(amounts);
    if (taken < 0)
        return NULL;

    PyObject *result = NULL;
    pz_out where;
    pzpy_value sum;
    pzpy_op op;
    if (sums_take(set, arg[2], &r, kind, &result, &where) < 0)
        goto done;
    bool scalar = r.members.ndim == 0;
    if (scalar)
        where = (pz_out){&sum, 0};
    if (pzpy_op_begin(&op, set, true) < 0) {
        Py_CLEAR(result);
        goto done;
    }
    pzpy_op_bulk(&op, r.members.n);
    pz_status status = pz_incr(set->core, r.members.n, r.members.in, r.scores.in,
                               set->score_kind == PZ_FLOAT32 && !narrow, where, &op.call);
    pzpy_op_end(&op);
    if (status != PZ_OK) {
        Py_XDECREF(result);
        /* a sum fails at its row, also where the amount was given once for all */
        result = pzpy_raise(status, &op.call, "amounts", status == PZ_NAN ? &r.scores : &r.members);
    } else if (scalar) {
        result = pzpy_score_to_object(set->score_kind, &sum);
    } else if (result == NULL) {
        result = Py_NewRef(Py_None);
    }
done:
    rows_release(&r);
    return result;
}

/* ---- removal of given members ---- */

static int remove_rows(pzpy_set *set, const pzpy_column *members, uint64_t *removed)
{
    pzpy_op op;
    if (pzpy_op_begin(&op, set, true) < 0)
        return -1;
    pzpy_op_bulk(&op, members->n);
    pz_status status = pz_remove(set->core, members->n, members->in, removed, &op.call);
    pzpy_op_end(&op);
    if (status == PZ_OK)
        return 0;
    pzpy_raise(status, &op.call, "members", members);
    return -1;
}

PyObject *pzpy_set_remove(PyObject *self, PyObject *const *args, Py_ssize_t given,
                          PyObject *kwnames)
{
    static const char *const names[] = {"members", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[1];
    pzpy_column members;
    uint64_t removed = 0;
    if (pzpy_args("remove", args, given, kwnames, names, 1, 1, arg) < 0 ||
        pzpy_members(set, arg[0], "members", &members) < 0)
        return NULL;
    int done = remove_rows(set, &members, &removed);
    pzpy_column_release(&members);
    return done < 0 ? NULL : PyLong_FromUnsignedLongLong(removed);
}

/* ---- z[m] = s and del z[m] ---- */

int pzpy_set_setitem(PyObject *self, PyObject *key, PyObject *value)
{
    pzpy_set *set = pzpy_self(self);
    pzpy_column member;
    uint64_t added = 0, other = 0;
    if (value != NULL) {
        rows r;
        if (rows_take(set, key, set->score_kind, value, "score", &r) < 0)
            return -1;
        int done = r.members.ndim == 0 ? add_rows(set, &r, 0, &added, &other)
                                       : pzpy_refuse(PyExc_TypeError, "member", -1,
                                                     "one member is needed; arrays go to add()");
        rows_release(&r);
        return done;
    }
    if (pzpy_members(set, key, "member", &member) < 0)
        return -1;
    int done = member.ndim == 0 ? remove_rows(set, &member, &other)
                                : pzpy_refuse(PyExc_TypeError, "member", -1,
                                              "one member is needed; arrays go to remove()");
    pzpy_column_release(&member);
    if (done == 0 && other == 0) {
        PyErr_SetObject(PyExc_KeyError, key);
        done = -1;
    }
    return done;
}

/* ---- update ---- */

PyObject *pzpy_set_update(PyObject *self, PyObject *const *args, Py_ssize_t given,
                          PyObject *kwnames)
{
    static const char *const names[] = {"source", NULL};
    PyObject *arg[1];
    uint64_t added = 0, updated = 0;
    if (pzpy_args("update", args, given, kwnames, names, 1, 1, arg) < 0 ||
        pzpy_fill(pzpy_self(self), arg[0], &added, &updated) < 0)
        return NULL;
    return two_counts(added, updated);
}

int pzpy_add_objects(pzpy_set *set, PyObject *members, PyObject *scores, uint64_t *added,
                     uint64_t *updated)
{
    rows r;
    if (rows_take(set, members, set->score_kind, scores, "scores", &r) < 0)
        return -1;
    int done = add_rows(set, &r, 0, added, updated);
    rows_release(&r);
    return done;
}
