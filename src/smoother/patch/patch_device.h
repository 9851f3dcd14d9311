/* The multiplicative vertex-patch smoother as kernels (GPU, emulator). */
#ifndef TESI_PATCH_DEVICE_H
#define TESI_PATCH_DEVICE_H

#include "smoother/smoother.h"

/* Sets table, plan and description. Equal cells a direction, Dirichlet ends, at least two cells in y and z, degree
 * at most 8 (10 in 2D):
 * the row kernel; other spaces: patch by patch. */
TesStatus tesi_smoother_patch_device_init(TesSmoother *smoother);
/* The same for degree 1, and whether it serves this space (of those that the row kernel serves). */
bool tesi_patch_q1_serves(const TesSpace *space);
TesStatus tesi_smoother_patch_q1_init(TesSmoother *smoother);
/* Patch by patch with eigenbases of their own, in residual form: any space, exact and surrogate local solves,
 * multiplicative and additive. */
TesStatus tesi_smoother_patch_local_init(TesSmoother *smoother);

#endif
