/* TEMPLATE: one tree of one layout. needs PZ_T (name prefix: mt, ot), PZ_T_BY_SCORE (0: ordered by
 * member, a leaf holds members and a column of their scores; 1: ordered by score, then member, a
 * leaf holds those keys). gives the tree's functions as PZ_TN(name). Included once a tree. */
#ifndef PZ_T
#error "tree.tmpl.h needs PZ_T and PZ_T_BY_SCORE"
#endif

#if PZ_T_BY_SCORE
#include "base_order.tmpl.h"
#else
#include "base_member.tmpl.h"
#endif
#include "leaf.tmpl.h"
#include "branch.tmpl.h"
#include "sweep.tmpl.h"
#include "change.tmpl.h"
#include "inspect.tmpl.h"
#include "record.tmpl.h"

#undef PZ_T_HEADER
#undef PZ_T_FENCE_BYTES
#undef PZ_T_OUT_MAX
