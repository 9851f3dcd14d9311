/* The kernels of one precision. Included by elasticity_double_simd.c and elasticity_float_simd.c, which choose the
 * precision.
 *
 * A batch is processed in three phases. For each component: gather, hanging lines, values at points and slopes in the
 * slow direction. Plane by plane: the other slopes, stresses at points, and the transposed operations. For each
 * component: back to nodes. */
#include "operator/elasticity/elasticity.h"
#include "operator/quadrature/quadrature_rows.h"

enum { TESI_HANGING_LINE = 9, MAPPED_N = TESI_MAPPED_POINTS, MAPPED_ROWS = 9 };

#include "operator/mapped/host/mapped_gather_body.h"

/* g[dim][dim], the derivatives of the components in reference directions, becomes fluxes. K[dim][dim], or its
 * diagonal. */
TESI_INLINE void elastic_stress(int dim, bool aligned, const V *K, V lambda, V mu, V *g) {
  V G[9], t = {0};
  TESI_UNROLL for (int c = 0; c < dim; c++) {
    TESI_UNROLL for (int r = 0; r < dim; r++) {
      if (aligned) {
        G[c * dim + r] = K[r] * g[c * dim + r];
        continue;
      }
      V sum = K[r] * g[c * dim];
      TESI_UNROLL for (int d = 1; d < dim; d++) sum += K[d * dim + r] * g[c * dim + d];
      G[c * dim + r] = sum;
    }
    t += G[c * dim + c];
  }
  t *= lambda;
  TESI_UNROLL for (int c = 0; c < dim; c++) {
    V S[3];
    TESI_UNROLL for (int r = 0; r < dim; r++) S[r] = mu * (G[c * dim + r] + G[r * dim + c]);
    S[c] += t;
    TESI_UNROLL for (int d = 0; d < dim; d++) {
      if (aligned) {
        g[c * dim + d] = S[d] * K[d];
        continue;
      }
      V sum = S[0] * K[d * dim];
      TESI_UNROLL for (int r = 1; r < dim; r++) sum += S[r] * K[d * dim + r];
      g[c * dim + d] = sum;
    }
  }
}

#define LINE(name) elastic_fixed_##name
#define LINE_UNROLL TESI_UNROLL
#define SPECIALISED 1
#include "operator/elasticity/elasticity_cells_body.h"
#undef LINE
#undef LINE_UNROLL
#undef SPECIALISED

#define LINE(name) elastic_any_##name
#define LINE_UNROLL
#define SPECIALISED 0
#define MAPPED_SECOND
#include "operator/elasticity/elasticity_cells_body.h"

#define RUN_ARGUMENTS                                                                                        \
  const TesiMappedHost *plan, const TesiMappedStep *step, const TesiMappedStep *next, double sign,           \
      const void *b, const void *x, void *y, void *work

#define SPECIALISE(dim, k)                                                                                   \
  static void elastic_run_##dim##d_##k(RUN_ARGUMENTS) {                                                      \
    (void)next;                                                                                              \
    elastic_fixed_run(dim, k + 1, plan, step, (Real)sign, b, x, y, work);                                    \
  }
#define SPECIALISE_DEGREE(k) SPECIALISE(2, k) SPECIALISE(3, k)
#define ENTRY(k) {elastic_run_2d_##k, elastic_run_3d_##k},
TESI_EACH_DEGREE_8(SPECIALISE_DEGREE)

static void elastic_run_2d(RUN_ARGUMENTS) {
  (void)next;
  elastic_any_run(2, plan->n, plan, step, (Real)sign, b, x, y, work);
}

static void elastic_run_3d(RUN_ARGUMENTS) {
  (void)next;
  elastic_any_run(3, plan->n, plan, step, (Real)sign, b, x, y, work);
}

TesiMappedKernels REAL_NAME(tesi_elasticity_kernels)(const TesiMappedHost *plan);

TesiMappedKernels REAL_NAME(tesi_elasticity_kernels)(const TesiMappedHost *plan) {
  TesiMappedKernels kernels = {.lanes = LANES, .run = plan->dim == 3 ? elastic_run_3d : elastic_run_2d};
#if TESI_DEGREES > 0
  static const TesiMappedRun runs[][2] = {TESI_EACH_DEGREE_8(ENTRY)};
  const int degree = plan->n - 1;
  if (degree <= TESI_DEGREES_8) kernels.run = runs[degree - 1][plan->dim - 2], kernels.specialised = true;
#endif
  return kernels;
}
