/* inspect.c: what a set is made of and what it costs: memory, leaves, scan, sample, and the private
 * doors of the tests (_validate, _dump, _work, _limit). */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

/* Grows as text or records are written to it; without the GIL and without Python's allocators. */
typedef struct growing {
    char *bytes;
    size_t used, room;
} growing;

static int growing_append(growing *g, const void *bytes, size_t n)
{
    if (g->room - g->used < n) {
        size_t room = g->room * 2 + n + 4096;
        char *moved = realloc(g->bytes, room);
        if (moved == NULL)
            return -1;
        g->bytes = moved;
        g->room = room;
    }
    memcpy(g->bytes + g->used, bytes, n);
    g->used += n;
    return 0;
}

/* ---- memory ---- */

typedef struct entry {
    const char *name;
    uint64_t value;
} entry;

/* Not PyDict_SetItemString: that interns, and the names live no longer than the dict. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    PyObject *key = PyUnicode_FromString(name);
    int done = key == NULL || value == NULL ? -1 : PyDict_SetItem(dict, key, value);
    Py_XDECREF(key);
    Py_XDECREF(value);
    return done;
}

static int put_all(PyObject *dict, const entry *entries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (put(dict, entries[i].name, PyLong_FromUnsignedLongLong(entries[i].value)) < 0)
            return -1;
    }
    return 0;
}

static int fill_memory(PyObject *dict, const pzpy_set *set, const pz_memory *m,
                       const pz_options *options)
{
    const pz_tree_memory *o = &m->order, *t = &m->member;
    const entry published[] = {
        {"member_count", m->member_count},
        {"sorted_entries", o->base_entries},
        {"unsorted_entries", o->tail_entries},
        {"leaf_capacity", o->leaf_capacity},
        {"leaf_count", o->leaf_count},
        {"branch_count", o->branch_count},
        {"tree_height", o->height},
        {"merge_threshold", o->merge_threshold},
        {"compressed_leaf_count", o->coded_leaf_count},
        {"sorted_score_bytes", o->score_bytes},
        {"total_allocated_bytes", m->total_allocated_bytes},
    };
    const entry ours[] = {
        {"order_key_bytes", o->key_bytes},
        {"order_score_bytes", o->score_bytes},
        {"order_tail_bytes", o->tail_bytes},
        {"order_header_bytes", o->header_bytes},
        {"order_branch_bytes", o->branch_bytes},
        {"order_padding_bytes", o->padding_bytes},
        {"member_sorted_entries", t->base_entries},
        {"member_unsorted_entries", t->tail_entries},
        {"member_leaf_capacity", t->leaf_capacity},
        {"member_leaf_count", t->leaf_count},
        {"member_branch_count", t->branch_count},
        {"member_tree_height", t->height},
        {"member_merge_threshold", t->merge_threshold},
        {"member_key_bytes", t->key_bytes},
        {"member_score_bytes", t->score_bytes},
        {"member_tail_bytes", t->tail_bytes},
        {"member_header_bytes", t->header_bytes},
        {"member_branch_bytes", t->branch_bytes},
        {"member_padding_bytes", t->padding_bytes},
        {"arena_live_bytes", m->arena_live_bytes},
        {"arena_free_bytes", m->arena_free_bytes},
        {"arena_mapped_bytes", m->arena_mapped_bytes},
    };
    double each = m->member_count == 0 ? 0.0
                                       : (double)m->total_allocated_bytes / (double)m->member_count;
    if (put(dict, "representation", PyUnicode_FromString(pzpy_representation(set))) < 0 ||
        put_all(dict, published, sizeof published / sizeof published[0]) < 0 ||
        put(dict, "merge_exponent", PyFloat_FromDouble(options->merge_exponent)) < 0 ||
        put(dict, "score_rle", PyBool_FromLong(options->score_rle)) < 0 ||
        put_all(dict, ours, sizeof ours / sizeof ours[0]) < 0 ||
        put(dict, "small", PyBool_FromLong(m->small)) < 0 ||
        put(dict, "bytes_per_member", PyFloat_FromDouble(each)) < 0)
        return -1;
    return 0;
}

PyObject *pzpy_set_memory(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    pz_memory memory;
    pz_options options;
    pzpy_op op;
    if (pzpy_op_begin(&op, set, false) < 0)
        return NULL;
    pzpy_op_bulk(&op, pz_len(set->core));
    pz_memory_of(set->core, &memory);
    pz_options_of(set->core, &options);
    pzpy_op_end(&op);
    PyObject *dict = PyDict_New();
    if (dict != NULL && fill_memory(dict, set, &memory, &options) < 0)
        Py_CLEAR(dict);
    return dict;
}

/* ---- leaves ---- */

