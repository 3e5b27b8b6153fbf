/* Layout i64f32: int64 members, float32 scores. */
#define PZ_SUFFIX i64f32
#define PZ_M_BITS 64
#define PZ_S_BITS 32
#define PZ_MEMBER_KIND PZ_INT64
#define PZ_SCORE_KIND PZ_FLOAT32
#include "layout.tmpl.h"
