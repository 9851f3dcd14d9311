/* Vertex patches of discontinuous Q_k: the 2^dim cells round a vertex with all their modes, solved exactly by fast
 * diagonalization, colour by colour in the colours of the Stokes patches, with a new residual before each colour.
 * stokes-multigrid-cui-2025, section 4. */
#ifndef TESI_DG_PATCH_H
#define TESI_DG_PATCH_H

#include "smoother/dg_patch/dg_patches.h"

typedef struct TesiDgPatchPlan {
  const TesiStokes *stokes;
  TesiStokesPatchAxis axis[3];
  int colours, *first;   /* [colours + 1] */
  int (*vertex)[3];      /* colour by colour */
  int threads, numbers;  /* unknowns of a patch */
  double *work;          /* [threads][2 numbers] */
  void *r;               /* residual */
  TesiDgPatches *device; /* kernels, used in the place of `work`; NULL on the host */
  bool inside;           /* kernels compute the residual: r is a second x */
} TesiDgPatchPlan;

#endif
