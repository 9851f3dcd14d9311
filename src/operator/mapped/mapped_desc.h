/* The complete description of mapped operators: the options for a form over a space, and the options of the benchmark
 * operators of tensor-product-bp-swirydowicz-2019 (BP1 to BP6): element vectors, components, numberings.
 *
 *     (A u, v) = int grad u . a grad v  (stiffness)  +  lambda int c u v  (mass),     for every component alike.
 *
 * Quadrature: q Gauss points per direction (BP1, BP3: q = degree + 2), or collocated: the degree + 1 Gauss-Lobatto
 * nodes (BP5; "BP3.5" of the paper). y = E' I' (D' G D + lambda W) I E x with the 1D tables I (interpolation to the
 * points) and D (differentiation there), G = w |J| J^-1 a J^-T and W = c w |J| at the points.
 *
 * Two forms of vectors:
 * - element: u[cell][component][k][j][i], x (i) fastest; cells share no nodes (the paper's form).
 * - global: u[node * components + component], with index[cell][(degree+1)^dim]: any numbering. index = -1 - node
 *   marks a constrained (Dirichlet) node: its value counts as 0, and y = x in its row. */
#ifndef TESI_MAPPED_DESC_H
#define TESI_MAPPED_DESC_H

#include "tessera/operator.h"

typedef enum TesiVectorForm { TESI_GLOBAL_VECTORS, TESI_ELEMENT_VECTORS } TesiVectorForm;
typedef enum TesiMappedTerms { TESI_STIFFNESS = 1, TESI_MASS = 2, TESI_STIFFNESS_MASS = 3 } TesiMappedTerms;

typedef struct TesiMappedDesc {
  const TesMesh *mesh;   /* its geometry is kept */
  int degree;            /* 1..15 */
  TesiMappedTerms terms; /* 0 means stiffness */
  int points;            /* Gauss points per direction, degree + 1 .. degree + 3; 0 means degree + 2 */
  bool collocated;       /* Gauss-Lobatto points at the nodes; points is ignored */
  int components;        /* 1..4; 0 means 1 */
  double lambda;         /* factor of the mass; 0 means 1 */
  const TesFunction *a;  /* coefficient of the stiffness, a number or a matrix; NULL: 1 */
  const TesFunction *c;  /* coefficient of the mass; NULL: 1 */
  TesPrecision precision;
  TesiVectorForm form;
  TesNumberingDesc numbering; /* global form without index: the numbering; its degree is ignored */
  const int32_t *index;       /* [cells][(degree+1)^dim]; copied; NULL: numbered from the mesh's vertices */
  int64_t nodes;              /* with index: nodes of the global vector */
  /* With index: [cells] TesMask of space.h, degree 1..8: hanging faces and edges, interpolated inside the kernel;
   *  copied; NULL: none. Cells with and without hanging nodes form separate groups, so that cells without pay
   *  nothing. */
  const uint16_t *masks;
  /* Coefficients that differ from cell to cell (materials): part[cells] is an index into part_a and part_c [parts].
   *  -1, or NULL in part_a or part_c: a and c hold. Copied. */
  const int32_t *part;
  int parts;
  const TesFunction *const *part_a, *const *part_c;
  TesFactors factors;
  bool rough; /* TesOperatorDesc */
  TesConflicts conflicts;
} TesiMappedDesc;

#endif
