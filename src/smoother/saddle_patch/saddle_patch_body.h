/* Patches of one kind, a patch a lane: x <- x + K_patch^+ r. Arrays are [z][y][x] of vectors. */
#include "smoother/saddle_patch/saddle_patch.h"
#include "tensor/simd_real.h"

enum { MOST = 2 * 16 + 1 };

/* Where the lanes' lines begin, and the places on a line. */
typedef struct Lines {
  const int *index[3][LANES]; /* entries a direction */
  int64_t step[3];            /* of the vector */
} Lines;

static Lines lines_of(const TesiSaddlePatchPlan *plan, const TesiSaddlePatchTask *task, int part) {
  Lines l;
  int64_t step = 1;
  for (int d = 0; d < 3; d++) {
    const TesiSaddlePatchAxis *a = &plan->axis[d];
    const int modes = d < plan->rt->dim ? plan->modes : 1;
    l.step[d] = step;
    step *= plan->rt->extent[part][d];
    for (int lane = 0; lane < LANES; lane++) {
      const int v = task->vertex[lane < task->count ? lane : 0][d];
      l.index[d][lane] = d == part ? a->node + (int64_t)v * a->most : a->mode + (int64_t)v * modes;
    }
  }
  return l;
}

static int64_t line_at(const Lines *l, int lane, int y, int z) {
  return l->index[1][lane][y] * l->step[1] + l->index[2][lane][z] * l->step[2];
}

static void gather(const Lines *l, const int extent[3], const Real *from, V *to) {
  for (int z = 0; z < extent[2]; z++)
    for (int y = 0; y < extent[1]; y++, to += extent[0])
      for (int lane = 0; lane < LANES; lane++) {
        const Real *line = from + line_at(l, lane, y, z);
        const int *index = l->index[0][lane];
        Real *out = (Real *)to + lane;
        for (int x = 0; x < extent[0]; x++) out[x * LANES] = line[index[x]];
      }
}

static void scatter_add(const Lines *l, const int extent[3], int count, const V *from, Real *to) {
  for (int z = 0; z < extent[2]; z++)
    for (int y = 0; y < extent[1]; y++, from += extent[0])
      for (int lane = 0; lane < count; lane++) {
        Real *line = to + line_at(l, lane, y, z);
        const int *index = l->index[0][lane];
        const Real *in = (const Real *)from + lane;
        for (int x = 0; x < extent[0]; x++) line[index[x]] += in[x * LANES];
      }
}

/* y <- A x or y + A x along direction d; A[rows][columns], extent: of x. */
static void contract(const Real *A, int rows, const int extent[3], int d, bool add, const V *x, V *y) {
  const int columns = extent[d],
            inner = d == 0   ? 1
                    : d == 1 ? extent[0]
                             : extent[0] * extent[1],
            outer = extent[0] * extent[1] * extent[2] / (inner * columns);
  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      const V *from = x + (int64_t)o * columns * inner + i;
      V *to = y + (int64_t)o * rows * inner + i, line[MOST];
      for (int c = 0; c < columns; c++) line[c] = from[c * inner];
      int r = 0;
      for (; r + 4 <= rows; r += 4) {
        const Real *row = A + r * columns;
        V s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int c = 0; c < columns; c++) {
          s0 += row[c] * line[c], s1 += row[columns + c] * line[c];
          s2 += row[2 * columns + c] * line[c], s3 += row[3 * columns + c] * line[c];
        }
        V *const out = to + r * inner;
        if (add) s0 += out[0], s1 += out[inner], s2 += out[2 * inner], s3 += out[3 * inner];
        out[0] = s0, out[inner] = s1, out[2 * inner] = s2, out[3 * inner] = s3;
      }
      for (; r < rows; r++) {
        V sum = {0};
        for (int c = 0; c < columns; c++) sum += A[r * columns + c] * line[c];
        if (add) sum += to[r * inner];
        to[r * inner] = sum;
      }
    }
}

/* The transforms of one part in all directions, back and forth between a and b; returns where the result is. */
static V *transform(const TesiSaddlePatchPlan *plan, const TesiSaddlePatchTable *const t[3],
                    const Real *const numbers[3], int part, const int extent[3], bool back, V *a, V *b) {
  for (int d = 0; d < plan->rt->dim; d++) {
    const int64_t at = d == part ? back ? t[d]->Zc_back : t[d]->Zc_forward
                       : back    ? t[d]->Zd_back
                                 : t[d]->Zd_forward;
    V *const other = a;
    contract(numbers[d] + at, extent[d], extent, d, false, a, b);
    a = b, b = other;
  }
  return a;
}

