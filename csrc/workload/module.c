/* The extension module goblin_pz._workload: synthetic shapes, delimited text, digests.
 *
 * It knows nothing of sets and nothing of NumPy: arrays come and go through the buffer protocol.
 * The GIL is released while rows are worked on.
 *
 *   Python bytes/arrays -> buffer views -> plain C (shape.c, columns.c, digest.c) -> the same views
 *
 * Invariants: every view taken is released on every path; no object is touched without the GIL. */
#include "module.h"

#include "columns.h"
#include "digest.h"

#include <math.h>
#include <string.h>

static bool native_format(const char *format, unsigned width, bool real)
{
    if (format == NULL)
        return false;
    if (*format == '@' || *format == '=' || *format == (PY_LITTLE_ENDIAN ? '<' : '>'))
        format++;
    if (format[0] == '\0' || format[1] != '\0')
        return false;
    if (real)
        return *format == 'd';
    return strchr(width == 8 ? "ql" : "IL", *format) != NULL;
}

bool pz_buffer_get(PyObject *object, const char *name, unsigned width, bool real, bool writable,
                   Py_buffer *view)
{
    const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) != 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s must be a contiguous%s buffer, not %.80s", name,
                     writable ? ", writable" : "", Py_TYPE(object)->tp_name);
        return false;
    }
    if (view->itemsize == (Py_ssize_t)width && native_format(view->format, width, real))
        return true;
    PyErr_Format(PyExc_TypeError, "%s must hold native %s elements, not %.20s", name,
                 real         ? "float64"
                 : width == 8 ? "int64"
                              : "uint32",
                 view->format == NULL ? "bytes" : view->format);
    PyBuffer_Release(view);
    return false;
}

/* ---- digests ---- */

/* Both columns of a digest call; false with an error set. */
static bool get_rows(PyObject *members, PyObject *scores, Py_buffer *m, Py_buffer *s)
{
    if (!pz_buffer_get(members, "members", 8, false, false, m))
        return false;
    if (!pz_buffer_get(scores, "scores", 8, true, false, s)) {
        PyBuffer_Release(m);
        return false;
    }
    if (m->len == s->len)
        return true;
    PyBuffer_Release(m);
    PyBuffer_Release(s);
    PyErr_SetString(PyExc_ValueError, "members and scores must be of one length");
    return false;
}

static PyObject *digest_rows(PyObject *module, PyObject *args)
{
    PyObject *members, *scores, *result = NULL;
    Py_buffer m, s, sums;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOw*:digest_rows", &members, &scores, &sums))
        return NULL;
    if (sums.len != (Py_ssize_t)sizeof(pz_digest_sums)) {
        PyErr_SetString(PyExc_ValueError, "sums must be 48 bytes");
        PyBuffer_Release(&sums);
        return NULL;
    }
    if (!get_rows(members, scores, &m, &s)) {
        PyBuffer_Release(&sums);
        return NULL;
    }
    const size_t n = (size_t)m.len / 8;
    uint8_t *text = PyMem_RawMalloc(n * PZ_DIGEST_ROW_MAX + 1);
    if (text != NULL) {
        size_t written = 0;
        bool whole;
        Py_BEGIN_ALLOW_THREADS whole = pz_digest_rows(n, m.buf, s.buf, text, &written, sums.buf);
        Py_END_ALLOW_THREADS result =
            whole ? PyBytes_FromStringAndSize((const char *)text, (Py_ssize_t)written)
                  : Py_NewRef(Py_None);
    } else {
        PyErr_NoMemory();
    }
    PyMem_RawFree(text);
    PyBuffer_Release(&m);
    PyBuffer_Release(&s);
    PyBuffer_Release(&sums);
    return result;
}

/* ---- delimited text ---- */

static bool slow_decimal(const char *text, size_t size, double *number)
{
    char copy[64];
    char *end = NULL;
    bool fine = false;
    if (size == 0 || size >= sizeof copy || memchr(text, '\0', size) != NULL)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    const PyGILState_STATE state = PyGILState_Ensure();
    *number = PyOS_string_to_double(copy, &end, NULL);
    if (PyErr_Occurred())
        PyErr_Clear();
    else
        fine = *end == '\0' && isfinite(*number);
    PyGILState_Release(state);
    return fine;
}

/* The arguments of scan_lines, with what must be released. */
typedef struct scan_call {
    pz_scan scan;
    Py_buffer text;
    Py_buffer outs[PZ_WANTED_MAX];
    size_t outs_held;
} scan_call;

static void release_scan(scan_call *call)
{
    for (size_t i = 0; i < call->outs_held; i++)
        PyBuffer_Release(&call->outs[i]);
    PyBuffer_Release(&call->text);
}

