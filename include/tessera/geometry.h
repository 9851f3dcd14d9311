/** \file geometry.h
 *  Geometry: a set of quadrilaterals or hexahedra, each the image of the unit cell [0, 1]^dim under a map F_K, and which
 *  vertices they share. Cells stand in any order and any orientation that is positive (det DF > 0).
 *
 *  Kinds, from the cheapest: affine (parallelepipeds), trilinear (straight edges: 8 vertices, 4 in 2D), curved (a polynomial Q_m
 *  a cell, by its values at the Gauss-Lobatto points), analytic (a map of functions after a trilinear one, its derivatives
 *  exact). The kind is found from the data: Q_m nodes that are images of a trilinear map make a trilinear geometry, vertices of
 *  parallelepipeds an affine one.
 *
 *  Immutable and reference-counted.
 */
#ifndef TESSERA_GEOMETRY_H
#define TESSERA_GEOMETRY_H

#include <stdbool.h>
#include "function.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesGeometry TesGeometry;

typedef enum TesGeometryKind {
  TES_GEOMETRY_AFFINE,
  TES_GEOMETRY_TRILINEAR,
  TES_GEOMETRY_CURVED,
  TES_GEOMETRY_ANALYTIC
} TesGeometryKind;

/** Cells by coordinates. Local numbering: vertex v = (bit 0: x, bit 1: y, bit 2: z); points lexicographic, x fastest. */
typedef struct TesGeometryDesc {
  int dim; /**< 2 or 3 */
  int64_t cells;
  int degree; /**< m of Q_m; 0 means 1: vertices */
  /** [cells][(m+1)^dim][dim] at the Gauss-Lobatto points of degree m, coordinate fastest; m = 1: the vertices. Copied. */
  const double *nodes;
  /** [cells][2^dim] numbers of the vertices, the same number for the same vertex; copied. NULL: no cell touches another. */
  const int32_t *vertices;
  /** x_d <- map[d](x, y, z) after that; all of the first dim, or none (NULL). Expressions, as derivatives are needed. */
  const TesFunction *map[3];
} TesGeometryDesc;

/** The cells of a box mesh, deformed. */
typedef struct TesGeometryBoxDesc {
  const TesMesh *mesh;
  /** Inner vertices are moved by up to this fraction of the smallest edge in each direction; 0..0.49 (0.3 and more may
   *  invert cells, which is found and refused). */
  double perturbation;
  uint64_t seed; /**< of the perturbation */
  /** Map of the box, after the perturbation; NULL: none. */
  const TesFunction *map[3];
  /** With a map: 0: analytic; m >= 1: the polynomial Q_m through its values (callbacks will do then). */
  int degree;
  uint64_t shuffle; /**< not 0: cells in the random order of this seed */
} TesGeometryBoxDesc;

/** Errors: TES_INVALID_INPUT (dim, degree 1..8, vertex numbers that are negative; a cell that is inverted or degenerate: the first is
 *  named, with the point and |J| there), TES_NAN, TES_OUT_OF_MEMORY. */
TesStatus tes_geometry_create(TesContext *context, const TesGeometryDesc *desc, TesGeometry **geometry);
TesStatus tes_geometry_create_box(TesContext *context, const TesGeometryBoxDesc *desc,
                                  TesGeometry **geometry);
void tes_geometry_destroy(TesGeometry **geometry);

/** What it consists of. */
int tes_geometry_dim(const TesGeometry *geometry);
int64_t tes_geometry_cells(const TesGeometry *geometry);
TesGeometryKind tes_geometry_kind(const TesGeometry *geometry);

/** The point F_K(xi) of each of n reference points [n][dim] in [0, 1]^dim of cell K, to x[n][dim]; J (may be NULL): [n][dim][dim],
 *  J[r][c] = d x_r / d xi_c. */
TesStatus tes_geometry_evaluate(const TesGeometry *geometry, int64_t cell, int n, const double *xi, double *x,
                                double *J);

/** How nodes are numbered. */
typedef enum TesNumberingOrder {
  TES_NUMBER_BY_CELLS,      /**< as cells meet them, lexicographic in the cell: runs of degree nodes */
  TES_NUMBER_LEXICOGRAPHIC, /**< x fastest, then y, then z, over a whole box; only for geometries of a box */
  TES_NUMBER_SHUFFLED       /**< at random */
} TesNumberingOrder;

typedef struct TesNumberingDesc {
  int degree; /**< 1..15 */
  TesNumberingOrder order;
  uint64_t seed;  /**< of the shuffled order */
  bool dirichlet; /**< nodes on the boundary (faces of one cell only) are constrained */
} TesNumberingDesc;

/** Numbers the nodes of continuous Q_k elements: index[cells][(k+1)^dim] (caller's), -1 - node for constrained nodes, node
 *  otherwise; *nodes of them. Shared edges and faces may be seen from their cells in any orientation.
 *  Errors: TES_INVALID_INPUT (more than 2^31 - 1 nodes, a face of more than two cells), TES_OUT_OF_MEMORY. */
TesStatus tes_geometry_number(const TesGeometry *geometry, const TesNumberingDesc *desc, int32_t *index,
                              int64_t *nodes);

#ifdef __cplusplus
}
#endif
#endif
