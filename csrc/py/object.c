/* object.c: single Python objects to the values that a set holds, exactly, and back.
 *
 * Members are integers (bool is none) or UUIDs; scores are real numbers, and an integer score must
 * be exact in the score type. Everything else is refused by name: a list that holds one wrong
 * element is refused at that element. */
#include "pzpy.h"

#include "convert.h"
#include "np_glue.h"

PyObject *pzpy_uuid_type(pzpy_state *state)
{
    if (state->uuid_type == NULL) {
        PyObject *module = PyImport_ImportModule("uuid");
        if (module == NULL)
            return NULL;
        state->uuid_type = pzpy_attr(module, "UUID");
        Py_DECREF(module);
    }
    return state->uuid_type;
}

PyObject *pzpy_attr(PyObject *obj, const char *name)
{
    PyObject *interned = PyUnicode_InternFromString(name);
    PyObject *attribute = interned == NULL ? NULL : PyObject_GetAttr(obj, interned);
    Py_XDECREF(interned);
    return attribute;
}

bool pzpy_has_attr(PyObject *obj, const char *name)
{
    PyObject *attribute = pzpy_attr(obj, name);
    if (attribute == NULL)
        PyErr_Clear();
    Py_XDECREF(attribute);
    return attribute != NULL;
}

bool pzpy_has_array_protocol(PyObject *obj)
{
    static const char *const names[] = {"__array__", "__array_interface__", "__array_struct__"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (pzpy_has_attr((PyObject *)Py_TYPE(obj), names[i]))
            return true;
    }
    return false;
}

bool pzpy_is_scalar(const pzpy_state *state, PyObject *obj)
{
    if (PyLong_Check(obj) || PyFloat_Check(obj) || obj == Py_None || PyUnicode_Check(obj) ||
        PyBytes_Check(obj) || (PyObject *)Py_TYPE(obj) == state->uuid_type)
        return true;
    pzpy_np_class class = pzpy_np_class_of(obj);
    if (class != PZPY_NP_NONE)
        return class != PZPY_NP_ARRAY;
    return !PySequence_Check(obj) && !PyObject_CheckBuffer(obj) && !pzpy_has_array_protocol(obj);
}

/* None, pandas.NA and NaN stand for "no value" in columns of objects. */
static bool is_missing(PyObject *obj)
{
    return obj == Py_None || strcmp(Py_TYPE(obj)->tp_name, "NAType") == 0 ||
           (PyFloat_Check(obj) && PyFloat_AS_DOUBLE(obj) != PyFloat_AS_DOUBLE(obj));
}

static int refuse_kind(PyObject *obj, const char *name, Py_ssize_t index, const char *wanted)
{
    if (is_missing(obj))
        return pzpy_refuse(PyExc_ValueError, name, index, "a missing value (%s), not %s",
                           Py_TYPE(obj)->tp_name, wanted);
    return pzpy_refuse(PyExc_TypeError, name, index, "%s, not %.100s", wanted,
                       Py_TYPE(obj)->tp_name);
}

static bool is_integer(PyObject *obj)
{
    if (PyLong_Check(obj))
        return !PyBool_Check(obj);
    pzpy_np_class class = pzpy_np_class_of(obj);
    return class == PZPY_NP_INTEGER || (class == PZPY_NP_NONE && PyIndex_Check(obj));
}

static int integer_member(PyObject *obj, bool wide, const char *name, Py_ssize_t index,
                          pzpy_value *out)
{
    if (!is_integer(obj))
        return refuse_kind(obj, name, index, "an integer is needed");
    PyObject *number = PyNumber_Index(obj);
    if (number == NULL)
        return -1;
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    Py_DECREF(number);
    if (overflow != 0)
        return pzpy_refuse(PyExc_OverflowError, name, index, "the integer does not fit %s",
                           wide ? "int64" : "int32");
    if (value == -1 && PyErr_Occurred())
        return -1;
    if (wide) {
        out->i64 = value;
        return 0;
    }
    if (value < INT32_MIN || value > INT32_MAX)
        return pzpy_refuse(PyExc_OverflowError, name, index, "%lld does not fit int32", value);
    out->i32 = (int32_t)value;
    return 0;
}

static int uuid_member(pzpy_state *state, PyObject *obj, const char *name, Py_ssize_t index,
                       pzpy_value *out)
{
    PyObject *type = pzpy_uuid_type(state);
    if (type == NULL)
        return -1;
    PyObject *bytes = NULL;
    int is_uuid = PyObject_IsInstance(obj, type);
    if (is_uuid < 0)
        return -1;
    if (is_uuid) {
        bytes = pzpy_attr(obj, "bytes");
        if (bytes == NULL)
            return -1;
    } else if (PyBytes_Check(obj)) {
        bytes = Py_NewRef(obj);
    } else if (pzpy_np_class_of(obj) == PZPY_NP_VOID && pzpy_np_void16(obj, out->uuid)) {
        return 0;
    }
    int result = -1;
    if (bytes == NULL)
        refuse_kind(obj, name, index, "a UUID or 16 bytes are needed");
    else if (!PyBytes_Check(bytes) || PyBytes_GET_SIZE(bytes) != 16)
        pzpy_refuse(PyExc_ValueError, name, index, "a UUID has 16 bytes");
    else {
        memcpy(out->uuid, PyBytes_AS_STRING(bytes), 16);
        result = 0;
    }
    Py_XDECREF(bytes);
    return result;
}

