/* TEMPLATE: a set of one layout: the pair of trees kept in step. Ends with the table of functions
 * that the layout exports. */

#include "../base/fpmode.h"

#include "small.tmpl.h"
#include "sort.tmpl.h"
#include "read.tmpl.h"
#include "bulk.tmpl.h"
#include "points.tmpl.h"
#include "remove.tmpl.h"
#include "algebra.tmpl.h"
#include "scan.tmpl.h"
#include "inspect.tmpl.h"
#include "snapshot.tmpl.h"

#define PZ_NAME_(x) pz_ops_##x
#define PZ_NAME(x) PZ_NAME_(x)

const pz_ops PZ_NAME(PZ_SUFFIX) = {
    .member_kind = PZ_MEMBER_KIND,
    .score_kind = PZ_SCORE_KIND,
    .member_bytes = PZ_M_BYTES,
    .score_bytes = PZ_S_BYTES,
    .score = PZ_FN(score),
    .contains = PZ_FN(contains),
    .rank = PZ_FN(rank),
    .score_one = PZ_FN(score_one),
    .rank_one = PZ_FN(rank_one),
    .add = PZ_FN(add),
    .incr = PZ_FN(incr),
    .remove = PZ_FN(remove),
    .remove_range = PZ_FN(remove_range),
    .range = PZ_FN(range),
    .position_of_score = PZ_FN(position_of_score),
    .nth_by_member = PZ_FN(nth_by_member),
    .scan = PZ_FN(scan),
    .combine = PZ_FN(combine),
    .equal = PZ_FN(equal),
    .copy = PZ_FN(copy),
    .optimize = PZ_FN(optimize),
    .memory = PZ_FN(memory),
    .leaves = PZ_FN(leaves),
    .validate = PZ_FN(validate),
    .dump = PZ_FN(dump),
    .save_bound = PZ_FN(save_bound),
    .save = PZ_FN(save),
    .load = PZ_FN(load),
};
