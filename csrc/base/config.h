/* Every limit and size of the core, in one place. bench/sweep.py measures the tunable ones;
 * docs/design/tuning.md has its table. */
#ifndef PZ_BASE_CONFIG_H
#define PZ_BASE_CONFIG_H

/* Leaves. A leaf's capacity counts base entries; its tail comes on top. */
#define PZ_LEAF_CAPACITY_DEFAULT 512u
#define PZ_LEAF_CAPACITY_MIN 4u
#define PZ_LEAF_MAX 1024u /* largest capacity a set may be given; scratch arrays follow from it */
/* Largest number of entries that a leaf's base and tail hold together before it is folded. */
#define PZ_LEAF_ENTRIES_MAX (2u * PZ_LEAF_MAX)
/* A change of one leaf that has more keys than 1/4 of the tail's threshold is folded in at once,
 * and a batch that touches most leaves folds tails from there on. */
#define PZ_TAIL_DIVISOR 4u

/* A set of at most this many members is one plain sorted block (and never more than a leaf). */
#define PZ_SMALL_CAPACITY 128u

/* Branches. */
#define PZ_BRANCH_CAPACITY 64u
#define PZ_HEIGHT_MAX 12u

/* Arena. Blocks are cut in 8-byte steps; a block holds at most PZ_BLOCK_MAX bytes. */
#define PZ_BLOCK_STEP 8u
#define PZ_BLOCK_MAX (128u * 1024u)
#define PZ_SPAN_MIN 512u
#define PZ_SPAN_MAX (256u * 1024u)
#define PZ_POOL_CHUNK (4u * 1024u * 1024u)
#define PZ_SLACK_DIVISOR 12u /* clean when more than 1/12 of the arena is free inside spans */

/* Rows in one bulk call. */
#define PZ_ROWS_MAX 0xffffffffull

/* Scan labels (see zset/scan.tmpl.h). */
#define PZ_LABEL_BITS 40u
#define PZ_LABEL_STEP (1ull << 14)

#endif
