/* Layout i32f64: int32 members, float64 scores. */
#define PZ_SUFFIX i32f64
#define PZ_M_BITS 32
#define PZ_S_BITS 64
#define PZ_MEMBER_KIND PZ_INT32
#define PZ_SCORE_KIND PZ_FLOAT64
#include "layout.tmpl.h"
