/* Point Gauss-Seidel: matrix rows and orders of unknowns. */
#ifndef TESI_GAUSS_SEIDEL_H
#define TESI_GAUSS_SEIDEL_H

#include "smoother/smoother.h"

/* Rows of A on a tensor-product space: row i couples to nodes lower[d][i_d] <= j_d < upper[d][i_d] in each direction,
 * which is a box of nodes. Separable operators keep their 1D matrices. Other operators keep the values of all boxes (x
 * fastest), found by applying A to sums of unit vectors whose rows do not overlap: (2 degree + 1)^dim applications. */
typedef struct TesiRows {
  const TesSpace *space;
  int *lower[3], *upper[3]; /* [nodes(d)] */
  double *K[3], *M[3]; /* separable: [nodes(d)][2 degree + 1], first column lower[d][i]; otherwise NULL */
  int64_t *offset;     /* other operators: begin of each row in values */
  double *values;
} TesiRows;

TesStatus tesi_rows_create(const TesOperator *op, TesiRows *rows);
void tesi_rows_destroy(TesContext *ctx, TesiRows *rows);
/* (A x)_i without the diagonal term, and the diagonal entry. */
double tesi_rows_product(const TesiRows *rows, int64_t i, const double *x, double *diagonal);

/* Unknowns in the order of first visits. The walk visits the cells in Morton order and the nodes of a cell in
 * lexicographic order. order [dofs]. */
void tesi_morton_order(const TesSpace *space, int64_t *order);
/* Unknowns in ascending order. */
void tesi_lexicographic_order(const TesSpace *space, int64_t *order);

/* The sweep with a dense matrix, built by the plain operator; the order by sorting Morton codes. float64 host
 * arrays. */
TesStatus tesi_gauss_seidel_apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep);

#endif
