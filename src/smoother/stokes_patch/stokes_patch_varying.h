/* Vertex patches of Stokes with a viscosity that varies or the symmetric gradient (operator/stokes_varying). A patch is
 * solved by the Schur complement of the gradient form with a constant viscosity, c = max(mean, 0.6 max) of nu over it
 * (5/3 of this in the symmetric form at an open end), and the same penalties:
 *   u = K_1^+ (F, c g) / c in the velocity, p as it is,
 * K_1 of viscosity 1, one table for all of a kind; or, where nu varies more than 3-fold inside a patch, by the
 * pseudo-inverse of its own matrix, as long as these fit into memory. With a mass term a table belongs to alpha / c:
 * c is rounded to powers of 1.25. docs/stokes.md
 *
 * And `dense`: all patches by pseudo-inverses; with a constant viscosity one for each kind of patches. */
#ifndef TESI_STOKES_PATCH_VARYING_H
#define TESI_STOKES_PATCH_VARYING_H

#include "operator/stokes_varying/stokes_varying.h"
#include "smoother/stokes_patch/stokes_patches.h"

/* exact if the largest nu is more than so many times the smallest; largest number of bytes of all exact patches of a
 * level */
enum { TESI_VARYING_EXACT_RATIO = 3 };
#define TESI_VARYING_EXACT_BYTES ((double)(1 << 30))

typedef struct TesiVaryingPatch {
  int vertex[3], type[3];
  double c;
  int table; /* of S^+ */
  /* device: inverse [n][n] over its unknowns, part by part, in the operator's precision; NULL: `table` serves */
  void *exact;
  bool shared; /* the inverse belongs to an earlier patch */
} TesiVaryingPatch;

/* S^+ of a kind of patches, with alpha / 1.25^rung. */
typedef struct TesiVaryingTable {
  TesiStokesLocal local;
  double *S;
  int type[3], rung;
} TesiVaryingTable;

typedef struct TesiStokesVaryingPlan {
  TesOperator *own; /* constant viscosity, whose patches have dense inverses: the same operator by quadrature; else
                     * NULL */
  const TesOperator *op; /* own, or that of the smoother */
  const TesiStokesVarying *stokes;
  TesiStokesPatchAxis axis[3];
  int colours, *first; /* [colours + 1] */
  TesiVaryingPatch *patch;
  int tables, exact, refused; /* number of patches that would be exact if there were room */
  TesiVaryingTable *table;
  int threads;
  int64_t share; /* of a thread */
  double *work;
  void *r; /* residual */
  /* On devices with kernels, in the place of tables and work: patches colour by colour; the first scaled[colour] of
   * each colour are scaled. */
  TesiStokesPatches patches;
  int *scaled;
} TesiStokesVaryingPlan;

/* c of a patch is rounded where alpha > 0; the exponent of 1.25. */
int tesi_stokes_varying_round(const TesiStokesVaryingPlan *p, TesiVaryingPatch *patch);
/* stokes_patch_varying_device.c */
TesStatus tesi_stokes_varying_patches_create(const TesSmoother *smoother, TesiStokesVaryingPlan *p);
TesStatus tesi_stokes_varying_patches_solve(TesContext *ctx, const TesiStokesVaryingPlan *p, int colour,
                                            const void *r, void *x);

#endif
