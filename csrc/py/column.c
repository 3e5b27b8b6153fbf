/* column.c: one argument, whatever it is, to a column that the core can read.
 *
 *   scalar                                        -> the column's own `one`, stride 0
 *   array of the layout's dtype, native bytes     -> where it lies, no copy
 *   array of another integer or float dtype       -> converted, each element checked
 *   list, tuple, object array                     -> converted object by object
 *
 * I1. A converted column is written once, in the layout's type, and owned by the column.
 * I2. Nothing is ever cast on the way: what does not fit exactly is refused at its row. */
#include "pzpy.h"

#include "convert.h"
#include "np_glue.h"

typedef struct target {
    pzpy_state *state;
    const char *name;
    bool members;
    pz_member_kind member;
    pz_score_kind score;
} target;

static pzpy_dtype dtype_for(const target *to)
{
    return to->members ? pzpy_member_dtype(to->member) : pzpy_score_dtype(to->score);
}

static int value_from_object(const target *to, PyObject *obj, Py_ssize_t index, pzpy_value *out)
{
    if (to->members)
        return pzpy_member_from_object(to->state, to->member, obj, to->name, index, out);
    return pzpy_score_from_object(to->score, obj, to->name, index, out);
}

void pzpy_column_release(pzpy_column *column)
{
    Py_CLEAR(column->owner);
    Py_CLEAR(column->shape_of);
}

static int from_scalar(const target *to, PyObject *obj, pzpy_column *out)
{
    out->in = (pz_in){&out->one, 0};
    out->n = 1;
    out->ndim = 0;
    return value_from_object(to, obj, -1, &out->one);
}

/* A column of no dimensions reads its one element here and now. */
static void settle_scalar(pzpy_column *column, size_t bytes)
{
    if (column->ndim > 0)
        return;
    memcpy(&column->one, column->in.ptr, bytes);
    column->in = (pz_in){&column->one, 0};
}

/* 1: done; 0: an element is itself a sequence, so this is no flat list; -1: refused. */
static int from_flat(const target *to, PyObject *tuple, pzpy_column *out)
{
    Py_ssize_t n = PyTuple_GET_SIZE(tuple);
    size_t bytes = pzpy_dtype_bytes(dtype_for(to));
    pz_out where;
    PyObject *array = pzpy_np_column(dtype_for(to), (uint64_t)n, &where);
    if (array == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        pzpy_value value;
        if (!PyLong_Check(item) && !PyFloat_Check(item) && !pzpy_is_scalar(to->state, item)) {
            Py_DECREF(array);
            return 0;
        }
        if (value_from_object(to, item, i, &value) < 0) {
            Py_DECREF(array);
            return -1;
        }
        memcpy((char *)where.ptr + (size_t)i * bytes, &value, bytes);
    }
    out->in = (pz_in){where.ptr, where.stride};
    out->n = (size_t)n;
    out->owner = array;
    return 1;
}

static int refuse_fault(const target *to, PyObject *array, pzpy_fault fault, size_t row, int ndim)
{
    PyObject *dtype = pzpy_np_dtype_text(array);
    if (dtype == NULL)
        return -1;
    Py_ssize_t index = ndim == 0 ? -1 : (Py_ssize_t)row;
    const char *mine = pzpy_dtype_name(dtype_for(to));
    if (fault == PZPY_FAULT_RANGE)
        pzpy_refuse(PyExc_OverflowError, to->name, index, "a value of dtype %U does not fit %s",
                    dtype, mine);
    else if (fault == PZPY_FAULT_INEXACT)
        pzpy_refuse(PyExc_ValueError, to->name, index,
                    "a value of dtype %U is not exact in %s; convert it to float first", dtype,
                    mine);
    else if (fault == PZPY_FAULT_OVERFLOW)
        pzpy_refuse(PyExc_OverflowError, to->name, index, "a value of dtype %U is too large for %s",
                    dtype, mine);
    else
        pzpy_refuse(PyExc_ValueError, to->name, index, "NaN is no score");
    Py_DECREF(dtype);
    return -1;
}

static int convert_numbers(const target *to, PyObject *array, const pzpy_view *view,
                           pzpy_column *out)
{
    pz_out where;
    PyObject *copy = pzpy_np_column(dtype_for(to), view->source.n, &where);
    if (copy == NULL)
        return -1;
    pzpy_fault fault;
    size_t row = 0;
    bool wide = to->members ? to->member == PZ_INT64 : to->score == PZ_FLOAT64;
    PyThreadState *thread = view->source.n >= PZPY_BULK_ROWS ? PyEval_SaveThread() : NULL;
    if (to->members)
        fault = pzpy_convert_members(&view->source, wide, where.ptr, &row);
    else
        fault = pzpy_convert_scores(&view->source, wide, where.ptr, &row);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    if (fault != PZPY_FINE) {
        Py_DECREF(copy);
        return refuse_fault(to, array, fault, row, view->ndim);
    }
    out->in = (pz_in){where.ptr, where.stride};
    out->owner = copy;
    return 0;
}

