/* Solution on the coarsest level, in float64, whatever the precision of the cycle.
 * Separable form: fast diagonalization. Quadrature form: conjugate gradients to 1e-8, preconditioned by the fast
 * diagonalization of the operator with mean coefficients, scaled node by node; the number of iterations depends on the
 * variation of a in a cell, not on the mesh. On devices with kernels small matrices are inverted instead, so that a
 * cycle never waits for the host. Mapped operators: their matrix is factorized, or on devices with kernels inverted.
 * Stokes operators: fast diagonalization and a Schur complement. */
#ifndef TESI_COARSE_H
#define TESI_COARSE_H

#include "multigrid/coarse/diagonalization.h"
#include "tessera/multigrid.h"

typedef struct TesiCoarse TesiCoarse;
/* Any operator: a dense Cholesky factorization, or conjugate gradients with an algebraic multigrid (amg.h) or with
 * the diagonal. */
typedef struct TesiCoarseMatrix TesiCoarseMatrix;
enum { TESI_DENSE = 3000 };

/* op: float64, of the coarsest level, referenced; precision: of the cycle's vectors. */
TesStatus tesi_coarse_create(const TesOperator *op, TesPrecision precision, TesCoarseKind kind,
                             TesiCoarse **coarse);
void tesi_coarse_destroy(TesiCoarse **coarse);
/* How it solves: "solved directly", or the name of an iteration. */
const char *tesi_coarse_describe(const TesiCoarse *coarse);
/* Whether float64 vectors may be given, beside vectors of the cycle's precision. */
bool tesi_coarse_takes_double(const TesiCoarse *coarse);
/* x <- A^-1 b (least-squares solution of mean zero when A is singular). */
TesStatus tesi_coarse_solve(TesiCoarse *coarse, const TesVector *b, TesVector *x);

/* coarse_matrix.c; host vectors b, x [length]. */
TesStatus tesi_coarse_matrix_create(TesContext *ctx, const TesOperator *op, TesCoarseKind kind,
                                    TesiCoarseMatrix **matrix);
void tesi_coarse_matrix_destroy(TesiCoarseMatrix **matrix);
const char *tesi_coarse_matrix_describe(const TesiCoarseMatrix *matrix);
TesStatus tesi_coarse_matrix_solve(TesiCoarseMatrix *matrix, const double *b, double *x);

/* coarse_stokes.c; host vectors. Entries of x at known nodes are left as they are, zero. */
typedef struct TesiCoarseStokes TesiCoarseStokes;
TesStatus tesi_coarse_stokes_create(TesContext *ctx, const TesOperator *op, TesiCoarseStokes **coarse);
void tesi_coarse_stokes_destroy(TesiCoarseStokes **coarse);
void tesi_coarse_stokes_solve(TesiCoarseStokes *coarse, double *b, double *x);

#endif
