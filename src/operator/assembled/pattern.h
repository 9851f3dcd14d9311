/* The structure of an assembled matrix in compressed rows: a row has an entry for each node that shares a cell with its
 * node. */
#ifndef TESI_PATTERN_H
#define TESI_PATTERN_H

#include "operator/assembled/matrix.h"

/* The nodes of the cells, index[cells][cell_nodes], from 0 to nodes - 1; negative: none. */
typedef struct TesiPatternCells {
  TesContext *context;
  int64_t cells, nodes, cell_nodes;
  const int32_t *index;
} TesiPatternCells;

typedef struct TesiPattern {
  int32_t *sorted; /* [cells][cell_nodes] nodes ascending, then -1 */
  int16_t *place;  /* [cells][cell_nodes] node of the cell */
  int64_t *first;  /* [nodes + 1] the cells of node i begin at cell[first[i]] */
  int32_t *cell;
} TesiPattern;

/* Fills rows, entries, row and column of `matrix`, and allocates its values as zeros. A node in no cell has a diagonal
 * entry. Refuses a matrix for which the machine has no memory. */
TesStatus tesi_pattern_create(const TesiPatternCells *cells, TesiPattern *pattern, TesiMatrix *matrix);
/* Adds the matrices K[count][cell_nodes][cell_nodes] of cells first .. first + count - 1. */
void tesi_pattern_add(const TesiPatternCells *cells, const TesiPattern *pattern, int64_t first, int64_t count,
                      const double *K, TesiMatrix *matrix);
void tesi_pattern_free(TesContext *ctx, TesiPattern *pattern);

/* TES_OUT_OF_MEMORY if the machine has no room for a matrix of this size. */
TesStatus tesi_matrix_check_memory(TesContext *ctx, int64_t rows, int64_t entries);

#endif
