/** \file forest_operator.h
 *  Diffusion and reaction over forests (space.h):
 *
 *      (A u, v) = int a grad u . grad v + int c u v + sum over boundaries int_F alpha u v,
 *
 *  with a and c by expression, or by the name of a material, and alpha by the name of a boundary. The operators are those of mapped.h, whose kernels
 *  interpolate hanging faces and edges inside (adaptive-matrix-free-ljungkvist-2017, section 3).
 *
 *  Arrays over boundaries and materials are in the order of their numbers (mesh.h), NULL inside: the default. A NULL array: all default.
 */
#ifndef TESSERA_FOREST_OPERATOR_H
#define TESSERA_FOREST_OPERATOR_H

#include "space.h"
#include "mapped.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesForestDiffusionDesc {
  const TesSpace *space;                                    /**< a reference is kept */
  const TesFunction *a, *c;                                 /**< NULL: 1, 0 */
  const TesFunction *const *material_a, *const *material_c; /**< [materials]; NULL inside: a, c */
  const TesFunction *const *alpha; /**< [boundaries] Robin coefficients, not negative; NULL inside: 0 */
  TesPrecision precision;
  int points;         /**< Gauss points a direction, degree + 1 or degree + 2; 0 means degree + 1 */
  TesFactors factors; /**< where the kernels have geometry and coefficient from; 0: what is fastest */
  /** For measurements: the same kernel on the same cells without interpolation. The result is not the operator of the space. */
  bool ignore_hanging;
} TesForestDiffusionDesc;

/** Rows of Dirichlet nodes are those of the identity (tes_operator_apply: y = x there); tes_operator_diagonal() is exact, hanging nodes
 *  included. Errors: TES_INVALID_INPUT (a not positive, c or alpha negative: the point is named), TES_NAN, TES_OUT_OF_MEMORY. */
TesStatus tes_operator_create_forest(TesContext *context, const TesForestDiffusionDesc *desc,
                                     TesOperator **op);

/** The assembled twin, constraints eliminated: rows and columns of the unknowns, 1 on the diagonal of Dirichlet rows. Robin
 *  terms are in it (Neumann data are part of the load). Cell matrices by sum factorization, on all threads: about 8 n^6 q flops a cell in 3D. Released by tes_forest_matrix_free(). Memory: told as by tes_mapped_assemble(). */
TesStatus tes_forest_assemble(const TesOperator *op, TesMatrix *matrix);
void tes_forest_matrix_free(const TesSpace *space, TesMatrix *matrix);
/** y <- matrix x, host arrays, on all threads of the context. */
void tes_matrix_apply(const TesContext *context, const TesMatrix *matrix, const double *x, double *y);
/** tes_forest_assemble() by kernels, in the memory of a device that has them; released by tes_device_matrix_free(). Memory, time and errors: as
 *  tes_mapped_assemble_device(). */
TesStatus tes_forest_assemble_device(const TesOperator *op, TesDeviceMatrix *matrix);

/** The space without constraints and the matrix H of hanging nodes (adaptive-multigrid-liebchen): `all` has the nodes of `space`, with their numbers,
 *  and behind them the hanging nodes, each once; H [nodes of all][length of space] makes their values: 1 for a node that does not hang, else
 *  the numbers of the interpolation, without the columns of Dirichlet nodes, where operators read 0. An operator created over `all` is the one without
 *  elimination, A, and H' A H the one over `space`. A hanging node at the place of one that does not hang is that one. Cells and geometry are the
 *  same. H is released by tes_forest_matrix_free(). */
TesStatus tes_forest_unconstrain(const TesSpace *space, TesSpace **all, TesMatrix *H);

/** What an assembled operator is made of. */
typedef enum TesAssembly {
  TES_ASSEMBLY_ELIMINATED, /**< y = A x, hanging nodes eliminated cell by cell: tes_forest_assemble() */
  TES_ASSEMBLY_HANGING     /**< y = H' (A (H x)): three sparse products, tes_forest_unconstrain() */
} TesAssembly;
/** The assembled twin as an operator, for comparison and for finding errors: the matrix or matrices, in compressed rows of int32 columns and values of
 *  desc->precision (assembled in float64, then rounded), on the device of the context, where kernels make them. Products by the context's
 *  threads; on a GPU by cuSPARSE where it is installed (TESSERA_LIBCUSPARSE names its file), else by a kernel. Bytes: 12 an entry (8 in
 *  float32) and 4 a row (8 on the host), told by tes_operator_describe() and in verbose mode; an entry per pair of nodes that share a cell, about
 *  (2k + 1)^d a row for degree k. The matrix-free operator that it is made from is released before this returns. H and H' are made on the
 *  host. tes_operator_apply_ref() multiplies row by row on the host. Errors: as tes_operator_create_forest() and tes_mapped_assemble(). */
TesStatus tes_operator_create_assembled(TesContext *context, const TesForestDiffusionDesc *desc,
                                        TesAssembly form, TesOperator **op);

/** b <- b - A u for a u that is zero but at Dirichlet nodes, by the cells that touch them; entries of b at Dirichlet nodes become 0. op: of
 *  tes_operator_create_forest(), all in float64. */
TesStatus tes_forest_subtract_lifting(const TesOperator *op, const TesSpace *space, const TesVector *u,
                                      TesVector *b);

#ifdef __cplusplus
}
#endif
#endif
