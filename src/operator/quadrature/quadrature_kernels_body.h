/* All kernels of one precision. Included by quadrature_double_simd.c and quadrature_float_simd.c, which choose the
 * precision. */
#include "operator/quadrature/quadrature_rows.h"

/* The code of a degree for batches that are not whole, one function each for 2D and 3D. Inlined into the loop, this
 * code would be most of the program text. */
typedef struct Apart {
  void (*gather_row)(const Batch *batch, const Real *x, V *p);
  void (*rows_out)(int dim, int j, const TesiQuadPlan *plan, const TesiQuadTile *tile, const Batch *batch,
                   const V *result, const Real *b, Real *y, Real *buffer);
  void (*lanes_out)(int dim, const TesiQuadPlan *plan, const TesiQuadTile *tile, const Batch *batch,
                    const V *result, const Real *b, Real *y);
} Apart;

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
  TESI_APART void quad_gather_row_##k(const Batch *batch, const Real *x, V *p) {                             \
    quad_fixed_gather_row(k + 1, batch, x, p);                                                               \
  }                                                                                                          \
  TESI_APART void quad_rows_out_##k(int dim, int j, const TesiQuadPlan *plan, const TesiQuadTile *tile,      \
                                    const Batch *batch, const V *result, const Real *b, Real *y,             \
                                    Real *buffer) {                                                          \
    if (dim == 3)                                                                                            \
      quad_fixed_split_rows_out(k + 1, 3, j, (k + 1) * (k + 1), plan, tile, batch, result, b, y, buffer);    \
    else                                                                                                     \
      quad_fixed_split_rows_out(k + 1, 2, 0, k + 1, plan, tile, batch, result, b, y, buffer);                \
  }                                                                                                          \
  TESI_APART void quad_lanes_out_##k(int dim, const TesiQuadPlan *plan, const TesiQuadTile *tile,            \
                                     const Batch *batch, const V *result, const Real *b, Real *y) {          \
    if (dim == 3)                                                                                            \
      quad_fixed_lanes_out(k + 1, 3, plan, tile, batch, result, b, y);                                       \
    else                                                                                                     \
      quad_fixed_lanes_out(k + 1, 2, plan, tile, batch, result, b, y);                                       \
  }                                                                                                          \
  static const Apart quad_apart_##k = {quad_gather_row_##k, quad_rows_out_##k, quad_lanes_out_##k};          \
  static void quad_2d_##k(ARGUMENTS) {                                                                       \
    quad_fixed_tile(2, k + 1, &quad_apart_##k, plan, tile, b, x, y, work);                                   \
  }                                                                                                          \
  static void quad_3d_##k(ARGUMENTS) {                                                                       \
    quad_fixed_tile(3, k + 1, &quad_apart_##k, plan, tile, b, x, y, work);                                   \
  }
TESI_EACH_DEGREE(DEFINE)

/* Degrees known only at run time use scattered batches alone. */
TESI_APART void quad_gather_row_any(const Batch *batch, const Real *x, V *p) {
  quad_any_gather_row(batch->n, batch, x, p);
}
TESI_APART void quad_lanes_out_any(int dim, const TesiQuadPlan *plan, const TesiQuadTile *tile,
                                   const Batch *batch, const V *result, const Real *b, Real *y) {
  quad_any_lanes_out(plan->n, dim, plan, tile, batch, result, b, y);
}
static const Apart quad_apart_any = {quad_gather_row_any, NULL, quad_lanes_out_any};
static void quad_any(ARGUMENTS) {
  quad_any_tile(plan->dim, plan->n, &quad_apart_any, plan, tile, b, x, y, work);
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
