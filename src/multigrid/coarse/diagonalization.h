/* Fast diagonalization of a whole separable operator: the direct solver of coarse levels.
 * A = sum_d K_d (x) M_others on the unknowns; K_d S_d = M_d S_d Lambda_d; A^-1 = (S (x) S (x) S) (Lambda (+) ..)^-1
 * (S (x) S (x) S)'.
 * Cost: 6 dense contractions, 2 N (n_x + n_y + n_z) multiply-adds. A zero eigenvalue (pure Neumann) is left out. */
#ifndef TESI_DIAGONALIZATION_H
#define TESI_DIAGONALIZATION_H

#include "operator/operator.h"

typedef struct TesiDiagonalization TesiDiagonalization;

TesStatus tesi_diagonalization_create(TesContext *ctx, const TesOperator *separable,
                                      TesiDiagonalization **diagonalization);
/* One direction: unknowns first .. first + n - 1 of `nodes`, modes S[n][n] (node, mode), eigenvalues lambda[n];
 * eigenvalue sums up to `smallest` count as zero. Owned by the diagonalization. */
typedef struct TesiDiagonalizationAxis {
  int n, first, nodes;
  const double *S, *lambda;
  double smallest;
} TesiDiagonalizationAxis;
TesiDiagonalizationAxis tesi_diagonalization_axis(const TesiDiagonalization *diagonalization, int d);
void tesi_diagonalization_destroy(TesiDiagonalization **diagonalization);
/* x <- A^-1 b; host arrays over all nodes of the space, zero at Dirichlet nodes. */
void tesi_diagonalization_solve(TesiDiagonalization *diagonalization, const double *b, double *x);

#endif
