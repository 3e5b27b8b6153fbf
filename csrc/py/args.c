/* args.c: fast calls' arguments, sorted by name, and the small conversions.
 *
 * Names are compared as text: a handful of short names a call, looked at only when something is
 * given by keyword. Nothing here keeps state. */
#include "pzpy.h"

#include "np_glue.h"

static Py_ssize_t name_index(const char *const *names, PyObject *wanted)
{
    for (Py_ssize_t i = 0; names[i] != NULL; i++) {
        if (PyUnicode_CompareWithASCIIString(wanted, names[i]) == 0)
            return i;
    }
    return -1;
}

int pzpy_args(const char *function, PyObject *const *args, Py_ssize_t given, PyObject *kwnames,
              const char *const *names, Py_ssize_t positional, Py_ssize_t required, PyObject **out)
{
    if (given > positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd positional arguments (%zd given)",
                     function, positional, given);
        return -1;
    }
    for (Py_ssize_t i = 0; names[i] != NULL; i++)
        out[i] = i < given ? args[i] : NULL;
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < keywords; k++) {
        PyObject *keyword = PyTuple_GET_ITEM(kwnames, k);
        Py_ssize_t i = name_index(names, keyword);
        if (i < 0) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function,
                         keyword);
            return -1;
        }
        if (out[i] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", function,
                         names[i]);
            return -1;
        }
        out[i] = args[given + k];
    }
    for (Py_ssize_t i = 0; i < required; i++) {
        if (out[i] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", function,
                         names[i]);
            return -1;
        }
    }
    return 0;
}

int pzpy_arg_flag(PyObject *obj, bool none, bool *out)
{
    if (obj == NULL) {
        *out = none;
        return 0;
    }
    int truth = PyObject_IsTrue(obj);
    if (truth < 0)
        return -1;
    *out = truth != 0;
    return 0;
}

/* An integer that is not a bool, clipped to int64. */
static int clipped(PyObject *obj, const char *name, int64_t *out)
{
    if (PyBool_Check(obj) || !PyIndex_Check(obj)) {
        PyErr_Format(PyExc_TypeError, "%s: an integer is needed, not %.100s", name,
                     Py_TYPE(obj)->tp_name);
        return -1;
    }
    PyObject *index = PyNumber_Index(obj);
    if (index == NULL)
        return -1;
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (value == -1 && overflow == 0 && PyErr_Occurred())
        return -1;
    *out = overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : (int64_t)value;
    return 0;
}

int pzpy_arg_count(PyObject *obj, const char *name, uint64_t none, uint64_t *out)
{
    if (obj == NULL || obj == Py_None) {
        *out = none;
        return 0;
    }
    int64_t value = 0;
    if (clipped(obj, name, &value) < 0)
        return -1;
    if (value < 0) {
        PyErr_Format(PyExc_ValueError, "%s: %S is negative", name, obj);
        return -1;
    }
    *out = (uint64_t)value;
    return 0;
}

int pzpy_arg_position(PyObject *obj, const char *name, int64_t none, int64_t *out)
{
    if (obj == NULL || obj == Py_None) {
        *out = none;
        return 0;
    }
    return clipped(obj, name, out);
}

int pzpy_arg_exponent(PyObject *obj, double *out)
{
    double value = PyFloat_AsDouble(obj);
    if (value == -1.0 && PyErr_Occurred())
        return -1;
    if (!(value >= 0.0 && value <= 1.0)) {
        PyErr_Format(PyExc_ValueError, "merge_exponent: %S is not between 0 and 1", obj);
        return -1;
    }
    *out = value;
    return 0;
}

int pzpy_arg_capacity(PyObject *obj, uint32_t *out)
{
    uint64_t value = 0;
    if (pzpy_arg_count(obj, "_leaf_capacity", 0, &value) < 0)
        return -1;
    if (value != 0 && (value < PZ_LEAF_CAPACITY_MIN || value > PZ_LEAF_MAX)) {
        PyErr_Format(PyExc_ValueError, "_leaf_capacity: %S is not between %u and %u", obj,
                     PZ_LEAF_CAPACITY_MIN, PZ_LEAF_MAX);
        return -1;
    }
    *out = (uint32_t)value;
    return 0;
}

/* "int32", np.int32, np.dtype("int32"), uuid.UUID ... to one of ours. */
static int dtype_of(PyObject *obj, const char *name, pzpy_dtype *out)
{
    if (PyType_Check(obj) && strcmp(((PyTypeObject *)obj)->tp_name, "UUID") == 0) {
        *out = PZPY_BYTES16;
        return 0;
    }
    if (PyUnicode_Check(obj) && PyUnicode_CompareWithASCIIString(obj, "uuid") == 0) {
        *out = PZPY_BYTES16;
        return 0;
    }
    return pzpy_np_dtype_of(obj, name, out);
}

int pzpy_arg_kinds(PyObject *member, PyObject *score, pz_member_kind *m, pz_score_kind *s)
{
    pzpy_dtype dtype;
    if (member != NULL) {
        if (dtype_of(member, "member", &dtype) < 0)
            return -1;
        if (dtype != PZPY_INT32 && dtype != PZPY_INT64 && dtype != PZPY_BYTES16) {
            PyErr_Format(PyExc_ValueError, "member: %R is none of int32, int64, uuid", member);
            return -1;
        }
        *m = dtype == PZPY_INT32 ? PZ_INT32 : dtype == PZPY_INT64 ? PZ_INT64 : PZ_UUID;
    }
    if (score != NULL) {
        if (dtype_of(score, "score", &dtype) < 0)
            return -1;
        if (dtype != PZPY_FLOAT32 && dtype != PZPY_FLOAT64) {
            PyErr_Format(PyExc_ValueError, "score: %R is none of float32, float64", score);
            return -1;
        }
        *s = dtype == PZPY_FLOAT32 ? PZ_FLOAT32 : PZ_FLOAT64;
    }
    return 0;
}
