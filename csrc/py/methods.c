/* methods.c: the table of methods with their docstrings, and the methods that are written in
 * Python and only found here. */
#include "methods.h"

#include "doc_points.h"
#include "doc_range.h"
#include "doc_whole.h"

const char pzpy_set_doc[] = DOC_SET;
const char pzpy_load_doc[] = DOC_MODULE_LOAD;

/* ---- methods written in Python: `first` is the set or the type ---- */

static PZPY_FAST(set_quantile)
{
    return pzpy_delegate("goblin_pz.sampling", "quantile", args, given, kwnames, self);
}

static PZPY_FAST(set_sample)
{
    return pzpy_delegate("goblin_pz.sampling", "sample", args, given, kwnames, self);
}

static PZPY_FAST(set_to_series)
{
    return pzpy_delegate("goblin_pz.frames", "to_series", args, given, kwnames, self);
}

static PZPY_FAST(set_to_frame)
{
    return pzpy_delegate("goblin_pz.frames", "to_frame", args, given, kwnames, self);
}

static PZPY_FAST(set_from_series)
{
    return pzpy_delegate("goblin_pz.frames", "from_series", args, given, kwnames, self);
}

static PZPY_FAST(set_from_frame)
{
    return pzpy_delegate("goblin_pz.frames", "from_frame", args, given, kwnames, self);
}

static PZPY_BARE(set_repr_html)
{
    (void)argument;
    return pzpy_delegate("goblin_pz.display", "to_html", NULL, 0, NULL, self);
}

/* ---- the table ---- */

#define FAST(name, function, doc) \
    {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, doc}
#define CLASS_FAST(name, function, doc) \
    {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, doc}

PyMethodDef pzpy_set_methods[] = {
    CLASS_FAST("from_arrays", pzpy_set_from_arrays, DOC_FROM_ARRAYS),
    CLASS_FAST("from_items", pzpy_set_from_items, DOC_FROM_ITEMS),
    CLASS_FAST("from_series", set_from_series, DOC_FROM_SERIES),
    CLASS_FAST("from_frame", set_from_frame, DOC_FROM_FRAME),
    CLASS_FAST("load", pzpy_set_load, DOC_LOAD),
    CLASS_FAST("_from_bytes", pzpy_set_from_bytes, "Read a snapshot from a buffer."),

    FAST("score", pzpy_set_score, DOC_SCORE),
    FAST("contains", pzpy_set_contains, DOC_CONTAINS),
    FAST("rank", pzpy_set_rank, DOC_RANK),
    FAST("add", pzpy_set_add, DOC_ADD),
    FAST("incrby", pzpy_set_incrby, DOC_INCRBY),
    FAST("remove", pzpy_set_remove, DOC_REMOVE),
    FAST("update", pzpy_set_update, DOC_UPDATE),

    FAST("range", pzpy_set_range, DOC_RANGE),
    FAST("range_by_score", pzpy_set_range_by_score, DOC_RANGE_BY_SCORE),
    FAST("count", pzpy_set_count, DOC_COUNT),
    FAST("top", pzpy_set_top, DOC_TOP),
    FAST("bottom", pzpy_set_bottom, DOC_BOTTOM),
    FAST("around", pzpy_set_around, DOC_AROUND),
    FAST("quantile", set_quantile, DOC_QUANTILE),
    FAST("remove_range", pzpy_set_remove_range, DOC_REMOVE_RANGE),
    FAST("remove_range_by_score", pzpy_set_remove_range_by_score, DOC_REMOVE_RANGE_BY_SCORE),
    FAST("pop_min", pzpy_set_pop_min, DOC_POP_MIN),
    FAST("pop_max", pzpy_set_pop_max, DOC_POP_MAX),
    FAST("items", pzpy_set_items, DOC_ITEMS),
    FAST("scan", pzpy_set_scan, DOC_SCAN),
    FAST("sample", set_sample, DOC_SAMPLE),
    {"__reversed__", pzpy_set_reversed, METH_NOARGS, "Iterate over members, highest first."},

    FAST("union", pzpy_set_union, DOC_UNION),
    FAST("intersection", pzpy_set_intersection, DOC_INTERSECTION),
    FAST("difference", pzpy_set_difference, DOC_DIFFERENCE),
    {"copy", pzpy_set_copy, METH_NOARGS, DOC_COPY},
    {"__copy__", pzpy_set_shallow_copy, METH_NOARGS, "Copy, attributes of a subclass too."},
    {"__deepcopy__", pzpy_set_deep_copy, METH_O, "Copy, attributes of a subclass deeply."},
    {"clear", pzpy_set_clear, METH_NOARGS, DOC_CLEAR},
    {"optimize", pzpy_set_optimize, METH_NOARGS, DOC_OPTIMIZE},

    FAST("save", pzpy_set_save, DOC_SAVE),
    {"_save_fd", pzpy_set_save_fd, METH_O, "Write a snapshot to a file descriptor."},
    {"_to_bytes", pzpy_set_to_bytes, METH_NOARGS, "Make a snapshot as bytes."},
    {"__reduce_ex__", pzpy_set_reduce, METH_O, "Help pickle."},
    {"__sizeof__", pzpy_set_sizeof, METH_NOARGS, "Bytes of the object and all that it owns."},

    FAST("to_series", set_to_series, DOC_TO_SERIES),
    FAST("to_frame", set_to_frame, DOC_TO_FRAME),
    {"_repr_html_", set_repr_html, METH_NOARGS, "Describe the set for a notebook."},

    {"memory", pzpy_set_memory, METH_NOARGS, DOC_MEMORY},
    {"leaves", pzpy_set_leaves, METH_NOARGS, DOC_LEAVES},
    {"_nth", pzpy_set_nth, METH_O, "Entries at positions of the member order."},
    {"_validate", pzpy_set_validate, METH_NOARGS, "Check every invariant; AssertionError."},
    {"_dump", pzpy_set_dump, METH_NOARGS, "Every leaf with its entries, as text."},
    {"_work", pzpy_set_work, METH_NOARGS, "Leaves and bytes written since the set was made."},
    {"_limit", pzpy_set_limit, METH_VARARGS, "Lower the arena's limits: slots, spans."},
    {NULL, NULL, 0, NULL},
};
