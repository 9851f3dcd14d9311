/* Matrices of cells, [n^dim][n^dim], after elimination of hanging nodes: C' K C. */
#ifndef TESI_MAPPED_MATRIX_H
#define TESI_MAPPED_MATRIX_H

#include "operator/assembled/pattern.h"
#include "operator/mapped/mapped.h"
#include "tensor/matmul.h"

typedef struct TesiCellMatrix TesiCellMatrix;
TesStatus tesi_cell_matrix_create(const TesiMapped *m, TesiCellMatrix **matrix);
void tesi_cell_matrix_destroy(TesiCellMatrix **matrix);
/* Numbers of work memory that a thread needs. */
int64_t tesi_cell_matrix_work(const TesiCellMatrix *matrix);
/* K from the factors g[s][q^dim] of the cell. */
void tesi_cell_matrix(const TesiCellMatrix *matrix, int64_t cell, const double *g, double *work, double *K);

#endif
