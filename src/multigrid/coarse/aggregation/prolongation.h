/* Prolongations of smoothed aggregation: near-null vectors B [nodes][high][vectors] of a matrix A are represented by
 * vectors that live on one aggregate each. */
#ifndef TESI_PROLONGATION_H
#define TESI_PROLONGATION_H

#include "multigrid/coarse/aggregation/aggregates.h"

/* On each aggregate B = T C with orthonormal columns of T: T [nodes][aggregates] has a block high x vectors per node,
 * and C [aggregates][vectors][vectors] has upper triangles. A vector that depends on the vectors before it (such as
 * rotations on a single node) has a zero column in T and a zero row in C. */
TesStatus tesi_prolongation_tentative(TesContext *ctx, const TesiAggregates *aggregates, int64_t nodes,
                                      int high, int vectors, const double *B, TesiBlockMatrix *T, double **C);
/* P <- (I - omega D^-1 A) T; inverse: D^-1 [nodes high]. */
TesStatus tesi_prolongation_smooth(TesContext *ctx, const TesiBlockMatrix *A, const double *inverse,
                                   double omega, const TesiBlockMatrix *T, TesiBlockMatrix *P);

#endif
