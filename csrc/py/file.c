/* file.c: snapshots as bytes, to a file descriptor, and for pickle.
 *
 * Opening, naming and renaming files is done in goblin_pz/files.py; here bytes come and go. A
 * descriptor is written without the GIL and under the set's read lock, straight from the leaves. */
#define _DEFAULT_SOURCE

#include "methods.h"
#include "pzpy.h"

#include <errno.h>
#include <unistd.h>

typedef struct to_descriptor {
    int fd;
    int error; /* errno of the write that failed */
} to_descriptor;

static int write_descriptor(void *ctx, const void *bytes, size_t n)
{
    to_descriptor *to = ctx;
    const char *at = bytes;
    while (n > 0) {
        ssize_t written = write(to->fd, at, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            to->error = errno;
            return -1;
        }
        at += written;
        n -= (size_t)written;
    }
    return 0;
}

PyObject *pzpy_set_save_fd(PyObject *self, PyObject *descriptor)
{
    pzpy_set *set = pzpy_self(self);
    to_descriptor to = {.fd = PyObject_AsFileDescriptor(descriptor)};
    pzpy_op op;
    if (to.fd < 0 || pzpy_op_begin(&op, set, false) < 0)
        return NULL;
    pzpy_op_bulk(&op, PZPY_ALL);
    pz_status status = pz_save(set->core, write_descriptor, &to, &op.call);
    pzpy_op_end(&op);
    if (status == PZ_IO && to.error != 0) {
        errno = to.error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "save", NULL);
    Py_RETURN_NONE;
}

typedef struct to_memory {
    char *at;
    size_t room;
} to_memory;

static int write_memory(void *ctx, const void *bytes, size_t n)
{
    to_memory *to = ctx;
    if (n > to->room)
        return -1;
    memcpy(to->at, bytes, n);
    to->at += n;
    to->room -= n;
    return 0;
}

static int bound_of(pzpy_set *set, uint64_t *bound)
{
    pzpy_op op;
    if (pzpy_op_begin(&op, set, false) < 0)
        return -1;
    pzpy_op_bulk(&op, pz_len(set->core));
    *bound = pz_save_bound(set->core);
    pzpy_op_end(&op);
    return 0;
}

/* The bytes object is made without the lock, so the set may have grown when it is written: then
 * the room does not suffice, and it starts over. */
PyObject *pzpy_set_to_bytes(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    for (;;) {
        uint64_t bound = 0;
        PyObject *bytes = NULL;
        pzpy_op op;
        if (bound_of(set, &bound) == 0)
            bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bound);
        if (bytes == NULL || pzpy_op_begin(&op, set, false) < 0) {
            Py_XDECREF(bytes);
            return NULL;
        }
        to_memory to = {PyBytes_AS_STRING(bytes), (size_t)bound};
        pzpy_op_bulk(&op, pz_len(set->core));
        pz_status status = pz_save(set->core, write_memory, &to, &op.call);
        pzpy_op_end(&op);
        if (status == PZ_OK) {
            _PyBytes_Resize(&bytes, (Py_ssize_t)(bound - to.room));
            return bytes;
        }
        Py_DECREF(bytes);
        if (status != PZ_IO)
            return pzpy_raise(status, &op.call, "save", NULL);
    }
}

/* A set from the bytes of a snapshot, as an instance of `type`. */
static PyObject *from_bytes(PyTypeObject *type, pzpy_state *state, PyObject *source,
                            const bool *rle, const double *exponent)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(source, &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    const pz_env *env = pz_env_default();
    pz_set *core = NULL;
    pzpy_op op = {.set = NULL};
    pz_status status = PZ_NOMEM;
    pzpy_op_bulk(&op, PZPY_ALL);
    if (env != NULL)
        status = pz_load(env, buffer.buf, (size_t)buffer.len, rle, exponent, &core, &op.call);
    pzpy_op_end(&op);
    PyBuffer_Release(&buffer);
    if (status != PZ_OK)
        return pzpy_raise(status, &op.call, "the snapshot is damaged", NULL);
    return pzpy_set_wrap(type, state, core);
}

PyObject *pzpy_set_from_bytes(PyObject *type, PyObject *const *args, Py_ssize_t given,
                              PyObject *kwnames)
{
    static const char *const names[] = {"data", "score_rle", "merge_exponent", NULL};
    PyObject *arg[3];
    bool rle = false;
    double exponent = 0.0;
    pzpy_state *state = pzpy_state_of((PyTypeObject *)type);
    if (state == NULL || pzpy_args("_from_bytes", args, given, kwnames, names, 1, 1, arg) < 0)
        return NULL;
    bool has_rle = arg[1] != NULL && arg[1] != Py_None;
    bool has_exponent = arg[2] != NULL && arg[2] != Py_None;
    if ((has_rle && pzpy_arg_flag(arg[1], false, &rle) < 0) ||
        (has_exponent && pzpy_arg_exponent(arg[2], &exponent) < 0))
        return NULL;
    return from_bytes((PyTypeObject *)type, state, arg[0], has_rle ? &rle : NULL,
                      has_exponent ? &exponent : NULL);
}

PyObject *pzpy_set_save(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    return pzpy_delegate("goblin_pz.files", "save", args, given, kwnames, self);
}

PyObject *pzpy_set_load(PyObject *type, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    return pzpy_delegate("goblin_pz.files", "load", args, given, kwnames, type);
}

/* ---- pickle ---- */

/* _restore(type, bytes): out of band from protocol 5 on, when the pickler wants that. */
PyObject *pzpy_set_reduce(PyObject *self, PyObject *protocol)
{
    long number = PyLong_AsLong(protocol);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    PyObject *module = PyImport_ImportModule("goblin_pz._core");
    PyObject *restore = module == NULL ? NULL : pzpy_attr(module, "_restore");
    Py_XDECREF(module);
    PyObject *data = restore == NULL ? NULL : pzpy_set_to_bytes(self, NULL);
    if (data != NULL && number >= 5)
        Py_SETREF(data, PyPickleBuffer_FromObject(data));
    PyObject *state = data == NULL ? NULL : pzpy_set_state(self);
    PyObject *result = NULL;
    if (state != NULL)
        result = Py_BuildValue("O(OO)O", restore, (PyObject *)Py_TYPE(self), data, state);
    Py_XDECREF(restore);
    Py_XDECREF(data);
    Py_XDECREF(state);
    return result;
}

PyObject *pzpy_restore(PyObject *module, PyObject *args)
{
    PyObject *type, *data;
    pzpy_state *state = PyModule_GetState(module);
    if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &type, &data))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)type, state->set_type)) {
        PyErr_Format(PyExc_TypeError, "%R is no PackedZSet type", type);
        return NULL;
    }
    return from_bytes((PyTypeObject *)type, state, data, NULL, NULL);
}
