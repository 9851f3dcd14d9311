/* The functions that we need from p4est, for two and three dimensions: forest_p4est_body.h, compiled for each. */
#ifndef TESI_FOREST_P4EST_H
#define TESI_FOREST_P4EST_H

#include "mesh/forest/trees.h"
#include "parallel/exchange.h"

/* Leaves in Morton order, tree by tree; origins in units of 2^-depth of a tree. */
typedef struct TesiLeaves {
  int64_t cells;
  int32_t *tree;   /* [cells] */
  int8_t *level;   /* [cells] */
  int8_t *child;   /* [cells] */
  int32_t *origin; /* [cells][3] */
} TesiLeaves;

/* Nodes of the cells of this rank: first the nodes that it owns, then copies of nodes of other ranks. */
typedef struct TesiForestNodes {
  int64_t nodes, owned, first; /* first: number of the first owned node, counted over all ranks */
  TesiSharers sharers;         /* without ranks: no node is shared */
} TesiForestNodes;

/* A forest belongs to all ranks of a communicator (NULL: one rank). Each rank has its own cells. All ranks call these
 * functions, except the queries. */
typedef struct TesiP4est {
  int depth; /* the length of a tree is 2^depth */
  int max_level;
  /* Errors: TES_OUT_OF_MEMORY. */
  TesStatus (*connect)(TesContext *ctx, const TesiTrees *coarse, void **connectivity);
  void (*disconnect)(void *connectivity);
  void *(*create)(const TesCommunicator *communicator, void *connectivity, int level);
  /* A forest with these leaves, which are complete and in order; each rank gives the leaves that follow those of the
   * rank before. begin[ranks + 1]: numbers of the first leaves of ranks; of_trees[trees + 1]: of trees; one rank needs
   * neither. NULL if the leaves are not balanced. Ranks get equally many cells. */
  void *(*rebuild)(const TesCommunicator *communicator, void *connectivity, const TesiLeaves *leaves,
                   const double *begin, const double *of_trees);
  void (*destroy)(void *forest);
  /* See tes_mesh_adapt(); mark NULL: all -1. balanced: the marks keep the forest balanced. move: ranks get equally many
   * cells afterwards; else the descendants and the parent of a cell stay on its rank. */
  void *(*adapt)(void *forest, const int8_t *mark, bool balanced, bool move);
  int64_t (*cells)(const void *forest), (*all_cells)(const void *forest);
  /* Fills allocated arrays. */
  void (*leaves)(const void *forest, TesiLeaves *leaves);
  /* A name of a face of a tree, the same for both trees that have it. */
  int64_t (*face)(const void *connectivity, int64_t tree, int face);
  /* p4est's own numbers of nodes, for forests of several ranks, and for tests that compare ours with them:
   * index[cells][(degree + 1)^dim] and mask[cells] (owned by the caller) as described in space.h. nodes->sharers must
   * be freed, after failure too. */
  TesStatus (*number)(TesContext *ctx, void *forest, int degree, int32_t *index, uint16_t *mask,
                      TesiForestNodes *nodes);
} TesiP4est;

/* NULL when the library was built without p4est. Initialises MPI and p4est at the first call. */
const TesiP4est *tesi_p4est(int dim);
bool tesi_p4est_is_built(void);
/* TES_MISSING if the library was built without p4est. */
TesStatus tesi_p4est_check(TesContext *ctx);

extern const TesiP4est tesi_p4est_2d, tesi_p4est_3d;

#endif
