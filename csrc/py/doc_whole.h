/* doc_whole.h: docstrings of what concerns whole sets. */
#ifndef PZPY_DOC_WHOLE_H
#define PZPY_DOC_WHOLE_H

#define DOC_COMBINE                                                                              \
    "Parameters\n----------\n"                                                                   \
    "*others : PackedZSet\n"                                                                     \
    "    Sets of the same layout; a set may be named more than once.\n"                          \
    "weights : sequence of float, optional\n"                                                    \
    "    A factor for each set's scores, this one's first.\n"                                    \
    "aggregate : {'sum', 'min', 'max'}, default 'sum'\n"                                         \
    "    How scores of one member are joined: in argument order, in double precision, rounded\n" \
    "    once. An infinity times 0, and infinities that cancel, give 0.\n\n"                     \
    "Returns\n-------\n"                                                                         \
    "PackedZSet\n"                                                                               \
    "    A new set with the options of this one.\n\n"                                            \
    "Raises\n------\n"                                                                           \
    "TypeError\n"                                                                                \
    "    An argument is no PackedZSet or has another layout.\n"                                  \
    "ValueError\n"                                                                               \
    "    A weight is NaN, or there are not as many weights as sets.\n"                           \
    "OverflowError\n"                                                                            \
    "    A finite result is too large for float32.\n\n"                                          \
    "Notes\n-----\n"                                                                             \
    "Linear in the sizes of the sets.\n"

#define DOC_UNION                                                     \
    "union($self, /, *others, weights=None, aggregate='sum')\n--\n\n" \
    "Join sets: members of any of them; as ZUNION.\n\n" DOC_COMBINE

#define DOC_INTERSECTION                                                     \
    "intersection($self, /, *others, weights=None, aggregate='sum')\n--\n\n" \
    "Join sets: members of all of them; as ZINTER.\n\n" DOC_COMBINE

#define DOC_DIFFERENCE                                                         \
    "difference($self, /, *others)\n--\n\n"                                    \
    "Keep the members that no other set has, with their scores; as ZDIFF.\n\n" \
    "Parameters\n----------\n"                                                 \
    "*others : PackedZSet\n"                                                   \
    "    Sets of the same layout.\n\n"                                         \
    "Returns\n-------\n"                                                       \
    "PackedZSet\n"                                                             \
    "    A new set with the options of this one.\n\n"                          \
    "Notes\n-----\n"                                                           \
    "Linear in the sizes of the sets.\n"

#define DOC_COPY                            \
    "copy($self)\n--\n\n"                   \
    "Make an independent copy.\n\n"         \
    "Returns\n-------\n"                    \
    "PackedZSet\n"                          \
    "    Of the same type and options.\n\n" \
    "Notes\n-----\n"                        \
    "Linear in the size; runs without the GIL.\n"

#define DOC_CLEAR          \
    "clear($self)\n--\n\n" \
    "Remove everything; options stay.\n"

#define DOC_OPTIMIZE                                                                         \
    "optimize($self)\n--\n\n"                                                                \
    "Fold every pending change, fill every leaf and give back spare memory.\n\n"             \
    "Never needed; it makes a set that will hardly change any more as small as it gets.\n\n" \
    "Notes\n-----\n"                                                                         \
    "Linear in the size; runs without the GIL. Results stay the same.\n"

#define DOC_SAVE                                                                               \
    "save($self, file)\n--\n\n"                                                                \
    "Write a snapshot.\n\n"                                                                    \
    "Parameters\n----------\n"                                                                 \
    "file : path, or a binary file open for writing\n"                                         \
    "    A path is replaced in one step once everything is written and synced; until then a\n" \
    "    file that was there stays.\n\n"                                                       \
    "Raises\n------\n"                                                                         \
    "OSError\n"                                                                                \
    "    Writing failed.\n\n"                                                                  \
    "Notes\n-----\n"                                                                           \
    "Linear in the size; runs without the GIL. Readers go on, changes wait.\n"

#define DOC_LOAD_BODY                                                     \
    "Parameters\n----------\n"                                            \
    "file : path, or a binary file open for reading\n"                    \
    "    What `PackedZSet.save` wrote.\n"                                 \
    "score_rle : bool, optional\n"                                        \
    "    By default as in the file.\n"                                    \
    "merge_exponent : float, optional\n"                                  \
    "    By default as in the file.\n\n"                                  \
    "Returns\n-------\n"                                                  \
    "PackedZSet\n"                                                        \
    "    A new set.\n\n"                                                  \
    "Raises\n------\n"                                                    \
    "ValueError\n"                                                        \
    "    The bytes are damaged or no snapshot: what and where is said.\n" \
    "OSError\n"                                                           \
    "    Reading failed.\n\n"                                             \
    "Notes\n-----\n"                                                      \
    "Linear in the size. Everything is checked before a set is made.\n"

