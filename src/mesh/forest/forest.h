/* The interface of forests for the other folders. */
#ifndef TESI_FOREST_H
#define TESI_FOREST_H

#include "mesh/mesh.h"

/* A forest over a coarse mesh with given leaves (for example from a file); TES_INVALID_INPUT if they are not a complete
 * balanced forest. Only cells, tree, level and origin of the leaves are read. On several ranks each rank gives the
 * leaves that follow the leaves of the rank before. */
TesStatus tesi_forest_rebuild(TesContext *ctx, TesiTrees *coarse, int geometry_degree,
                              const TesiLeaves *leaves, TesMesh **forest);
/* As tes_mesh_adapt(); move: see TesiP4est. */
TesStatus tesi_forest_adapt(const TesMesh *forest, const int8_t *mark, bool move, TesMesh **adapted);
/* The same cells, distributed so that all ranks have equally many. */
TesStatus tesi_mesh_share_out(const TesMesh *forest, TesMesh **mesh);
/* About the host memory, in bytes, of a space of this degree over `cells` cells of a forest, with its geometry of
 * degree m (degree 0: of the forest alone). */
int64_t tesi_mesh_memory(int dim, int64_t cells, int degree, int geometry_degree);
/* Refuses an object `what` that needs more memory than this machine has. */
TesStatus tesi_forest_afford(TesContext *ctx, int64_t bytes, const char *what, int64_t cells);
/* Length of a cell's edges in units of its tree's 2^-depth. */
static inline int32_t tesi_forest_length(const TesMesh *f, int64_t cell) {
  return (int32_t)1 << (f->depth - f->leaves.level[cell]);
}
/* x[n][dim] of points in the tree's reference cell. */
static inline void tesi_forest_evaluate_tree(const TesMesh *f, int64_t cell, int n, const double *xi,
                                             double *x) {
  tesi_trees_evaluate(f->coarse, f->leaves.tree[cell], n, xi, x);
}

#endif
