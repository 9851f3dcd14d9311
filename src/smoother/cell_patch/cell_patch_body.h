/* The batches first .. end - 1 of one colour in one precision: lanes of a vector are cells, all n^dim values of a
 * batch in the first cache.
 * Tables are vectors too, so that the cells of a batch may have different ends. They are filled once per batch and
 * direction: n^2 numbers, which is little compared with the n^dim values they are multiplied with. */
#include "smoother/cell_patch/cell_patch.h"
#include "tensor/simd_real.h"

enum { N = TESI_CELL_PATCH_NODES };

/* S[n][n] and g_d lambda[n] of the lanes in direction d; lanes without a cell: zeros. */
static void fill_tables(const TesiCellPatches *p, const int32_t *cell, int d, V *S, V *lambda) {
  const int n = p->m->n;
  for (int l = 0; l < LANES; l++) {
    const int64_t c = cell[l];
    const int k = c < 0 ? 0 : p->class_of[p->end[c][d][0]][p->end[c][d][1]];
    const double *table = p->S + k * n * n;
    Real *to = (Real *)S + l;
    for (int i = 0; i < n * n; i++) to[i * LANES] = c < 0 ? 0 : (Real)table[i];
    for (int i = 0; i < n; i++)
      ((Real *)lambda)[i * LANES + l] = c < 0 ? 1 : (Real)(p->g[c][d] * p->lambda[k * n + i]);
  }
}

#define BODY(name) name##_literal
#define UNROLL TESI_UNROLL
#include "smoother/cell_patch/cell_patch_solve_body.h"
#undef BODY
#undef UNROLL
#define BODY(name) name##_sized
#define UNROLL
#include "smoother/cell_patch/cell_patch_solve_body.h"
#undef BODY
#undef UNROLL

#define CASE(k)                                                                                              \
  case k + 1:                                                                                                \
    dim == 3 ? solve_literal(3, k + 1, S, lambda, mass, u) : solve_literal(2, k + 1, S, lambda, mass, u);    \
    break;
static void solve_batch(int dim, int n, V (*const S)[N * N], V (*const lambda)[N], V mass, V *u) {
  switch (n) {
    TESI_EACH_DEGREE_8(CASE)
  default:
    solve_sized(dim, n, S, lambda, mass, u);
  }
}
#undef CASE

static void run(const TesiCellPatches *p, int64_t first, int64_t end, const Real *r, Real *z) {
  const int dim = p->m->dim, n = p->m->n, values = (int)p->m->cell_nodes * LANES;
  const Real *weight = p->weight;
  V S[3][N * N], lambda[3][N], u[N * N * N], mass = {0};
  for (int64_t b = first; b < end; b++) {
    const int32_t *cell = p->cell + b * LANES, *index = p->index + b * values;
    Real *const value = (Real *)u;
    for (int d = 0; d < dim; d++) fill_tables(p, cell, d, S[d], lambda[d]);
    for (int l = 0; l < LANES; l++) mass[l] = cell[l] < 0 ? 0 : (Real)p->g[cell[l]][3];
    for (int i = 0; i < values; i++) value[i] = index[i] < 0 ? 0 : weight[index[i]] * r[index[i]];
    solve_batch(dim, n, S, lambda, mass, u);
    for (int i = 0; i < values; i++)
      if (index[i] >= 0) z[index[i]] += value[i];
  }
}

void REAL_NAME(tesi_cell_patches_run)(const TesiCellPatches *p, int64_t first, int64_t end, const void *r,
                                      void *z) {
  run(p, first, end, r, z);
}
