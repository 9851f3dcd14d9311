/* The paper's ladder of kernels for mapped cells (mapped_ladder.cu): element vectors, 3D, one component, stored
 * factors. For comparison and for drawing the paper's figures; the fast kernel is in mapped_kernel.h. */
#ifndef BENCH_MAPPED_LADDER_H
#define BENCH_MAPPED_LADDER_H

#include "operator/mapped/device/mapped_kernel.h"
#include "tessera/operator.h"

enum { BENCH_MAPPED_RUNGS = 6 };
/* "global", "shared", "registers", "unrolled", "barriers", "symmetric" */
extern const char *const bench_mapped_rungs[BENCH_MAPPED_RUNGS];

typedef struct BenchMappedLadder {
  TesiKernel kernel;
  int threads;
  size_t shared;
  double mass;
  const void *geometry; /* the caller sets it: [cell][s][q^3] of the precision */
  void *tables, *work;  /* device memory: I, D; the work arrays of rung 0 */
  void *D;
} BenchMappedLadder;

/* `rung`: number of the name above. Errors: TES_INVALID_INPUT for what the ladder does not have. */
TesStatus bench_mapped_ladder_make(TesContext *ctx, const TesiMappedKernelDesc *desc, int rung, int64_t cells,
                                   BenchMappedLadder *ladder);
/* The same kernel for what a mapped operator on a device with kernels does, with the operator's stored factors,
 * which are borrowed. */
TesStatus bench_mapped_ladder_of(const TesOperator *op, int rung, BenchMappedLadder *ladder);
TesStatus bench_mapped_ladder_run(TesContext *ctx, const BenchMappedLadder *ladder, int64_t cells,
                                  const void *x, void *y);
void bench_mapped_ladder_release(TesContext *ctx, BenchMappedLadder *ladder);

#endif
