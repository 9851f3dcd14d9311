/* All kernels of one degree. Included with PATCH_DEGREE: 1..10, or 0 for any degree at run time. */
#include "smoother/patch/patch_row_body.h"
#include "smoother/patch/patch_line_body.h"
#include "smoother/patch/patch_face_body.h"
#include "smoother/patch/patch_modes_body.h"
#include "smoother/patch/patch_slab_body.h"
#undef PATCH_DEGREE
