/* Geometry for the other folders: positions and Jacobians at tensor-product points of ranges of cells. */
#ifndef TESI_GEOMETRY_H
#define TESI_GEOMETRY_H

#include "mesh/mesh.h"
#include "tensor/face.h"
#include "tessera/space.h"

typedef struct TesiGeometry TesiGeometry;

/* Kinds of maps from the unit cell to the cells, the cheapest first. Affine: parallelepipeds. Trilinear: straight
 * edges, 8 vertices (4 in 2D). Curved: a polynomial Q_m per cell, by its values at the Gauss-Lobatto points. Analytic:
 * functions after a trilinear map, with exact derivatives. The kind is found from the data: if Q_m nodes are images of
 * a trilinear map, the kind is trilinear. */
typedef enum TesiGeometryKind {
  TES_GEOMETRY_AFFINE,
  TES_GEOMETRY_TRILINEAR,
  TES_GEOMETRY_CURVED,
  TES_GEOMETRY_ANALYTIC
} TesiGeometryKind;

enum { TESI_GEOMETRY_DEGREE = 8, TESI_GEOMETRY_POINTS = 20 };

struct TesiGeometry {
  atomic_int references;
  TesContext *context;
  TesiGeometryKind kind;
  int dim, degree; /* m of Q_m; 1: affine or trilinear, which may be followed by an analytic map */
  int64_t cells, cell_nodes;
  double *nodes;       /* [cells][(m+1)^dim][dim] */
  int32_t *vertices;   /* [cells][2^dim]; NULL: no numbers of vertices */
  TesFunction *map[3]; /* analytic */
  TesFunction *gradient[3][3];
  int box[3];           /* cells per direction of a box, 0: not from a box */
  int32_t *cell_of_box; /* [cells] lexicographic position of each cell of a box; NULL: the cells have this order */
};

TesiGeometry *tesi_geometry_retain(const TesiGeometry *geometry);

/* The geometry of a mesh, owned by the mesh and made at the first call. Errors as tes_mesh_create(). */
TesStatus tesi_mesh_geometry(const TesMesh *mesh, const TesiGeometry **geometry);

/* Cells by coordinates. Points are lexicographic, x fastest. */
typedef struct TesiGeometryDesc {
  int dim; /* 2 or 3 */
  int64_t cells;
  int degree; /* m of Q_m; 0 means 1: vertices */
  /* [cells][(m+1)^dim][dim] at the Gauss-Lobatto points of degree m, coordinate fastest; m = 1: the vertices.
   * Copied. */
  const double *nodes;
  /* [cells][2^dim] numbers of the vertices, the same number for the same vertex; copied. NULL: no cell touches
   * another. */
  const int32_t *vertices;
  const TesFunction *map[3]; /* x_d <- map[d](x, y, z) is applied afterwards; expressions for all of the first dim
                              * directions, or NULL */
} TesiGeometryDesc;

/* Errors: TES_INVALID_INPUT (dim, degree 1..8, vertex numbers that are negative; a cell that is inverted or
 * degenerate: the first is named, with the point and |J| there), TES_NAN, TES_OUT_OF_MEMORY. */
TesStatus tesi_geometry_create(TesContext *context, const TesiGeometryDesc *desc, TesiGeometry **geometry);
/* The cells of a grid, deformed according to the description of a mesh; NULL: not deformed. */
TesStatus tesi_geometry_create_box(const TesMesh *mesh, const TesMeshDesc *desc, TesiGeometry **geometry);
/* The leaves of a forest, or trees without refinement. */
TesStatus tesi_geometry_create_leaves(const TesMesh *mesh, TesiGeometry **geometry);
void tesi_geometry_destroy(TesiGeometry **geometry);
/* As tes_mesh_evaluate(). */
TesStatus tesi_geometry_evaluate(const TesiGeometry *geometry, int64_t cell, int n, const double *xi,
                                 double *x, double *J);

/* Numbers the nodes of continuous Q_k elements: index[cells][(k+1)^dim] (caller's), -1 - node for constrained
 * nodes, node otherwise; *nodes of them. Shared edges and faces may be seen from their cells in any orientation.
 * Errors: TES_INVALID_INPUT (more than 2^31 - 1 nodes, a face of more than two cells), TES_OUT_OF_MEMORY. */
TesStatus tesi_geometry_number(const TesiGeometry *geometry, const TesNumberingDesc *desc, int32_t *index,
                               int64_t *nodes);

/* Points of cells first .. first + count - 1 at the tensor product of q points in [0, 1] per direction; B, G [q][m+1]
 * are the values and derivatives at these points of the Gauss-Lobatto basis of the geometry's degree. With n = count
 * q^dim, point of cell c at c q^dim + lexicographic:
 * x[3][n] (2D: x[2] is 0), J[dim*dim][n] with
 * J[r * dim + c] = d x_r / d xi_c. */
void tesi_geometry_tensor(const TesiGeometry *g, int64_t first, int64_t count, int q, const double *B,
                          const double *G, double *x, double *J);
/* The same at points of a face, with tables of n = m + 1 nodes: x[3][q^(dim-1)], J[dim*dim][q^(dim-1)]. */
void tesi_geometry_face(const TesiGeometry *g, int64_t cell, int face, const TesiFaceTables *tables,
                        double *x, double *J);
/* The outward normal of a face times |J| |J^-T n|, from J[dim][dim] at a point: rows of the cofactors of J. */
void tesi_face_normal(int dim, const double *J, int face, double *normal);
/* x[3][n] <- F(x), J[dim*dim][n] <- DF(x) J with the map F of an analytic geometry. */
void tesi_geometry_map(const TesiGeometry *g, int64_t n, double *x, double *J);
/* x[3] <- point p of the tensor product of q points per direction; B: the values of the basis at the q points. */
void tesi_geometry_node(const TesiGeometry *g, int64_t cell, int q, const double *B, int p, double *x);
/* x[q^dim][dim] <- all these points, with the same bits as tesi_geometry_evaluate(). */
void tesi_geometry_grid(const TesiGeometry *g, int64_t cell, int q, const double *B, double *x);
/* det J of the n points as tesi_geometry_tensor gives them. */
void tesi_geometry_determinant(int dim, int64_t n, const double *J, double *det);
/* The tables for tesi_geometry_tensor at these points. */
void tesi_geometry_tables(const TesiGeometry *g, int q, const double *points, double *B, double *G);

/* Makes the geometry from the description and the other arguments; checks all cells and finds the kind. Takes ownership
 * of nodes and vertices (and frees them if it fails). */
TesStatus tesi_geometry_finish(TesContext *ctx, TesiGeometry *g, TesiGeometry **geometry);

#endif
