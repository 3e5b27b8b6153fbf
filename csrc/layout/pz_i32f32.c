/* Layout i32f32: int32 members, float32 scores. */
#define PZ_SUFFIX i32f32
#define PZ_M_BITS 32
#define PZ_S_BITS 32
#define PZ_MEMBER_KIND PZ_INT32
#define PZ_SCORE_KIND PZ_FLOAT32
#include "layout.tmpl.h"
