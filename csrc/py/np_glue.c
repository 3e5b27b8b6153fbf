/* np_glue.c: the only file that sees NumPy. See np_glue.h.
 *
 * Built against NumPy 2, it runs on 1.26 as well (NPY_TARGET_VERSION in setup.py). Arrays are read
 * and written through (pointer, stride) pairs, so the core never learns what an array is. */
#include "np_glue.h"

#include "np_api.h"

#define ARRAY(obj) ((PyArrayObject *)(obj))

_Static_assert(sizeof(npy_intp) == sizeof(Py_ssize_t), "dims are handed on as Py_ssize_t");

int pzpy_np_import(void)
{
    return PyArray_ImportNumPyAPI();
}

pzpy_np_class pzpy_np_class_of(PyObject *obj)
{
    if (PyArray_Check(obj))
        return PZPY_NP_ARRAY;
    if (!PyArray_IsScalar(obj, Generic))
        return PZPY_NP_NONE;
    if (PyArray_IsScalar(obj, Integer)) /* a timedelta64 calls itself one */
        return PyArray_IsScalar(obj, Timedelta) ? PZPY_NP_OTHER : PZPY_NP_INTEGER;
    if (PyArray_IsScalar(obj, Floating))
        return PZPY_NP_FLOATING;
    return PyArray_IsScalar(obj, Void) ? PZPY_NP_VOID : PZPY_NP_OTHER;
}

bool pzpy_np_is_longdouble(PyObject *scalar)
{
    return PyArray_IsScalar(scalar, LongDouble);
}

bool pzpy_np_is_float32(PyObject *obj)
{
    return PyArray_Check(obj) && PyArray_TYPE(ARRAY(obj)) == NPY_FLOAT32 &&
           PyArray_ISNOTSWAPPED(ARRAY(obj));
}

/* ---- arrays coming in ---- */

/* Refuse an array that hides values behind a mask, at the first of them. */
static int refuse_masked(PyObject *obj, const char *name)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *ma = modules == NULL ? NULL : PyDict_GetItemString(modules, "numpy.ma");
    if (ma == NULL || PyArray_CheckExact(obj))
        return 0;
    PyObject *type = pzpy_attr(ma, "MaskedArray");
    int masked = type == NULL ? -1 : PyObject_IsInstance(obj, type);
    Py_XDECREF(type);
    if (masked <= 0)
        return masked;
    PyObject *look = pzpy_attr(ma, "getmaskarray");
    PyObject *mask = look == NULL ? NULL : PyObject_CallOneArg(look, obj);
    Py_XDECREF(look);
    PyObject *hidden = mask == NULL ? NULL : PyArray_Ravel(ARRAY(mask), NPY_CORDER);
    Py_XDECREF(mask);
    if (hidden == NULL)
        return -1;
    const npy_bool *flags = PyArray_DATA(ARRAY(hidden));
    npy_intp n = PyArray_SIZE(ARRAY(hidden));
    int result = 0;
    for (npy_intp i = 0; i < n && result == 0; i++) {
        if (flags[i])
            result =
                pzpy_refuse(PyExc_TypeError, name, i, "the array hides this element by a mask");
    }
    Py_DECREF(hidden);
    return result;
}

PyObject *pzpy_np_as_array(PyObject *obj, const char *name, bool as_objects)
{
    if (PyArray_Check(obj) && refuse_masked(obj, name) < 0)
        return NULL;
    PyArray_Descr *descr = as_objects ? PyArray_DescrFromType(NPY_OBJECT) : NULL;
    return PyArray_FromAny(obj, descr, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL);
}

PyObject *pzpy_np_dtype_text(PyObject *array)
{
    return PyObject_Str((PyObject *)PyArray_DESCR(ARRAY(array)));
}

static bool is_plain_void16(PyArray_Descr *descr)
{
    return descr->type_num == NPY_VOID && PyDataType_ELSIZE(descr) == 16 &&
           !PyDataType_HASFIELDS(descr) && !PyDataType_HASSUBARRAY(descr);
}

static pzpy_number number_of(char kind, npy_intp bytes)
{
    int log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
    if (log < 0)
        return PZPY_NO_NUMBER;
    if (kind == 'i')
        return (pzpy_number)(PZPY_S8 + log);
    if (kind == 'u')
        return (pzpy_number)(PZPY_U8 + log);
    return kind == 'f' && log > 0 ? (pzpy_number)(PZPY_F16 + log - 1) : PZPY_NO_NUMBER;
}

