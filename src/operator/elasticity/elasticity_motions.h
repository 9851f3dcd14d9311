/* Rigid motions of elasticity operators. */
#ifndef TESI_ELASTICITY_MOTIONS_H
#define TESI_ELASTICITY_MOTIONS_H

#include "operator/operator.h"

static inline bool tesi_is_elasticity(const TesOperator *op) {
  return op->kind == &tesi_operator_elasticity;
}
/* The largest Poisson's ratio lambda / (2 (lambda + mu)) at a point; of an elasticity operator. */
double tesi_elasticity_poisson(const TesOperator *op);
/* The rigid motions that no support holds, orthonormal as vectors of the operator: motion[*count][length], 6 at most.
 * The caller frees them; NULL where *count is 0, as for operators of other kinds. A mass holds all motions. */
TesStatus tesi_elasticity_motions(const TesOperator *op, int *count, double **motion);
/* The number of motions that no support holds, for a body at rest or in time. */
TesStatus tesi_elasticity_unheld(const TesOperator *op, int *loose);
/* All rigid motions, dim (dim + 1) / 2, as vectors of an elasticity operator, zero where values are given:
 * motion[*count][length]. The *loose motions that nothing holds come first. The caller frees them. */
TesStatus tesi_elasticity_near_null(const TesOperator *op, int *count, int *loose, double **motion);
/* text <- a description in words of such motions (tesi_rigid_tell()). */
TesStatus tesi_elasticity_tell(const TesSpace *space, int count, const double *motion, size_t size,
                               char *text);
/* v <- v without its parts in motion[count][length]. */
void tesi_elasticity_project(const TesiLayout *layout, int count, const double *motion, double *v);

#endif
