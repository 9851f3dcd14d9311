/* Matrices of cells, [n^dim][n^dim], hanging nodes eliminated: C' K C. */
#ifndef TESI_MAPPED_MATRIX_H
#define TESI_MAPPED_MATRIX_H

#include "operator/assembled/matrix.h"
#include "operator/mapped/mapped.h"
#include "tensor/matmul.h"

typedef struct TesiCellMatrix TesiCellMatrix;
TesStatus tesi_cell_matrix_create(const TesiMapped *m, TesiCellMatrix **matrix);
void tesi_cell_matrix_destroy(TesiCellMatrix **matrix);
/* Numbers of work memory a thread needs. */
int64_t tesi_cell_matrix_work(const TesiCellMatrix *matrix);
/* K from the factors g[s][q^dim] of the cell. */
void tesi_cell_matrix(const TesiCellMatrix *matrix, int64_t cell, const double *g, double *work, double *K);

/* The places of a matrix in compressed rows; mapped_pattern.c. */
typedef struct TesiPattern {
  int32_t *sorted; /* [cells][n^dim] free nodes ascending, then -1 */
  int16_t *place;  /* [cells][n^dim] node of the cell */
  int64_t *first;  /* [nodes + 1] cells of a node: cell[first[i]] .. */
  int32_t *cell;
} TesiPattern;
/* Fills rows, entries, row and column of `matrix` and allocates its values, zero. Refuses what the machine has no
 * memory for. */
TesStatus tesi_pattern_create(const TesiMapped *m, TesiPattern *pattern, TesiMatrix *matrix);
void tesi_pattern_free(TesContext *ctx, TesiPattern *pattern);

#endif
