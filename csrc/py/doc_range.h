/* doc_range.h: docstrings of ranges, counts, removals by range, pops and iteration. */
#ifndef PZPY_DOC_RANGE_H
#define PZPY_DOC_RANGE_H

#define DOC_PAIR         \
    "Returns\n-------\n" \
    "tuple of array\n"   \
    "    ``(members, scores)``, in the set's dtypes, shape (n,), in the order asked for.\n\n"

#define DOC_RANGE                                                                          \
    "range($self, start=0, stop=None, *, reverse=False, out=None)\n--\n\n"                 \
    "Read the entries at positions, as a slice of the order; as ZRANGE and ZREVRANGE.\n\n" \
    "Parameters\n----------\n"                                                             \
    "start, stop : int, optional\n"                                                        \
    "    Half open; negative positions count from the end; clipped like a slice.\n"        \
    "reverse : bool, default False\n"                                                      \
    "    Positions count from the top and results come highest first.\n"                   \
    "out : tuple of two arrays, optional\n"                                                \
    "    ``(members, scores)`` to write to, each of its dtype and exactly as long as the " \
    "result;\n"                                                                            \
    "    None for either makes a new one.\n\n" DOC_PAIR "Raises\n------\n"                 \
    "TypeError\n"                                                                          \
    "    A position is no integer, or an output has another dtype.\n"                      \
    "ValueError\n"                                                                         \
    "    An output has another length, is read-only, or overlaps the other.\n\n"           \
    "Notes\n-----\n"                                                                       \
    "O(log n + results). Allocates the two arrays and nothing else.\n"

#define DOC_BOUNDS                                                     \
    "low, high : float, optional\n"                                    \
    "    Bounds, compared in double precision; none means no bound.\n" \
    "low_open, high_open : bool, default False\n"                      \
    "    Leave out scores equal to the bound.\n"

#define DOC_RANGE_BY_SCORE                                                            \
    "range_by_score($self, low=None, high=None, *, low_open=False, high_open=False, " \
    "reverse=False, offset=0, limit=None)\n--\n\n"                                    \
    "Read the entries with scores between two bounds; as ZRANGEBYSCORE.\n\n"          \
    "Parameters\n----------\n" DOC_BOUNDS "reverse : bool, default False\n"           \
    "    Highest first; `low` stays the lower bound.\n"                               \
    "offset : int, default 0\n"                                                       \
    "    How many to pass over first, in the direction of the result.\n"              \
    "limit : int, optional\n"                                                         \
    "    At most so many.\n\n" DOC_PAIR "Raises\n------\n"                            \
    "ValueError\n"                                                                    \
    "    A bound is NaN, or offset or limit negative.\n"                              \
    "TypeError\n"                                                                     \
    "    A bound is no real number.\n\n"                                              \
    "Notes\n-----\n"                                                                  \
    "O(log n + results), whatever the offset.\n"

#define DOC_COUNT                                                                   \
    "count($self, low=None, high=None, *, low_open=False, high_open=False)\n--\n\n" \
    "Count the entries with scores between two bounds; as ZCOUNT.\n\n"              \
    "Parameters\n----------\n" DOC_BOUNDS "\nReturns\n-------\n"                    \
    "int\n"                                                                         \
    "    0 when the bounds are crossed.\n\n"                                        \
    "Notes\n-----\n"                                                                \
    "O(log n). Errors as for `range_by_score`.\n"

#define DOC_TOP                                                                    \
    "top($self, k)\n--\n\n"                                                        \
    "Read the k highest entries, highest first.\n\n"                               \
    "Parameters\n----------\n"                                                     \
    "k : int\n"                                                                    \
    "    At least 0; more than there are gives all.\n\n" DOC_PAIR "Notes\n-----\n" \
    "O(log n + k).\n"

#define DOC_BOTTOM                                                                 \
    "bottom($self, k)\n--\n\n"                                                     \
    "Read the k lowest entries, lowest first.\n\n"                                 \
    "Parameters\n----------\n"                                                     \
    "k : int\n"                                                                    \
    "    At least 0; more than there are gives all.\n\n" DOC_PAIR "Notes\n-----\n" \
    "O(log n + k).\n"

#define DOC_AROUND                                                 \
    "around($self, member, k, *, reverse=False)\n--\n\n"           \
    "Read a member and up to k neighbours on each side of it.\n\n" \
    "Parameters\n----------\n"                                     \
    "member : int or UUID\n"                                       \
    "    One member of the set.\n"                                 \
    "k : int\n"                                                    \
    "    At least 0; fewer come at the ends of the order.\n"       \
    "reverse : bool, default False\n"                              \
    "    Highest first.\n\n" DOC_PAIR "Raises\n------\n"           \
    "KeyError\n"                                                   \
    "    The member is not there.\n\n"                             \
    "Notes\n-----\n"                                               \
    "O(log n + k).\n"

