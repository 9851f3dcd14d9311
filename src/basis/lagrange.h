/* Lagrange polynomials and the 1D matrices of one cell.
 * Matrices are row-major; B[q][p] = phi_p(x_q) and G[q][p] = phi_p'(x_q), on the reference cell [0, 1]. */
#ifndef TESI_LAGRANGE_H
#define TESI_LAGRANGE_H

/* Values B[nq][n] and derivatives G[nq][n] (either may be NULL) at `points` of the polynomials with nodes nodes[n]. */
void tesi_lagrange(int n, const double *nodes, int nq, const double *points, double *B, double *G);

/* Mass M[n][n] and stiffness K[n][n] of the reference cell in the Gauss-Lobatto basis of degree n-1, integrated
 * exactly. A cell of width h has h*M and K/h. Both are centrosymmetric: M[i][j] = M[n-1-i][n-1-j]. */
void tesi_cell_matrices(int degree, double *M, double *K);

#endif
