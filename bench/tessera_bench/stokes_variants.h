/* The columns of tessera bench stokes --variant, and its rows of operators. */
#ifndef BENCH_STOKES_VARIANTS_H
#define BENCH_STOKES_VARIANTS_H

#include "bench.h"

/* ps: of the whole sweep or operator; local: of the local solves of a colour only, for `exact` with their residuals.
 * Flops and bytes: for kernels of the ladder of their own work (of a sweep: the local solves, with the largest number
 * of steps of conjugate gradients); for programs of TesCost. mib: on the processor. */
enum {
  STOKES_DIM,
  STOKES_DEGREE,
  STOKES_PRECISION,
  STOKES_PART,
  STOKES_VARIANT,
  STOKES_CELLS,
  STOKES_DOFS,
  STOKES_SETUP,
  STOKES_PS,
  STOKES_MDOFS,
  STOKES_LOCAL,
  STOKES_GDOFS,
  STOKES_FLOPS,
  STOKES_BYTES,
  STOKES_TFLOPS,
  STOKES_GBYTES,
  STOKES_INTENSITY,
  STOKES_OPERATOR_TFLOPS,
  STOKES_ROOF,
  STOKES_CONFLICTS,
  STOKES_MEMORY,
  STOKES_DIFFERENCE,
  STOKES_PAPER_TFLOPS,
  STOKES_PAPER_GDOFS,
  STOKES_PAPER_LOCAL,
  STOKES_SERIES,
  STOKES_COLUMNS
};

/* Rows for the operators that options->variant requests, on a device with kernels, in 3D. */
TesStatus bench_stokes_operators(TesContext *ctx, const BenchOptions *options, const TesSpace *space,
                                 TesPrecision precision, CliTable *table);
TesStatus bench_stokes_compare(TesContext *ctx, const TesVector *x, const TesVector *first,
                               double *difference);

#endif
