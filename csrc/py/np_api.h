/* np_api.h: NumPy's headers, as system headers: they are not ours to keep free of warnings. */
#ifndef PZPY_NP_API_H
#define PZPY_NP_API_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#endif