/* Whether `ndim` dimensions can be walked in C order with one stride, and which. */
static bool one_stride(PyArrayObject *array, int ndim, npy_intp item_bytes, ptrdiff_t *stride)
{
    const npy_intp *dims = PyArray_DIMS(array);
    const npy_intp *strides = PyArray_STRIDES(array);
    *stride = item_bytes;
    bool found = false;
    npy_intp expected = 0;
    for (int d = 0; d < ndim; d++) {
        if (dims[d] == 0)
            return true;
    }
    for (int d = ndim - 1; d >= 0; d--) {
        if (dims[d] == 1)
            continue;
        if (!found)
            *stride = strides[d];
        else if (strides[d] != expected)
            return false;
        found = true;
        expected = strides[d] * dims[d];
    }
    return true;
}

static bool rows_in_line(PyArrayObject *array, bool bytes_inside, int ndim, ptrdiff_t *stride)
{
    if (bytes_inside && PyArray_STRIDE(array, ndim) != 1)
        return false;
    return one_stride(array, ndim, bytes_inside ? 16 : PyArray_ITEMSIZE(array), stride);
}

int pzpy_np_view(PyObject **array, bool uuids, pzpy_view *view)
{
    PyArrayObject *a = ARRAY(*array);
    PyArray_Descr *descr = PyArray_DESCR(a);
    int ndim = PyArray_NDIM(a);
    bool bytes_inside = uuids && descr->type_num == NPY_UBYTE && ndim > 0 &&
                        PyArray_DIM(a, ndim - 1) == 16;
    view->source.number = number_of(descr->kind, PyDataType_ELSIZE(descr));
    view->source.swapped = !PyArray_ISNOTSWAPPED(a);
    if (bytes_inside || is_plain_void16(descr))
        view->content = PZPY_UUIDS;
    else if (descr->type_num == NPY_OBJECT)
        view->content = PZPY_OBJECTS;
    else
        view->content = view->source.number == PZPY_NO_NUMBER ? PZPY_UNUSABLE : PZPY_NUMBERS;
    view->ndim = bytes_inside ? ndim - 1 : ndim;

    ptrdiff_t stride = 0;
    if (view->content != PZPY_UNUSABLE && !rows_in_line(a, bytes_inside, view->ndim, &stride)) {
        PyObject *copy = PyArray_NewCopy(a, NPY_CORDER);
        if (copy == NULL)
            return -1;
        Py_SETREF(*array, copy);
        a = ARRAY(copy);
        (void)rows_in_line(a, bytes_inside, view->ndim, &stride);
    }
    view->dims = PyArray_DIMS(a);
    view->source.ptr = PyArray_BYTES(a);
    view->source.stride = stride;
    view->source.n = (size_t)PyArray_MultiplyList(PyArray_DIMS(a), view->ndim);
    return 0;
}

bool pzpy_np_void16(PyObject *scalar, unsigned char *out)
{
    PyArray_Descr *descr = PyArray_DescrFromScalar(scalar);
    if (descr == NULL) {
        PyErr_Clear();
        return false;
    }
    bool plain = is_plain_void16(descr);
    Py_DECREF(descr);
    if (plain) {
        void *bytes; /* a scalar of a flexible type gives where its bytes lie */
        PyArray_ScalarAsCtype(scalar, &bytes);
        memcpy(out, bytes, 16);
    }
    return plain;
}

/* ---- arrays going out ---- */

static PyArray_Descr *descr_of(pzpy_dtype dtype)
{
    static const int numbers[] = {NPY_INT32,   NPY_INT64,   NPY_VOID,
                                  NPY_FLOAT32, NPY_FLOAT64, NPY_BOOL};
    if (dtype != PZPY_BYTES16)
        return PyArray_DescrFromType(numbers[dtype]);
    PyArray_Descr *descr = PyArray_DescrNewFromType(NPY_VOID);
    if (descr != NULL)
        PyDataType_SET_ELSIZE(descr, 16);
    return descr;
}

PyObject *pzpy_np_dtype_object(pzpy_dtype dtype)
{
    return (PyObject *)descr_of(dtype);
}

PyObject *pzpy_np_new(pzpy_dtype dtype, int ndim, const Py_ssize_t *dims, pz_out *where)
{
    PyArray_Descr *descr = descr_of(dtype);
    if (descr == NULL)
        return NULL;
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, dims, NULL, NULL, 0, NULL);
    if (array != NULL)
        *where = (pz_out){PyArray_DATA(ARRAY(array)), (ptrdiff_t)pzpy_dtype_bytes(dtype)};
    return array;
}

