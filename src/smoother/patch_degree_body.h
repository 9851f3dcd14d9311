/* All kernels of one degree. Included with PATCH_DEGREE: 1..10, or 0 for any degree at run time. */
#include "smoother/patch_row_body.h"
#include "smoother/patch_line_body.h"
#include "smoother/patch_face_body.h"
#include "smoother/patch_modes_body.h"
#include "smoother/patch_slab_body.h"
#undef PATCH_DEGREE
