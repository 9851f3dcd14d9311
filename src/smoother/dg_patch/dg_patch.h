/* Vertex patches of discontinuous Q_k: the 2^dim cells round a vertex with all their modes, solved exactly by fast
 * diagonalization, in the colours of the patches of Stokes, a residual before each. stokes-multigrid-cui-2025, section
 * 4. */
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
  TesiDgPatches *device; /* kernels, instead of work; NULL on the host */
  bool inside;           /* they form the residual: r is a second x */
} TesiDgPatchPlan;

#endif
