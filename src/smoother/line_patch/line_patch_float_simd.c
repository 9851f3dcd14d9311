/* Lines of cells in float32. */
#define TESI_REAL_SINGLE
#include "smoother/line_patch/line_patch_body.h"
