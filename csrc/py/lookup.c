/* lookup.c: what is asked of given members: score, contains, rank.
 *
 * A scalar asks the core's one-member functions under a lock taken and given back in place; an
 * array goes through the frame of op.c and comes back as an array of its shape. */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

/* 1: a scalar, in *member; 0: an array or a list; -1: a refused scalar. */
static int scalar_member(const pzpy_set *set, PyObject *obj, pzpy_value *member)
{
    if (!PyLong_CheckExact(obj) && !pzpy_is_scalar(set->state, obj))
        return 0;
    return pzpy_member_from_object(set->state, set->member_kind, obj, "members", -1, member) < 0
               ? -1
               : 1;
}

/* 1 found, 0 missing, -1 failed. */
static int score_one(pzpy_set *set, const pzpy_value *member, double *score)
{
    if (pzpy_read_begin(set) < 0)
        return -1;
    bool found = pz_score_one(set->core, member, score);
    pzpy_read_end(set);
    return found ? 1 : 0;
}

static PyObject *score_scalar(pzpy_set *set, const pzpy_value *member)
{
    double score = 0.0;
    int found = score_one(set, member, &score);
    if (found < 0)
        return NULL;
    return found ? PyFloat_FromDouble(score) : Py_NewRef(Py_None);
}

/* The result of a look-up: the caller's array or a new one. */
static PyObject *result_array(PyObject *out, pzpy_dtype dtype, const pzpy_column *members,
                              pzpy_dtype member_dtype, pz_out *where)
{
    if (out == NULL || out == Py_None)
        return pzpy_np_new(dtype, members->ndim, members->dims, where);
    if (pzpy_np_out(out, dtype, "out", members->ndim, members->dims, where) < 0 ||
        pzpy_refuse_overlap_column(where, dtype, members->n, members, member_dtype, "members") < 0)
        return NULL;
    return Py_NewRef(out);
}

static int refuse_scalar_out(PyObject *out)
{
    if (out == NULL || out == Py_None)
        return 0;
    return pzpy_refuse(PyExc_TypeError, "out", -1, "one member gives one number, and no array");
}

PyObject *pzpy_set_score(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"members", "out", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[2];
    pzpy_value member;
    if (pzpy_args("score", args, given, kwnames, names, 1, 1, arg) < 0)
        return NULL;
    int scalar = scalar_member(set, arg[0], &member);
    if (scalar != 0)
        return scalar < 0 || refuse_scalar_out(arg[1]) < 0 ? NULL : score_scalar(set, &member);

    pzpy_column members;
    if (pzpy_members(set, arg[0], "members", &members) < 0)
        return NULL;
    PyObject *result = NULL;
    pz_out where;
    pzpy_op op;
    if (members.ndim == 0) {
        result = refuse_scalar_out(arg[1]) < 0 ? NULL : score_scalar(set, &members.one);
        goto done;
    }
    result = result_array(arg[1], pzpy_score_dtype(set->score_kind), &members,
                          pzpy_member_dtype(set->member_kind), &where);
    if (result == NULL || pzpy_op_begin(&op, set, false) < 0) {
        Py_CLEAR(result);
        goto done;
    }
    pzpy_op_bulk(&op, members.n);
    pz_status status = pz_score(set->core, members.n, members.in, where, &op.call);
    pzpy_op_end(&op);
    if (status != PZ_OK)
        Py_SETREF(result, pzpy_raise(status, &op.call, "members", &members));
done:
    pzpy_column_release(&members);
    return result;
}

