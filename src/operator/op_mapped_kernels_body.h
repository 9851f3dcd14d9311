/* All kernels of one precision. Included by op_mapped_double_simd.c and op_mapped_float_simd.c, which choose it. */
#include "operator/op_mapped_host.h"
#include "operator/op_quadrature_rows.h"

enum { MAPPED_N = TESI_MAPPED_POINTS, PREFETCH = 4096 / TESI_SIMD_BYTES };

#include "operator/op_mapped_gather_body.h"

#define LINE(name) mapped_fixed_##name
#define LINE_UNROLL TESI_UNROLL
#define SPECIALISED 1
#include "operator/op_mapped_lines_body.h"
#include "operator/op_mapped_points_body.h"
#include "operator/op_mapped_cells_body.h"
#include "operator/op_mapped_rows_body.h"
#undef LINE
#undef LINE_UNROLL
#undef SPECIALISED

#define LINE(name) mapped_any_##name
#define LINE_UNROLL
#define SPECIALISED 0
#define MAPPED_SECOND
#include "operator/op_mapped_lines_body.h"
#include "operator/op_mapped_points_body.h"
#include "operator/op_mapped_cells_body.h"
#include "operator/op_mapped_rows_body.h"

#define ARGUMENTS                                                                                            \
  const TesiMappedHost *plan, int64_t first, int64_t end, double sign, const void *b, const void *x,         \
      void *y, void *work
#define VALUES plan, first, end, sign, b, x, y, work

/* For degree k: Gauss with k + 2 points, stiffness and mass; collocated stiffness; each in 2D and 3D. */
#define DEFINE(k)                                                                                            \
  static void mapped_gauss_2d_##k(ARGUMENTS) {                                                               \
    mapped_fixed_run(2, k + 1, k + 2, true, true, 0, VALUES);                                                \
  }                                                                                                          \
  static void mapped_gauss_3d_##k(ARGUMENTS) {                                                               \
    mapped_fixed_run(3, k + 1, k + 2, true, true, 0, VALUES);                                                \
  }                                                                                                          \
  static void mapped_mass_2d_##k(ARGUMENTS) {                                                                \
    mapped_fixed_run(2, k + 1, k + 2, true, false, 0, VALUES);                                               \
  }                                                                                                          \
  static void mapped_mass_3d_##k(ARGUMENTS) {                                                                \
    mapped_fixed_run(3, k + 1, k + 2, true, false, 0, VALUES);                                               \
  }                                                                                                          \
  static void mapped_collocated_2d_##k(ARGUMENTS) {                                                          \
    mapped_fixed_run(2, k + 1, k + 1, false, true, 0, VALUES);                                               \
  }                                                                                                          \
  static void mapped_collocated_3d_##k(ARGUMENTS) {                                                          \
    mapped_fixed_run(3, k + 1, k + 1, false, true, 0, VALUES);                                               \
  }
DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)
DEFINE(8)

static void mapped_matrix_4(ARGUMENTS) {
  mapped_fixed_run(2, 2, 2, false, false, 4, VALUES);
}
static void mapped_matrix_8(ARGUMENTS) {
  mapped_fixed_run(3, 2, 2, false, false, 8, VALUES);
}
static void mapped_matrix_any(ARGUMENTS) {
  mapped_any_run(plan->dim, plan->n, plan->n, false, false, (int)plan->nodes, VALUES);
}
static void mapped_any(ARGUMENTS) {
  mapped_any_run(plan->dim, plan->n, plan->q, !plan->m->collocated, plan->stiffness, 0, VALUES);
}

TesiMappedKernels REAL_NAME(tesi_mapped_kernels)(const TesiMappedHost *plan);

TesiMappedKernels REAL_NAME(tesi_mapped_kernels)(const TesiMappedHost *plan) {
#define SIX(k)                                                                                               \
  {                                                                                                          \
    {mapped_gauss_2d_##k, mapped_gauss_3d_##k}, {mapped_mass_2d_##k, mapped_mass_3d_##k}, {                  \
      mapped_collocated_2d_##k, mapped_collocated_3d_##k                                                     \
    }                                                                                                        \
  }
  static const TesiMappedRun runs[8][3][2] = {SIX(1), SIX(2), SIX(3), SIX(4), SIX(5), SIX(6), SIX(7), SIX(8)};
  const int degree = plan->n - 1, three = plan->dim == 3;
  const bool collocated = plan->m->collocated;
  const bool fixed = degree <= 8 && (collocated ? plan->stiffness : plan->q == plan->n + 1);
  const int kind = collocated ? 2 : plan->stiffness ? 0 : 1;
  TesiMappedKernels kernels = {
      .lanes = LANES, .specialised = fixed, .run = fixed ? runs[degree - 1][kind][three] : mapped_any};
  if (plan->factors == TES_FACTORS_MATRIX) {
    kernels.specialised = degree == 1;
    kernels.run = degree > 1 ? mapped_matrix_any : three ? mapped_matrix_8 : mapped_matrix_4;
  }
  return kernels;
}
