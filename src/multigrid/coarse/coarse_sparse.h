/* A level solved by a sparse factorization of its matrix. What lies in the null space is held at as many unknowns, and
 * taken out of right-hand sides and solutions. */
#ifndef TESI_COARSE_SPARSE_H
#define TESI_COARSE_SPARSE_H

#include "multigrid/coarse/factorization.h"

typedef struct TesiCoarseSparse TesiCoarseSparse;

/* op: in float64, over element q. null[nulls][length]: orthonormal, spans its null space; kept by the caller while the
 * solver lives. The unknowns are ordered, the factors not yet made. */
TesStatus tesi_coarse_sparse_create(const TesOperator *op, int nulls, const double *null,
                                    TesiCoarseSparse **sparse);
void tesi_coarse_sparse_destroy(TesiCoarseSparse **sparse);
TesiFactorizationCost tesi_coarse_sparse_cost(const TesiCoarseSparse *sparse);
TesStatus tesi_coarse_sparse_factorize(TesiCoarseSparse *sparse);
/* x <- A^-1 b without its part in the null space; host arrays, x may be b. */
TesStatus tesi_coarse_sparse_solve(TesiCoarseSparse *sparse, const double *b, double *x);

#endif
