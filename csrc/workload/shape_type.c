/* The type goblin_pz._workload.Shape: a synthetic stream read block by block.
 *
 *   Shape object: | PyObject head | pz_shape * | busy flag |
 *
 * Invariants: the stream's counts are drawn when the object exists; `busy` is set while a thread
 * without the GIL is inside, and everybody else gets RuntimeError. */
#include "module.h"

#include "shape.h"

#include <string.h>

typedef struct shape_object {
    PyObject_HEAD pz_shape *shape;
    bool busy;
} shape_object;

enum { ENTITIES_A_PIECE = 1 << 20 };

static bool parse_name(const char *name, const char *const *names, int count, const char *argument,
                       int *index)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            *index = i;
            return true;
        }
    }
    PyErr_Format(PyExc_ValueError, "%s: unknown name %.50s", argument, name);
    return false;
}

static bool parse_options(PyObject *args, PyObject *kwargs, pz_shape_options *options)
{
    static char *keywords[] = {"kind", "entities", "seed", "ids", "room_records", NULL};
    static const char *const kinds[] = {"wikipedia", "lichess"};
    static const char *const maps[] = {"dense", "full-scale", "random"};
    const char *kind_name = NULL;
    const char *ids_name = "dense";
    long long entities = 0;
    unsigned long long seed = 1;
    long long room = 1ll << 28;
    int kind = 0, ids = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sL|$KsL:Shape", keywords, &kind_name, &entities,
                                     &seed, &ids_name, &room) ||
        !parse_name(kind_name, kinds, 2, "kind", &kind) ||
        !parse_name(ids_name, maps, 3, "ids", &ids))
        return false;
    if (entities < 1 || entities > PZ_SHAPE_ENTITIES_MAX || room < 1) {
        PyErr_SetString(PyExc_ValueError,
                        "entities must be 1 to 2147483647, room_records at least 1");
        return false;
    }
    *options = (pz_shape_options){.kind = (pz_shape_kind)kind,
                                  .ids = (pz_shape_ids)ids,
                                  .seed = seed,
                                  .entities = (uint64_t)entities,
                                  .room_records = (uint64_t)room};
    return true;
}

static bool raise_status(pz_status status)
{
    if (status == PZ_NOMEM)
        PyErr_NoMemory();
    else if (status != PZ_OK)
        PyErr_SetString(PyExc_ValueError,
                        "ids: full-scale takes at most 84,000,000 entities; players are dense");
    return status == PZ_OK;
}

static bool draw_all(pz_shape *shape)
{
    for (bool done = false; !done;) {
        pz_status status;
        Py_BEGIN_ALLOW_THREADS status = pz_shape_draw(shape, ENTITIES_A_PIECE, &done);
        Py_END_ALLOW_THREADS if (!raise_status(status) || PyErr_CheckSignals() != 0) return false;
    }
    return true;
}

static PyObject *shape_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pz_shape_options options;
    pz_shape *shape = NULL;
    if (!parse_options(args, kwargs, &options) || !raise_status(pz_shape_new(&options, &shape)))
        return NULL;
    shape_object *self = NULL;
    if (draw_all(shape))
        self = (shape_object *)type->tp_alloc(type, 0);
    if (self == NULL) {
        pz_shape_free(shape);
        return NULL;
    }
    self->shape = shape;
    return (PyObject *)self;
}

static void shape_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    pz_shape_free(((shape_object *)object)->shape);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *shape_events(PyObject *object, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(pz_shape_events(((shape_object *)object)->shape));
}

/* The three buffers of a fill; those that were not given have a NULL buf. */
typedef struct targets {
    Py_buffer ids, values, ticks;
} targets;

static void release(targets *to)
{
    PyBuffer_Release(&to->ids);
    PyBuffer_Release(&to->values);
    PyBuffer_Release(&to->ticks);
}

static bool get_targets(PyObject *ids, PyObject *values, PyObject *ticks, targets *to)
{
    memset(to, 0, sizeof *to);
    if (!pz_buffer_get(ids, "ids", 8, false, true, &to->ids))
        return false;
    const Py_ssize_t n = to->ids.len / 8;
    if ((values != Py_None && !pz_buffer_get(values, "values", 8, true, true, &to->values)) ||
        (ticks != Py_None && !pz_buffer_get(ticks, "ticks", 4, false, true, &to->ticks))) {
        release(to);
        return false;
    }
    if ((values != Py_None && to->values.len / 8 != n) ||
        (ticks != Py_None && to->ticks.len / 4 != n)) {
        PyErr_SetString(PyExc_ValueError, "ids, values and ticks must be of one length");
        release(to);
        return false;
    }
    return true;
}

static PyObject *shape_fill(PyObject *object, PyObject *args)
{
    shape_object *self = (shape_object *)object;
    PyObject *ids, *values = Py_None, *ticks = Py_None;
    targets to;
    if (!PyArg_ParseTuple(args, "O|OO:fill", &ids, &values, &ticks))
        return NULL;
    if (self->busy) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is reading this shape");
        return NULL;
    }
    if (!get_targets(ids, values, ticks, &to))
        return NULL;
    size_t written = 0;
    pz_status status;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS status = pz_shape_next(self->shape, (size_t)to.ids.len / 8, to.ids.buf,
                                                  to.values.buf, to.ticks.buf, &written);
    Py_END_ALLOW_THREADS self->busy = false;
    release(&to);
    return raise_status(status) ? PyLong_FromSize_t(written) : NULL;
}

static PyMethodDef shape_methods[] = {
    {"fill", shape_fill, METH_VARARGS,
     "fill(ids, values=None, ticks=None)\n--\n\n"
     "Write the next events in time order; the number written, 0 at the end.\n\n"
     "Parameters\n----------\n"
     "ids : writable contiguous buffer of int64, shape (n,)\n"
     "values : writable contiguous buffer of float64, shape (n,), optional\n"
     "    1.0 for an edit, the rating before the game for a player.\n"
     "ticks : writable contiguous buffer of uint32, shape (n,), optional\n"
     "    Time in units of 2**-32 of the whole span.\n"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef shape_getters[] = {
    {"events", shape_events, NULL, "Events drawn in all, int.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot shape_slots[] = {
    {Py_tp_doc,
     "Shape(kind, entities, *, seed=1, ids='dense', room_records=268435456)\n--\n\n"
     "A synthetic workload in time order: 'wikipedia' (edits) or 'lichess' (ratings).\n\n"
     "The same arguments give the same stream, whatever the room. Costs 4 bytes an entity\n"
     "(10 more for lichess) and 8 bytes for each of at most `room_records` events held at a\n"
     "time; not safe for two threads at once (RuntimeError).\n"},
    {Py_tp_new, shape_new},
    {Py_tp_dealloc, shape_dealloc},
    {Py_tp_methods, shape_methods},
    {Py_tp_getset, shape_getters},
    {0, NULL}};

PyType_Spec pz_shape_type_spec = {
    .name = "goblin_pz._workload.Shape",
    .basicsize = sizeof(shape_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = shape_slots,
};
