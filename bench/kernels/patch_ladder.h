/* The variants of the vertex-patch kernel (patch_ladder.cu): the kernels that patch-smoothers-cui-2024 compares, and
 * ours. For measurements and tests; programs use tes_smoother_create. */
#ifndef BENCH_PATCH_LADDER_H
#define BENCH_PATCH_LADDER_H

#include "smoother/smoother.h"

/* The work for a colour: one kernel for residual and local solves; two kernels; or the residual of the global
 * operator, then local solves. */
typedef enum BenchLadderKernels {
  BENCH_LADDER_FUSED,
  BENCH_LADDER_SEPARATE,
  BENCH_LADDER_GLOBAL
} BenchLadderKernels;

typedef struct BenchLadderVariant {
  const char *name, *text; /* one line of description */
  BenchLadderKernels kernels;
  int form, round; /* as in the kernel */
  bool layers, shortcut, dense;
  bool data; /* data: values are moved and nothing is computed: x += h^2 b / a, or similar, in each patch */
  bool blocks_3d; /* one thread per node of a patch, up to 1024, instead of one per line (3D) */
  int patches;    /* a block; 0: about 200 threads */
  int most[2];    /* largest degree in 2D and 3D; 0: there is none */
  int precision;  /* -1 both, else a TesPrecision */
  bool rounded;   /* results have the error of TF32 */
} BenchLadderVariant;

/* All variants; a name of NULL ends the list. */
extern const BenchLadderVariant bench_ladder_variants[];
const BenchLadderVariant *bench_ladder_find(const char *name); /* NULL: there is no such variant. */
/* Whether the variant exists for this operator: equal cells, Dirichlet faces, a device with kernels, degree and
 * precision. */
bool bench_ladder_serves(const BenchLadderVariant *variant, const TesOperator *op);
/* A smoother with the same result as TES_SMOOTHER_PATCH, except for `data`. Errors: TES_MISSING if it does not
 * exist. */
TesStatus bench_ladder_create(TesContext *ctx, const TesOperator *op, const BenchLadderVariant *variant,
                              TesSmoother **smoother);

/* The kernels of a smoother; a fused one only has BENCH_LADDER_SOLVE. */
typedef enum BenchLadderPart { BENCH_LADDER_RESIDUAL, BENCH_LADDER_SOLVE } BenchLadderPart;
/* One kernel over all colours, to be timed. It is a part of the work, so x has no meaning afterwards. */
TesStatus bench_ladder_run(const TesSmoother *smoother, BenchLadderPart part, const void *b, void *x);

typedef struct BenchLadderBlock {
  int patches, threads,
      resident; /* resident: number of blocks on a multiprocessor at one time; 0: the device does not report it */
  size_t shared; /* bytes */
} BenchLadderBlock;
TesStatus bench_ladder_block(const TesSmoother *smoother, BenchLadderPart part, BenchLadderBlock *block);

/* Accesses of the contractions to shared memory by one block of such a kernel, counted in the emulator on the
 * kernel's own text. A wavefront is the set of accesses that 32 banks of 4 bytes serve at one time. 32 lanes access
 * together if they read or write at one place of the text with the same loop counters; for 8 bytes they do so in two
 * halves. `excess`: wavefronts beyond one (or one per half), which are bank conflicts. Tensor cores are not counted. */
typedef struct BenchConflicts {
  long long accesses, wavefronts, excess; /* accesses: by single lanes */
} BenchConflicts;
/* Errors: TES_MISSING if there is no such kernel, or no C compiler for the emulator. */
TesStatus bench_ladder_conflicts(const BenchLadderVariant *variant, int dim, int degree,
                                 TesPrecision precision, BenchLadderPart part, BenchConflicts *conflicts);
/* Wavefronts of up to 32 lanes at places[lanes] (indices of values of `size` bytes), and the excess over the
 * minimum. */
BenchConflicts bench_wavefronts(int lanes, const long long *places, size_t size);
/* Counts the notes in log[threads][notes] on the device, and adds the counts to *all. The first two values are
 * followed by a number of values: key and place in turn. Lanes of a warp with the same key access together. */
TesStatus bench_conflicts_read(TesContext *ctx, const void *log, int threads, int notes, size_t size,
                               BenchConflicts *all);

/* The same accesses of one patch, by the formula of its contractions (without a mass term). 0: not available, for
 * shortcuts and tensor cores. */
double bench_ladder_accesses(const BenchLadderVariant *variant, int dim, int degree);

/* ---- for patch_conflicts.c ---- */
/* The smoother with kernels that note their accesses; in the emulator only. */
TesStatus bench_ladder_create_noting(TesContext *ctx, const TesOperator *op,
                                     const BenchLadderVariant *variant, int notes, TesSmoother **smoother);
/* Runs one block. log[threads][notes] <- the notes of its threads; device memory. */
TesStatus bench_ladder_note(const TesSmoother *smoother, BenchLadderPart part, const void *b, void *x,
                            long long *log);

#endif
