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
TESI_EACH_DEGREE(DEFINE)

static void quad_any(ARGUMENTS) {
  quad_any_tile(plan->dim, plan->n, plan, tile, b, x, y, work);
}

TesiQuadKernels REAL_NAME(tesi_quad_kernels)(int dim, int degree);

TesiQuadKernels REAL_NAME(tesi_quad_kernels)(int dim, int degree) {
#define PAIR(k) {quad_2d_##k, quad_3d_##k},
  static const TesiQuadRun runs[][2] = {{quad_any, quad_any}, TESI_EACH_DEGREE(PAIR)};
  const bool specialised = degree < (int)(sizeof runs / sizeof *runs);
  return (TesiQuadKernels){.lanes = LANES,
                           .specialised = specialised,
                           .apply = runs[specialised ? degree : 0][dim - 2],
                           .diagonal = quad_diagonal,
                           .face = quad_face};
}
