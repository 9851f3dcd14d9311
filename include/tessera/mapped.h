/** \file mapped.h
 *  Operators on mapped cells: mass and stiffness with quadrature on unstructured quadrilaterals and hexahedra
 *  (tensor-product-bp-swirydowicz-2019; the benchmark problems BP1 to BP6).
 *
 *      (A u, v) = int grad u . a grad v  (stiffness)  +  lambda int c u v  (mass),     for every component alike.
 *
 *  Quadrature: q Gauss points a direction (BP1, BP3: q = degree + 2), or collocated: the degree + 1 Gauss-Lobatto nodes (BP5;
 *  "BP3.5" of the paper). y = E' I' (D' G D + lambda W) I E x with the 1D tables I (interpolation to the points) and D
 *  (differentiation there), G = w |J| J^-1 a J^-T and W = c w |J| at the points.
 *
 *  Two forms of vectors:
 *  - element: u[cell][component][k][j][i], x (i) fastest; no sharing (the paper's form).
 *  - global: u[node * components + component], with index[cell][(degree+1)^dim]: any numbering. index = -1 - node marks a
 *    constrained (Dirichlet) node: its value counts as 0, and its row of y is x there (symmetric elimination, A is 1 on its diagonal).
 *
 *  The result is a TesOperator: apply, residual, diagonal, apply_ref, cost and destroy of operator.h work; tes_operator_space() is NULL.
 */
#ifndef TESSERA_MAPPED_H
#define TESSERA_MAPPED_H

#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TesVectorForm { TES_GLOBAL_VECTORS, TES_ELEMENT_VECTORS } TesVectorForm;
typedef enum TesMappedTerms { TES_STIFFNESS = 1, TES_MASS = 2, TES_STIFFNESS_MASS = 3 } TesMappedTerms;
typedef enum TesTensorKind { TES_TENSOR_SCALAR, TES_TENSOR_DIAGONAL, TES_TENSOR_FULL } TesTensorKind;

/** Where the kernel has the factors of geometry and coefficient from. */
typedef enum TesFactors {
  /** Affine where cells and coefficients allow it, else the fastest of the others, timed. On the CPU they are timed in turn, all in memory
   *  at once until one is chosen: the least to store, unless another takes less than 97 % of its time. */
  TES_FACTORS_AUTO,
  TES_FACTORS_STORED,   /**< 6 (3 in 2D) numbers a point for stiffness, 1 for mass */
  TES_FACTORS_VERTICES, /**< recomputed from 8 (4) vertices: trilinear cells, constant scalar a, constant c */
  TES_FACTORS_AFFINE,   /**< one matrix and |J| a cell: affine cells, constant coefficients */
  TES_FACTORS_MATRIX, /**< CPU, degree 1 and 2: the symmetric matrix of each cell, which is less than its factors */
  TES_FACTORS_WEIGHTS /**< stiffness with any scalar a: w a / |J| a point, Jacobians recomputed from cells of degree 1 or 2 (3D: 21 or 78 numbers
                       * a cell; those of second degree that are multilinear but for rounding count as such) */
} TesFactors;

/** How cells that share nodes add to them. auto: what is fastest on the device. */
typedef enum TesConflicts { TES_CONFLICTS_AUTO, TES_CONFLICTS_ATOMIC, TES_CONFLICTS_COLOURS } TesConflicts;