/* f <- f / Lam_i; then, with `add`, f is what remains. */
static void divide(const TesiSaddlePatchPlan *plan, const TesiSaddlePatchTable *const t[3],
                   const Real *const numbers[3], int part, const int extent[3], V *f) {
  const int dim = plan->rt->dim;
  const Real nu = (Real)plan->saddle->nu, alpha = (Real)plan->saddle->alpha, none[1] = {0};
  const Real *l[3];
  for (int d = 0; d < 3; d++) l[d] = d >= dim ? none : numbers[d] + (d == part ? t[d]->lc : t[d]->ld);
  for (int z = 0; z < extent[2]; z++)
    for (int y = 0; y < extent[1]; y++)
      for (int x = 0; x < extent[0]; x++) *f++ *= 1 / (nu * (l[0][x] + l[1][y] + l[2][z]) + alpha);
}

/* p <- S r, S symmetric. */
static void multiply(const Real *S, int n, const V *r, V *p) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    V s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int c = 0; c < n; c++) {
      const Real *row = S + (int64_t)c * n + i;
      s0 += row[0] * r[c], s1 += row[1] * r[c], s2 += row[2] * r[c], s3 += row[3] * r[c];
    }
    p[i] = s0, p[i + 1] = s1, p[i + 2] = s2, p[i + 3] = s3;
  }
  for (; i < n; i++) {
    V sum = {0};
    for (int c = 0; c < n; c++) sum += S[(int64_t)c * n + i] * r[c];
    p[i] = sum;
  }
}

void REAL_NAME(tesk_saddle_patch)(const TesiSaddlePatchPlan *plan, const TesiSaddlePatchTask *task,
                                  const Real *r, Real *x, void *work) {
  const TesiRt *rt = plan->rt;
  const int dim = rt->dim, n = plan->pressures;
  const TesiSaddlePatchTable *t[3];
  const Real *numbers[3];
  int extent[4][3];
  Lines lines[4];
  V *F[3], *next = work;
  for (int d = 0; d < 3; d++) {
    t[d] = plan->axis[d].table[task->type[d]];
    numbers[d] = (const Real *)(t[d] + 1);
  }
  for (int part = 0; part <= dim; part++) {
    lines[part] = lines_of(plan, task, part);
    for (int d = 0; d < 3; d++) extent[part][d] = d >= dim ? 1 : d == part ? t[d]->nodes : t[d]->modes;
  }
  const size_t most = plan->work_size / 6;
  V *const schur = next, *const pressure = next + most, *const spare = next + 2 * most;
  for (int i = 0; i < dim; i++) F[i] = next + (3 + i) * (ptrdiff_t)most;
  gather(&lines[dim], extent[dim], r + rt->offset[dim], pressure);
  V *g = transform(plan, t, numbers, dim, extent[dim], false, pressure, spare);
  for (int c = 0; c < n; c++) schur[c] = -g[c];
  for (int i = 0; i < dim; i++) {
    gather(&lines[i], extent[i], r + rt->offset[i], F[i]);
    V *f = transform(plan, t, numbers, i, extent[i], false, F[i], spare);
    const int size = extent[i][0] * extent[i][1] * extent[i][2];
    if (f != F[i]) memcpy(F[i], f, (size_t)size * sizeof(V));
    divide(plan, t, numbers, i, extent[i], F[i]); /* now A^-1 F */
    contract(numbers[i] + t[i]->G, t[i]->modes, extent[i], i, false, F[i], spare);
    for (int c = 0; c < n; c++) schur[c] -= spare[c];
  }
  multiply(plan->inverse[task->inverse], n, schur, pressure);
  for (int i = 0; i < dim; i++) {
    contract(numbers[i] + t[i]->G_transposed, t[i]->nodes, extent[dim], i, false, pressure, spare);
    divide(plan, t, numbers, i, extent[i], spare);
    const int size = extent[i][0] * extent[i][1] * extent[i][2];
    for (int c = 0; c < size; c++) F[i][c] += spare[c];
    scatter_add(&lines[i], extent[i], task->count,
                transform(plan, t, numbers, i, extent[i], true, F[i], spare), x + rt->offset[i]);
  }
  scatter_add(&lines[dim], extent[dim], task->count,
              transform(plan, t, numbers, dim, extent[dim], true, pressure, spare), x + rt->offset[dim]);
}