static bool check_field(Py_ssize_t field)
{
    if (field >= 0 && field < (Py_ssize_t)PZ_FIELDS_MAX)
        return true;
    PyErr_Format(PyExc_ValueError, "field %zd is not within 0 to %u", field, PZ_FIELDS_MAX - 1);
    return false;
}

/* (field, out): the kind follows from the buffer's element type. */
static bool add_column(scan_call *call, PyObject *item)
{
    Py_ssize_t field;
    PyObject *out;
    if (!PyArg_ParseTuple(item, "nO:column", &field, &out) || !check_field(field))
        return false;
    Py_buffer *view = &call->outs[call->outs_held];
    if (PyObject_GetBuffer(out, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_WRITABLE) != 0)
        return false;
    call->outs_held++;
    pz_column *column = &call->scan.columns[call->scan.column_count++];
    *column = (pz_column){.field = (uint32_t)field, .out = view->buf};
    if (view->itemsize == 8 && native_format(view->format, 8, false)) {
        column->kind = PZ_COLUMN_INT64;
    } else if (view->itemsize == 8 && native_format(view->format, 8, true)) {
        column->kind = PZ_COLUMN_FLOAT64;
    } else if (view->itemsize == PZ_TEXT_BYTES) {
        column->kind = PZ_COLUMN_TEXT;
    } else {
        PyErr_SetString(PyExc_TypeError, "a column must hold int64, float64 or 32-byte elements");
        return false;
    }
    const size_t rows = (size_t)(view->len / view->itemsize);
    if (rows < call->scan.rows)
        call->scan.rows = rows;
    return true;
}

static bool add_columns(scan_call *call, PyObject *columns, PyObject *filters)
{
    const Py_ssize_t column_count = PyTuple_GET_SIZE(columns);
    const Py_ssize_t filter_count = PyTuple_GET_SIZE(filters);
    if (column_count < 1 || column_count > (Py_ssize_t)PZ_WANTED_MAX ||
        filter_count > (Py_ssize_t)PZ_WANTED_MAX) {
        PyErr_SetString(PyExc_ValueError, "1 to 32 columns and at most 32 filters");
        return false;
    }
    for (Py_ssize_t i = 0; i < column_count; i++)
        if (!add_column(call, PyTuple_GET_ITEM(columns, i)))
            return false;
    for (Py_ssize_t i = 0; i < filter_count; i++) {
        Py_ssize_t field, size;
        const char *text;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(filters, i), "ny#:filter", &field, &text, &size) ||
            !check_field(field))
            return false;
        call->scan.filters[call->scan.filter_count++] =
            (pz_filter){.field = (uint32_t)field, .text = text, .size = (size_t)size};
    }
    return true;
}

static PyObject *raise_scan_error(const pz_scan_result *r, unsigned long long first_line)
{
    const unsigned long long line = first_line + r->lines;
    const int shown = (int)(r->field_size < 40 ? r->field_size : 40);
    PyObject *field = PyUnicode_DecodeUTF8(r->field == NULL ? "" : r->field,
                                           r->field == NULL ? 0 : shown, "replace");
    if (field == NULL)
        return NULL;
    switch (r->error) {
    case PZ_SCAN_SHORT_ROW:
        PyErr_Format(PyExc_ValueError, "line %llu: too few columns", line);
        break;
    case PZ_SCAN_LONG_ROW:
        PyErr_Format(PyExc_ValueError, "line %llu: more than %u columns", line, PZ_FIELDS_MAX);
        break;
    case PZ_SCAN_LONG_TEXT:
        PyErr_Format(PyExc_ValueError, "line %llu: %R is longer than %u bytes", line, field,
                     PZ_TEXT_BYTES);
        break;
    case PZ_SCAN_FINE:
    case PZ_SCAN_BAD_NUMBER:
        PyErr_Format(PyExc_ValueError, "line %llu: %R is not a number of column %zu", line, field,
                     r->column);
        break;
    }
    Py_DECREF(field);
    return NULL;
}

static PyObject *scan_lines(PyObject *module, PyObject *args)
{
    scan_call call = {.scan = {.rows = (size_t)-1, .slow_decimal = slow_decimal}};
    PyObject *columns, *filters, *answer = NULL;
    int separator, quoted, final;
    unsigned long long first_line;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*CppO!O!K:scan_lines", &call.text, &separator, &quoted, &final,
                          &PyTuple_Type, &columns, &PyTuple_Type, &filters, &first_line))
        return NULL;
    if (separator < 1 || separator > 127 || separator == '"' || separator == '\n') {
        PyErr_SetString(PyExc_ValueError, "the separator must be one ASCII character");
    } else if (add_columns(&call, columns, filters)) {
        pz_scan_result result;
        call.scan.separator = (char)separator;
        call.scan.quoted = quoted != 0;
        call.scan.final = final != 0;
        Py_BEGIN_ALLOW_THREADS pz_scan_lines(&call.scan, call.text.buf, (size_t)call.text.len,
                                             &result);
        Py_END_ALLOW_THREADS if (result.error != PZ_SCAN_FINE)
            raise_scan_error(&result, first_line);
        else answer = Py_BuildValue("(nnnnn)", (Py_ssize_t)result.consumed,
                                    (Py_ssize_t)result.lines, (Py_ssize_t)result.kept,
                                    (Py_ssize_t)result.filtered, (Py_ssize_t)result.empty);
    }
    release_scan(&call);
    return answer;
}

