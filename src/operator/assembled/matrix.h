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
/* y <- matrix x, host arrays, on all threads of the context. */
void tesi_matrix_apply(const TesContext *context, const TesiMatrix *matrix, const double *x, double *y);

/* The same in the memory of a device that has kernels: addresses there, to be given to its sparse libraries. */
typedef struct TesiDeviceMatrix {
  int64_t rows, entries;
  int32_t *row;    /* [rows + 1] */
  int32_t *column; /* [entries] */
  double *value;   /* [entries] */
} TesiDeviceMatrix;
void tesi_device_matrix_destroy(const TesOperator *op, TesiDeviceMatrix *matrix);

/* The assembled form of a mapped operator, constraints eliminated: rows and columns of the unknowns, 1 on the
 * diagonal of Dirichlet rows, Robin terms in it. Cell matrices by sum factorization, on all threads: about 8 n^6 q
 * flops a cell in 3D. The memory needed is computed first, logged in verbose mode, and refused with
 * TES_OUT_OF_MEMORY where the machine does not have it. */
TesStatus tesi_operator_assemble(const TesOperator *op, TesiMatrix *matrix);
/* The same made by kernels: columns ascend, values differ in their last bits (sums by atomics). Needs 12 bytes an
 * entry and 4 a row, and while it works 4 bytes for each node of each cell, twice. Errors: TES_MISSING where the
 * device has no kernels, TES_OUT_OF_MEMORY, also for 2^31 entries and more; TES_INVALID_INPUT for cells of degree
 * 15 with 17 points, which a block has no room for. */
TesStatus tesi_operator_assemble_device(const TesOperator *op, TesiDeviceMatrix *matrix);
/* The matrix of any operator in float64 over element q, of one component or of several with the same nodes, from
 * products with sums of unit vectors: for forms that have no cell matrices of their own. Takes 12 bytes an entry, rows
 * and columns of given values included while it works. On several ranks, of operators that tesi_operator_share() knows:
 * the rows of this rank's nodes with the entries of pairs that one of its cells has, whole; every rank calls it. */
TesStatus tesi_operator_probe(const TesOperator *op, TesiMatrix *matrix);
/* Without the Robin terms. */
TesStatus tesi_mapped_assemble(const TesOperator *op, TesiMatrix *matrix);
TesStatus tesi_mapped_assemble_device(const TesOperator *op, TesiDeviceMatrix *matrix);

/* The space without constraints and the matrix H of hanging nodes (adaptive-multigrid-liebchen): `all` has the
 * nodes of `space`, with their numbers, and behind them the hanging nodes, each once; H [nodes of all][length of
 * space] makes their values: 1 for a node that does not hang, else the numbers of the interpolation, without the
 * columns of Dirichlet nodes, where operators read 0. An operator over `all` is A, the matrix without elimination;
 * the operator over `space` is H' A H. A hanging node that lies at a node of `space` gets the number of that node. */
TesStatus tesi_space_unconstrain(const TesSpace *space, TesSpace **all, TesiMatrix *H);

#endif