int pzpy_member_from_object(pzpy_state *state, pz_member_kind kind, PyObject *obj, const char *name,
                            Py_ssize_t index, pzpy_value *out)
{
    if (kind == PZ_UUID)
        return uuid_member(state, obj, name, index, out);
    return integer_member(obj, kind == PZ_INT64, name, index, out);
}

/* An integer score: exact, or refused. `bits` is the score type's significand. */
static int integer_score(PyObject *obj, int bits, const char *name, Py_ssize_t index, double *out)
{
    PyObject *number = PyNumber_Index(obj);
    if (number == NULL)
        return -1;
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    bool exact = false;
    if (overflow == 0) {
        uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
        exact = pzpy_fits_bits(magnitude, bits);
        *out = (double)value;
    } else {
        *out = PyLong_AsDouble(number);
        PyObject *back = PyErr_Occurred() ? NULL : PyLong_FromDouble(*out);
        exact = back != NULL && PyObject_RichCompareBool(back, number, Py_EQ) == 1;
        Py_XDECREF(back);
        if (exact && bits == 24) {
            float narrow;
            exact = !pzpy_narrow(*out, &narrow) || pzpy_widen(narrow) == *out;
        }
    }
    Py_DECREF(number);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return -1;
        PyErr_Clear();
        return pzpy_refuse(PyExc_OverflowError, name, index, "the integer is too large");
    }
    if (!exact)
        return pzpy_refuse(PyExc_ValueError, name, index,
                           "the integer is not exact in float%d; convert it to float first",
                           bits == 24 ? 32 : 64);
    return 0;
}

static int real_number(PyObject *obj, int bits, const char *name, Py_ssize_t index, double *out)
{
    if (PyFloat_Check(obj)) {
        *out = PyFloat_AS_DOUBLE(obj);
        return 0;
    }
    if (is_integer(obj))
        return integer_score(obj, bits, name, index, out);
    if (pzpy_np_class_of(obj) != PZPY_NP_FLOATING || pzpy_np_is_longdouble(obj))
        return refuse_kind(obj, name, index, "a real number is needed");
    *out = PyFloat_AsDouble(obj);
    return *out == -1.0 && PyErr_Occurred() ? -1 : 0;
}

int pzpy_score_from_object(pz_score_kind kind, PyObject *obj, const char *name, Py_ssize_t index,
                           pzpy_value *out)
{
    double value = 0.0;
    if (real_number(obj, kind == PZ_FLOAT32 ? 24 : 53, name, index, &value) < 0)
        return -1;
    if (value != value)
        return pzpy_refuse(PyExc_ValueError, name, index, "NaN is no score");
    if (kind == PZ_FLOAT64) {
        out->f64 = value;
        return 0;
    }
    if (!pzpy_narrow(value, &out->f32))
        return pzpy_refuse(PyExc_OverflowError, name, index, "the value is too large for float32");
    return 0;
}

int pzpy_bound(PyObject *obj, const char *name, double none, double *out)
{
    if (obj == NULL || obj == Py_None) {
        *out = none;
        return 0;
    }
    if (real_number(obj, 53, name, -1, out) < 0)
        return -1;
    return *out == *out ? 0 : pzpy_refuse(PyExc_ValueError, name, -1, "NaN is no bound");
}

PyObject *pzpy_member_to_object(pzpy_state *state, pz_member_kind kind, const void *member)
{
    pzpy_value value;
    if (kind == PZ_INT32) {
        memcpy(&value.i32, member, sizeof value.i32);
        return PyLong_FromLong(value.i32);
    }
    if (kind == PZ_INT64) {
        memcpy(&value.i64, member, sizeof value.i64);
        return PyLong_FromLongLong(value.i64);
    }
    PyObject *type = pzpy_uuid_type(state);
    PyObject *bytes = type == NULL ? NULL : PyBytes_FromStringAndSize(member, 16);
    if (bytes == NULL)
        return NULL;
    PyObject *args[2] = {Py_None, bytes}; /* UUID(hex=None, bytes=...) */
    PyObject *result = PyObject_Vectorcall(type, args, 2, NULL);
    Py_DECREF(bytes);
    return result;
}

PyObject *pzpy_score_to_object(pz_score_kind kind, const void *score)
{
    if (kind == PZ_FLOAT64) {
        double value;
        memcpy(&value, score, sizeof value);
        return PyFloat_FromDouble(value);
    }
    float value;
    memcpy(&value, score, sizeof value);
    return PyFloat_FromDouble(pzpy_widen(value));
}

void pzpy_store_score(pz_score_kind kind, double score, void *where)
{
    float narrow = 0.0f;
    if (kind == PZ_FLOAT64)
        memcpy(where, &score, sizeof score);
    else if (pzpy_narrow(score, &narrow))
        memcpy(where, &narrow, sizeof narrow);
}