PyObject *pzpy_np_column(pzpy_dtype dtype, uint64_t n, pz_out *where)
{
    Py_ssize_t dims[1] = {(Py_ssize_t)n};
    return pzpy_np_new(dtype, 1, dims, where);
}

PyObject *pzpy_np_head(PyObject *array, uint64_t n)
{
    PyObject *head = PySequence_GetSlice(array, 0, (Py_ssize_t)n);
    PyObject *copy = head == NULL ? NULL : PyArray_NewCopy(ARRAY(head), NPY_CORDER);
    Py_XDECREF(head);
    Py_DECREF(array);
    return copy;
}

static bool is_of_dtype(PyArrayObject *array, pzpy_dtype dtype)
{
    static const char kinds[] = {'i', 'i', 'V', 'f', 'f', 'b'};
    PyArray_Descr *descr = PyArray_DESCR(array);
    if (dtype == PZPY_BYTES16)
        return is_plain_void16(descr);
    return descr->kind == kinds[dtype] && PyArray_ISNOTSWAPPED(array) &&
           (size_t)PyDataType_ELSIZE(descr) == pzpy_dtype_bytes(dtype);
}

static bool has_shape(PyArrayObject *array, int ndim, const Py_ssize_t *dims)
{
    return PyArray_NDIM(array) == ndim && PyArray_CompareLists(PyArray_DIMS(array), dims, ndim);
}

static int refuse_shape(PyArrayObject *array, const char *name, int ndim, const Py_ssize_t *dims)
{
    PyObject *mine = pzpy_attr((PyObject *)array, "shape");
    PyObject *wanted = PyArray_IntTupleFromIntp(ndim, dims);
    if (mine != NULL && wanted != NULL)
        pzpy_refuse(PyExc_ValueError, name, -1, "an array of shape %R is needed, not %R", wanted,
                    mine);
    Py_XDECREF(mine);
    Py_XDECREF(wanted);
    return -1;
}

int pzpy_np_out(PyObject *obj, pzpy_dtype dtype, const char *name, int ndim, const Py_ssize_t *dims,
                pz_out *where)
{
    if (!PyArray_Check(obj))
        return pzpy_refuse(PyExc_TypeError, name, -1, "an array is needed, not %.100s",
                           Py_TYPE(obj)->tp_name);
    PyArrayObject *array = ARRAY(obj);
    if (!is_of_dtype(array, dtype))
        return pzpy_refuse(PyExc_TypeError, name, -1, "an array of dtype %s is needed, not %S",
                           pzpy_dtype_name(dtype), PyArray_DESCR(array));
    if (!has_shape(array, ndim, dims))
        return refuse_shape(array, name, ndim, dims);
    if (!PyArray_ISWRITEABLE(array))
        return pzpy_refuse(PyExc_ValueError, name, -1, "the array is read-only");
    ptrdiff_t stride = 0;
    ptrdiff_t bytes = (ptrdiff_t)pzpy_dtype_bytes(dtype);
    if (!one_stride(array, ndim, bytes, &stride))
        return pzpy_refuse(PyExc_ValueError, name, -1,
                           "its elements do not lie one stride apart in C order");
    if (PyArray_SIZE(array) > 1 && stride < bytes && stride > -bytes)
        return pzpy_refuse(PyExc_ValueError, name, -1, "its elements overlap each other");
    *where = (pz_out){PyArray_DATA(array), stride};
    return 0;
}

/* ---- dtypes ---- */

int pzpy_np_dtype_of(PyObject *obj, const char *name, pzpy_dtype *out)
{
    PyArray_Descr *descr = NULL;
    if (obj == Py_None)
        return pzpy_refuse(PyExc_TypeError, name, -1, "None names no type");
    if (!PyArray_DescrConverter(obj, &descr)) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError))
            return -1;
        PyErr_Clear();
        return pzpy_refuse(PyExc_TypeError, name, -1, "%R names no type", obj);
    }
    pzpy_number number = number_of(descr->kind, PyDataType_ELSIZE(descr));
    bool native = PyArray_ISNBO(descr->byteorder);
    int result = 0;
    if (is_plain_void16(descr))
        *out = PZPY_BYTES16;
    else if (native && number == PZPY_S32)
        *out = PZPY_INT32;
    else if (native && number == PZPY_S64)
        *out = PZPY_INT64;
    else if (native && number == PZPY_F32)
        *out = PZPY_FLOAT32;
    else if (native && number == PZPY_F64)
        *out = PZPY_FLOAT64;
    else
        result = pzpy_refuse(PyExc_ValueError, name, -1, "no set has the type %S", descr);
    Py_DECREF(descr);
    return result;
}

