/* set.c: the type PackedZSet: birth and death, properties, the protocol slots.
 *
 * I1. `core` is set from the moment the object exists until it is freed: whatever __new__ gives is
 *     usable, and no __init__ has to run.
 * I2. The layout of an object never changes. */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

/* ---- birth ---- */

/* The state of the module that made set_type, from it or a subclass of it. */
pzpy_state *pzpy_state_of(PyTypeObject *type)
{
    PyObject *line = type->tp_mro;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(line); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(line, i);
        if (!PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE))
            continue;
        PyObject *module = PyType_GetModule(base); /* borrowed */
        if (module == NULL)
            PyErr_Clear();
        else if (PyModule_GetDef(module) == &pzpy_module)
            return PyModule_GetState(module);
    }
    PyErr_SetString(PyExc_TypeError, "a subclass of PackedZSet is needed");
    return NULL;
}

PyObject *pzpy_set_wrap(PyTypeObject *type, pzpy_state *state, pz_set *core)
{
    pzpy_set *set = pzpy_self(type->tp_alloc(type, 0));
    if (set == NULL) {
        pz_free(core);
        return NULL;
    }
    set->core = core;
    set->state = state;
    set->member_kind = pz_member_kind_of(core);
    set->score_kind = pz_score_kind_of(core);
    pzpy_lock_init(&set->lock);
    atomic_init(&set->version, pz_version(core));
    pzpy_trace(set, pz_allocated_bytes(core));
    return (PyObject *)set;
}

PyObject *pzpy_set_make(PyTypeObject *type, pzpy_state *state, pz_member_kind member,
                        pz_score_kind score, const pz_options *options)
{
    const pz_env *env = pz_env_default();
    pz_set *core = NULL;
    pz_status status = env == NULL ? PZ_NOMEM : pz_new(env, member, score, options, &core);
    if (status != PZ_OK)
        return pzpy_raise(status, NULL, "PackedZSet", NULL);
    return pzpy_set_wrap(type, state, core);
}

/* What all constructors share: member, score, score_rle, merge_exponent, _leaf_capacity. */
#define CREATION_NAMES "member", "score", "score_rle", "merge_exponent", "_leaf_capacity"

typedef struct creation {
    pz_member_kind member;
    pz_score_kind score;
    pz_options options;
} creation;

/* The layout in `c` is kept where no argument names one. */
static int creation_parse(PyObject *const *arg, creation *c)
{
    c->options = (pz_options){.merge_exponent = 0.5, .score_rle = true};
    if (pzpy_arg_kinds(arg[0], arg[1], &c->member, &c->score) < 0 ||
        pzpy_arg_flag(arg[2], true, &c->options.score_rle) < 0 ||
        (arg[3] != NULL && pzpy_arg_exponent(arg[3], &c->options.merge_exponent) < 0) ||
        pzpy_arg_capacity(arg[4], &c->options.order_leaf_capacity) < 0)
        return -1;
    c->options.member_leaf_capacity = c->options.order_leaf_capacity;
    return 0;
}

static PyObject *make_filled(PyTypeObject *type, const creation *c, PyObject *source)
{
    pzpy_state *state = pzpy_state_of(type);
    if (state == NULL)
        return NULL;
    PyObject *self = pzpy_set_make(type, state, c->member, c->score, &c->options);
    uint64_t added = 0, updated = 0;
    if (self != NULL && source != NULL && pzpy_fill(pzpy_self(self), source, &added, &updated) < 0)
        Py_CLEAR(self);
    return self;
}

/* Entries to begin with, rather than the name of a member type. */
static bool is_source(PyObject *obj)
{
    if (PyUnicode_Check(obj) || PyType_Check(obj))
        return false;
    return Py_TYPE(obj)->tp_iter != NULL || pzpy_has_attr(obj, "keys");
}

static PyObject *set_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {CREATION_NAMES, NULL};
    PyObject *arg[5] = {NULL};
    creation c = {.member = PZ_INT64, .score = PZ_FLOAT64};
    PyObject *source = NULL;
    PyObject *rest = Py_NewRef(args);
    if (PyTuple_GET_SIZE(args) > 0 && is_source(PyTuple_GET_ITEM(args, 0))) {
        source = PyTuple_GET_ITEM(args, 0);
        Py_SETREF(rest, PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)));
    }
    PyObject *self = NULL;
    if (rest != NULL &&
        PyArg_ParseTupleAndKeywords(rest, kwargs, "|OO$OOO:PackedZSet", keywords, &arg[0], &arg[1],
                                    &arg[2], &arg[3], &arg[4]) &&
        creation_parse(arg, &c) == 0)
        self = make_filled(type, &c, source);
    Py_XDECREF(rest);
    return self;
}

