/* iter.c: iteration over members or (member, score) pairs, in order or against it.
 *
 *   set --pz_range--> | members ... CHUNK | scores ... CHUNK | --one by one--> Python
 *
 * I1. An iterator carries the set's version; after a change it raises RuntimeError, at once and
 *     for good.
 * I2. Entries are fetched a chunk at a time, under the lock, and handed out without it. */
#include "methods.h"
#include "pzpy.h"

#define CHUNK 1024u

typedef struct pzpy_iter {
    PyObject_HEAD pzpy_set *set;    /* NULL when spent */
    uint64_t version;
    uint64_t done;    /* entries fetched so far, in the direction of travel */
    uint64_t left;    /* entries not fetched yet */
    bool reverse, pairs;
    uint32_t at, filled; /* in the chunk */
    char *members, *scores;
} pzpy_iter;

static PyObject *iter_new(pzpy_set *set, bool pairs, bool reverse)
{
    PyTypeObject *type = set->state->iter_type;
    pzpy_iter *it = (pzpy_iter *)type->tp_alloc(type, 0);
    if (it == NULL)
        return NULL;
    if (pzpy_read_begin(set) < 0) {
        Py_DECREF(it);
        return NULL;
    }
    it->left = pz_len(set->core);
    it->version = pz_version(set->core);
    pzpy_read_end(set);
    it->set = (pzpy_set *)Py_NewRef((PyObject *)set);
    it->pairs = pairs;
    it->reverse = reverse;
    return (PyObject *)it;
}

PyObject *pzpy_set_iter(PyObject *self)
{
    return iter_new(pzpy_self(self), false, false);
}

PyObject *pzpy_set_reversed(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return iter_new(pzpy_self(self), false, true);
}

PyObject *pzpy_set_items(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"reverse", NULL};
    PyObject *arg[1];
    bool reverse;
    if (pzpy_args("items", args, given, kwnames, names, 0, 0, arg) < 0 ||
        pzpy_arg_flag(arg[0], false, &reverse) < 0)
        return NULL;
    return iter_new(pzpy_self(self), true, reverse);
}

static int iter_traverse(PyObject *op, visitproc visit, void *arg)
{
    pzpy_iter *it = (pzpy_iter *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(it->set);
    return 0;
}

static int iter_clear(PyObject *op)
{
    Py_CLEAR(((pzpy_iter *)op)->set);
    return 0;
}

static void iter_dealloc(PyObject *op)
{
    pzpy_iter *it = (pzpy_iter *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    Py_CLEAR(it->set);
    PyMem_Free(it->members);
    type->tp_free(op);
    Py_DECREF(type);
}

static int changed(void)
{
    PyErr_SetString(PyExc_RuntimeError, "the set was changed during iteration");
    return -1;
}

/* Both columns lie in one block, members first. */
static int make_room(pzpy_iter *it)
{
    uint64_t rows = it->left < CHUNK ? it->left : CHUNK;
    size_t member_bytes = pzpy_dtype_bytes(pzpy_member_dtype(it->set->member_kind));
    it->members = PyMem_Malloc(rows * (member_bytes + sizeof(double)));
    if (it->members == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    it->scores = it->members + rows * member_bytes;
    return 0;
}

static int fetch(pzpy_iter *it)
{
    pzpy_set *set = it->set;
    uint64_t n = it->left < CHUNK ? it->left : CHUNK;
    if (it->members == NULL && make_room(it) < 0)
        return -1;
    pz_out members = {it->members,
                      (ptrdiff_t)pzpy_dtype_bytes(pzpy_member_dtype(set->member_kind))};
    pz_out scores = {it->scores, (ptrdiff_t)pzpy_dtype_bytes(pzpy_score_dtype(set->score_kind))};
    pz_call call = {.poll = NULL};
    if (pzpy_read_begin(set) < 0)
        return -1;
    bool same = pz_version(set->core) == it->version;
    pz_status status = PZ_OK;
    if (same)
        status = pz_range(set->core, it->reverse ? it->left - n : it->done, n, it->reverse, members,
                          scores, &call);
    pzpy_read_end(set);
    if (!same)
        return changed();
    if (status != PZ_OK) {
        pzpy_raise(status, &call, "iteration", NULL);
        return -1;
    }
    it->done += n;
    it->left -= n;
    it->at = 0;
    it->filled = (uint32_t)n;
    return 0;
}

static PyObject *iter_next(PyObject *op)
{
    pzpy_iter *it = (pzpy_iter *)op;
    pzpy_set *set = it->set;
    if (set == NULL)
        return NULL;
    if (atomic_load_explicit(&set->version, memory_order_relaxed) != it->version) {
        changed();
        return NULL;
    }
    if (it->at == it->filled) {
        if (it->left == 0) {
            Py_CLEAR(it->set);
            return NULL;
        }
        if (fetch(it) < 0)
            return NULL;
    }
    size_t at = it->at++;
    PyObject *member = pzpy_member_to_object(
        set->state, set->member_kind,
        it->members + at * pzpy_dtype_bytes(pzpy_member_dtype(set->member_kind)));
    if (!it->pairs || member == NULL)
        return member;
    PyObject *score = pzpy_score_to_object(
        set->score_kind, it->scores + at * pzpy_dtype_bytes(pzpy_score_dtype(set->score_kind)));
    PyObject *pair = score == NULL ? NULL : PyTuple_Pack(2, member, score);
    Py_DECREF(member);
    Py_XDECREF(score);
    return pair;
}

static PyObject *iter_length_hint(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pzpy_iter *it = (pzpy_iter *)op;
    uint64_t n = it->set == NULL ? 0 : it->left + (it->filled - it->at);
    return PyLong_FromUnsignedLongLong(n);
}

static PyMethodDef iter_methods[] = {
    {"__length_hint__", iter_length_hint, METH_NOARGS, "The number of entries left."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot iter_slots[] = {
    {Py_tp_doc, "Iterates over a PackedZSet."},
    {Py_tp_dealloc, iter_dealloc},
    {Py_tp_traverse, iter_traverse},
    {Py_tp_clear, iter_clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, iter_next},
    {Py_tp_methods, iter_methods},
    {0, NULL},
};

PyType_Spec pzpy_iter_spec = {
    .name = "goblin_pz._core.PackedZSetIterator",
    .basicsize = sizeof(pzpy_iter),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = iter_slots,
};
