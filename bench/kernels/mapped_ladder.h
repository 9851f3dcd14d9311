/* The paper's ladder of kernels for mapped cells (mapped_ladder.cu, mapped_ladder_cube.cu): element vectors, 3D, one
 * component, stored factors. For comparison and for drawing the paper's figures; the fast kernel is in
 * mapped_kernel.h. */
#ifndef BENCH_MAPPED_LADDER_H
#define BENCH_MAPPED_LADDER_H

#include "operator/mapped/device/mapped_kernel.h"
#include "tessera/operator.h"

enum { BENCH_MAPPED_RUNGS = 15 };
typedef struct BenchMappedRung {
  const char *name, *text;
  bool cube;       /* a thread a point, of which a block has at most 1000; else a thread a column of points */
  int level;       /* of the kernel's text */
  bool split;      /* interpolation, derivatives and projection are launches of their own: nothing of BP5 */
  double paper[3]; /* GFLOP/s of BP1, BP3 and BP5 (BP3.5), the best that the paper's text tells of its kernel on a
                    * P100, counted with full matrices; 0: nothing */
} BenchMappedRung;
/* Planes of threads first, then cubes. */
extern const BenchMappedRung bench_mapped_rungs[BENCH_MAPPED_RUNGS];

/* The number of a name; -1: there is none. */
int bench_mapped_rung_find(const char *name);
/* Why a rung is not for an operator with q points a direction, collocated or not; NULL: it is. */
const char *bench_mapped_rung_refuses(int rung, int q, bool collocated);

/* What all threads of a block read and write in shared memory, in numbers, as the text of its kernel says: n nodes and
 * q points a direction. A matrix entry counts for each thread that reads it.
 * 0: "global" has nothing there, "shared" no columns in registers: no bound is told. */
double bench_mapped_rung_traffic(int rung, int n, int q, bool collocated, bool stiffness);

typedef struct BenchMappedLadder {
  const BenchMappedRung *rung;
  TesiKernel kernel;
  int threads;
  size_t shared;
  double mass;
  const void *geometry; /* the caller sets it: [cell][s][q^3] of the precision */
  void *tables, *work;  /* device memory: I, D; work arrays */
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
