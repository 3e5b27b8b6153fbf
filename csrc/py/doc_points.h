/* doc_points.h: docstrings of the type itself, of looking up and of changing given members. */
#ifndef PZPY_DOC_POINTS_H
#define PZPY_DOC_POINTS_H

#define DOC_SET                                                                                    \
    "PackedZSet(member='int64', score='float64', *, score_rle=True, merge_exponent=0.5)\n--\n\n"   \
    "A sorted set: members with scores, kept in order of (score, member).\n\n"                     \
    "It answers what score a member has and who stands at a rank or score, and holds its\n"        \
    "entries in two ordered, compressed trees: a few bytes a member. Methods take a scalar and\n"  \
    "give a scalar, or take an array and give an array of its shape. NaN is never stored; -0.0\n"  \
    "is stored as 0.0. A call that raises leaves the set as it was.\n\n"                           \
    "Parameters\n----------\n"                                                                     \
    "member : {'int64', 'int32', 'uuid'} or dtype, default 'int64'\n"                              \
    "    Type of the members. UUIDs are 16 bytes and order by their bytes; as arrays they have\n"  \
    "    dtype V16, or uint8 with 16 on the last axis.\n"                                          \
    "score : {'float64', 'float32'} or dtype, default 'float64'\n"                                 \
    "    Type of the scores. With float32 a score is rounded to nearest when it is stored, and\n"  \
    "    whole counts end at 2**24.\n"                                                             \
    "score_rle : bool, default True\n"                                                             \
    "    Code runs of equal scores once. Changes bytes, never results.\n"                          \
    "merge_exponent : float, default 0.5\n"                                                        \
    "    0 to 1: a leaf gathers up to ``ceil(leaf_capacity ** merge_exponent)`` changes before\n"  \
    "    they are folded into it. Changes speed and bytes, never results.\n\n"                     \
    "See Also\n--------\n"                                                                         \
    "PackedZSet.from_arrays : From two arrays, in the layout of their dtypes.\n"                   \
    "PackedZSet.from_items : From a mapping or pairs.\n\n"                                         \
    "Notes\n-----\n"                                                                               \
    "``PackedZSet(source, member, score, ...)`` starts with the entries of a mapping, of pairs,\n" \
    "of another set or of a pandas object, as `update` takes them.\n\n"                            \
    "Threads may share a set: readers run side by side, a change runs alone. Calls of 256 rows\n"  \
    "and more let the GIL go. After a fork a set is usable in the child when no call was\n"        \
    "running on it in the parent. A signal handler that uses the set whose call it interrupts\n"   \
    "gets a RuntimeError where waiting would block for ever.\n\n"                                  \
    "Examples\n--------\n"                                                                         \
    ">>> z = PackedZSet({7: 1.5, 3: 2.5})\n"                                                       \
    ">>> z.incrby(7, 2)\n3.5\n"                                                                    \
    ">>> list(z.items())\n[(3, 2.5), (7, 3.5)]\n"

#define DOC_ADD                                                                                    \
    "add($self, members, scores, *, nx=False, xx=False, gt=False, lt=False)\n--\n\n"               \
    "Set the scores of members; as ZADD.\n\n"                                                      \
    "Rows apply left to right, so the last of several rows with one member stands.\n\n"            \
    "Parameters\n----------\n"                                                                     \
    "members : int, UUID or array of any shape\n"                                                  \
    "    Integers of any width are checked against the member type, element by element.\n"         \
    "    Native arrays of the member dtype are read where they lie, strided or not.\n"             \
    "scores : float or array of the shape of members\n"                                            \
    "    A scalar counts for every row. Integers must be exact in the score type.\n"               \
    "nx, xx : bool, default False\n"                                                               \
    "    Only add new members; only update members that are there.\n"                              \
    "gt, lt : bool, default False\n"                                                               \
    "    Only update to a greater, to a lower score; new members are added all the same.\n\n"      \
    "Returns\n-------\n"                                                                           \
    "tuple of int\n"                                                                               \
    "    ``(added, updated)``, counted as if the rows came one by one. A row that stores the\n"    \
    "    score that is there already counts for neither.\n\n"                                      \
    "Raises\n------\n"                                                                             \
    "ValueError\n"                                                                                 \
    "    A score is NaN or not exact, shapes differ, or flags exclude each other.\n"               \
    "OverflowError\n"                                                                              \
    "    A member does not fit the member type, or a score float32.\n"                             \
    "TypeError\n"                                                                                  \
    "    Members are no integers (or UUIDs), or scores no real numbers; bool is neither.\n"        \
    "MemoryError\n"                                                                                \
    "    Memory ran out.\n\n"                                                                      \
    "Notes\n-----\n"                                                                               \
    "O(log n) for a scalar. Many rows are sorted and swept into the trees in one pass over the\n"  \
    "leaves they touch, with at most 64 bytes of scratch a row. All or nothing: errors name the\n" \
    "first bad row and nothing is stored.\n"

