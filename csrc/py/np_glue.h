/* np_glue.h: all that the binding asks of NumPy, in words of its own.
 *
 * Only np_glue.c sees NumPy's headers. Arrays come in as plain objects and go out as sources,
 * columns or plain objects. */
#ifndef PZPY_NP_GLUE_H
#define PZPY_NP_GLUE_H

#include "convert.h"
#include "pzpy.h"

int pzpy_np_import(void);

typedef enum pzpy_np_class {
    PZPY_NP_NONE,  /* nothing of NumPy's */
    PZPY_NP_ARRAY, /* an ndarray or a subclass, any number of dimensions */
    PZPY_NP_INTEGER,
    PZPY_NP_FLOATING,
    PZPY_NP_VOID, /* scalars */
    PZPY_NP_OTHER  /* a scalar that is neither member nor score: bool_, datetime64, str_ ... */
} pzpy_np_class;
pzpy_np_class pzpy_np_class_of(PyObject *obj);

/* Anything that NumPy can make an array of, as a base-class ndarray; masks are looked at here.
 * `as_objects`: nested lists, so that each element keeps its own type. */
PyObject *pzpy_np_as_array(PyObject *obj, const char *name, bool as_objects);

/* What an array is made of. `ndim` and `dims` are the array's, or those without the last axis
 * where 16 bytes along it make one UUID. When its rows do not lie one stride apart in C order, the
 * array is copied: `*array` is replaced. */
typedef enum pzpy_content { PZPY_NUMBERS, PZPY_UUIDS, PZPY_OBJECTS, PZPY_UNUSABLE } pzpy_content;
typedef struct pzpy_view {
    pzpy_content content;
    pzpy_source source; /* number, swapped: for PZPY_NUMBERS */
    int ndim;
    const Py_ssize_t *dims;
} pzpy_view;
int pzpy_np_view(PyObject **array, bool uuids, pzpy_view *view);
PyObject *pzpy_np_dtype_text(PyObject *array); /* for messages: "uint64" */

/* The 16 bytes of a void scalar; false when it has another size or fields. */
bool pzpy_np_void16(PyObject *scalar, unsigned char *out);
bool pzpy_np_is_longdouble(PyObject *scalar);
bool pzpy_np_is_float32(PyObject *obj); /* an array, native */

/* A new array in C order and where its elements lie. */
PyObject *pzpy_np_new(pzpy_dtype dtype, int ndim, const Py_ssize_t *dims, pz_out *where);
PyObject *pzpy_np_column(pzpy_dtype dtype, uint64_t n, pz_out *where); /* one dimension */
/* The first n elements of a one-dimensional array; steals `array`. */
PyObject *pzpy_np_head(PyObject *array, uint64_t n);
/* An array of the caller's to write to: dtype, shape, writable, one stride; else refused. */
int pzpy_np_out(PyObject *obj, pzpy_dtype dtype, const char *name, int ndim, const Py_ssize_t *dims,
                pz_out *where);

int pzpy_np_dtype_of(PyObject *obj, const char *name, pzpy_dtype *out);
PyObject *pzpy_np_dtype_object(pzpy_dtype dtype);
/* The layout that an argument of from_arrays asks for by its dtype. */
int pzpy_np_guess_member(PyObject *array, pz_member_kind *out);
int pzpy_np_guess_score(PyObject *array, pz_score_kind *out);

/* n records of a leaf as a structured array. */
PyObject *pzpy_np_leaves(const pz_leaf_info *records, size_t n);

#endif
