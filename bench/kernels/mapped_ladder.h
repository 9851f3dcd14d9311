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
  bool cube;       /* one thread per point, of which a block has at most 1000; false: one thread per column of
                    * points */
  int level;       /* LEVEL of the kernel */
  bool split;      /* interpolation, derivatives and projection are separate launches; no BP5 */
  double paper[3]; /* GFLOP/s of BP1, BP3 and BP5 (BP3.5): the best that the paper's text gives for its kernel on a
                    * P100, counted with full matrices; 0: not given */
} BenchMappedRung;
/* Kernels with planes of threads first, then kernels with cubes. */
extern const BenchMappedRung bench_mapped_rungs[BENCH_MAPPED_RUNGS];

/* The index of a name; -1: there is none. */
int bench_mapped_rung_find(const char *name);
/* The reason why a rung cannot serve an operator with q points per direction, collocated or not; NULL: it can. */
const char *bench_mapped_rung_refuses(int rung, int q, bool collocated);

/* Numbers that all threads of a block read and write in shared memory, counted in the text of its kernel; n nodes and
 * q points per direction. A matrix entry counts for each thread that reads it. 0: there is no bound: "global" has
 * nothing in shared memory, "shared" has no columns in registers. */
double bench_mapped_rung_traffic(int rung, int n, int q, bool collocated, bool stiffness);

typedef struct BenchMappedLadder {
  const BenchMappedRung *rung;
  TesiKernel kernel;
  int threads;
  size_t shared;
  double mass;
  const void *geometry; /* set by the caller: [cell][s][q^3] in the kernel's precision */
  void *tables, *work;  /* device memory: I, D; work arrays */
  void *D;
} BenchMappedLadder;

/* `rung`: index in the list above. Errors: TES_INVALID_INPUT for a kernel that the ladder does not have. */
TesStatus bench_mapped_ladder_make(TesContext *ctx, const TesiMappedKernelDesc *desc, int rung, int64_t cells,
                                   BenchMappedLadder *ladder);
/* The same kernel for a mapped operator on a device with kernels. It borrows the operator's stored factors. */
TesStatus bench_mapped_ladder_of(const TesOperator *op, int rung, BenchMappedLadder *ladder);
TesStatus bench_mapped_ladder_run(TesContext *ctx, const BenchMappedLadder *ladder, int64_t cells,
                                  const void *x, void *y);
void bench_mapped_ladder_release(TesContext *ctx, BenchMappedLadder *ladder);

#endif
