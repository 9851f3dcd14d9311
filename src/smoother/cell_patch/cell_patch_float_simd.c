/* Cell patches in float32. */
#define TESI_REAL_SINGLE
#include "smoother/cell_patch/cell_patch_body.h"
