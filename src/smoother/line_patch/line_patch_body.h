/* A batch of lines in one precision. Lanes of a vector are lines. The array of a batch's values is passed from first to
 * last: read, to modes across, elimination forwards and backwards along the lines, to nodes. */
#include "smoother/line_patch/line_patch.h"
#include "tensor/simd_real.h"

enum { N = TESI_CELL_PATCH_NODES };

#define BODY(name) name##_literal
#define UNROLL TESI_UNROLL
#include "smoother/cell_patch/cell_patch_solve_body.h"
#include "smoother/line_patch/line_patch_solve_body.h"
#undef BODY
#undef UNROLL
#define BODY(name) name##_sized
#define UNROLL
#include "smoother/cell_patch/cell_patch_solve_body.h"
#include "smoother/line_patch/line_patch_solve_body.h"
#undef BODY
#undef UNROLL

#define CASE(k)                                                                                              \
  case k + 1:                                                                                                \
    dim == 3 ? solve_line_literal(3, k + 1, positions, S, factor, u)                                         \
             : solve_line_literal(2, k + 1, positions, S, factor, u);                                        \
    break;
static void solve_lines(int dim, int n, int64_t positions, const V *S, const V *factor, V *u) {
  switch (n) {
    TESI_EACH_DEGREE_8(CASE)
  default:
    solve_line_sized(dim, n, positions, S, factor, u);
  }
}
#undef CASE

static void run(const TesiLinePatches *l, int64_t batch, const Real *r) {
  const int dim = l->p->m->dim, n = l->p->m->n;
  const int64_t first = l->first_row[batch], rows = l->first_row[batch + 1] - first;
  const int32_t *index = l->index + first * LANES;
  const Real *weight = l->p->weight;
  Real *value = (Real *)l->values + first * LANES;
  for (int64_t i = 0; i < rows * LANES; i++) value[i] = index[i] < 0 ? 0 : weight[index[i]] * r[index[i]];
  solve_lines(dim, n, rows / l->modes, (const V *)l->S + batch * (dim - 1) * n * n,
              (const V *)l->factor + first * n, (V *)value);
}

void REAL_NAME(tesi_line_patches_run)(const TesiLinePatches *l, int64_t batch, const void *r) {
  run(l, batch, r);
}
