/* pzpy.h: what the files of the binding share. It sees pz.h and base/ only; NumPy is seen by
 * np_glue.c alone.
 *
 * A call, step by step:
 *   1. parse the arguments, take references, turn them into columns; out of range values and wrong
 *      types are refused here;
 *   2. pzpy_op_begin: take the set's lock, waiting without the GIL;
 *   3. pzpy_op_bulk: for many rows, let the GIL go;
 *   4. call the core;
 *   5. pzpy_op_end: give the lock back, take the GIL, tell tracemalloc what changed;
 *   6. build the result or raise.
 * I1. Between 2 and 5 nothing runs Python code, with one exception: between pieces of a bulk call
 *     the core lets signal handlers run. A handler that needs a lock which is not free at once gets
 *     a RuntimeError, for waiting might wait for the very call that it interrupted.
 * I2. A call that needs several sets takes their locks in address order, each once.
 * I3. No Python object is kept in a static variable: all of it is in the module's state. */
#ifndef PZPY_H
#define PZPY_H

#define PY_SSIZE_T_CLEAN
#include "py_api.h"

#include "../pz.h"
#include "lock.h"

/* From this many rows on a call runs without the GIL. Below, letting it go and getting it back
 * costs more than the work. */
#define PZPY_BULK_ROWS 256

/* The domain of this module's blocks in tracemalloc; `_core.TRACEMALLOC_DOMAIN` in Python. */
#define PZPY_TRACE_DOMAIN 0x707au

typedef struct pzpy_state {
    PyTypeObject *set_type;
    PyTypeObject *iter_type;
    PyObject *uuid_type; /* uuid.UUID, imported when it is first needed */
} pzpy_state;

typedef struct pzpy_set {
    PyObject_HEAD pz_set *core;
    pzpy_state *state; /* of the module that holds the type; the type keeps it alive */
    PyObject *weak_references;
    _Atomic uint64_t version; /* of core; iterators read it without the lock */
    uint64_t traced_bytes;    /* what tracemalloc knows of; guarded by the GIL */
    pzpy_lock lock;
    pz_member_kind member_kind;
    pz_score_kind score_kind;
} pzpy_set;

extern struct PyModuleDef pzpy_module;

/* ---- values and columns ---- */
typedef union pzpy_value {
    int32_t i32;
    int64_t i64;
    unsigned char uuid[16];
    float f32;
    double f64;
} pzpy_value;

typedef enum pzpy_dtype {
    PZPY_INT32,
    PZPY_INT64,
    PZPY_BYTES16,
    PZPY_FLOAT32,
    PZPY_FLOAT64,
    PZPY_BOOL
} pzpy_dtype;

/* One argument as the core reads it. `ndim` 0 is a scalar: then `in` has stride 0 and points to
 * `one`, so a column must not be copied. `dims` belong to `shape_of`, the memory to `owner`. */
typedef struct pzpy_column {
    pz_in in;
    size_t n;
    int ndim;
    const Py_ssize_t *dims;
    PyObject *owner;
    PyObject *shape_of;
    pzpy_value one;
} pzpy_column;
#define PZPY_COLUMN_INIT {.in = {NULL, 0}, .n = 0}

static inline pzpy_dtype pzpy_member_dtype(pz_member_kind kind)
{
    return kind == PZ_INT32 ? PZPY_INT32 : kind == PZ_INT64 ? PZPY_INT64 : PZPY_BYTES16;
}

static inline pzpy_dtype pzpy_score_dtype(pz_score_kind kind)
{
    return kind == PZ_FLOAT32 ? PZPY_FLOAT32 : PZPY_FLOAT64;
}

size_t pzpy_dtype_bytes(pzpy_dtype dtype);
const char *pzpy_dtype_name(pzpy_dtype dtype); /* as NumPy spells it */

/* column.c. `name` is the argument's name for messages. 0, or -1 with an exception set. */
int pzpy_members(const pzpy_set *set, PyObject *obj, const char *name, pzpy_column *out);
int pzpy_members_of_kind(pzpy_state *state, pz_member_kind kind, PyObject *obj, const char *name,
                         pzpy_column *out);
int pzpy_scores(pzpy_state *state, pz_score_kind kind, PyObject *obj, const char *name,
                pzpy_column *out);
/* Scores must have the members' shape or be a scalar. */
int pzpy_match(const pzpy_column *members, const char *members_name, const pzpy_column *scores,
               const char *scores_name);
void pzpy_column_release(pzpy_column *column);
/* Refuse an output that may share bytes with `n` elements of `size` bytes at `ptr`. */
int pzpy_refuse_overlap(const pz_out *out, pzpy_dtype out_dtype, size_t rows, const void *ptr,
                        ptrdiff_t stride, size_t n, size_t size, const char *other);
int pzpy_refuse_overlap_column(const pz_out *out, pzpy_dtype out_dtype, size_t rows,
                               const pzpy_column *column, pzpy_dtype dtype, const char *name);

/* object.c: Python objects to values and back. `index` below 0: a scalar argument. */
bool pzpy_is_scalar(const pzpy_state *state, PyObject *obj); /* by type only */
int pzpy_member_from_object(pzpy_state *state, pz_member_kind kind, PyObject *obj, const char *name,
                            Py_ssize_t index, pzpy_value *out);
