/* Quadrature on the cells of a forest, block by block: points, w|J|, and values and gradients of a vector at the
 * points. */
#ifndef TESI_CELL_RULE_H
#define TESI_CELL_RULE_H

#include "functional/batch_faces.h"
#include "space/space.h"

enum { TESI_CELL_POINTS = 12 * 12 * 12 };

typedef struct TesiCellRule {
  const TesiCellView *space;
  const TesiGeometry *geometry;
  int dim, n, q;
  int64_t nodes, points; /* a cell */
  double point[TESI_FACE_POINTS], weight[TESI_FACE_POINTS];
  double B[TESI_FACE_POINTS * TESI_HANGING_NODES], G[TESI_FACE_POINTS * TESI_HANGING_NODES]; /* [q][n] */
  double geometry_B[TESI_GEOMETRY_POINTS * (TESI_GEOMETRY_DEGREE + 1)],
      geometry_G[TESI_GEOMETRY_POINTS * (TESI_GEOMETRY_DEGREE + 1)];
} TesiCellRule;

/* One cell at its points: x[3][points], J[dim*dim][points] (d x_r / d xi_c at r * dim + c), weight[points] = w |J|. */
typedef struct TesiCellPoints {
  double x[3 * TESI_CELL_POINTS], J[9 * TESI_CELL_POINTS], det[TESI_CELL_POINTS], weight[TESI_CELL_POINTS];
} TesiCellPoints;

TesStatus tesi_cell_rule(const TesiCellView *space, int q, TesiCellRule *rule);
void tesi_cell_points(const TesiCellRule *rule, int64_t cell, TesiCellPoints *at);
/* out[points] <- T u with T = B in all directions but d, where it is G (d = -1: nowhere); u[nodes]. */
void tesi_cell_evaluate(const TesiCellRule *rule, int d, const double *u, double *out);
/* gradient[dim][points] in space, from the derivatives reference[dim][points] (may be the same). */
void tesi_cell_gradient(const TesiCellRule *rule, const TesiCellPoints *at, const double *reference,
                        double *gradient);
/* inverse[c][r] = d xi_c / d x_r at point p. */
void tesi_cell_inverse(const TesiCellRule *rule, const TesiCellPoints *at, int64_t p, double inverse[9]);

#endif