PyObject *pzpy_set_from_items(PyObject *type, PyObject *const *args, Py_ssize_t given,
                              PyObject *kwnames)
{
    static const char *const names[] = {"source", CREATION_NAMES, NULL};
    PyObject *arg[6];
    creation c = {.member = PZ_INT64, .score = PZ_FLOAT64};
    if (pzpy_args("from_items", args, given, kwnames, names, 3, 1, arg) < 0 ||
        creation_parse(arg + 1, &c) < 0)
        return NULL;
    return make_filled((PyTypeObject *)type, &c, arg[0]);
}

/* The layout that arrays ask for. Lists of numbers ask for the default. */
static int guess_layout(PyObject *members, PyObject *scores, creation *c)
{
    PyObject *first = NULL;
    if ((PyList_Check(members) || PyTuple_Check(members)) && PySequence_Size(members) > 0)
        first = PySequence_GetItem(members, 0);
    if (PyErr_Occurred())
        return -1;
    if (first != NULL) {
        bool uuid = PyBytes_Check(first) || strcmp(Py_TYPE(first)->tp_name, "UUID") == 0;
        c->member = uuid ? PZ_UUID : PZ_INT64;
        Py_DECREF(first);
    } else if (!PyList_Check(members) && !PyTuple_Check(members)) {
        PyObject *array = pzpy_np_as_array(members, "members", false);
        int done = array == NULL ? -1 : pzpy_np_guess_member(array, &c->member);
        Py_XDECREF(array);
        if (done < 0)
            return -1;
    }
    if (PyList_Check(scores) || PyTuple_Check(scores))
        return 0;
    PyObject *array = pzpy_np_as_array(scores, "scores", false);
    int done = array == NULL ? -1 : pzpy_np_guess_score(array, &c->score);
    Py_XDECREF(array);
    return done;
}

PyObject *pzpy_set_from_arrays(PyObject *type, PyObject *const *args, Py_ssize_t given,
                               PyObject *kwnames)
{
    static const char *const names[] = {"members", "scores", CREATION_NAMES, NULL};
    PyObject *arg[7];
    creation c = {.member = PZ_INT64, .score = PZ_FLOAT64};
    if (pzpy_args("from_arrays", args, given, kwnames, names, 4, 2, arg) < 0 ||
        guess_layout(arg[0], arg[1], &c) < 0)
        return NULL;
    for (int i = 2; i < 4; i++)
        arg[i] = arg[i] == Py_None ? NULL : arg[i];
    if (creation_parse(arg + 2, &c) < 0)
        return NULL;
    PyObject *self = make_filled((PyTypeObject *)type, &c, NULL);
    uint64_t added = 0, updated = 0;
    if (self != NULL && pzpy_add_objects(pzpy_self(self), arg[0], arg[1], &added, &updated) < 0)
        Py_CLEAR(self);
    return self;
}

/* ---- death ---- */

static int set_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    return 0;
}

static void set_dealloc(PyObject *op)
{
    pzpy_set *set = pzpy_self(op);
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (set->weak_references != NULL)
        PyObject_ClearWeakRefs(op);
    PyTraceMalloc_Untrack(PZPY_TRACE_DOMAIN, (uintptr_t)set);
    pz_free(set->core);
    type->tp_free(op);
    Py_DECREF(type);
}

/* ---- properties ---- */

const char *pzpy_representation(const pzpy_set *set)
{
    static const char *const names[3][2] = {
        {"INT32_FLOAT32", "INT32_FLOAT64"},
        {"INT64_FLOAT32", "INT64_FLOAT64"},
        {"UUID_FLOAT32", "UUID_FLOAT64"},
    };
    return names[set->member_kind][set->score_kind];
}

static PyObject *get_layout(PyObject *self, void *Py_UNUSED(closure))
{
    return PyUnicode_FromString(pzpy_representation(pzpy_self(self)));
}

static PyObject *get_member_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return pzpy_np_dtype_object(pzpy_member_dtype(pzpy_self(self)->member_kind));
}

static PyObject *get_score_dtype(PyObject *self, void *Py_UNUSED(closure))
{
    return pzpy_np_dtype_object(pzpy_score_dtype(pzpy_self(self)->score_kind));
}

