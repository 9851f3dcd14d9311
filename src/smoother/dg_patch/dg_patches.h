/* Patches of discontinuous elements as a kernel (src/kernels/dg_patch.cu). */
#ifndef TESI_DG_PATCHES_H
#define TESI_DG_PATCHES_H

#include "smoother/stokes_patch/stokes_patch.h"

typedef struct TesiDgPatches TesiDgPatches;
/* For vectors in `precision`; vertex[count]; closed: the null space of every patch contains the constant. *patches is
 * NULL after a failure. */
TesStatus tesi_dg_patches_create(const TesOperator *op, TesPrecision precision,
                                 const TesiStokesPatchAxis axis[3], int (*vertex)[3], int count, bool closed,
                                 TesiDgPatches **patches);
void tesi_dg_patches_destroy(TesContext *ctx, TesiDgPatches **patches);
/* x <- x + K^-1 r in patches first .. first + count - 1, which have no unknowns in common. */
TesStatus tesi_dg_patches_solve(TesContext *ctx, const TesiDgPatches *patches, int first, int count,
                                const void *r, void *x);

/* Prepares sweeps whose kernel computes the residual. Patches first[c] .. first[c + 1] - 1 of those given at creation
 * have colour c. *serves: whether such sweeps are possible. op: as at creation. */
TesStatus tesi_dg_patches_prepare(const TesOperator *op, const TesiStokesPatchAxis axis[3], int (*vertex)[3],
                                  int colours, const int *first, TesiDgPatches *patches, bool *serves);
/* y <- x, with K^-1 (b - K x outside) in the patches of a colour; x NULL: zero. */
TesStatus tesi_dg_patches_sweep(TesContext *ctx, const TesiDgPatches *patches, int colour, const void *x,
                                const void *b, void *y);

#endif