static int keep_leaf(void *ctx, const pz_leaf_info *info)
{
    return growing_append(ctx, info, sizeof *info);
}

static PyObject *leaves_of(pzpy_set *set, bool member_tree)
{
    growing records = {NULL, 0, 0};
    pzpy_op op;
    int failed = 0;
    if (pzpy_op_begin(&op, set, false) < 0)
        return NULL;
    pzpy_op_bulk(&op, pz_len(set->core));
    uint64_t entries = pz_len(set->core);
    pz_leaves(set->core, member_tree, keep_leaf, &records);
    pzpy_op_end(&op);
    size_t n = records.used / sizeof(pz_leaf_info);
    if (entries > 0 && n > 0) { /* an allocation that failed ended the walk early */
        pz_leaf_info last;
        memcpy(&last, records.bytes + (n - 1) * sizeof last, sizeof last);
        failed = last.first_position + last.entries != entries;
    } else {
        failed = entries > 0 && !member_tree;
    }
    PyObject *array = failed ? PyErr_NoMemory()
                             : pzpy_np_leaves((const pz_leaf_info *)(void *)records.bytes, n);
    free(records.bytes);
    return array;
}

PyObject *pzpy_set_leaves(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    PyObject *order = leaves_of(set, false);
    PyObject *member = order == NULL ? NULL : leaves_of(set, true);
    PyObject *result = NULL;
    if (member != NULL)
        result = Py_BuildValue("{s:O,s:O}", "order", order, "member", member);
    Py_XDECREF(order);
    Py_XDECREF(member);
    return result;
}

/* ---- scan ---- */

/* Entries that share one cursor position come together: at most a leaf's. */
#define SCAN_EXTRA PZ_LEAF_ENTRIES_MAX