static PyObject *write_lines(PyObject *module, PyObject *args)
{
    PyObject *columns, *answer = NULL;
    Py_buffer views[PZ_WANTED_MAX];
    const void *pointers[PZ_WANTED_MAX];
    int separator;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!C:write_lines", &PyTuple_Type, &columns, &separator))
        return NULL;
    const Py_ssize_t count = PyTuple_GET_SIZE(columns);
    if (count < 1 || count > (Py_ssize_t)PZ_WANTED_MAX || separator < 1 || separator > 127) {
        PyErr_SetString(PyExc_ValueError, "1 to 32 columns and an ASCII separator");
        return NULL;
    }
    Py_ssize_t held = 0;
    bool fine = true;
    for (; fine && held < count; held += fine ? 1 : 0) {
        fine =
            pz_buffer_get(PyTuple_GET_ITEM(columns, held), "column", 8, false, false, &views[held]);
        pointers[held] = fine ? views[held].buf : NULL;
    }
    for (Py_ssize_t c = 1; fine && c < count; c++) {
        fine = views[c].len == views[0].len;
        if (!fine)
            PyErr_SetString(PyExc_ValueError, "columns must be of one length");
    }
    if (fine) {
        const size_t rows = (size_t)views[0].len / 8;
        char *text = PyMem_RawMalloc(rows * (size_t)count * 21 + 1);
        size_t size = 0;
        if (text == NULL) {
            PyErr_NoMemory();
        } else {
            Py_BEGIN_ALLOW_THREADS size =
                pz_write_lines(rows, (size_t)count, pointers, (char)separator, text);
            Py_END_ALLOW_THREADS answer = PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
        }
        PyMem_RawFree(text);
    }
    while (held > 0)
        PyBuffer_Release(&views[--held]);
    return answer;
}

static PyMethodDef methods[] = {
    {"digest_rows", digest_rows, METH_VARARGS,
     "digest_rows(members, scores, sums)\n--\n\n"
     "Add rows to the three mapping sums and give their ordered text.\n\n"
     "Parameters\n----------\n"
     "members : contiguous buffer of int64, shape (n,)\n"
     "scores : contiguous buffer of float64, shape (n,)\n"
     "sums : writable buffer of 48 bytes\n"
     "    xor, sum and sum of squares, each 128 bits little-endian; updated.\n\n"
     "Returns\n-------\n"
     "bytes or None\n"
     "    None, and nothing changed, when a score is no whole number below 2**63.\n"},
    {"scan_lines", scan_lines, METH_VARARGS,
     "scan_lines(text, separator, quoted, final, columns, filters, first_line)\n--\n\n"
     "Read whole lines of delimited text into columns.\n\n"
     "Parameters\n----------\n"
     "text : bytes-like\n"
     "separator : str of one ASCII character\n"
     "quoted : bool\n    Whether fields may stand in double quotes.\n"
     "final : bool\n    Whether the last line may lack its newline.\n"
     "columns : tuple of (int, writable buffer)\n"
     "    Field number from 0 and where it goes: int64, float64 or 32-byte text elements. Lines\n"
     "    where the first of them is empty are left out.\n"
     "filters : tuple of (int, bytes)\n    Field number and the text it must equal.\n"
     "first_line : int\n    Number of the first line, for errors.\n\n"
     "Returns\n-------\n"
     "tuple of int\n"
     "    Bytes consumed, lines read, rows kept, lines filtered out, lines with no member.\n"},
    {"write_lines", write_lines, METH_VARARGS,
     "write_lines(columns, separator)\n--\n\n"
     "Decimal text of int64 columns (a tuple of contiguous buffers), a line a row, as bytes.\n"},
    {NULL, NULL, 0, NULL}};

static int module_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &pz_shape_type_spec, NULL);
    if (type == NULL)
        return -1;
    const int status = PyModule_AddObjectRef(module, "Shape", type);
    Py_DECREF(type);
    return status;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "goblin_pz._workload",
    .m_doc = "Synthetic shapes, delimited text and digests for the workbench.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__workload(void)
{
    return PyModuleDef_Init(&definition);
}