static int convert_objects(const target *to, const pzpy_view *view, pzpy_column *out)
{
    size_t bytes = pzpy_dtype_bytes(dtype_for(to));
    pz_out where;
    PyObject *copy = pzpy_np_column(dtype_for(to), view->source.n, &where);
    if (copy == NULL)
        return -1;
    const char *at = view->source.ptr;
    for (size_t i = 0; i < view->source.n; i++, at += view->source.stride) {
        PyObject *item;
        memcpy(&item, at, sizeof item);
        item = Py_NewRef(item == NULL ? Py_None : item); /* other code may change the array */
        pzpy_value value;
        int done = value_from_object(to, item, view->ndim == 0 ? -1 : (Py_ssize_t)i, &value);
        Py_DECREF(item);
        if (done < 0) {
            Py_DECREF(copy);
            return -1;
        }
        memcpy((char *)where.ptr + i * bytes, &value, bytes);
    }
    out->in = (pz_in){where.ptr, where.stride};
    out->owner = copy;
    return 0;
}

static bool is_mine(const target *to, const pzpy_view *view)
{
    static const pzpy_number mine[] = {PZPY_S32, PZPY_S64, PZPY_NO_NUMBER, PZPY_F32, PZPY_F64};
    return view->content == PZPY_NUMBERS && !view->source.swapped &&
           view->source.number == mine[dtype_for(to)];
}

static int refuse_dtype(const target *to, PyObject *array)
{
    PyObject *dtype = pzpy_np_dtype_text(array);
    if (dtype == NULL)
        return -1;
    pzpy_refuse(PyExc_TypeError, to->name, -1, "an array of dtype %U holds no %s", dtype,
                !to->members            ? "scores"
                : to->member == PZ_UUID ? "UUIDs; give dtype V16, or uint8 with 16 on the last axis"
                                        : "integer members");
    Py_DECREF(dtype);
    return -1;
}

static bool usable(const target *to, const pzpy_view *view)
{
    if (view->content == PZPY_OBJECTS)
        return true;
    if (to->members && to->member == PZ_UUID)
        return view->content == PZPY_UUIDS;
    return view->content == PZPY_NUMBERS && (!to->members || view->source.number < PZPY_F16);
}

static int from_array(const target *to, PyObject *array, pzpy_column *out)
{
    pzpy_view view;
    out->shape_of = Py_NewRef(array);
    if (pzpy_np_view(&out->shape_of, to->members && to->member == PZ_UUID, &view) < 0)
        return -1;
    if (!usable(to, &view))
        return refuse_dtype(to, out->shape_of);
    out->n = view.source.n;
    out->ndim = view.ndim;
    out->dims = view.dims;
    int done = 0;
    if (view.content == PZPY_UUIDS || is_mine(to, &view)) {
        out->in = (pz_in){view.source.ptr, view.source.stride};
        out->owner = Py_NewRef(out->shape_of);
    } else if (view.content == PZPY_NUMBERS) {
        done = convert_numbers(to, out->shape_of, &view, out);
    } else {
        done = convert_objects(to, &view, out);
    }
    if (done == 0)
        settle_scalar(out, pzpy_dtype_bytes(dtype_for(to)));
    return done;
}

/* Sequences that are no arrays are read element by element, so that [True, 2] or [2**63, 1] do not
 * lose their types on the way through NumPy's common dtype. */
static int from_sequence(const target *to, PyObject *obj, pzpy_column *out)
{
    PyObject *tuple = PySequence_Tuple(obj);
    if (tuple == NULL)
        return -1;
    int done = from_flat(to, tuple, out);
    if (done > 0) {
        out->ndim = 1;
        out->shape_of = Py_NewRef(out->owner);
        pzpy_view view;
        done = pzpy_np_view(&out->shape_of, dtype_for(to) == PZPY_BYTES16, &view);
        out->dims = view.dims;
    } else if (done == 0) {
        PyObject *array = pzpy_np_as_array(tuple, to->name, true);
        done = array == NULL ? -1 : from_array(to, array, out);
        Py_XDECREF(array);
    }
    Py_DECREF(tuple);
    return done < 0 ? -1 : 0;
}

