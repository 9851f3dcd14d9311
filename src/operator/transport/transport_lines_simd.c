/* Products with the 1D matrices of a transport operator: transport_lines.h. */
#include "operator/transport/transport_lines.h"
#include "tensor/simd_real.h"

#define RESTRICT __restrict__

/* ---- x ------------------------------------------------------------------------------------------------- */

/* Columns near the ends of a row of x. */
TESI_APART void row_ends(const TesiLines *l, int i, const double *x, double *t, double *s) {
  const int k = l->degree, n = l->nodes[0];
  double a = 0, b = 0;
  for (int o = 0; o < l->width; o++) {
    const int column = i + o - k;
    if (column < 0 || column >= n) continue;
    a += l->mass[0][(int64_t)o * n + i] * x[column];
    b += l->slope[0][(int64_t)o * n + i] * x[column];
  }
  t[i] = a, s[i] = b;
}

/* t <- M_x x, s <- A_x x of a row. */
TESI_INLINE void row_inside(const int k, const TesiLines *l, const double *RESTRICT x, double *RESTRICT t,
                            double *RESTRICT s) {
  const int n = l->nodes[0], width = 2 * k + 1;
  const double *M = l->mass[0], *A = l->slope[0];
  int i = k;
  for (; i + LANES <= n - k; i += LANES) {
    V a = {0}, b = {0};
    for (int o = 0; o < width; o++) {
      const V v = load(x + i + o - k);
      a += load(M + (int64_t)o * n + i) * v;
      b += load(A + (int64_t)o * n + i) * v;
    }
    store(t + i, a);
    store(s + i, b);
  }
  for (; i < n - k; i++) row_ends(l, i, x, t, s);
}

static void row_of(const TesiLines *l, const double *x, double *t, double *s) {
  const int k = l->degree, n = l->nodes[0];
  for (int i = 0; i < k; i++) row_ends(l, i, x, t, s);
  switch (k) {
  case 1:
    row_inside(1, l, x, t, s);
    break;
  case 2:
    row_inside(2, l, x, t, s);
    break;
  default:
    row_inside(k, l, x, t, s);
  }
  for (int i = n - k; i < n; i++) row_ends(l, i, x, t, s);
}

/* ---- sums of rows -------------------------------------------------------------------------------------- */

/* Rows first .. end - 1 of a window of rows, and their factors. */
typedef struct Rows {
  const double *t[TESI_MAX_POINTS * 2], *s[TESI_MAX_POINTS * 2], *slope, *mass;
  int count;
} Rows;

/* v <- sum of slope t + mass s, subtracted from b if b is given. With a literal count all sums stay in registers. */
TESI_INLINE void combine(const int count, const Rows rows, int n, const double *b, double *v) {
  int i = 0;
  for (; i + LANES <= n; i += LANES) {
    V sum = {0};
    for (int o = 0; o < count; o++)
      sum += rows.slope[o] * load(rows.t[o] + i) + rows.mass[o] * load(rows.s[o] + i);
    if (b) sum = load(b + i) - sum;
    store(v + i, sum);
  }
  for (; i < n; i++) {
    double sum = 0;
    for (int o = 0; o < count; o++) sum += rows.slope[o] * rows.t[o][i] + rows.mass[o] * rows.s[o][i];
    v[i] = b ? b[i] - sum : sum;
  }
}

static void combine_rows(const Rows *rows, int n, const double *b, double *v) {
  if (rows->count == 3)
    combine(3, *rows, n, b, v);
  else
    combine(rows->count, *rows, n, b, v);
}

/* u <- sum of mass t. */
static void weigh_rows(const Rows *rows, int n, double *u) {
  for (int i = 0; i < n; i += LANES) {
    V sum = {0};
    for (int o = 0; o < rows->count; o++) sum += rows->mass[o] * load(rows->t[o] + i);
    store(u + i, sum);
  }
}

/* The window and factors for result i along direction d; ring: [width][2][step], t and s, or planes of U and V. */
static void window(const TesiLines *l, int d, int i, const double *ring, int64_t step, Rows *rows) {
  const int k = l->degree, first = i > k ? i - k : 0, end = i + k + 1 < l->nodes[d] ? i + k + 1 : l->nodes[d];
  rows->count = end - first;
  rows->slope = l->slope[d] + (int64_t)i * l->width + (first - i + k);
  rows->mass = l->mass[d] + (int64_t)i * l->width + (first - i + k);
  for (int o = 0; o < rows->count; o++) {
    rows->t[o] = ring + (first + o) % l->width * 2 * step;
    rows->s[o] = rows->t[o] + step;
  }
}

/* ---- planes -------------------------------------------------------------------------------------------- */

/* The results for row j: in 2D the final result, in 3D rows of U and V. */
typedef struct Target {
  const double *b;
  double *V, *U; /* U NULL: none */
  int64_t step;  /* of V and b, from row to row */
} Target;

/* Rows first .. end - 1 of the plane at x; ring: [width][2][row]. */
static void plane_rows(const TesiLines *l, const double *x, int first, int end, double *ring,
                       const Target *to) {
  const int k = l->degree, n = l->nodes[0];
  int have = first > k ? first - k : 0;
  for (int j = first; j < end; j++) {
    Rows rows;
    for (; have < l->nodes[1] && have <= j + k; have++) {
      double *t = ring + have % l->width * 2 * l->row;
      row_of(l, x + (int64_t)have * n, t, t + l->row);
    }
    window(l, 1, j, ring, l->row, &rows);
    combine_rows(&rows, n, to->b ? to->b + j * to->step : NULL, to->V + j * to->step);
    if (to->U) weigh_rows(&rows, n, to->U + j * l->row);
  }
}

static void run_3d(const TesiLines *l, const TesiLinesJob *job, int first, int end, double *memory) {
  const int k = l->degree, n = l->nodes[0];
  const int64_t length = (int64_t)n * l->nodes[1];
  double *planes = memory + 2 * l->width * l->row;
  int have = first > k ? first - k : 0;
  for (int z = first; z < end; z++) {
    Rows rows;
    for (; have < l->nodes[2] && have <= z + k; have++) {
      double *U = planes + have % l->width * 2 * l->plane;
      plane_rows(l, (const double *)job->x + have * length, 0, l->nodes[1], memory,
                 &(Target){.V = U + l->plane, .U = U, .step = l->row});
    }
    window(l, 2, z, planes, l->plane, &rows);
    for (int y = 0; y < l->nodes[1]; y++) {
      const int64_t at = z * length + (int64_t)y * n;
      combine_rows(&rows, n, job->b ? (const double *)job->b + at : NULL, (double *)job->y + at);
      for (int o = 0; o < rows.count; o++) rows.t[o] += l->row, rows.s[o] += l->row;
    }
  }
}

void TESI_SIMD(tesk_lines)(const TesiLines *l, const TesiLinesJob *job, int first, int end, double *memory) {
  if (l->dim == 3)
    run_3d(l, job, first, end, memory);
  else
    plane_rows(l, job->x, first, end, memory, &(Target){.b = job->b, .V = job->y, .step = l->nodes[0]});
}
