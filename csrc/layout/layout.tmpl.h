/* TEMPLATE: one layout. needs PZ_SUFFIX, PZ_M_BITS (32, 64, 128), PZ_S_BITS (32, 64),
 * PZ_MEMBER_KIND, PZ_SCORE_KIND. gives `const pz_ops pz_ops_<suffix>`, the only symbol of the file
 * that includes it.
 *
 * Inside a layout members and scores are unsigned integers whose order is the order wanted: PZ_M
 * (sign bit flipped; UUIDs big-endian) and PZ_S (IEEE bits made sortable). */
#if !defined(PZ_SUFFIX) || !defined(PZ_M_BITS) || !defined(PZ_S_BITS)
#error "layout.tmpl.h needs PZ_SUFFIX, PZ_M_BITS and PZ_S_BITS"
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../base/bits.h"
#include "../codec/crc32c.h"
#include "../pz.h"
#include "../tree/tree.h"
#include "../zset/set.h"

#define PZ_CAT2_(a, b) a##__##b
#define PZ_CAT2(a, b) PZ_CAT2_(a, b)
#define PZ_CAT3_(a, b, c) a##_##b##__##c
#define PZ_CAT3(a, b, c) PZ_CAT3_(a, b, c)
#define PZ_FN(name) PZ_CAT2(name, PZ_SUFFIX)
#define PZ_TN(name) PZ_CAT3(PZ_T, name, PZ_SUFFIX)
#define PZ_UNUSED __attribute__((unused))

#if PZ_M_BITS == 32
#define PZ_M uint32_t
#elif PZ_M_BITS == 64
#define PZ_M uint64_t
#else
#define PZ_M pz_u128
#endif
#if PZ_S_BITS == 32
#define PZ_S uint32_t
#define PZ_F float
#else
#define PZ_S uint64_t
#define PZ_F double
#endif
#define PZ_M_BYTES (PZ_M_BITS / 8)
#define PZ_S_BYTES (PZ_S_BITS / 8)
/* One uncoded entry: score, then member, packed. */
#define PZ_REC_BYTES (PZ_M_BYTES + PZ_S_BYTES)

#include "types.tmpl.h"

#include "../codec/keys.tmpl.h"
#include "../codec/scores.tmpl.h"

#define PZ_T mt
#define PZ_T_BY_SCORE 0
#include "../tree/tree.tmpl.h"
#undef PZ_T
#undef PZ_T_BY_SCORE

#define PZ_T ot
#define PZ_T_BY_SCORE 1
#include "../tree/tree.tmpl.h"
#undef PZ_T
#undef PZ_T_BY_SCORE

#include "../zset/zset.tmpl.h"