typedef struct TesMappedDesc {
  const TesMesh *mesh;  /**< its geometry is kept */
  int degree;           /**< 1..15 */
  TesMappedTerms terms; /**< 0 means stiffness */
  int points;           /**< Gauss points a direction, degree + 1 .. degree + 3; 0 means degree + 2 */
  bool collocated;      /**< Gauss-Lobatto points at the nodes; points is ignored */
  int components;       /**< 1..4; 0 means 1 */
  double lambda;        /**< factor of the mass; 0 means 1 */
  TesTensorKind tensor;
  /** Coefficient a: scalar a[0]; diagonal a[0..dim-1]; full symmetric: 00 01 02 11 12 22 (2D: 00 01 11). NULL: 1, or the identity's
   *  entry. Functions of x, y, z. */
  const TesFunction *a[6];
  const TesFunction *c; /**< coefficient of the mass; NULL: 1 */
  TesPrecision precision;
  TesVectorForm form;
  TesNumberingDesc numbering; /**< global form without index: how to number; its degree is ignored */
  const int32_t *index;       /**< [cells][(degree+1)^dim]; copied; NULL: numbered from the mesh's vertices */
  int64_t nodes;              /**< with index: nodes of the global vector */
  /** With index: [cells] TesMask of space.h, degree 1..8: hanging faces and edges, interpolated inside the kernel; copied; NULL: none.
   *  Cells are grouped by whether they have any, so that the others pay nothing. */
  const uint16_t *masks;
  /** Coefficients that differ from cell to cell (materials), scalar tensor: part[cells] is a number of part_a and part_c [parts], or -1; NULL there
   *  and -1 mean a[0] and c. Copied. */
  const int32_t *part;
  int parts;
  const TesFunction *const *part_a, *const *part_c;
  TesFactors factors;
  TesConflicts conflicts;
  /** A kernel of devices that have them, to be compared with: a step of the paper's ladder, "global", "shared", "registers", "unrolled",
   *  "barriers" or "symmetric" (3D, element form, one component, stored factors). NULL: the fastest. */
  const char *variant;
} TesMappedDesc;

/** Errors: TES_INVALID_INPUT (an entry out of range, a not positive definite or c negative at a point: it is named; factors that the
 *  mesh does not allow), TES_MISSING (no such kernel on this device), TES_NAN, TES_OUT_OF_MEMORY. */
TesStatus tes_operator_create_mapped(TesContext *context, const TesMappedDesc *desc, TesOperator **op);

/** What TES_FACTORS_AUTO chose. */
TesFactors tes_mapped_factors(const TesOperator *op);
/** The index in use, [cells][(degree+1)^dim], owned by the operator, and nodes; NULL for the element form. */
const int32_t *tes_mapped_index(const TesOperator *op, int64_t *nodes);

/** A matrix in compressed rows, host memory, float64, columns ascending. Owned by the caller. */
typedef struct TesMatrix {
  int64_t rows, entries;
  int64_t *row;    /**< [rows + 1] */
  int32_t *column; /**< [entries] */
  double *value;   /**< [entries] */
} TesMatrix;

/** The assembled twin of a mapped operator in global form (one component: all are alike). The memory needed is computed
 *  first, logged in verbose mode, and refused with TES_OUT_OF_MEMORY where the machine does not have it. */
TesStatus tes_mapped_assemble(const TesOperator *op, TesMatrix *matrix);
void tes_mapped_matrix_free(const TesOperator *op, TesMatrix *matrix);

/** The same made by kernels, in the memory of a device that has them: addresses there, to be given to its sparse libraries. Columns ascend; the
 *  pattern is that of tes_mapped_assemble(), values differ in their last bits (sums by atomics). */
typedef struct TesDeviceMatrix {
  int64_t rows, entries;
  int32_t *row;    /**< [rows + 1] */
  int32_t *column; /**< [entries] */
  double *value;   /**< [entries] */
} TesDeviceMatrix;

/** Needs 12 bytes an entry and 4 a row, and while it works 4 bytes for each node of each cell, twice. Hanging nodes are eliminated in the kernel. Errors:
 *  TES_MISSING where the device has no kernels (use tes_mapped_assemble()), TES_OUT_OF_MEMORY, also for 2^31 entries and more; TES_INVALID_INPUT for cells of degree 15
 *  with 17 points, which a block has no room for. */
TesStatus tes_mapped_assemble_device(const TesOperator *op, TesDeviceMatrix *matrix);
void tes_device_matrix_free(const TesOperator *op, TesDeviceMatrix *matrix);

#ifdef __cplusplus
}
#endif
#endif
