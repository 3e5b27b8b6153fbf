/* error.c: one place that turns what went wrong into a Python exception.
 *
 * A message begins with the argument and, for arrays, the first row at fault in argument order
 * (C order for more than one dimension): "scores[3]: ...". */
#include "pzpy.h"

#include <stdarg.h>

int pzpy_refuse(PyObject *type, const char *name, Py_ssize_t index, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    PyObject *text = PyUnicode_FromFormatV(format, values);
    va_end(values);
    if (text == NULL)
        return -1;
    if (index < 0)
        PyErr_Format(type, "%s: %U", name, text);
    else
        PyErr_Format(type, "%s[%zd]: %U", name, index, text);
    Py_DECREF(text);
    return -1;
}

PyObject *pzpy_raise(pz_status status, const pz_call *call, const char *name,
                     const pzpy_column *column)
{
    Py_ssize_t index = -1;
    if (call != NULL && column != NULL && column->ndim > 0)
        index = (Py_ssize_t)call->index;
    switch (status) {
    case PZ_OK:
        PyErr_SetString(PyExc_SystemError, "a call that succeeded was reported as failed");
        break;
    case PZ_NOMEM:
        PyErr_NoMemory();
        break;
    case PZ_FULL:
        PyErr_SetString(PyExc_MemoryError, "the set has reached the limit of its arena");
        break;
    case PZ_NAN:
        pzpy_refuse(PyExc_ValueError, name, index, "NaN is no score");
        break;
    case PZ_NAN_SUM:
        pzpy_refuse(PyExc_ValueError, name, index,
                    "an infinite score and the opposite infinity have no sum");
        break;
    case PZ_OVERFLOW:
        pzpy_refuse(PyExc_OverflowError, name, index, "the result is too large for float32");
        break;
    case PZ_INVALID:
        PyErr_Format(PyExc_ValueError, "%s: outside its domain", name);
        break;
    case PZ_CORRUPT:
        return pzpy_raise_why(PyExc_ValueError, name, call == NULL ? NULL : &call->why);
    case PZ_INTERRUPTED:
        if (!PyErr_Occurred())
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        break;
    case PZ_IO:
        PyErr_Format(PyExc_OSError, "%s: could not be written", name);
        break;
    }
    return NULL;
}

PyObject *pzpy_raise_why(PyObject *type, const char *intro, const pz_why *why)
{
    if (why == NULL || why->what == NULL)
        PyErr_SetString(type, intro);
    else
        PyErr_Format(type, "%s: %s (at %llu: wanted %llu, got %llu)", intro, why->what, why->where,
                     why->wanted, why->got);
    return NULL;
}
