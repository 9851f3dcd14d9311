/* Operators of linear elasticity over the dim components of a displacement, continuous Q_k on a mesh of any kind:
 *
 *   (A u, v) = int 2 mu eps(u) : eps(v) + int lambda div u div v + int c u . v + Robin terms a component
 *
 * by k + 1 Gauss points per direction. What cells, nodes, hanging nodes, batches and chunks are is that of an operator
 * of kind mapped over all nodes (mapped_host.h), around which this one stands: its kernels work on the dim vectors of
 * the components, one behind the other, and know no constrained node. Those come after: rows of constrained nodes are
 * y = x.
 *
 * With K = J^-1 at a point and g[c][d] the derivative of component c in the reference direction d:
 *   G = g K,   S = w|J| (lambda tr G I + mu (G + G')),   flux in direction d of component c: sum_r S[c][r] K[d][r].
 *
 * Numbers of a batch, [..][lane] in the operator's precision:
 *   at points  [point][K[d][r] at d dim + r, w|J| lambda, w|J| mu, (w|J| c)]
 *   affine     the same once a cell, without the weights w: affine cells and constant coefficients
 *   aligned    [K[d][d], |J| lambda, |J| mu, (|J| c)]: affine cells whose edges lie along the axes
 *
 * On devices the numbers are [cell][entry][point], or [cell][entry], and nothing stands inside: elasticity_device.h.
 *
 * Flops per cell: sum factorization of dim scalars (mapped_cost.c), and a point 66 + 2 dim^2 multiply-adds in 3D
 * (aligned: 30). Bytes: dim vectors in and out, one index, numbers once. */
#ifndef TESI_ELASTICITY_H
#define TESI_ELASTICITY_H

#include "functional/batch.h"
#include "operator/assembled/block_matrix.h"
#include "operator/elasticity/elasticity_device.h"
#include "operator/elasticity/elasticity_motions.h"
#include "operator/mapped/host/mapped_host.h"

typedef enum TesiElasticNumbers {
  TESI_ELASTIC_POINTS,
  TESI_ELASTIC_AFFINE,
  TESI_ELASTIC_ALIGNED
} TesiElasticNumbers;

/* The plan begins with the plan of the operator inside, whose address kernels get. */
typedef struct TesiElasticity {
  /* Not on devices. Batches, index and tables belong to `inner`; kernels, g, stride and work are its own. */
  TesiMappedHost host;
  TesOperator *inner;
  TesiElasticityDevice *device; /* NULL on the host */
  TesOperator *springs[3]; /* by component, mapped operators whose Robin terms alone are used; NULL: none */
  TesiElasticNumbers kind;
  int entries;     /* numbers per point, or a cell */
  bool mass, held; /* a mass is somewhere; a spring is */
  double poisson;  /* largest lambda / (2 (lambda + mu)) at a point */
  int64_t constrained;
  int64_t *list; /* [constrained] entries of vectors with given values, ascending */
} TesiElasticity;

/* NULL for operators of other kinds. */
static inline const TesiElasticity *tesi_elasticity_of(const TesOperator *op) {
  return op->kind == &tesi_operator_elasticity ? op->plan : NULL;
}

TesiMappedKernels tesi_elasticity_kernels_128(const TesiMappedHost *plan, TesPrecision precision);
TesiMappedKernels tesi_elasticity_kernels_256(const TesiMappedHost *plan, TesPrecision precision);
TesiMappedKernels tesi_elasticity_kernels_512(const TesiMappedHost *plan, TesPrecision precision);

/* kind, entries, poisson, and numbers in host memory: host.g, or on devices *numbers, of the caller. Checks
 * coefficients. */
TesStatus tesi_elasticity_fill(const TesOperator *op, TesiElasticity *plan, void **numbers);
/* d[length], float64 on the host, without springs. */
TesStatus tesi_elasticity_diagonal(const TesOperator *op, double *d);
/* y <- A x at all nodes, where x keeps its entries at nodes with given values; without springs. Float64. */
TesStatus tesi_elasticity_apply_whole(const TesOperator *op, const TesVector *x, TesVector *y);
/* A's matrix in blocks of the components, springs included, a node a block row (elasticity_assemble.c): rows and
 * columns of given values are rows and columns of the identity; a node without unknowns has a block of its own.
 * Float64. */
TesStatus tesi_elasticity_assemble(const TesOperator *op, TesiBlockMatrix *A);
TesStatus tesi_elasticity_apply_ref(const TesOperator *op, const double *x, double *y);

#endif