#define DOC_INCRBY                                                                                 \
    "incrby($self, members, amounts=1, *, out=None)\n--\n\n"                                       \
    "Add amounts to the scores of members, missing ones counting from 0; as ZINCRBY.\n\n"          \
    "Each sum is made in double precision and rounded once to the score type; rows apply left\n"   \
    "to right.\n\n"                                                                                \
    "Parameters\n----------\n"                                                                     \
    "members : int, UUID or array of any shape\n"                                                  \
    "    As in `add`.\n"                                                                           \
    "amounts : float or array of the shape of members, default 1\n"                                \
    "    A scalar counts for every row. Integers must be exact in float64.\n"                      \
    "out : array of score dtype and the shape of members, or True, optional\n"                     \
    "    Where to write the score after each row; True makes a new array.\n\n"                     \
    "Returns\n-------\n"                                                                           \
    "float, array or None\n"                                                                       \
    "    A scalar member: its new score. Arrays: None, or `out`.\n\n"                              \
    "Raises\n------\n"                                                                             \
    "ValueError\n"                                                                                 \
    "    An amount is NaN, or the sum of an infinity and its opposite; shapes differ; `out`\n"     \
    "    overlaps an input.\n"                                                                     \
    "OverflowError\n"                                                                              \
    "    A member does not fit, or a finite sum is too large for float32. In float64 it becomes\n" \
    "    infinite.\n"                                                                              \
    "TypeError\n"                                                                                  \
    "    An argument has an unusable type.\n\n"                                                    \
    "Notes\n-----\n"                                                                               \
    "Cost as for `add`. All or nothing; after an error the contents of `out` are undefined.\n"

#define DOC_SCORE                                                           \
    "score($self, members, *, out=None)\n--\n\n"                            \
    "Look up scores; as ZSCORE and ZMSCORE.\n\n"                            \
    "Parameters\n----------\n"                                              \
    "members : int, UUID or array of any shape\n"                           \
    "    In any order, repeats allowed.\n"                                  \
    "out : array of score dtype and the shape of members, optional\n"       \
    "    Where to write; strided arrays are fine.\n\n"                      \
    "Returns\n-------\n"                                                    \
    "float, None or array of score dtype\n"                                 \
    "    A missing member has None as a scalar, NaN in an array.\n\n"       \
    "Raises\n------\n"                                                      \
    "OverflowError\n"                                                       \
    "    A member does not fit the member type.\n"                          \
    "TypeError\n"                                                           \
    "    Members are no integers (or UUIDs), or `out` has another dtype.\n" \
    "ValueError\n"                                                          \
    "    `out` has another shape, is read-only or overlaps members.\n\n"    \
    "Notes\n-----\n"                                                        \
    "O(log n) a member; many members are looked up in sorted order or with prefetching.\n"

#define DOC_CONTAINS                                           \
    "contains($self, members, *, out=None)\n--\n\n"            \
    "Tell which members are in the set.\n\n"                   \
    "Parameters\n----------\n"                                 \
    "members : int, UUID or array of any shape\n"              \
    "    As in `score`.\n"                                     \
    "out : array of bool and the shape of members, optional\n" \
    "    Where to write.\n\n"                                  \
    "Returns\n-------\n"                                       \
    "bool or array of bool\n"                                  \
    "    In the shape of members.\n\n"                         \
    "Notes\n-----\n"                                           \
    "Cost and errors as for `score`.\n"

