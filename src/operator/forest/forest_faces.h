/* Boundary faces of forests: quadrature there, and boundary mass terms. */
#ifndef TESI_FOREST_FACES_H
#define TESI_FOREST_FACES_H

#include "basis/gauss.h"
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "operator/operator.h"

enum { TESI_FACE_POINTS = 12, TESI_FACE_MOST = 144, TESI_CELL_MOST = 729 };

/* q Gauss points a direction of a face. Points of a face are numbered by its own directions, ascending, the first fastest. */
typedef struct TesiFaceRule {
  int dim, n, q, nodes, points;                             /* n nodes a direction; nodes, points of a face */
  double point[TESI_FACE_POINTS], weight[TESI_FACE_POINTS]; /* 1D */
  double B[TESI_FACE_POINTS * TESI_HANGING_NODES];          /* [q][n] */
  double G[TESI_FACE_POINTS * TESI_HANGING_NODES];          /* [q][n] */
} TesiFaceRule;

void tesi_face_rule(int dim, int degree, int q, TesiFaceRule *rule);
/* Local number of node i of a face. */
int tesi_face_node(int dim, int n, int face, int i);
/* Points x[points][dim] of a face, and w|J_F| at them; normal[points][dim] (may be NULL): unit, outwards. */
TesStatus tesi_face_geometry(const TesiFaceRule *rule, const TesGeometry *geometry, int64_t cell, int face,
                             double *x, double *weight, double *normal);
/* The outward normal of a face times |J| |J^-T n|, from J[dim][dim] at a point: rows of the cofactors of J. */
void tesi_face_normal(int dim, const double *J, int face, double *normal);
/* Values of f at those points. */
void tesi_face_values(const TesiFaceRule *rule, const TesFunction *f, const double *x, double *value);
/* at[points] <- the face's nodes u[nodes] at its points; u[nodes] += the transpose. */
void tesi_face_interpolate(const TesiFaceRule *rule, const double *u, double *at);
void tesi_face_project(const TesiFaceRule *rule, const double *at, double *u);

#endif
