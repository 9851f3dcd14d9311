/* Geometry as the other folders see it: positions and Jacobians at tensor-product points of whole ranges of cells. */
#ifndef TESI_GEOMETRY_H
#define TESI_GEOMETRY_H

#include "mesh/mesh.h"
#include "tensor/face.h"
#include "tessera/geometry.h"

enum { TESI_GEOMETRY_DEGREE = 8, TESI_GEOMETRY_POINTS = 20 };

struct TesGeometry {
  atomic_int references;
  TesContext *context;
  TesGeometryKind kind;
  int dim, degree; /* m of Q_m; 1 for affine, trilinear, and before an analytic map */
  int64_t cells, cell_nodes;
  double *nodes;       /* [cells][(m+1)^dim][dim] */
  int32_t *vertices;   /* [cells][2^dim]; NULL: none given */
  TesFunction *map[3]; /* analytic */
  TesFunction *gradient[3][3];
  int box[3];           /* cells a direction of a box, 0: not from a box */
  int32_t *cell_of_box; /* [cells] lexicographic position of each cell of a box; NULL: in that order */
};

TesGeometry *tesi_geometry_retain(const TesGeometry *geometry);

/* Points of cells first .. first + count - 1 at the tensor product of q points in [0, 1] a direction; B, G [q][m+1] are the values and
 * derivatives there of the Gauss-Lobatto basis of the geometry's degree. With n = count q^dim, point of cell c at c q^dim + lexicographic:
 * x[3][n] (2D: x[2] is 0), J[dim*dim][n] with J[r * dim + c] = d x_r / d xi_c. */
void tesi_geometry_tensor(const TesGeometry *g, int64_t first, int64_t count, int q, const double *B,
                          const double *G, double *x, double *J);
/* The same at points of a face, with tables of n = m + 1 nodes: x[3][q^(dim-1)], J[dim*dim][q^(dim-1)]. */
void tesi_geometry_face(const TesGeometry *g, int64_t cell, int face, const TesiFaceTables *tables, double *x,
                        double *J);
/* x[3][n] <- F(x), J[dim*dim][n] <- DF(x) J with the map F of an analytic geometry. */
void tesi_geometry_map(const TesGeometry *g, int64_t n, double *x, double *J);
/* det J of the n points as tesi_geometry_tensor gives them. */
void tesi_geometry_determinant(int dim, int64_t n, const double *J, double *det);
/* The tables that tesi_geometry_tensor wants for these points. */
void tesi_geometry_tables(const TesGeometry *g, int q, const double *points, double *B, double *G);

/* Makes the geometry that desc and the rest say; checks all cells, finds the kind. Takes nodes and vertices over (frees them when it fails). */
TesStatus tesi_geometry_finish(TesContext *ctx, TesGeometry *g, TesGeometry **geometry);

#endif
