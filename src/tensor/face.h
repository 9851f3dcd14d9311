/* Values and derivatives of a polynomial of a cell at the points of one of its faces, by sum factorization. */
#ifndef TESI_TENSOR_FACE_H
#define TESI_TENSOR_FACE_H

enum { TESI_TENSOR_FACE_NODES = 9, TESI_TENSOR_FACE_POINTS = 18 };

/* 1D tables of n nodes: at q points of a direction, values B and derivatives G [q][n], and the derivatives at the
 * two ends, [2][n]. */
typedef struct TesiFaceTables {
  int n, q;
  const double *B[2], *G[2]; /* of the face's first and second direction, ascending; the second in 3D only */
  const double *ends;
} TesiFaceTables;

/* u[n^dim], x fastest, with entries `stride` apart. Face 2 d + end has normal d. At q^(dim-1) points, the first
 * direction fastest: value (may be NULL) and the derivatives along x, y, z at derivative + d * (numbers between
 * them). Flops in 3D: about 2 n^3 + 6 n^2 q + 8 n q^2. */
void tesi_tensor_face(int dim, int face, const TesiFaceTables *tables, const double *u, int stride,
                      double *value, double *derivative, int between);

#endif