static int from_any(const target *to, PyObject *obj, pzpy_column *out)
{
    *out = (pzpy_column)PZPY_COLUMN_INIT;
    if (pzpy_is_scalar(to->state, obj))
        return from_scalar(to, obj, out);
    int done;
    pzpy_np_class class = pzpy_np_class_of(obj);
    if (class == PZPY_NP_NONE &&
        (PyList_Check(obj) || PyTuple_Check(obj) ||
         (PySequence_Check(obj) && !PyObject_CheckBuffer(obj) && !pzpy_has_array_protocol(obj)))) {
        done = from_sequence(to, obj, out);
    } else {
        PyObject *array = pzpy_np_as_array(obj, to->name, false);
        done = array == NULL ? -1 : from_array(to, array, out);
        Py_XDECREF(array);
    }
    if (done == 0 && out->n > PZ_ROWS_MAX)
        done = pzpy_refuse(PyExc_ValueError, to->name, -1, "one call takes at most %llu rows",
                           PZ_ROWS_MAX);
    if (done < 0)
        pzpy_column_release(out);
    return done;
}

int pzpy_members_of_kind(pzpy_state *state, pz_member_kind kind, PyObject *obj, const char *name,
                         pzpy_column *out)
{
    target to = {.state = state, .name = name, .members = true, .member = kind};
    return from_any(&to, obj, out);
}

int pzpy_members(const pzpy_set *set, PyObject *obj, const char *name, pzpy_column *out)
{
    return pzpy_members_of_kind(set->state, set->member_kind, obj, name, out);
}

int pzpy_scores(pzpy_state *state, pz_score_kind kind, PyObject *obj, const char *name,
                pzpy_column *out)
{
    target to = {.state = state, .name = name, .members = false, .score = kind};
    return from_any(&to, obj, out);
}

/* "(2, 3)" */
static PyObject *shape_text(const pzpy_column *column)
{
    PyObject *shape = PyTuple_New(column->ndim);
    for (int i = 0; shape != NULL && i < column->ndim; i++) {
        PyObject *length = PyLong_FromSsize_t(column->dims[i]);
        if (length == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SET_ITEM(shape, i, length);
    }
    return shape;
}

int pzpy_match(const pzpy_column *members, const char *members_name, const pzpy_column *scores,
               const char *scores_name)
{
    bool same = scores->ndim == members->ndim;
    for (int i = 0; same && i < members->ndim; i++)
        same = scores->dims[i] == members->dims[i];
    if (same || scores->ndim == 0)
        return 0;
    PyObject *a = shape_text(members);
    PyObject *b = shape_text(scores);
    if (a != NULL && b != NULL)
        PyErr_Format(PyExc_ValueError, "%s of shape %R and %s of shape %R do not match",
                     members_name, a, scores_name, b);
    Py_XDECREF(a);
    Py_XDECREF(b);
    return -1;
}

typedef struct extent {
    uintptr_t low, high; /* half open */
} extent;

static extent extent_of(const void *ptr, ptrdiff_t stride, size_t n, size_t size)
{
    uintptr_t first = (uintptr_t)ptr;
    if (n == 0)
        return (extent){first, first};
    uintptr_t last = first + (uintptr_t)stride * (n - 1); /* modular: right for negative strides */
    return stride < 0 ? (extent){last, first + size} : (extent){first, last + size};
}

/* Exact for columns of one stride (the fields of one structured array), by extents otherwise. */
int pzpy_refuse_overlap(const pz_out *out, pzpy_dtype out_dtype, size_t rows, const void *ptr,
                        ptrdiff_t stride, size_t n, size_t size, const char *other)
{
    size_t mine = pzpy_dtype_bytes(out_dtype);
    extent a = extent_of(out->ptr, out->stride, rows, mine);
    extent b = extent_of(ptr, stride, n, size);
    if (a.high <= b.low || b.high <= a.low)
        return 0;
    size_t step = stride < 0 ? 0 - (size_t)stride : (size_t)stride;
    if ((stride == out->stride || stride == -out->stride) && step > 0) {
        size_t gap = (size_t)((b.low - a.low) % step);
        if (b.low < a.low)
            gap = (step - (size_t)((a.low - b.low) % step)) % step;
        if (gap >= mine && gap + size <= step)
            return 0;
    }
    PyErr_Format(PyExc_ValueError, "out: its memory overlaps that of %s", other);
    return -1;
}

int pzpy_refuse_overlap_column(const pz_out *out, pzpy_dtype out_dtype, size_t rows,
                               const pzpy_column *column, pzpy_dtype dtype, const char *name)
{
    return pzpy_refuse_overlap(out, out_dtype, rows, column->in.ptr, column->in.stride, column->n,
                               pzpy_dtype_bytes(dtype), name);
}

size_t pzpy_dtype_bytes(pzpy_dtype dtype)
{
    static const size_t bytes[] = {4, 8, 16, 4, 8, 1};
    return bytes[dtype];
}

const char *pzpy_dtype_name(pzpy_dtype dtype)
{
    static const char *const names[] = {"int32", "int64", "V16", "float32", "float64", "bool"};
    return names[dtype];
}
