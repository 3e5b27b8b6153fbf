/* whole.c: what concerns whole sets: union, intersection, difference, equality, copy, clear,
 * optimize.
 *
 * Several sets are locked for reading in address order, each once, so that union(z, z) and two
 * threads that name the same sets in different orders are fine. */
#include "methods.h"
#include "pzpy.h"

/* ---- algebra ---- */

typedef struct operands {
    size_t count;
    const pz_set **cores; /* in argument order */
    pzpy_set **sets;      /* sorted by address while locked */
    double *weights;      /* NULL: none given */
} operands;

static void operands_free(operands *o)
{
    PyMem_Free(o->cores);
    PyMem_Free(o->sets);
    PyMem_Free(o->weights);
    *o = (operands){0};
}

static int operands_take(pzpy_set *self, PyObject *const *args, Py_ssize_t given, operands *o)
{
    size_t count = (size_t)given + 1;
    *o = (operands){.count = count};
    o->cores = PyMem_Calloc(count, sizeof o->cores[0]);
    o->sets = PyMem_Calloc(count, sizeof o->sets[0]);
    if (o->cores == NULL || o->sets == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    o->sets[0] = self;
    for (size_t i = 1; i < count; i++) {
        PyObject *other = args[i - 1];
        if (!PyObject_TypeCheck(other, self->state->set_type)) {
            PyErr_Format(PyExc_TypeError, "a PackedZSet is needed, not %.100s",
                         Py_TYPE(other)->tp_name);
            return -1;
        }
        o->sets[i] = pzpy_self(other);
        if (o->sets[i]->member_kind != self->member_kind ||
            o->sets[i]->score_kind != self->score_kind) {
            PyErr_Format(PyExc_TypeError, "sets of layouts %s and %s cannot be combined",
                         pzpy_representation(self), pzpy_representation(o->sets[i]));
            return -1;
        }
    }
    for (size_t i = 0; i < count; i++)
        o->cores[i] = o->sets[i]->core;
    return 0;
}

static int operands_weights(operands *o, PyObject *weights)
{
    if (weights == NULL || weights == Py_None)
        return 0;
    PyObject *list = PySequence_Tuple(weights);
    if (list == NULL)
        return -1;
    int result = 0;
    if ((size_t)PyTuple_GET_SIZE(list) != o->count)
        result = pzpy_refuse(PyExc_ValueError, "weights", -1, "%zd given for %zu sets",
                             PyTuple_GET_SIZE(list), o->count);
    else if ((o->weights = PyMem_Calloc(o->count, sizeof(double))) == NULL) {
        PyErr_NoMemory();
        result = -1;
    }
    for (size_t i = 0; result == 0 && i < o->count; i++) {
        pzpy_value value;
        result = pzpy_score_from_object(PZ_FLOAT64, PyTuple_GET_ITEM(list, (Py_ssize_t)i),
                                        "weights", (Py_ssize_t)i, &value);
        o->weights[i] = value.f64;
    }
    Py_DECREF(list);
    return result;
}

static int aggregate_of(PyObject *obj, pz_aggregate *out)
{
    static const char *const names[] = {"sum", "min", "max"};
    static const pz_aggregate values[] = {PZ_SUM, PZ_MIN, PZ_MAX};
    *out = PZ_SUM;
    if (obj == NULL)
        return 0;
    for (size_t i = 0; PyUnicode_Check(obj) && i < sizeof names / sizeof names[0]; i++) {
        if (PyUnicode_CompareWithASCIIString(obj, names[i]) == 0) {
            *out = values[i];
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "aggregate: %R is none of 'sum', 'min', 'max'", obj);
    return -1;
}

static PyObject *combine(pz_algebra algebra, pzpy_set *self, const operands *o,
                         pz_aggregate aggregate)
{
    pz_set *core = NULL;
    uint64_t rows = 0;
    pzpy_op op = {.set = NULL};
    if (pzpy_read_many(o->sets, o->count) < 0)
        return NULL;
    for (size_t i = 0; i < o->count; i++)
        rows += pz_len(o->cores[i]);
    pzpy_op_bulk(&op, rows);
    pz_status status =
        pz_combine(algebra, o->count, o->cores, o->weights, aggregate, &core, &op.call);
    pzpy_unread_many(o->sets, o->count);
    pzpy_op_end(&op);
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "scores", NULL);
    return pzpy_set_wrap(Py_TYPE(self), self->state, core);
}

static PyObject *algebra(pz_algebra which, const char *function, PyObject *self,
                         PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"weights", "aggregate", NULL};
    static const char *const no_names[] = {NULL};
    PyObject *arg[2] = {NULL, NULL};
    operands o = {0};
    pz_aggregate aggregate = PZ_SUM;
    PyObject *result = NULL;
    if (pzpy_args(function, args + given, 0, kwnames, which == PZ_DIFFERENCE ? no_names : names, 0,
                  0, arg) == 0 &&
        operands_take(pzpy_self(self), args, given, &o) == 0 && operands_weights(&o, arg[0]) == 0 &&
        aggregate_of(arg[1], &aggregate) == 0)
        result = combine(which, pzpy_self(self), &o, aggregate);
    operands_free(&o);
    return result;
}

