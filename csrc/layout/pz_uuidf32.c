/* Layout uuidf32: UUID members, float32 scores. */
#define PZ_SUFFIX uuidf32
#define PZ_M_BITS 128
#define PZ_S_BITS 32
#define PZ_MEMBER_KIND PZ_UUID
#define PZ_SCORE_KIND PZ_FLOAT32
#include "layout.tmpl.h"
