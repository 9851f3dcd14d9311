/* The multiplicative vertex-patch smoother as kernels (GPU, emulator). */
#ifndef TESI_PATCH_DEVICE_H
#define TESI_PATCH_DEVICE_H

#include "smoother/smoother.h"

/* Sets table, plan and description. The row kernel is used if the cells of each direction are equal, ends are Dirichlet
 * ends, y and z have at least two cells, and the degree is at most 8 (10 in 2D); other spaces are swept patch by
 * patch. */
TesStatus tesi_smoother_patch_device_init(TesSmoother *smoother);
/* The same for degree 1; also tells whether it can be used for this space, which must be one for the row kernel. */
bool tesi_patch_q1_serves(const TesSpace *space);
TesStatus tesi_smoother_patch_q1_init(TesSmoother *smoother);
/* Patch by patch in residual form, with eigenbases per patch: any space, exact and surrogate local solves,
 * multiplicative and additive. */
TesStatus tesi_smoother_patch_local_init(TesSmoother *smoother);

#endif