PyObject *pzpy_set_contains(PyObject *self, PyObject *const *args, Py_ssize_t given,
                            PyObject *kwnames)
{
    static const char *const names[] = {"members", "out", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[2];
    if (pzpy_args("contains", args, given, kwnames, names, 1, 1, arg) < 0)
        return NULL;
    pzpy_column members;
    if (pzpy_members(set, arg[0], "members", &members) < 0)
        return NULL;
    PyObject *result = NULL;
    pz_out where;
    pzpy_op op;
    if (members.ndim == 0) {
        double score;
        int found = refuse_scalar_out(arg[1]) < 0 ? -1 : score_one(set, &members.one, &score);
        result = found < 0 ? NULL : PyBool_FromLong(found);
        goto done;
    }
    result = result_array(arg[1], PZPY_BOOL, &members, pzpy_member_dtype(set->member_kind), &where);
    if (result == NULL || pzpy_op_begin(&op, set, false) < 0) {
        Py_CLEAR(result);
        goto done;
    }
    pzpy_op_bulk(&op, members.n);
    pz_status status = pz_contains(set->core, members.n, members.in, where, &op.call);
    pzpy_op_end(&op);
    if (status != PZ_OK)
        Py_SETREF(result, pzpy_raise(status, &op.call, "members", &members));
done:
    pzpy_column_release(&members);
    return result;
}

/* ---- rank ---- */

static int rank_method(PyObject *obj, pz_rank_method *out)
{
    static const char *const names[] = {"ordinal", "min", "max", "dense", "average"};
    static const pz_rank_method methods[] = {PZ_RANK_ORDINAL, PZ_RANK_MIN, PZ_RANK_MAX,
                                             PZ_RANK_DENSE, PZ_RANK_AVERAGE};
    *out = PZ_RANK_ORDINAL;
    if (obj == NULL)
        return 0;
    for (size_t i = 0; PyUnicode_Check(obj) && i < sizeof names / sizeof names[0]; i++) {
        if (PyUnicode_CompareWithASCIIString(obj, names[i]) == 0) {
            *out = methods[i];
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError,
                 "method: %R is none of 'ordinal', 'min', 'max', 'dense', 'average'", obj);
    return -1;
}

static PyObject *rank_scalar(pzpy_set *set, const pzpy_value *member, bool reverse,
                             pz_rank_method method)
{
    union {
        int64_t position;
        double mean;
    } rank = {.position = -1};
    pz_status status = PZ_OK;
    pz_call call = {.poll = NULL};
    if (pzpy_read_begin(set) < 0)
        return NULL;
    if (method == PZ_RANK_ORDINAL)
        rank.position = pz_rank_one(set->core, member, reverse);
    else
        status =
            pz_rank(set->core, 1, (pz_in){member, 0}, reverse, method, (pz_out){&rank, 0}, &call);
    pzpy_read_end(set);
    if (status != PZ_OK)
        return pzpy_raise(status, &call, "members", NULL);
    if (method == PZ_RANK_AVERAGE)
        return rank.mean < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(rank.mean);
    return rank.position < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(rank.position);
}

PyObject *pzpy_set_rank(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"members", "reverse", "method", "out", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[4];
    bool reverse;
    pz_rank_method method;
    pzpy_value member;
    if (pzpy_args("rank", args, given, kwnames, names, 1, 1, arg) < 0 ||
        pzpy_arg_flag(arg[1], false, &reverse) < 0 || rank_method(arg[2], &method) < 0)
        return NULL;
    int scalar = scalar_member(set, arg[0], &member);
    if (scalar != 0)
        return scalar < 0 || refuse_scalar_out(arg[3]) < 0
                   ? NULL
                   : rank_scalar(set, &member, reverse, method);

    pzpy_column members;
    if (pzpy_members(set, arg[0], "members", &members) < 0)
        return NULL;
    PyObject *result = NULL;
    pz_out where;
    pzpy_op op;
    if (members.ndim == 0) {
        if (refuse_scalar_out(arg[3]) == 0)
            result = rank_scalar(set, &members.one, reverse, method);
        goto done;
    }
    result = result_array(arg[3], method == PZ_RANK_AVERAGE ? PZPY_FLOAT64 : PZPY_INT64, &members,
                          pzpy_member_dtype(set->member_kind), &where);
    if (result == NULL || pzpy_op_begin(&op, set, false) < 0) {
        Py_CLEAR(result);
        goto done;
    }
    pzpy_op_bulk(&op, members.n);
    pz_status status = pz_rank(set->core, members.n, members.in, reverse, method, where, &op.call);
    pzpy_op_end(&op);
    if (status != PZ_OK)
        Py_SETREF(result, pzpy_raise(status, &op.call, "members", &members));
done:
    pzpy_column_release(&members);
    return result;
}

/* ---- z[m] and m in z ---- */

static int one_member(const pzpy_set *set, PyObject *key, pzpy_value *member)
{
    int scalar = scalar_member(set, key, member);
    if (scalar == 0) {
        pzpy_column column;
        if (pzpy_members(set, key, "member", &column) < 0)
            return -1;
        scalar = column.ndim == 0;
        *member = column.one;
        pzpy_column_release(&column);
        if (!scalar) {
            PyErr_SetString(PyExc_TypeError,
                            "member: one member is needed; arrays go to score() and contains()");
            return -1;
        }
    }
    return scalar < 0 ? -1 : 0;
}

PyObject *pzpy_set_getitem(PyObject *self, PyObject *key)
{
    pzpy_set *set = pzpy_self(self);
    pzpy_value member;
    double score = 0.0;
    if (one_member(set, key, &member) < 0)
        return NULL;
    int found = score_one(set, &member, &score);
    if (found > 0)
        return PyFloat_FromDouble(score);
    if (found == 0)
        PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

int pzpy_set_has(PyObject *self, PyObject *key)
{
    pzpy_set *set = pzpy_self(self);
    pzpy_value member;
    double score;
    return one_member(set, key, &member) < 0 ? -1 : score_one(set, &member, &score);
}
