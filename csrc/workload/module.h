/* What the files of the extension module share. */
#ifndef PZ_WORKLOAD_MODULE_H
#define PZ_WORKLOAD_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

/* A contiguous buffer of 8-byte (float64 when `real`, else int64) or, for width 4, uint32
 * elements, native-endian; `writable` asks for one that may be written. Sets TypeError with the
 * argument's name and gives false when the object is none. On success the caller releases it. */
bool pz_buffer_get(PyObject *object, const char *name, unsigned width, bool real, bool writable,
                   Py_buffer *view);

extern PyType_Spec pz_shape_type_spec;

#endif
