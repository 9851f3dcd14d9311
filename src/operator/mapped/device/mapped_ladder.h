/* The paper's ladder of kernels for mapped cells (src/kernels/mapped_ladder.cu): element vectors, 3D, one component, stored factors. For
 * comparison and for drawing the paper's figures; the fast kernel is in mapped_kernel.h. */
#ifndef TESI_MAPPED_LADDER_H
#define TESI_MAPPED_LADDER_H

#include "operator/mapped/device/mapped_kernel.h"

enum { TESI_MAPPED_RUNGS = 6 };
/* "global", "shared", "registers", "unrolled", "barriers", "symmetric" */
extern const char *const tesi_mapped_rungs[TESI_MAPPED_RUNGS];

typedef struct TesiMappedLadder {
  TesiKernel kernel;
  int threads;
  size_t shared;
  double mass;
  const void *geometry; /* the caller sets it: [cell][s][q^3] of the precision */
  void *tables, *work;  /* device memory: I, D; the work arrays of rung 0 */
  void *D;
} TesiMappedLadder;

/* `rung`: number of the name above. Errors: TES_INVALID_INPUT for what the ladder does not have. */
TesStatus tesi_mapped_ladder_make(TesContext *ctx, const TesiMappedKernelDesc *desc, int rung, int64_t cells,
                                  TesiMappedLadder *ladder);
TesStatus tesi_mapped_ladder_run(TesContext *ctx, const TesiMappedLadder *ladder, int64_t cells,
                                 const void *x, void *y);
void tesi_mapped_ladder_release(TesContext *ctx, TesiMappedLadder *ladder);

#endif
