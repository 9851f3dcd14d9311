/* Lines of cells in float64. */
#include "smoother/line_patch/line_patch_body.h"
