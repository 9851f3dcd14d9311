/* All kernels of one precision. Included by quadrature_double_simd.c and quadrature_float_simd.c, which choose it. */
#include "operator/quadrature/quadrature_rows.h"

#define LINE(name) quad_fixed_##name
#define LINE_UNROLL TESI_UNROLL
#define SPECIALISED 1
#include "operator/quadrature/quadrature_lines_body.h"
#include "operator/quadrature/quadrature_cells_body.h"
#undef LINE
#undef LINE_UNROLL
#undef SPECIALISED

#define LINE(name) quad_any_##name
#define LINE_UNROLL
#define SPECIALISED 0
#include "operator/quadrature/quadrature_lines_body.h"
#include "operator/quadrature/quadrature_cells_body.h"
#include "operator/quadrature/quadrature_plain_body.h"

#define ARGUMENTS                                                                                            \
  const TesiQuadPlan *plan, const TesiQuadTile *tile, const void *b, const void *x, void *y, void *work
#define DEFINE(k)                                                                                            \
  static void quad_2d_##k(ARGUMENTS) {                                                                       \
    quad_fixed_tile(2, k + 1, plan, tile, b, x, y, work);                                                    \
  }                                                                                                          \
  static void quad_3d_##k(ARGUMENTS) {                                                                       \
    quad_fixed_tile(3, k + 1, plan, tile, b, x, y, work);                                                    \
  }
/* Builds for checks, which take minutes for these bodies, define TESI_FEW_DEGREES: the others take the general path. */
DEFINE(1)
DEFINE(2)
DEFINE(3)
#ifndef TESI_FEW_DEGREES
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)
DEFINE(8)
DEFINE(9)
DEFINE(10)
#endif

static void quad_any(ARGUMENTS) {
  quad_any_tile(plan->dim, plan->n, plan, tile, b, x, y, work);
}

TesiQuadKernels REAL_NAME(tesi_quad_kernels)(int dim, int degree);

TesiQuadKernels REAL_NAME(tesi_quad_kernels)(int dim, int degree) {
#define PAIR(k)                                                                                              \
  { quad_2d_##k, quad_3d_##k }
  static const TesiQuadRun runs[][2] = {
      {quad_any, quad_any},
      PAIR(1),
      PAIR(2),
      PAIR(3),
#ifndef TESI_FEW_DEGREES
      PAIR(4),
      PAIR(5),
      PAIR(6),
      PAIR(7),
      PAIR(8),
      PAIR(9),
      PAIR(10),
#endif
  };
  const bool specialised = degree < (int)(sizeof runs / sizeof *runs);
  return (TesiQuadKernels){.lanes = LANES,
                           .specialised = specialised,
                           .apply = runs[specialised ? degree : 0][dim - 2],
                           .diagonal = quad_diagonal,
                           .face = quad_face};
}
