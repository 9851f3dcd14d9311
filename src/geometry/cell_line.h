/* Polynomials of cells along a line. */
#ifndef TESI_CELL_LINE_H
#define TESI_CELL_LINE_H

#include "geometry/geometry.h"

typedef struct TesiLine {
  double point[TESI_GEOMETRY_DEGREE + 1]; /* [m+1] Gauss-Lobatto points */
  /* [m+1][m+1] Bernstein coefficients of a polynomial from its values there. It lies between the least and the largest
   * of them. */
  double control[(TESI_GEOMETRY_DEGREE + 1) * (TESI_GEOMETRY_DEGREE + 1)];
} TesiLine;

/* Of degree 1..TESI_GEOMETRY_DEGREE; made once. */
const TesiLine *tesi_line(int degree);

#endif