PyObject *pzpy_set_scan(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
{
    static const char *const names[] = {"cursor", "count", NULL};
    pzpy_set *set = pzpy_self(self);
    PyObject *arg[2];
    uint64_t count = 0;
    if (pzpy_args("scan", args, given, kwnames, names, 2, 0, arg) < 0 ||
        pzpy_arg_count(arg[1], "count", 512, &count) < 0)
        return NULL;
    unsigned long long cursor = arg[0] == NULL ? 0 : PyLong_AsUnsignedLongLong(arg[0]);
    if (PyErr_Occurred())
        return NULL;
    if (count == 0 || count > PZ_ROWS_MAX) {
        PyErr_SetString(PyExc_ValueError, "count: at least 1 is needed, at most 2**32 - 1");
        return NULL;
    }
    pz_out to_members, to_scores;
    Py_ssize_t length = PyObject_Size(self);
    if (length < 0)
        return NULL;
    if ((uint64_t)length < count)
        count = length == 0 ? 1 : (uint64_t)length;
    uint64_t room = count + SCAN_EXTRA;
    PyObject *members = pzpy_np_column(pzpy_member_dtype(set->member_kind), room, &to_members);
    PyObject *scores = pzpy_np_column(pzpy_score_dtype(set->score_kind), room, &to_scores);
    PyObject *result = NULL;
    size_t written = 0;
    uint64_t next = 0;
    pzpy_op op;
    if (members == NULL || scores == NULL || pzpy_op_begin(&op, set, false) < 0)
        goto done;
    pzpy_op_bulk(&op, count);
    pz_status status = pz_scan(set->core, cursor, (size_t)count, (size_t)room, to_members,
                               to_scores, &written, &next);
    pzpy_op_end(&op);
    if (status != PZ_OK) {
        pzpy_raise(status, &op.call, "cursor", NULL);
        goto done;
    }
    members = pzpy_np_head(members, written);
    scores = pzpy_np_head(scores, written);
    if (members != NULL && scores != NULL)
        result = Py_BuildValue("KOO", (unsigned long long)next, members, scores);
done:
    Py_XDECREF(members);
    Py_XDECREF(scores);
    return result;
}

/* ---- the k-th members by member order, for sample() ---- */

/* Entries at given positions of the member order; positions beyond the end are refused. */
PyObject *pzpy_set_nth(PyObject *self, PyObject *positions)
{
    pzpy_set *set = pzpy_self(self);
    pzpy_column column;
    pz_out to_members, to_scores;
    if (pzpy_members_of_kind(set->state, PZ_INT64, positions, "positions", &column) < 0)
        return NULL;
    PyObject *members = pzpy_np_column(pzpy_member_dtype(set->member_kind), column.n, &to_members);
    PyObject *scores = pzpy_np_column(pzpy_score_dtype(set->score_kind), column.n, &to_scores);
    PyObject *result = NULL;
    pzpy_op op;
    if (members == NULL || scores == NULL || pzpy_op_begin(&op, set, false) < 0)
        goto done;
    pzpy_op_bulk(&op, column.n);
    pz_status status = PZ_OK;
    for (size_t i = 0; i < column.n && status == PZ_OK; i++) {
        int64_t at;
        double score;
        memcpy(&at, (const char *)column.in.ptr + (ptrdiff_t)i * column.in.stride, sizeof at);
        if (at < 0 || (uint64_t)at >= pz_len(set->core)) {
            status = PZ_INVALID;
            break;
        }
        status = pz_nth_by_member(set->core, (uint64_t)at,
                                  (char *)to_members.ptr + (ptrdiff_t)i * to_members.stride,
                                  &score);
        if (status == PZ_OK)
            pzpy_store_score(set->score_kind, score,
                             (char *)to_scores.ptr + (ptrdiff_t)i * to_scores.stride);
    }
    pzpy_op_end(&op);
    if (status != PZ_OK)
        pzpy_raise(status, &op.call, "positions", NULL);
    else
        result = PyTuple_Pack(2, members, scores);
done:
    Py_XDECREF(members);
    Py_XDECREF(scores);
    pzpy_column_release(&column);
    return result;
}

/* ---- for tests ---- */

PyObject *pzpy_set_validate(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    pz_why why = {NULL, 0, 0, 0};
    pzpy_op op;
    if (pzpy_op_begin(&op, set, false) < 0)
        return NULL;
    pzpy_op_bulk(&op, pz_len(set->core));
    pz_status status = pz_validate(set->core, &why);
    pzpy_op_end(&op);
    if (status == PZ_CORRUPT)
        return pzpy_raise_why(PyExc_AssertionError, "the set is damaged", &why);
    if (status != PZ_OK)
        return pzpy_raise(status, NULL, "_validate", NULL);
    Py_RETURN_NONE;
}

static int keep_text(void *ctx, const char *text, size_t n)
{
    return growing_append(ctx, text, n);
}

PyObject *pzpy_set_dump(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    growing text = {NULL, 0, 0};
    pzpy_op op;
    if (pzpy_op_begin(&op, set, false) < 0)
        return NULL;
    pzpy_op_bulk(&op, pz_len(set->core));
    pz_status status = pz_dump(set->core, keep_text, &text);
    pzpy_op_end(&op);
    PyObject *result = status == PZ_OK
                           ? PyUnicode_DecodeUTF8(text.bytes == NULL ? "" : text.bytes,
                                                  (Py_ssize_t)text.used, NULL)
                           : pzpy_raise(status == PZ_IO ? PZ_NOMEM : status, NULL, "_dump", NULL);
    free(text.bytes);
    return result;
}

PyObject *pzpy_set_work(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    pz_work work;
    if (pzpy_read_begin(set) < 0)
        return NULL;
    pz_work_of(set->core, &work);
    pzpy_read_end(set);
    const entry entries[] = {
        {"leaves_coded", work.leaves_coded},
        {"bytes_coded", work.bytes_coded},
        {"bytes_moved", work.bytes_moved},
        {"branches_written", work.branches_written},
    };
    PyObject *dict = PyDict_New();
    if (dict != NULL && put_all(dict, entries, sizeof entries / sizeof entries[0]) < 0)
        Py_CLEAR(dict);
    return dict;
}

PyObject *pzpy_set_limit(PyObject *self, PyObject *args)
{
    pzpy_set *set = pzpy_self(self);
    unsigned slots, spans;
    pzpy_op op;
    if (!PyArg_ParseTuple(args, "II", &slots, &spans) || pzpy_op_begin(&op, set, true) < 0)
        return NULL;
    pz_limit_for_tests(set->core, slots, spans);
    pzpy_op_end(&op);
    Py_RETURN_NONE;
}

PyObject *pzpy_set_sizeof(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    pzpy_set *set = pzpy_self(self);
    if (pzpy_read_begin(set) < 0)
        return NULL;
    uint64_t bytes = pz_allocated_bytes(set->core);
    pzpy_read_end(set);
    return PyLong_FromUnsignedLongLong(bytes + (uint64_t)Py_TYPE(self)->tp_basicsize);
}
