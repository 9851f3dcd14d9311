/* The variants of the vertex-patch kernel (patch_ladder.cu): what patch-smoothers-cui-2024 compares, and ours
 * beside it. For measurements and tests; programs use tes_smoother_create. */
#ifndef BENCH_PATCH_LADDER_H
#define BENCH_PATCH_LADDER_H

#include "smoother/smoother.h"

/* What becomes of a colour: one kernel; residual and local solves by two; the residual of the global operator, and
 * local solves. */
typedef enum BenchLadderKernels {
  BENCH_LADDER_FUSED,
  BENCH_LADDER_SEPARATE,
  BENCH_LADDER_GLOBAL
} BenchLadderKernels;

typedef struct BenchLadderVariant {
  const char *name, *text; /* one line of what it is */
  BenchLadderKernels kernels;
  int form, round; /* as in the kernel */
  bool layers, shortcut, dense;
  bool data;      /* values are moved, nothing is computed: x += h^2 b / a, or so, in each patch */
  bool blocks_3d; /* a thread a node of a patch, up to 1024, in place of a thread a line (3D) */
  int patches;    /* a block; 0: about 200 threads */
  int most[2];    /* degree in 2D and 3D; 0: there is none */
  int precision;  /* -1 both, else a TesPrecision */
  bool rounded;   /* results carry the error of TF32 */
} BenchLadderVariant;

/* All of them; ends with a name of NULL. */
extern const BenchLadderVariant bench_ladder_variants[];
const BenchLadderVariant *bench_ladder_find(const char *name); /* NULL when there is none */
/* Whether it exists for this operator: equal cells, Dirichlet faces, a device with kernels, degree and precision. */
bool bench_ladder_serves(const BenchLadderVariant *variant, const TesOperator *op);
/* A smoother with the same meaning as TES_SMOOTHER_PATCH, but for `data`. Errors: TES_MISSING where it does not
 * exist. */
TesStatus bench_ladder_create(TesContext *ctx, const TesOperator *op, const BenchLadderVariant *variant,
                              TesSmoother **smoother);

/* The kernels of a smoother: of a fused one BENCH_LADDER_SOLVE alone. */
typedef enum BenchLadderPart { BENCH_LADDER_RESIDUAL, BENCH_LADDER_SOLVE } BenchLadderPart;
/* One kernel over all colours: a part of the work, to be timed; what is in x then means nothing. */
TesStatus bench_ladder_run(const TesSmoother *smoother, BenchLadderPart part, const void *b, void *x);

typedef struct BenchLadderBlock {
  int patches, threads,
      resident;  /* resident: blocks at a time on a multiprocessor; 0: the device does not say */
  size_t shared; /* bytes */
} BenchLadderBlock;
TesStatus bench_ladder_block(const TesSmoother *smoother, BenchLadderPart part, BenchLadderBlock *block);

/* Accesses of the contractions to shared memory by one block of such a kernel, counted in the emulator on its own
 * text: a wavefront is what 32 banks of 4 bytes serve at a time; 32 lanes that read or write at one place of the
 * text with the same loop counters do so together, for 8 bytes in two halves. `excess` is what lies above one
 * wavefront (or one a half): conflicts of banks. Tensor cores are not counted. */
typedef struct BenchConflicts {
  long long accesses, wavefronts, excess; /* accesses: of single lanes */
} BenchConflicts;
/* Errors: TES_MISSING where there is no such kernel, or no C compiler for the emulator. */
TesStatus bench_ladder_conflicts(const BenchLadderVariant *variant, int dim, int degree,
                                 TesPrecision precision, BenchLadderPart part, BenchConflicts *conflicts);
/* Wavefronts of up to 32 lanes at places[lanes] (numbers of values of `size` bytes), and those above the least. */
BenchConflicts bench_wavefronts(int lanes, const long long *places, size_t size);
/* From log[threads][notes] on the device: how many values follow the first two, then key and place in turn; lanes of a
 * warp that note the same key come together. Added to *all. */
TesStatus bench_conflicts_read(TesContext *ctx, const void *log, int threads, int notes, size_t size,
                               BenchConflicts *all);

/* The same accesses, of one patch, by the formula of its contractions (without a mass term): 0 for what is not counted,
 * shortcuts and tensor cores. */
double bench_ladder_accesses(const BenchLadderVariant *variant, int dim, int degree);

/* ---- for patch_conflicts.c ---- */
/* The smoother with kernels that note their accesses; the emulator alone. */
TesStatus bench_ladder_create_noting(TesContext *ctx, const TesOperator *op,
                                     const BenchLadderVariant *variant, int notes, TesSmoother **smoother);
/* Runs one block. log[threads][notes] <- (device memory) what its threads noted. */
TesStatus bench_ladder_note(const TesSmoother *smoother, BenchLadderPart part, const void *b, void *x,
                            long long *log);

#endif
