/* The columns of tessera bench stokes --variant, and its rows of operators. */
#ifndef BENCH_STOKES_VARIANTS_H
#define BENCH_STOKES_VARIANTS_H

#include "bench.h"

/* ps: of the whole sweep or operator; local: of the local solves of a colour alone, of `exact` with their residuals.
 * Flops and bytes: of what the kernels of the ladder do (of a sweep its local solves, with as many steps of conjugate
 * gradients as there may be), of programs those of TesCost. mib: of the processor. */
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

/* Rows of the operators that options->variant asks for, on a device with kernels, in 3D. */
TesStatus bench_stokes_operators(TesContext *ctx, const BenchOptions *options, const TesSpace *space,
                                 TesPrecision precision, CliTable *table);
TesStatus bench_stokes_compare(TesContext *ctx, const TesVector *x, const TesVector *first,
                               double *difference);

#endif
