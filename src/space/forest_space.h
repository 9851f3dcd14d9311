/* Spaces over forests as the other folders see them. */
#ifndef TESI_FOREST_SPACE_H
#define TESI_FOREST_SPACE_H

#include "mesh/forest/hanging.h"

enum { TESI_FOREST_DEGREE = 8 };

struct TesForestSpace {
  atomic_int references;
  TesContext *context;
  TesForest *forest;
  int dim, degree, n, cell_nodes;
  bool *dirichlet; /* [boundaries + 1], the last for faces without a name */
  int64_t cells, length, dofs, hanging;
  int32_t *index; /* [cells][n^dim] */
  uint16_t *mask; /* [cells] */
  double node[TESI_HANGING_NODES], halves[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
};

TesForestSpace *tesi_forest_space_retain(const TesForestSpace *space);
/* The node that an entry of index means, Dirichlet or not. */
static inline int32_t tesi_forest_node(int32_t index) {
  return index < 0 ? -1 - index : index;
}

/* A name of a node of a cell, the same in all cells that have it: of its row of the interpolation of hanging nodes, numbers to 2^-30, by the nodes
 * index[n] of the cell. Numbers below TESI_FOREST_SMALL are round-off. */
#define TESI_FOREST_SMALL 1e-13
uint64_t tesi_forest_row_key(int n, const int32_t *index, const double *row);
/* That of a node that does not hang. */
uint64_t tesi_forest_node_key(int32_t index);

/* The values at all nodes of all cells from those at the unknowns, as a sparse matrix: row cell * n^dim + node. Made for tests, from
 * positions alone: which faces and edges hang on which, and what is one node, is found by comparing coordinates. */
typedef struct TesiConstraints {
  int64_t rows, columns;
  int64_t *first; /* [rows + 1] */
  int32_t *column;
  double *value;
} TesiConstraints;

/* Columns are numbered in the order in which rows meet them. period[d] > 0: coordinates that differ by it are one. */
TesStatus tesi_forest_constraints_ref(const TesForest *forest, int degree, const double period[3],
                                      TesiConstraints *c);
void tesi_forest_constraints_free(TesContext *ctx, TesiConstraints *c);

#endif