#define DOC_QUANTILE                                                                    \
    "quantile($self, q, *, method='linear')\n--\n\n"                                    \
    "Compute quantiles of the scores.\n\n"                                              \
    "Parameters\n----------\n"                                                          \
    "q : float or array of float\n"                                                     \
    "    Probabilities, 0 to 1.\n"                                                      \
    "method : {'linear', 'lower', 'higher', 'nearest', 'midpoint'}, default 'linear'\n" \
    "    What to give between two scores, as for `numpy.quantile`.\n\n"                 \
    "Returns\n-------\n"                                                                \
    "float or array of float64\n"                                                       \
    "    In the shape of `q`; NaN when the set is empty.\n\n"                           \
    "Raises\n------\n"                                                                  \
    "ValueError\n"                                                                      \
    "    A probability is outside 0 to 1, or the method unknown.\n\n"                   \
    "Notes\n-----\n"                                                                    \
    "O(log n) a probability: the scores are not gathered.\n"

#define DOC_REMOVE_RANGE                                                              \
    "remove_range($self, start, stop, *, reverse=False)\n--\n\n"                      \
    "Remove the entries at positions; as ZREMRANGEBYRANK, with a slice's bounds.\n\n" \
    "Parameters\n----------\n"                                                        \
    "start, stop : int or None\n"                                                     \
    "    As for `range`.\n"                                                           \
    "reverse : bool, default False\n"                                                 \
    "    Positions count from the top.\n\n"                                           \
    "Returns\n-------\n"                                                              \
    "int\n"                                                                           \
    "    How many were removed.\n\n"                                                  \
    "Notes\n-----\n"                                                                  \
    "O(log n + removed).\n"

#define DOC_REMOVE_RANGE_BY_SCORE                                                         \
    "remove_range_by_score($self, low, high, *, low_open=False, high_open=False)\n--\n\n" \
    "Remove the entries with scores between two bounds; as ZREMRANGEBYSCORE.\n\n"         \
    "Parameters\n----------\n" DOC_BOUNDS "\nReturns\n-------\n"                          \
    "int\n"                                                                               \
    "    How many were removed.\n\n"                                                      \
    "Notes\n-----\n"                                                                      \
    "O(log n + removed). Errors as for `range_by_score`.\n"

#define DOC_POP_TAIL                                                                           \
    "Parameters\n----------\n"                                                                 \
    "count : int, optional\n"                                                                  \
    "    How many, at least 0; more than there are takes all.\n\n"                             \
    "Returns\n-------\n"                                                                       \
    "tuple\n"                                                                                  \
    "    Without `count` one ``(member, score)``; with it arrays ``(members, scores)``, the\n" \
    "    first popped first.\n\n"                                                              \
    "Raises\n------\n"                                                                         \
    "KeyError\n"                                                                               \
    "    Without `count`, when the set is empty.\n"                                            \
    "ValueError\n"                                                                             \
    "    The count is negative.\n\n"                                                           \
    "Notes\n-----\n"                                                                           \
    "O(log n + count). Reading and removing is one step for other threads.\n"

#define DOC_POP_MIN                      \
    "pop_min($self, count=None)\n--\n\n" \
    "Remove and return the lowest entries; as ZPOPMIN.\n\n" DOC_POP_TAIL

#define DOC_POP_MAX                      \
    "pop_max($self, count=None)\n--\n\n" \
    "Remove and return the highest entries, highest first; as ZPOPMAX.\n\n" DOC_POP_TAIL

#define DOC_ITEMS                                \
    "items($self, *, reverse=False)\n--\n\n"     \
    "Iterate over (member, score) in order.\n\n" \
    "Parameters\n----------\n"                   \
    "reverse : bool, default False\n"            \
    "    Highest first.\n\n"                     \
    "Returns\n-------\n"                         \
    "iterator of (member, score)\n"              \
    "    Raises RuntimeError once the set has changed.\n"

#define DOC_SCAN                                                                              \
    "scan($self, cursor=0, count=512)\n--\n\n"                                                \
    "Read the set piece by piece in member order while it may change; as ZSCAN.\n\n"          \
    "Parameters\n----------\n"                                                                \
    "cursor : int, default 0\n"                                                               \
    "    0 to begin, then what the call before gave.\n"                                       \
    "count : int, default 512\n"                                                              \
    "    About how many entries, at least 1.\n\n"                                             \
    "Returns\n-------\n"                                                                      \
    "tuple\n"                                                                                 \
    "    ``(cursor, members, scores)``; the cursor is 0 at the end.\n\n"                      \
    "Notes\n-----\n"                                                                          \
    "A member that is there during the whole scan is returned at least once, whatever else\n" \
    "changes. O(log n + count) a call.\n"

#define DOC_SAMPLE                                                                 \
    "sample($self, k, *, replace=False, seed=None)\n--\n\n"                        \
    "Draw random entries, each with the same chance; as ZRANDMEMBER.\n\n"          \
    "Parameters\n----------\n"                                                     \
    "k : int\n"                                                                    \
    "    How many, at least 0. Without `replace`, at most as many as there are.\n" \
    "replace : bool, default False\n"                                              \
    "    Allow an entry more than once.\n"                                         \
    "seed : int or numpy.random.Generator, optional\n"                             \
    "    As for `numpy.random.default_rng`.\n\n" DOC_PAIR "Notes\n-----\n"         \
    "O(k log n) and the draw itself. Without `replace` the order is that of the draw.\n"

#endif