int pzpy_np_guess_member(PyObject *array, pz_member_kind *out)
{
    PyArrayObject *a = ARRAY(array);
    PyArray_Descr *descr = PyArray_DESCR(a);
    int ndim = PyArray_NDIM(a);
    npy_intp bytes = PyDataType_ELSIZE(descr);
    *out = PZ_INT64;
    if (descr->kind == 'i' ? bytes <= 4 : descr->kind == 'u' && bytes <= 2)
        *out = PZ_INT32;
    if (is_plain_void16(descr) ||
        (descr->type_num == NPY_UBYTE && ndim == 2 && PyArray_DIM(a, 1) == 16))
        *out = PZ_UUID;
    if (descr->type_num == NPY_OBJECT && PyArray_SIZE(a) > 0) {
        PyObject *first = PyArray_GETITEM(a, PyArray_DATA(a));
        if (first == NULL)
            return -1;
        if (PyBytes_Check(first) || strcmp(Py_TYPE(first)->tp_name, "UUID") == 0)
            *out = PZ_UUID;
        Py_DECREF(first);
    }
    return 0;
}

int pzpy_np_guess_score(PyObject *array, pz_score_kind *out)
{
    PyArray_Descr *descr = PyArray_DESCR(ARRAY(array));
    *out = descr->kind == 'f' && PyDataType_ELSIZE(descr) <= 4 ? PZ_FLOAT32 : PZ_FLOAT64;
    return 0;
}

/* ---- the records of leaves() ---- */

#define FIELD(name, format) {#name, format, offsetof(pz_leaf_info, name)}

static const struct {
    const char *name, *format;
    size_t offset;
} leaf_fields[] = {
    FIELD(first_position, "u8"), FIELD(base_entries, "u4"), FIELD(tail_adds, "u4"),
    FIELD(tail_removes, "u4"),   FIELD(entries, "u4"),      FIELD(distinct_scores, "u4"),
    FIELD(score_form, "u4"),     FIELD(key_low_bits, "u4"), FIELD(block_bytes, "u4"),
    FIELD(key_bytes, "u4"),      FIELD(score_bytes, "u4"),  FIELD(tail_bytes, "u4"),
    FIELD(label, "u8"),
};

#undef FIELD

static PyArray_Descr *leaf_descr(void)
{
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
    bool fine = names != NULL && formats != NULL && offsets != NULL;
    for (size_t i = 0; fine && i < sizeof leaf_fields / sizeof leaf_fields[0]; i++) {
        PyObject *name = PyUnicode_FromString(leaf_fields[i].name);
        PyObject *format = PyUnicode_FromString(leaf_fields[i].format);
        PyObject *offset = PyLong_FromSize_t(leaf_fields[i].offset);
        fine = name != NULL && format != NULL && offset != NULL &&
               PyList_Append(names, name) == 0 && PyList_Append(formats, format) == 0 &&
               PyList_Append(offsets, offset) == 0;
        Py_XDECREF(name);
        Py_XDECREF(format);
        Py_XDECREF(offset);
    }
    PyObject *spec = NULL;
    if (fine)
        spec = Py_BuildValue("{s:O,s:O,s:O,s:n}", "names", names, "formats", formats, "offsets",
                             offsets, "itemsize", (Py_ssize_t)sizeof(pz_leaf_info));
    Py_XDECREF(names);
    Py_XDECREF(formats);
    Py_XDECREF(offsets);
    PyArray_Descr *descr = NULL;
    if (spec != NULL && !PyArray_DescrConverter(spec, &descr))
        descr = NULL;
    Py_XDECREF(spec);
    return descr;
}

PyObject *pzpy_np_leaves(const pz_leaf_info *records, size_t n)
{
    PyArray_Descr *descr = leaf_descr();
    npy_intp dims[1] = {(npy_intp)n};
    if (descr == NULL)
        return NULL;
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, descr, 1, dims, NULL, NULL, 0, NULL);
    if (array != NULL && n > 0)
        memcpy(PyArray_DATA(ARRAY(array)), records, n * sizeof records[0]);
    return array;
}
