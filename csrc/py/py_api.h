/* py_api.h: CPython's headers, as system headers: they are not ours to keep free of warnings. */
#ifndef PZPY_PY_API_H
#define PZPY_PY_API_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#include <Python.h>
#include <structmember.h>

#endif
