/* Operators of linear elasticity over the dim components of a displacement, continuous Q_k on a mesh of any kind:
 *
 *   (A u, v) = int 2 mu eps(u) : eps(v) + int lambda div u div v + int c u . v + Robin terms per component
 *
 * by k + 1 Gauss points per direction. Cells, nodes, hanging nodes, batches and chunks belong to an inner operator
 * of kind mapped over all nodes (mapped_host.h). The kernels of elasticity work on the dim vectors of the
 * components, one after the other, and ignore constrained nodes. Afterwards rows of constrained nodes become y = x.
 *
 * With K = J^-1 at a point and g[c][d] the derivative of component c in the reference direction d:
 *   G = g K,   S = w|J| (lambda tr G I + mu (G + G')),   flux in direction d of component c: sum_r S[c][r] K[d][r].
 *
 * Numbers of a batch, [..][lane] in the operator's precision:
 *   at points  [point][K[d][r] at d dim + r, w|J| lambda, w|J| mu, (w|J| c)]
 *   affine the same once per cell, without the weights w: affine cells and constant coefficients
 *   aligned    [K[d][d], |J| lambda, |J| mu, (|J| c)]: affine cells whose edges lie along the axes
 *
 * On devices the numbers are [cell][entry][point], or [cell][entry]; elasticity_device.h has the plan.
 *
 * Flops per cell: sum factorization of dim scalars (mapped_cost.c), and per point 66 + 2 dim^2 multiply-adds in 3D
 * (aligned: 30). Bytes: dim vectors read and written, one index and the numbers read once. */
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

/* The plan begins with the inner operator's plan, whose address kernels get. */
typedef struct TesiElasticity {
  /* Not used on devices. `inner` owns batches, index and tables; the elasticity operator owns kernels, g, stride and
   * work. */
  TesiMappedHost host;
  TesOperator *inner;
  TesiElasticityDevice *device; /* NULL on the host */
  TesOperator *springs[3]; /* by component, mapped operators of which only the Robin terms are used; NULL: none */
  TesiElasticNumbers kind;
  int entries;     /* numbers per point, or per cell */
  bool mass, held; /* whether there is a mass term; a spring */
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

/* Fills kind, entries and poisson, and the numbers in host memory: host.g, or for devices *numbers, which the caller
 * owns. Checks coefficients. */
TesStatus tesi_elasticity_fill(const TesOperator *op, TesiElasticity *plan, void **numbers);
/* d[length], float64 on the host, without springs. */
TesStatus tesi_elasticity_diagonal(const TesOperator *op, double *d);
/* y <- A x at all nodes, without springs. Entries of x at nodes with given values are used. Float64. */
TesStatus tesi_elasticity_apply_whole(const TesOperator *op, const TesVector *x, TesVector *y);
/* A's matrix in blocks of the components, springs included, one block row per node (elasticity_assemble.c). Rows and
 * columns of given values equal rows and columns of the identity; a node without unknowns has a diagonal block.
 * Float64. */
TesStatus tesi_elasticity_assemble(const TesOperator *op, TesiBlockMatrix *A);
TesStatus tesi_elasticity_apply_ref(const TesOperator *op, const double *x, double *y);

#endif
