/* Layout uuidf64: UUID members, float64 scores. */
#define PZ_SUFFIX uuidf64
#define PZ_M_BITS 128
#define PZ_S_BITS 64
#define PZ_MEMBER_KIND PZ_UUID
#define PZ_SCORE_KIND PZ_FLOAT64
#include "layout.tmpl.h"