PyObject *pzpy_set_union(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    return algebra(PZ_UNION, "union", self, args, given, kwnames);
}

PyObject *pzpy_set_intersection(PyObject *self, PyObject *const *args, Py_ssize_t given,
                                PyObject *kwnames)
{
    return algebra(PZ_INTERSECTION, "intersection", self, args, given, kwnames);
}

PyObject *pzpy_set_difference(PyObject *self, PyObject *const *args, Py_ssize_t given,
                              PyObject *kwnames)
{
    return algebra(PZ_DIFFERENCE, "difference", self, args, given, kwnames);
}

PyObject *pzpy_set_compare(PyObject *self, PyObject *other, int how)
{
    pzpy_set *a = pzpy_self(self);
    if ((how != Py_EQ && how != Py_NE) || !PyObject_TypeCheck(other, a->state->set_type))
        return Py_NewRef(Py_NotImplemented);
    pzpy_set *sets[2] = {a, pzpy_self(other)};
    pzpy_op op = {.set = NULL};
    if (pzpy_read_many(sets, 2) < 0)
        return NULL;
    pzpy_op_bulk(&op, pz_len(a->core));
    bool equal = pz_equal(a->core, pzpy_self(other)->core);
    pzpy_unread_many(sets, 2);
    pzpy_op_end(&op);
    return PyBool_FromLong(equal == (how == Py_EQ));
}

/* ---- copies ---- */

PyObject *pzpy_set_copy(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    pz_set *core = NULL;
    pzpy_op op;
    if (pzpy_op_begin(&op, set, false) < 0)
        return NULL;
    pzpy_op_bulk(&op, PZPY_ALL);
    pz_status status = pz_copy(set->core, &core);
    pzpy_op_end(&op);
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "copy", NULL);
    return pzpy_set_wrap(Py_TYPE(self), set->state, core);
}

/* The attributes of a subclass's instance; NULL without an exception when it has none. */
static PyObject *attributes_of(PyObject *self)
{
    PyObject *attributes = pzpy_attr(self, "__dict__");
    if (attributes == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return attributes;
}

PyObject *pzpy_set_state(PyObject *self)
{
    PyObject *attributes = attributes_of(self);
    if (attributes == NULL && !PyErr_Occurred())
        return Py_NewRef(Py_None);
    return attributes;
}

/* Steals `attributes`. */
static PyObject *with_attributes(PyObject *copy, PyObject *attributes)
{
    PyObject *mine = copy == NULL || attributes == NULL ? NULL : attributes_of(copy);
    if (mine != NULL && PyDict_Update(mine, attributes) < 0)
        Py_CLEAR(copy);
    else if (PyErr_Occurred())
        Py_CLEAR(copy);
    Py_XDECREF(mine);
    Py_XDECREF(attributes);
    return copy;
}

PyObject *pzpy_set_shallow_copy(PyObject *self, PyObject *ignored)
{
    PyObject *copy = pzpy_set_copy(self, ignored);
    return copy == NULL ? NULL : with_attributes(copy, attributes_of(self));
}

PyObject *pzpy_set_deep_copy(PyObject *self, PyObject *memo)
{
    PyObject *copy = pzpy_set_copy(self, NULL);
    if (copy == NULL)
        return NULL;
    PyObject *attributes = attributes_of(self);
    if (attributes != NULL) {
        PyObject *module = PyImport_ImportModule("copy");
        PyObject *deep = NULL;
        if (module != NULL)
            deep = PyObject_CallMethod(module, "deepcopy", "OO", attributes, memo);
        Py_XDECREF(module);
        Py_SETREF(attributes, deep);
    }
    return with_attributes(copy, attributes);
}

/* ---- upkeep ---- */

PyObject *pzpy_set_clear(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    pzpy_op op;
    if (pzpy_op_begin(&op, set, true) < 0)
        return NULL;
    pzpy_op_bulk(&op, pz_len(set->core));
    pz_clear(set->core);
    pzpy_op_end(&op);
    Py_RETURN_NONE;
}

PyObject *pzpy_set_optimize(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    pzpy_op op;
    if (pzpy_op_begin(&op, set, true) < 0)
        return NULL;
    pzpy_op_bulk(&op, PZPY_ALL);
    pz_status status = pz_optimize(set->core, &op.call);
    pzpy_op_end(&op);
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "optimize", NULL);
    Py_RETURN_NONE;
}
