/* Layout i64f64: int64 members, float64 scores. */
#define PZ_SUFFIX i64f64
#define PZ_M_BITS 64
#define PZ_S_BITS 64
#define PZ_MEMBER_KIND PZ_INT64
#define PZ_SCORE_KIND PZ_FLOAT64
#include "layout.tmpl.h"
