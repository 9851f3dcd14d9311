/* Estimates of the largest eigenvalue of a preconditioned operator, and the diagonal preconditioner. */
#ifndef TESI_SPECTRUM_H
#define TESI_SPECTRUM_H

#include "smoother/smoother.h"

/* z <- B r for a symmetric positive definite B; device memory of the operator's precision. */
typedef TesStatus (*TesiPrecondition)(void *user, const void *r, void *z);

/* Largest Ritz value of B A after `steps` steps of preconditioned conjugate gradients from a fixed start vector
 * (pseudo-random in the node number): it is an estimate from below, with an error of a few per cent after 12 steps.
 * Scalars in float64. Cost: `steps` applications of A and B, and four vectors of memory during the call. Errors:
 * TES_NAN when A or B gives NaN. */
TesStatus tesi_largest_eigenvalue(const TesOperator *op, TesiPrecondition precondition, void *user, int steps,
                                  double *lambda);

/* The factor by which a step of conjugate gradients reduces the energy norm of the error, from a random residual: the
 * mean over `steps` steps after the first step, which reduces more than the others. B need not be symmetric: each
 * direction is made conjugate to the last direction, as in krylov/cg.c. */
TesStatus tesi_reduction(const TesOperator *op, TesiPrecondition precondition, void *user, int steps,
                         double *factor);

enum { TESI_EIGENVALUE_STEPS = 12 };

/* The values of the start vector: in [-1, 1], zero at Dirichlet nodes. v [length] on the host. */
void tesi_start_vector(const TesSpace *space, double *v);

/* d[length] on the host, float64: over boxes from the definition, else from the operator. */
TesStatus tesi_diagonal_ref(const TesOperator *op, double *d);

/* *d <- the inverse diagonal of A: a new device vector of length values in the operator's precision. Release by the
 * device table. */
TesStatus tesi_inverse_diagonal(const TesOperator *op, void **d);

/* The largest eigenvalue of D^-1 A, given the inverse diagonal. */
TesStatus tesi_largest_jacobi_eigenvalue(const TesOperator *op, const void *inverse_diagonal, double *lambda);

/* Sets the damping of a patch smoother B that has none yet: 1, of additive patches 1.5 / lambda_max(B A). */
TesStatus tesi_patch_damping(TesSmoother *smoother);

#endif