static int read_options(PyObject *self, pz_options *options)
{
    if (pzpy_read_begin(pzpy_self(self)) < 0)
        return -1;
    pz_options_of(pzpy_self(self)->core, options);
    pzpy_read_end(pzpy_self(self));
    return 0;
}

static PyObject *get_score_rle(PyObject *self, void *Py_UNUSED(closure))
{
    pz_options options;
    return read_options(self, &options) < 0 ? NULL : PyBool_FromLong(options.score_rle);
}

static PyObject *get_merge_exponent(PyObject *self, void *Py_UNUSED(closure))
{
    pz_options options;
    return read_options(self, &options) < 0 ? NULL : PyFloat_FromDouble(options.merge_exponent);
}

static PyGetSetDef set_properties[] = {
    {"layout", get_layout, NULL, "The types of members and scores, such as ``'INT64_FLOAT64'``.",
     NULL},
    {"member_dtype", get_member_dtype, NULL,
     "The dtype of member arrays: int32, int64, or V16 for UUIDs.", NULL},
    {"score_dtype", get_score_dtype, NULL, "The dtype of score arrays: float32 or float64.", NULL},
    {"score_rle", get_score_rle, NULL, "Whether the order tree codes equal scores once.", NULL},
    {"merge_exponent", get_merge_exponent, NULL,
     "From 0 to 1, how many changes a leaf gathers before it is folded.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- protocols ---- */

static Py_ssize_t set_length(PyObject *self)
{
    pzpy_set *set = pzpy_self(self);
    if (pzpy_read_begin(set) < 0)
        return -1;
    uint64_t n = pz_len(set->core);
    pzpy_read_end(set);
    return (Py_ssize_t)n;
}

static int set_bool(PyObject *self)
{
    Py_ssize_t n = set_length(self);
    return n < 0 ? -1 : n > 0;
}

/* 12345678 as "12,345,678" */
static PyObject *grouped(uint64_t n)
{
    char text[32];
    char *at = text + sizeof text - 1;
    *at = '\0';
    unsigned digits = 0;
    do {
        if (digits > 0 && digits % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + n % 10);
        n /= 10;
        digits++;
    } while (n > 0);
    return PyUnicode_FromString(at);
}

static PyObject *set_repr(PyObject *self)
{
    pzpy_set *set = pzpy_self(self);
    const char *name = strrchr(Py_TYPE(self)->tp_name, '.');
    name = name == NULL ? Py_TYPE(self)->tp_name : name + 1;
    if (pzpy_read_begin(set) < 0)
        return NULL;
    uint64_t n = pz_len(set->core);
    uint64_t bytes = pz_allocated_bytes(set->core);
    pzpy_read_end(set);
    const char *layout = pzpy_representation(set);
    PyObject *count = grouped(n == 0 ? bytes : n);
    if (count == NULL)
        return NULL;
    PyObject *text;
    if (n == 0) {
        text = PyUnicode_FromFormat("<%s %s: empty, %U bytes>", name, layout, count);
    } else {
        uint64_t hundredths = (bytes * 100 + n / 2) / n;
        text = PyUnicode_FromFormat("<%s %s: %U member%s, %llu.%02u bytes a member>", name, layout,
                                    count, n == 1 ? "" : "s",
                                    (unsigned long long)(hundredths / 100),
                                    (unsigned)(hundredths % 100));
    }
    Py_DECREF(count);
    return text;
}

static PyMemberDef set_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(pzpy_set, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot set_slots[] = {
    {Py_tp_doc, (void *)pzpy_set_doc},
    {Py_tp_new, set_new},
    {Py_tp_dealloc, set_dealloc},
    {Py_tp_traverse, set_traverse},
    {Py_tp_repr, set_repr},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_richcompare, pzpy_set_compare},
    {Py_tp_iter, pzpy_set_iter},
    {Py_tp_methods, pzpy_set_methods},
    {Py_tp_getset, set_properties},
    {Py_tp_members, set_members},
    {Py_nb_bool, set_bool},
    {Py_mp_length, set_length},
    {Py_mp_subscript, pzpy_set_getitem},
    {Py_mp_ass_subscript, pzpy_set_setitem},
    {Py_sq_contains, pzpy_set_has},
    {0, NULL},
};

PyType_Spec pzpy_set_spec = {
    .name = "goblin_pz.PackedZSet",
    .basicsize = sizeof(pzpy_set),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = set_slots,
};