#define DOC_LOAD                                                        \
    "load($type, file, *, score_rle=None, merge_exponent=None)\n--\n\n" \
    "Read a snapshot.\n\n" DOC_LOAD_BODY

#define DOC_MODULE_LOAD                                                   \
    "load($module, file, *, score_rle=None, merge_exponent=None)\n--\n\n" \
    "Read a snapshot into a new PackedZSet.\n\n" DOC_LOAD_BODY

#define DOC_MEMORY                                                                                \
    "memory($self)\n--\n\n"                                                                       \
    "Tell what the set is made of and what it costs, exactly.\n\n"                                \
    "Returns\n-------\n"                                                                          \
    "dict\n"                                                                                      \
    "    Counts and bytes by name. ``total_allocated_bytes`` is everything the set owns, and\n"   \
    "    ``bytes_per_member`` its share. Names without a prefix describe the order tree, those\n" \
    "    with ``member_`` (but ``member_count``) the member tree; ``*_key_bytes``,\n"             \
    "    ``*_score_bytes``, ``*_tail_bytes``, ``*_header_bytes``, ``*_branch_bytes`` and\n"       \
    "    ``*_padding_bytes`` split each; ``arena_*`` tell live, free and mapped bytes.\n\n"       \
    "Notes\n-----\n"                                                                              \
    "Visits every leaf.\n"

#define DOC_LEAVES                                                                             \
    "leaves($self)\n--\n\n"                                                                    \
    "Describe every leaf of both trees.\n\n"                                                   \
    "Returns\n-------\n"                                                                       \
    "dict of structured arrays\n"                                                              \
    "    ``'order'`` and ``'member'``: a record a leaf, in order: the position of its first\n" \
    "    entry, entries in its base and tail, forms and bytes.\n\n"                            \
    "Notes\n-----\n"                                                                           \
    "Visits every leaf.\n"

#define DOC_TO_SERIES                                                                       \
    "to_series($self, *, reverse=False)\n--\n\n"                                            \
    "Make a pandas Series: scores, with members as its index, in order.\n\n"                \
    "Parameters\n----------\n"                                                              \
    "reverse : bool, default False\n"                                                       \
    "    Highest first.\n\n"                                                                \
    "Returns\n-------\n"                                                                    \
    "pandas.Series\n"                                                                       \
    "    Named 'score', its index named 'member'. UUIDs come as ``uuid.UUID`` objects.\n\n" \
    "Raises\n------\n"                                                                      \
    "ImportError\n"                                                                         \
    "    pandas is not installed.\n"

#define DOC_TO_FRAME                                                           \
    "to_frame($self, *, reverse=False)\n--\n\n"                                \
    "Make a pandas DataFrame with columns 'member' and 'score', in order.\n\n" \
    "Parameters\n----------\n"                                                 \
    "reverse : bool, default False\n"                                          \
    "    Highest first.\n\n"                                                   \
    "Returns\n-------\n"                                                       \
    "pandas.DataFrame\n"                                                       \
    "    UUIDs come as ``uuid.UUID`` objects.\n\n"                             \
    "Raises\n------\n"                                                         \
    "ImportError\n"                                                            \
    "    pandas is not installed.\n"

#define DOC_FROM_SERIES                                                                        \
    "from_series($type, series, member=None, score=None, *, score_rle=True, "                  \
    "merge_exponent=0.5)\n--\n\n"                                                              \
    "Make a set from a pandas Series: its index gives the members, its values the scores.\n\n" \
    "Parameters\n----------\n"                                                                 \
    "series : pandas.Series\n"                                                                 \
    "    Missing values are refused, by position.\n"                                           \
    "member, score, score_rle, merge_exponent : optional\n"                                    \
    "    As for `from_arrays`.\n\n"                                                            \
    "Returns\n-------\n"                                                                       \
    "PackedZSet\n"                                                                             \
    "    A new set.\n"

#define DOC_FROM_FRAME                                                                        \
    "from_frame($type, frame, members='member', scores='score', member=None, score=None, *, " \
    "score_rle=True, merge_exponent=0.5)\n--\n\n"                                             \
    "Make a set from two columns of a pandas DataFrame.\n\n"                                  \
    "Parameters\n----------\n"                                                                \
    "frame : pandas.DataFrame\n"                                                              \
    "    Missing values are refused, by position.\n"                                          \
    "members, scores : column labels\n"                                                       \
    "    Which columns.\n"                                                                    \
    "member, score, score_rle, merge_exponent : optional\n"                                   \
    "    As for `from_arrays`.\n\n"                                                           \
    "Returns\n-------\n"                                                                      \
    "PackedZSet\n"                                                                            \
    "    A new set.\n"

#endif
