/** \file forest_space.h
 *  Continuous Q_k over a forest, k = 1..8, on Gauss-Lobatto nodes. Hanging values are no unknowns: a vector has one entry for each
 *  node that is a node of all cells it touches, Dirichlet nodes included, and a cell on a hanging face or edge reads the nodes of the
 *  coarse side and interpolates (adaptive-matrix-free-ljungkvist-2017, section 3).
 *
 *  Reading cell K, n = k + 1:
 *    1. u[k][j][i] <- x[index[K][k][j][i]], n^dim values. On a hanging face or edge, index names the nodes of the coarse face or edge,
 *       that is of the parent's, in the cell's own orientation.
 *    2. For direction d = x, y, z: on the lines along d that the mask says (tes_mask_line()),
 *       u <- W[child bit d] u, W[c][i][j] = (basis function j of [0, 1])(point c/2 + node_i / 2).
 *    Then u are the values at the cell's own nodes. Writing is the transpose: W' for d = z, y, x (any order gives the same), then
 *    x[index] += u. A whole line is read and written: both its ends are on it.
 */
#ifndef TESSERA_FOREST_SPACE_H
#define TESSERA_FOREST_SPACE_H

#include "forest.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesForestSpace TesForestSpace;

/** Bits of the mask of a cell; 0: nothing hangs. Only the three faces and edges at the outer corner of a child can hang: face with normal d
 *  lies on side (child bit d), edge along d at the sides (child bits of the other two directions). An edge bit is set
 *  only where neither face at the edge hangs. */
typedef enum TesMask {
  TES_MASK_CHILD_X = 1, /**< upper half of the parent in x */
  TES_MASK_CHILD_Y = 2,
  TES_MASK_CHILD_Z = 4,
  TES_MASK_FACE_X = 8, /**< the face with normal x hangs */
  TES_MASK_FACE_Y = 16,
  TES_MASK_FACE_Z = 32,
  TES_MASK_EDGE_X = 64, /**< the edge along x hangs by itself (3D) */
  TES_MASK_EDGE_Y = 128,
  TES_MASK_EDGE_Z = 256
} TesMask;

/** Whether the line along d through the nodes whose other two coordinates stand (first, second, ascending direction) on the
 *  side where the child touches its parent's boundary is interpolated. 2D: `second` (z) is never on the side: false. */
static inline bool tes_mask_line(unsigned mask, int d, bool first, bool second) {
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  return (first && (mask >> (3 + e) & 1)) || (second && (mask >> (3 + f) & 1)) ||
         (first && second && (mask >> (6 + d) & 1));
}

typedef struct TesForestSpaceDesc {
  const TesForest *forest; /**< a reference is kept */
  int degree;              /**< 1..8; 0 means 4 */
  /** Names of the boundaries with Dirichlet conditions, NULL behind the last; NULL: everywhere, unnamed faces too. An empty list: nowhere.
   *  Faces without a name are free when a list is given. */
  const char *const *dirichlet;
} TesForestSpaceDesc;

/** Errors: TES_INVALID_INPUT (degree, a name the mesh does not have), TES_OUT_OF_MEMORY (told in GiB before). */
TesStatus tes_forest_space_create(TesContext *context, const TesForestSpaceDesc *desc,
                                  TesForestSpace **space);
void tes_forest_space_destroy(TesForestSpace **space);

/** What it was created with and consists of. Arrays are owned by the space. */
TesContext *tes_forest_space_context(const TesForestSpace *space);
const TesForest *tes_forest_space_forest(const TesForestSpace *space);
int tes_forest_space_degree(const TesForestSpace *space);
/** Whether boundary number `boundary` (-1: unnamed faces) is Dirichlet. */
bool tes_forest_space_dirichlet(const TesForestSpace *space, int boundary);
/** Length of vectors, and how many of these nodes are no Dirichlet nodes. */
int64_t tes_forest_space_length(const TesForestSpace *space);
int64_t tes_forest_space_dofs(const TesForestSpace *space);
/** Hanging nodes, which other codes count as constrained degrees of freedom: their dofs are length + hanging. */
int64_t tes_forest_space_hanging(const TesForestSpace *space);
/** [cells][n^dim], x fastest: as TesMappedDesc.index, -1 - node for Dirichlet nodes. Nodes are numbered as cells meet them. */
const int32_t *tes_forest_space_index(const TesForestSpace *space);
/** [cells] TesMask. */
const uint16_t *tes_forest_space_masks(const TesForestSpace *space);
/** [2][n][n]: W of the file's head, float64. */
const double *tes_forest_space_halves(const TesForestSpace *space);

/** Coordinates of the nodes by a geometry over the same forest: x[length][dim]. */
TesStatus tes_forest_space_coordinates(const TesForestSpace *space, const TesGeometry *geometry, double *x);
/** Values of a function at the nodes: u[length]. Errors: TES_NAN. */
TesStatus tes_forest_space_interpolate(const TesForestSpace *space, const TesGeometry *geometry,
                                       const TesFunction *function, double *u);
/** Plain steps 1 and 2 for one cell: local[n^dim], Dirichlet nodes with the value that x has; and the transpose, which adds to x. */
void tes_forest_space_read(const TesForestSpace *space, int64_t cell, const double *x, double *local);
void tes_forest_space_add(const TesForestSpace *space, int64_t cell, const double *local, double *x);

#ifdef __cplusplus
}
#endif
#endif
