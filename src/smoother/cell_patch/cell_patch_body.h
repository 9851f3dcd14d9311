/* The batches first .. end - 1 of one colour in one precision: lanes of a vector are cells, all n^dim values of a batch in the first cache.
 * Tables are vectors too, so that cells of a batch may differ in their ends: filled once a batch and direction, n^2 numbers beside the n^dim lines
 * of n that are multiplied with them. */
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

/* u <- S u, or S' u, on lines of distance `step`. */
TESI_INLINE void multiply(int n, int nodes, int step, bool transposed, const V *S, V *u) {
  for (int outer = 0; outer < nodes; outer += step * n)
    for (int inner = 0; inner < step; inner++) {
      V *line = u + outer + inner, own[N];
      TESI_UNROLL for (int i = 0; i < n; i++) own[i] = line[i * step];
      for (int i = 0; i < n; i++) {
        V sum = S[transposed ? i : i * n] * own[0];
        TESI_UNROLL for (int j = 1; j < n; j++) sum += S[transposed ? j * n + i : i * n + j] * own[j];
        line[i * step] = sum;
      }
    }
}

TESI_INLINE void solve(int dim, int n, V (*const S)[N * N], V (*const lambda)[N], V mass, V *u) {
  const int nodes = dim == 3 ? n * n * n : n * n, step[3] = {1, n, n * n};
  for (int d = 0; d < dim; d++) multiply(n, nodes, step[d], true, S[d], u);
  for (int at = 0, k = 0; at < nodes; k++)
    for (int j = 0; j < n; j++) {
      V slow = mass + lambda[1][j];
      if (dim == 3) slow += lambda[2][k];
      for (int i = 0; i < n; i++, at++) u[at] /= slow + lambda[0][i];
    }
  for (int d = 0; d < dim; d++) multiply(n, nodes, step[d], false, S[d], u);
}

#define CASE(n)                                                                                              \
  case n:                                                                                                    \
    if (dim == 3)                                                                                            \
      solve(3, n, S, lambda, mass, u);                                                                       \
    else                                                                                                     \
      solve(2, n, S, lambda, mass, u);                                                                       \
    break;

static void solve_batch(int dim, int n, V (*const S)[N * N], V (*const lambda)[N], V mass, V *u) {
  switch (n) {
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
    CASE(6)
    CASE(7)
    CASE(8)
    CASE(9)
  }
}

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
