/* methods.h: every method of PackedZSet, by the file it is in; methods.c has their table. */
#ifndef PZPY_METHODS_H
#define PZPY_METHODS_H

#include "pzpy.h"

#define PZPY_FAST(name) \
    PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t given, PyObject *kwnames)
#define PZPY_BARE(name) PyObject *name(PyObject *self, PyObject *argument)

/* lookup.c */
PZPY_FAST(pzpy_set_score);
PZPY_FAST(pzpy_set_contains);
PZPY_FAST(pzpy_set_rank);

/* change.c */
PZPY_FAST(pzpy_set_add);
PZPY_FAST(pzpy_set_incrby);
PZPY_FAST(pzpy_set_remove);
PZPY_FAST(pzpy_set_update);
int pzpy_add_objects(pzpy_set *set, PyObject *members, PyObject *scores, uint64_t *added,
                     uint64_t *updated);

/* range.c */
PZPY_FAST(pzpy_set_range);
PZPY_FAST(pzpy_set_range_by_score);
PZPY_FAST(pzpy_set_count);
PZPY_FAST(pzpy_set_top);
PZPY_FAST(pzpy_set_bottom);
PZPY_FAST(pzpy_set_around);
PZPY_FAST(pzpy_set_remove_range);
PZPY_FAST(pzpy_set_remove_range_by_score);
PZPY_FAST(pzpy_set_pop_min);
PZPY_FAST(pzpy_set_pop_max);

/* whole.c */
PZPY_FAST(pzpy_set_union);
PZPY_FAST(pzpy_set_intersection);
PZPY_FAST(pzpy_set_difference);
PZPY_BARE(pzpy_set_copy);
PZPY_BARE(pzpy_set_shallow_copy);
PZPY_BARE(pzpy_set_deep_copy);
PZPY_BARE(pzpy_set_clear);
PZPY_BARE(pzpy_set_optimize);
PyObject *pzpy_set_compare(PyObject *self, PyObject *other, int how);
PyObject *pzpy_set_state(PyObject *self); /* what pickle keeps beside the entries */

/* iter.c */
PZPY_FAST(pzpy_set_items);
PZPY_BARE(pzpy_set_reversed);

/* inspect.c */
PZPY_FAST(pzpy_set_scan);
PZPY_BARE(pzpy_set_memory);
PZPY_BARE(pzpy_set_leaves);
PZPY_BARE(pzpy_set_nth);
PZPY_BARE(pzpy_set_validate);
PZPY_BARE(pzpy_set_dump);
PZPY_BARE(pzpy_set_work);
PZPY_BARE(pzpy_set_limit);
PZPY_BARE(pzpy_set_sizeof);

/* file.c; `self` is the type for class methods, the module for pzpy_restore */
PZPY_FAST(pzpy_set_save);
PZPY_FAST(pzpy_set_load);
PZPY_FAST(pzpy_set_from_bytes);
PZPY_BARE(pzpy_set_save_fd);
PZPY_BARE(pzpy_set_to_bytes);
PZPY_BARE(pzpy_set_reduce);
PZPY_BARE(pzpy_restore);

/* set.c */
PZPY_FAST(pzpy_set_from_items);
PZPY_FAST(pzpy_set_from_arrays);

/* methods.c */
extern PyMethodDef pzpy_set_methods[];
extern const char pzpy_set_doc[], pzpy_load_doc[];

#endif