#define DOC_RANK                                                                                  \
    "rank($self, members, *, reverse=False, method='ordinal', out=None)\n--\n\n"                  \
    "Look up positions in the order of (score, member); as ZRANK and ZREVRANK.\n\n"               \
    "Parameters\n----------\n"                                                                    \
    "members : int, UUID or array of any shape\n"                                                 \
    "    As in `score`.\n"                                                                        \
    "reverse : bool, default False\n"                                                             \
    "    Count from the top: the highest (score, member) has rank 0.\n"                           \
    "method : {'ordinal', 'min', 'max', 'dense', 'average'}, default 'ordinal'\n"                 \
    "    What members of equal score share: nothing, the first or last of their positions, the\n" \
    "    number of distinct scores before them, or the mean of the first and last position.\n"    \
    "out : array of int64 (float64 for 'average') and the shape of members, optional\n"           \
    "    Where to write.\n\n"                                                                     \
    "Returns\n-------\n"                                                                          \
    "int, None or array of int64\n"                                                               \
    "    From 0. A missing member has None as a scalar, -1 in an array. With 'average' float\n"   \
    "    and float64.\n\n"                                                                        \
    "Raises\n------\n"                                                                            \
    "ValueError\n"                                                                                \
    "    The method is unknown, or `out` does not fit.\n"                                         \
    "OverflowError, TypeError\n"                                                                  \
    "    As for `score`.\n\n"                                                                     \
    "Notes\n-----\n"                                                                              \
    "O(log n) a member; 'dense' may add one pass over the order leaves a call.\n"

#define DOC_REMOVE                                        \
    "remove($self, members)\n--\n\n"                      \
    "Remove members; as ZREM.\n\n"                        \
    "Parameters\n----------\n"                            \
    "members : int, UUID or array of any shape\n"         \
    "    Members that are not there are passed over.\n\n" \
    "Returns\n-------\n"                                  \
    "int\n"                                               \
    "    How many were there.\n\n"                        \
    "Notes\n-----\n"                                      \
    "Cost and errors as for `add`.\n"

#define DOC_UPDATE                                                                             \
    "update($self, source)\n--\n\n"                                                            \
    "Set scores from a mapping, pairs, another set or a pandas object.\n\n"                    \
    "Parameters\n----------\n"                                                                 \
    "source : mapping, iterable of (member, score), PackedZSet, Series or DataFrame\n"         \
    "    A Series has members as its index; a DataFrame has columns 'member' and 'score'.\n\n" \
    "Returns\n-------\n"                                                                       \
    "tuple of int\n"                                                                           \
    "    ``(added, updated)``, as `add`.\n\n"                                                  \
    "Notes\n-----\n"                                                                           \
    "The source is gathered first and added by one call: all or nothing. Errors as for `add`.\n"

#define DOC_FROM_ARRAYS                                                                           \
    "from_arrays($type, members, scores, member=None, score=None, *, score_rle=True, "            \
    "merge_exponent=0.5)\n--\n\n"                                                                 \
    "Make a set from two arrays.\n\n"                                                             \
    "Parameters\n----------\n"                                                                    \
    "members, scores : array, shape (n,)\n"                                                       \
    "    In any order; the last of several rows with one member stands. One float as `scores`\n"  \
    "    counts for every row.\n"                                                                 \
    "member, score : str or dtype, optional\n"                                                    \
    "    The layout. By default the dtypes say: members of at most 32 signed bits give int32,\n"  \
    "    wider ones int64, 16 bytes uuid; scores of at most 32 bits of float give float32, all\n" \
    "    else float64. Lists give int64 (or uuid) and float64.\n"                                 \
    "score_rle, merge_exponent : optional\n"                                                      \
    "    As for `PackedZSet`.\n\n"                                                                \
    "Returns\n-------\n"                                                                          \
    "PackedZSet\n"                                                                                \
    "    Of the type this was called on; an ``__init__`` of a subclass is not run.\n\n"           \
    "Notes\n-----\n"                                                                              \
    "O(n log n); both trees are built bottom-up. Errors as for `add`.\n"

#define DOC_FROM_ITEMS                                                                 \
    "from_items($type, source, member='int64', score='float64', *, score_rle=True, "   \
    "merge_exponent=0.5)\n--\n\n"                                                      \
    "Make a set from anything that `update` takes.\n\n"                                \
    "Parameters\n----------\n"                                                         \
    "source : mapping, iterable of (member, score), PackedZSet, Series or DataFrame\n" \
    "    As for `update`.\n"                                                           \
    "member, score, score_rle, merge_exponent : optional\n"                            \
    "    As for `PackedZSet`.\n\n"                                                     \
    "Returns\n-------\n"                                                               \
    "PackedZSet\n"                                                                     \
    "    Of the type this was called on; an ``__init__`` of a subclass is not run.\n"

#endif
