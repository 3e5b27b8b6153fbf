/* items.c: filling a set from what Python programs hold: mappings, iterables of pairs, other sets,
 * pandas objects.
 *
 * Everything is first gathered into two columns and then added by one call, so that a source that
 * fails half-way, or holds one wrong value, changes nothing. */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

/* Two lists of equal length. */
typedef struct columns {
    PyObject *members, *scores;
} columns;

static int from_mapping(PyObject *source, columns *c)
{
    if (PyDict_CheckExact(source)) {
        c->members = PyDict_Keys(source);
        c->scores = c->members == NULL ? NULL : PyDict_Values(source);
        return c->scores == NULL ? -1 : 0;
    }
    PyObject *method = pzpy_attr(source, "keys");
    PyObject *keys = method == NULL ? NULL : PyObject_CallNoArgs(method);
    c->members = keys == NULL ? NULL : PySequence_List(keys);
    Py_XDECREF(method);
    Py_XDECREF(keys);
    c->scores = c->members == NULL ? NULL : PyList_New(0);
    if (c->scores == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(c->members); i++) {
        PyObject *value = PyObject_GetItem(source, PyList_GET_ITEM(c->members, i));
        int done = value == NULL ? -1 : PyList_Append(c->scores, value);
        Py_XDECREF(value);
        if (done < 0)
            return -1;
    }
    return 0;
}

static int append_pair(PyObject *item, Py_ssize_t index, columns *c)
{
    PyObject *pair = PySequence_Fast(item, "");
    if (pair == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        return pzpy_refuse(PyExc_TypeError, "source", index,
                           "a pair (member, score) is needed, not %.100s", Py_TYPE(item)->tp_name);
    }
    int done;
    if (PySequence_Fast_GET_SIZE(pair) != 2)
        done = pzpy_refuse(PyExc_ValueError, "source", index,
                           "a pair (member, score) is needed, not %zd values",
                           PySequence_Fast_GET_SIZE(pair));
    else
        done = PyList_Append(c->members, PySequence_Fast_GET_ITEM(pair, 0)) < 0 ||
                       PyList_Append(c->scores, PySequence_Fast_GET_ITEM(pair, 1)) < 0
                   ? -1
                   : 0;
    Py_DECREF(pair);
    return done;
}

static int from_pairs(PyObject *source, columns *c)
{
    PyObject *iterator = PyObject_GetIter(source);
    if (iterator == NULL)
        return -1;
    c->members = PyList_New(0);
    c->scores = PyList_New(0);
    int done = c->members == NULL || c->scores == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; done == 0; i++) {
        PyObject *item = PyIter_Next(iterator);
        if (item == NULL)
            break;
        done = append_pair(item, i, c);
        Py_DECREF(item);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : done;
}

/* A whole set, as arrays: one consistent picture of it. */
static int from_set(PyObject *source, columns *c)
{
    PyObject *pair = pzpy_set_range(source, NULL, 0, NULL);
    if (pair == NULL)
        return -1;
    c->members = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
    c->scores = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
    Py_DECREF(pair);
    return 0;
}

static bool is_pandas(PyObject *source)
{
    PyObject *module = pzpy_attr((PyObject *)Py_TYPE(source), "__module__");
    bool found = false;
    if (module == NULL)
        PyErr_Clear();
    else if (PyUnicode_Check(module)) {
        const char *text = PyUnicode_AsUTF8(module);
        found = text != NULL && (strcmp(text, "pandas") == 0 || strncmp(text, "pandas.", 7) == 0);
    }
    Py_XDECREF(module);
    return found;
}

static int from_pandas(PyObject *source, columns *c)
{
    PyObject *pair = pzpy_delegate("goblin_pz.frames", "columns_of", NULL, 0, NULL, source);
    if (pair == NULL)
        return -1;
    int done = PyArg_ParseTuple(pair, "OO", &c->members, &c->scores) ? 0 : -1;
    if (done == 0) {
        Py_INCREF(c->members);
        Py_INCREF(c->scores);
    }
    Py_DECREF(pair);
    return done;
}

int pzpy_fill(pzpy_set *set, PyObject *source, uint64_t *added, uint64_t *updated)
{
    columns c = {NULL, NULL};
    int done;
    if (PyObject_TypeCheck(source, set->state->set_type))
        done = from_set(source, &c);
    else if (is_pandas(source))
        done = from_pandas(source, &c);
    else if (PyDict_Check(source) || pzpy_has_attr(source, "keys"))
        done = from_mapping(source, &c);
    else
        done = from_pairs(source, &c);
    if (done == 0)
        done = pzpy_add_objects(set, c.members, c.scores, added, updated);
    Py_XDECREF(c.members);
    Py_XDECREF(c.scores);
    return done;
}

PyObject *pzpy_delegate(const char *module, const char *name, PyObject *const *args,
                        Py_ssize_t given, PyObject *kwnames, PyObject *first)
{
    Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    PyObject *imported = PyImport_ImportModule(module);
    PyObject *function = imported == NULL ? NULL : pzpy_attr(imported, name);
    Py_XDECREF(imported);
    if (function == NULL)
        return NULL;
    PyObject **all = PyMem_Calloc((size_t)(given + keywords + 1), sizeof all[0]);
    PyObject *result = NULL;
    if (all == NULL) {
        PyErr_NoMemory();
    } else {
        all[0] = first;
        for (Py_ssize_t i = 0; i < given + keywords; i++)
            all[i + 1] = args[i];
        result = PyObject_Vectorcall(function, all, (size_t)given + 1, kwnames);
    }
    PyMem_Free(all);
    Py_DECREF(function);
    return result;
}
