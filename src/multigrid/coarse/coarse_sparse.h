/* A level solved by a sparse factorization of its matrix. As many unknowns as the null space has dimensions are held,
 * and the null space is removed from right-hand sides and solutions. */
#ifndef TESI_COARSE_SPARSE_H
#define TESI_COARSE_SPARSE_H

#include "multigrid/coarse/factorization.h"

typedef struct TesiCoarseSparse TesiCoarseSparse;

/* op: in float64, over element q. null[nulls][length]: orthonormal, spans its null space; kept by the caller while the
 * solver lives. The call orders the unknowns but makes no factors. */
TesStatus tesi_coarse_sparse_create(const TesOperator *op, int nulls, const double *null,
                                    TesiCoarseSparse **sparse);
void tesi_coarse_sparse_destroy(TesiCoarseSparse **sparse);
TesiFactorizationCost tesi_coarse_sparse_cost(const TesiCoarseSparse *sparse);
TesStatus tesi_coarse_sparse_factorize(TesiCoarseSparse *sparse);
/* x <- A^-1 b without its part in the null space; host arrays, x may be b. */
TesStatus tesi_coarse_sparse_solve(TesiCoarseSparse *sparse, const double *b, double *x);

#endif
