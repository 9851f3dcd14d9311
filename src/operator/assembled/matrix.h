/* Sparse matrices: the assembled forms of mapped operators, on the host and by kernels. */
#ifndef TESI_MATRIX_H
#define TESI_MATRIX_H

#include "operator/operator.h"

/* A matrix in compressed rows, host memory, float64, columns ascending. */
typedef struct TesiMatrix {
  int64_t rows, entries;
  int64_t *row;    /* [rows + 1] */
  int32_t *column; /* [entries] */
  double *value;   /* [entries] */
} TesiMatrix;
void tesi_matrix_destroy(TesContext *ctx, TesiMatrix *matrix);
/* T <- the transpose of a matrix with so many columns; without values if it has none. */
TesStatus tesi_matrix_transpose(TesContext *ctx, const TesiMatrix *matrix, int64_t columns, TesiMatrix *T);
/* Entries by the colours of their columns: colour c has entries (*place)[(*first)[c]] .. (*place)[(*first)[c + 1] - 1];
 * (*row_of)[entry]. To be freed after failure too. */
TesStatus tesi_matrix_by_colour(TesContext *ctx, const TesiMatrix *matrix, int colours, const int32_t *colour,
                                int64_t **first, int64_t **place, int32_t **row_of);
/* y <- matrix x, host arrays, on all threads of the context. */
void tesi_matrix_apply(const TesContext *context, const TesiMatrix *matrix, const double *x, double *y);

/* The same matrix in the memory of a device that has kernels. The addresses are given to the device's sparse
 * library. */
typedef struct TesiDeviceMatrix {
  int64_t rows, entries;
  int32_t *row;    /* [rows + 1] */
  int32_t *column; /* [entries] */
  double *value;   /* [entries] */
} TesiDeviceMatrix;
void tesi_device_matrix_destroy(const TesOperator *op, TesiDeviceMatrix *matrix);

/* The assembled form of a mapped operator after elimination of constraints: rows and columns of the unknowns, 1 on
 * the diagonal of Dirichlet rows, Robin terms included. Cell matrices by sum factorization, on all threads: about 8
 * n^6 q flops per cell in 3D. The needed memory is computed first and logged in verbose mode. TES_OUT_OF_MEMORY: the
 * machine does not have it. */
TesStatus tesi_operator_assemble(const TesOperator *op, TesiMatrix *matrix);
/* The same matrix made by kernels: columns ascend, values differ in their last bits (sums by atomics). Needs 12 bytes
 * per entry and 4 per row, and during assembly 4 bytes for each node of each cell, twice. Errors: TES_MISSING where
 * the device has no kernels; TES_OUT_OF_MEMORY, also for 2^31 entries and more; TES_INVALID_INPUT for cells of degree
 * 15 with 17 points, which do not fit into a block. */
TesStatus tesi_operator_assemble_device(const TesOperator *op, TesiDeviceMatrix *matrix);
/* The matrix of any float64 operator over element q, of one component or of several with the same nodes. It is found
 * from products with sums of unit vectors, for forms that have no cell matrices of their own. Takes 12 bytes per
 * entry, during the work also for rows and columns of given values. On several ranks, for operators that
 * tesi_operator_share() knows: the rows of this rank's nodes, with the complete entries of all pairs of nodes that
 * share a cell of this rank. Every rank calls it. */
TesStatus tesi_operator_probe(const TesOperator *op, TesiMatrix *matrix);
/* Without the Robin terms. */
TesStatus tesi_mapped_assemble(const TesOperator *op, TesiMatrix *matrix);
TesStatus tesi_mapped_assemble_device(const TesOperator *op, TesiDeviceMatrix *matrix);

/* The space without constraints and the matrix H of hanging nodes (adaptive-multigrid-liebchen). `all` has the nodes
 * of `space` under the same numbers, then the hanging nodes, each once. H [nodes of all][length of space] computes
 * values at all nodes: 1 for a node that does not hang, else the weights of the interpolation. H has no entries in
 * columns of Dirichlet nodes, where operators read 0. With A, the operator over `all` (nothing eliminated), the
 * operator over `space` is H' A H. A hanging node that lies at a node of `space` gets the number of that node. */
TesStatus tesi_space_unconstrain(const TesSpace *space, TesSpace **all, TesiMatrix *H);

#endif