int pzpy_score_from_object(pz_score_kind kind, PyObject *obj, const char *name, Py_ssize_t index,
                           pzpy_value *out);
PyObject *pzpy_member_to_object(pzpy_state *state, pz_member_kind kind, const void *member);
PyObject *pzpy_score_to_object(pz_score_kind kind, const void *score);
void pzpy_store_score(pz_score_kind kind, double score, void *where); /* one that was stored */
PyObject *pzpy_uuid_type(pzpy_state *state); /* borrowed */
/* Attributes by interned names: others would fill the interpreter's cache of look-ups. */
PyObject *pzpy_attr(PyObject *obj, const char *name);
bool pzpy_has_attr(PyObject *obj, const char *name); /* no exception, whatever happens */
bool pzpy_has_array_protocol(PyObject *obj);
/* A score bound: any real number but NaN; None gives `none`. */
int pzpy_bound(PyObject *obj, const char *name, double none, double *out);

/* ---- arguments: args.c ---- */
/* Sort positional and keyword arguments into out[0 .. count of names). The first `positional` of
 * the names may be given by position, the first `required` must be given. Borrowed references;
 * NULL where not given. */
int pzpy_args(const char *function, PyObject *const *args, Py_ssize_t given, PyObject *kwnames,
              const char *const *names, Py_ssize_t positional, Py_ssize_t required, PyObject **out);
int pzpy_arg_flag(PyObject *obj, bool none, bool *out);
int pzpy_arg_count(PyObject *obj, const char *name, uint64_t none, uint64_t *out);
/* A position as in a slice: None gives `none`, values beyond int64 are clipped. */
int pzpy_arg_position(PyObject *obj, const char *name, int64_t none, int64_t *out);
int pzpy_arg_exponent(PyObject *obj, double *out);
int pzpy_arg_capacity(PyObject *obj, uint32_t *out);
int pzpy_arg_kinds(PyObject *member, PyObject *score, pz_member_kind *m, pz_score_kind *s);

/* ---- errors: error.c ---- */
/* Raise `type` with "name[index] ..." or, for a scalar, "name ..."; always -1. */
int pzpy_refuse(PyObject *type, const char *name, Py_ssize_t index, const char *format, ...);
/* Turn a failure of the core into an exception; always NULL. `column` is the argument that held
 * the refused score or amount. */
PyObject *pzpy_raise(pz_status status, const pz_call *call, const char *name,
                     const pzpy_column *column);
PyObject *pzpy_raise_why(PyObject *type, const char *intro, const pz_why *why);

/* ---- the frame of a call: op.c ---- */
typedef struct pzpy_op {
    pzpy_set *set; /* NULL: the caller does the locking */
    bool write;
    bool bulk;
    PyThreadState *thread; /* not NULL: the GIL is let go */
    uint64_t next_poll_ns;
    pz_call call;
} pzpy_op;

int pzpy_op_begin(pzpy_op *op, pzpy_set *set, bool write);
void pzpy_op_bulk(pzpy_op *op, uint64_t rows);
void pzpy_op_end(pzpy_op *op);
#define PZPY_ALL UINT64_MAX /* rows of work that always runs without the GIL */

/* Several sets for reading, in address order, each once; `sets` is sorted in place. */
int pzpy_read_many(pzpy_set **sets, size_t count);
void pzpy_unread_many(pzpy_set **sets, size_t count);

/* Take a lock for one short look without the trouble of an op. */
int pzpy_lock_slowly(pzpy_set *set, bool write);

static inline int pzpy_read_begin(pzpy_set *set)
{
    return pzpy_lock_try(&set->lock, false) ? 0 : pzpy_lock_slowly(set, false);
}

static inline void pzpy_read_end(pzpy_set *set)
{
    pzpy_lock_give(&set->lock, false);
}

/* ---- the set ---- */
/* Wraps `core`, which it owns from now on, also when it fails. */
PyObject *pzpy_set_wrap(PyTypeObject *type, pzpy_state *state, pz_set *core);
PyObject *pzpy_set_make(PyTypeObject *type, pzpy_state *state, pz_member_kind member,
                        pz_score_kind score, const pz_options *options);
pzpy_state *pzpy_state_of(PyTypeObject *type); /* set_type or a subclass of it */
const char *pzpy_representation(const pzpy_set *set);
void pzpy_trace(pzpy_set *set, uint64_t bytes);
/* The rest of `update`, for a source that is no mapping of arrays: items.c */
int pzpy_fill(pzpy_set *set, PyObject *source, uint64_t *added, uint64_t *updated);
/* Call `name` in the Python module `module` of the package. */
PyObject *pzpy_delegate(const char *module, const char *name, PyObject *const *args,
                        Py_ssize_t given, PyObject *kwnames, PyObject *first);

PyObject *pzpy_set_getitem(PyObject *op, PyObject *key);
int pzpy_set_setitem(PyObject *op, PyObject *key, PyObject *value);
int pzpy_set_has(PyObject *op, PyObject *key);
PyObject *pzpy_set_iter(PyObject *op);

extern PyType_Spec pzpy_set_spec, pzpy_iter_spec;

static inline pzpy_set *pzpy_self(PyObject *op)
{
    return (pzpy_set *)op;
}

#endif
