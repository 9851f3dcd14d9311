/* Faces of cells on the boundary of a mesh of any kind: lists of faces, and quadrature on them. */
#ifndef TESI_BATCH_FACES_H
#define TESI_BATCH_FACES_H

#include "functional/batch.h"

enum { TESI_FACE_POINTS = 12, TESI_FACE_MOST = 144, TESI_CELL_MOST = 729 };

/* q Gauss points per direction of a face. Points are numbered lexicographically along the directions of the face, the
 * lower direction fastest. Forests have at most degree 8 and TESI_FACE_POINTS points, kind cells
 * TESI_TENSOR_FACE_POINTS, boxes more. */
struct TesiFaceRule {
  int dim, n, q, nodes, points; /* n nodes per direction; nodes and points of a face */
  double point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS]; /* 1D */
  double B[TESI_MAX_POINTS * TESI_MAX_POINTS];            /* [q][n] */
  double G[TESI_MAX_POINTS * TESI_MAX_POINTS];            /* [q][n] */
  /* for the geometry's m nodes: [q][m], and the derivatives at both ends [2][m] */
  int m;
  double geometry_B[TESI_TENSOR_FACE_POINTS * (TESI_GEOMETRY_DEGREE + 1)],
      geometry_G[TESI_TENSOR_FACE_POINTS * (TESI_GEOMETRY_DEGREE + 1)], ends[2 * (TESI_GEOMETRY_DEGREE + 1)];
};

/* geometry NULL: for boxes. */
void tesi_face_rule(int dim, int degree, int q, const TesiGeometry *geometry, TesiFaceRule *rule);
/* The nodes of the face used as points; their weights have no meaning. */
void tesi_face_node_rule(int dim, int degree, const TesiGeometry *geometry, TesiFaceRule *rule);
/* values <- f at n points x[3][n] of a boundary with normals [3][n] (may be NULL if f does not use them). TES_NAN: the
 * message gives the first value that is not finite. */
TesStatus tesi_boundary_values(const TesFunction *f, int n, const double *x, const double *normal,
                               double *values);
/* Local number of node i of a face. */
int tesi_face_node(int dim, int n, int face, int i);
/* Points x[points][dim] of a face, and w|J_F| at them; normal[points][dim] (may be NULL): unit, outwards. */
void tesi_face_geometry(const TesiFaceRule *rule, const TesiGeometry *geometry, int64_t cell, int face,
                        double *x, double *weight, double *normal);
/* The same with x[3][points] and normal[3][points], all three. */
void tesi_face_points(const TesiFaceRule *rule, const TesiGeometry *geometry, int64_t cell, int face,
                      double *x, double *weight, double *normal);
/* Values of f at those points. */
void tesi_face_values(const TesiFaceRule *rule, const TesFunction *f, const double *x, double *value);
/* at[points] <- the function with nodal values u[nodes] of the face, at its points; the transpose: u[nodes] += .. */
void tesi_face_interpolate(const TesiFaceRule *rule, const double *u, double *at);
void tesi_face_project(const TesiFaceRule *rule, const double *at, double *u);

/* The faces with wanted[boundary], cell by cell. `inner`: also named faces between cells, once each. */
typedef struct TesiBoundaryFace {
  int64_t cell;
  int face, boundary;
} TesiBoundaryFace;
TesStatus tesi_boundary_faces(const TesiBatches *b, const bool *wanted, bool inner, TesiBoundaryFace **face,
                              int64_t *count);

/* Number of nodes of a face of a box, and its i-th node. */
static inline int64_t tesi_box_face_nodes(const TesSpace *space, int face) {
  return space->length / space->axis[face / 2].nodes;
}
static inline int64_t tesi_box_face_node(const TesSpace *space, int face, int64_t i) {
  int64_t before = 1;
  for (int d = 0; d < face / 2; d++) before *= space->axis[d].nodes;
  const int64_t span = before * space->axis[face / 2].nodes;
  return i / before * span + (face % 2 ? span - before : 0) + i % before;
}
/* values <- 0 at the given nodes of a box. */
void tesi_box_clear(const TesSpace *space, double *values);

#endif
