/* Forests as the other folders see them. */
#ifndef TESI_FOREST_H
#define TESI_FOREST_H

#include "mesh/forest/trees.h"
#include "mesh/forest/forest_p4est.h"

struct TesForest {
  atomic_int references;
  TesContext *context;
  TesiTrees *coarse;
  const TesiP4est *p4est; /* the functions */
  void *forest;           /* of p4est */
  int dim, max_level;
  TesiLeaves leaves;
};

TesForest *tesi_forest_retain(const TesForest *forest);
/* A forest over a coarse mesh whose leaves are given (as from a file): TES_INVALID_INPUT where they are no complete balanced
 * forest. Only cells, tree, level and origin of the leaves are read. */
TesStatus tesi_forest_rebuild(TesContext *ctx, TesiTrees *coarse, const TesiLeaves *leaves,
                              TesForest **forest);
/* Refuses what needs more than this machine has; `what` names it. */
TesStatus tesi_forest_afford(TesContext *ctx, int64_t bytes, const char *what, int64_t cells);
/* Length of a cell's edges in units of its tree's 2^-depth. */
static inline int32_t tesi_forest_length(const TesForest *f, int64_t cell) {
  return (int32_t)1 << (f->p4est->depth - f->leaves.level[cell]);
}
/* x[n][dim] of points in the tree's reference cell. */
static inline void tesi_forest_evaluate_tree(const TesForest *f, int64_t cell, int n, const double *xi,
                                             double *x) {
  tesi_trees_evaluate(f->coarse, f->leaves.tree[cell], n, xi, x);
}

#endif
