/* Cell patches in float64. */
#include "smoother/cell_patch/cell_patch_body.h"
