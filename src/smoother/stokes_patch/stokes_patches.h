/* Exact solves on patches of a Stokes problem by kernels (src/kernels/stokes_patch.cu): patches of the smoother, and
 * the whole box of the coarsest level. */
#ifndef TESI_STOKES_PATCHES_H
#define TESI_STOKES_PATCHES_H

#include "device/kernel.h"
#include "kernels/stokes_arguments.h"
#include "smoother/stokes_patch/stokes_patch.h"

/* A kind of intervals of a direction. */
typedef struct TesiStokesKind {
  const TesiStokesLocalAxis *local;
  int first; /* its first node, relative to the node of the vertex */
  bool open; /* whether it reaches an open end of the box */
} TesiStokesKind;

/* kind[types]: the kinds of direction d, over the axis. */
TesStatus tesi_stokes_patch_kinds(TesContext *ctx, const TesSpace *space, int d, const TesiStokesPatchAxis *a,
                                  TesiStokesKind **kind);

typedef struct TesiStokesPatches {
  TesPrecision precision;
  TesiKernel kernel, exact;
  TeskStokesPatches arguments;
  unsigned threads;
  size_t shared; /* 0: in global memory */
  int kinds[3];
  void *kind[3], *numbers[3], *inverses, *patches, *work; /* device */
} TesiStokesPatches;

/* A patch: its viscosity; exact: the inverse of all its unknowns, part by part, on the device (NULL: S^+ is used). */
typedef struct TesiStokesPlace {
  int vertex[3], kind[3];
  double nu;
  const void *exact;
} TesiStokesPlace;

/* place[count]: all patches, in the order of later calls. kind[3]: arrays of kinds[3] kinds per direction; one kind in
 * a direction that does not exist. To be destroyed after failure too. */
TesStatus tesi_stokes_patches_create(const TesOperator *op, TesPrecision precision,
                                     const TesiStokesKind *const kind[3], const int kinds[3],
                                     const TesiStokesPlace *place, int count, TesiStokesPatches *patches);
void tesi_stokes_patches_free(TesContext *ctx, TesiStokesPatches *patches);
/* x <- x + K_p^+ r for patches first .. first + count - 1, which share no unknowns; exact: whether these patches are
 * exact. */
TesStatus tesi_stokes_patches_solve(TesContext *ctx, const TesiStokesPatches *patches, bool exact, int first,
                                    int count, const void *r, void *x);

#endif
