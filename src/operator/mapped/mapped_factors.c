/* The factors of geometry and coefficient at quadrature points: G = w |J| J^-1 a J^-T and c w |J|, blocks of cells in parallel. */
#include <math.h>
#include <omp.h>
#include <string.h>
#include "geometry/geometry.h"
#include "operator/mapped/mapped.h"

enum { TABLE = TESI_MAPPED_POINTS * (TESI_GEOMETRY_DEGREE + 1) };

typedef struct Points {
  const TesiMapped *m;
  int dim, q, entries;                /* of a symmetric tensor */
  int64_t points;                     /* a cell */
  double B[TABLE], G[TABLE], *weight; /* weight[points] */
  bool unweighted;
  int numbers;       /* a point that are given out */
  bool weights_only; /* not the metric, but what it is multiplied with */
} Points;

/* What is wrong at a point, if anything. */
typedef enum Fault { NO_FAULT, INVERTED, NOT_POSITIVE, NEGATIVE_MASS } Fault;

static bool positive_definite(int dim, const double *a) {
  if (dim == 2) return a[0] > 0 && a[0] * a[2] - a[1] * a[1] > 0;
  const double minor = a[0] * a[3] - a[1] * a[1];
  const double det = a[0] * (a[3] * a[5] - a[4] * a[4]) - a[1] * (a[1] * a[5] - a[4] * a[2]) +
                     a[2] * (a[1] * a[4] - a[3] * a[2]);
  return a[0] > 0 && minor > 0 && det > 0;
}

/* rows[c] = |J| times row c of J^-1 (J[r][c] = d x_r / d xi_c): the cofactors. */
static void cofactors(int dim, const double J[9], double rows[3][3]) {
  if (dim == 2) {
    rows[0][0] = J[3], rows[0][1] = -J[1];
    rows[1][0] = -J[2], rows[1][1] = J[0];
    return;
  }
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3; /* columns of J: row c is column d x column e */
    for (int r = 0; r < 3; r++) {
      const int s = (r + 1) % 3, t = (r + 2) % 3;
      rows[c][r] = J[s * 3 + d] * J[t * 3 + e] - J[t * 3 + d] * J[s * 3 + e];
    }
  }
}

/* out[entries] = factor times adj(J) a adj(J)'. a packed. */
static void metric(int dim, const double J[9], const double *a, double factor, double *out) {
  double rows[3][3], flux[3][3];
  cofactors(dim, J, rows);
  for (int c = 0; c < dim; c++)
    for (int r = 0; r < dim; r++) {
      flux[c][r] = 0;
      for (int s = 0; s < dim; s++) {
        const int low = r < s ? r : s, high = r < s ? s : r;
        flux[c][r] += a[dim == 2 ? low + high : low == 0 ? high : low + high + 1] * rows[c][s];
      }
    }
  for (int c = 0, at = 0; c < dim; c++)
    for (int d = c; d < dim; d++, at++) {
      double sum = 0;
      for (int r = 0; r < dim; r++) sum += flux[c][r] * rows[d][r];
      out[at] = factor * sum;
    }
}

/* The same where cells have functions of their own: scalar a and c, cell by cell. */
static void part_coefficients(const Points *s, int64_t first, int64_t count, const double *x, double *a,
                              double *c) {
  const int64_t n = count * s->points, points = s->points;
  for (int64_t cell = 0; cell < count; cell++) {
    const double *at = x + cell * points;
    const TesFunction *f = tesi_mapped_a(s->m, first + cell), *g = tesi_mapped_c(s->m, first + cell);
    double *value = a + cell * points, *mass = c + cell * points;
    for (int64_t p = 0; p < points; p++) value[p] = 1, mass[p] = 1;
    if (f) tesi_function_values(f, points, at, at + n, at + 2 * n, 0, value);
    if (g) tesi_function_values(g, points, at, at + n, at + 2 * n, 0, mass);
    for (int r = 0, e = 0; r < s->dim; r++)
      for (int t = r; t < s->dim; t++, e++)
        for (int64_t p = 0; p < points && e > 0; p++) a[e * n + cell * points + p] = r == t ? value[p] : 0;
  }
}

/* Coefficients at n points x[3][n]: a[entries][n], c[n]. */
static void coefficients(const Points *s, int64_t n, const double *x, double *a, double *c) {
  const TesMappedDesc *d = &s->m->desc;
  const bool full = d->tensor == TES_TENSOR_FULL;
  for (int r = 0, at = 0; s->m->stiffness && r < s->dim; r++)
    for (int e = r; e < s->dim; e++, at++) {
      const TesFunction *f = full                               ? d->a[at]
                             : e != r                           ? NULL
                             : d->tensor == TES_TENSOR_DIAGONAL ? d->a[r]
                                                                : d->a[0];
      if (f)
        tesi_function_values(f, n, x, x + n, x + 2 * n, 0, a + at * n);
      else
        for (int64_t p = 0; p < n; p++) a[at * n + p] = e == r;
    }
  if (!s->m->mass) return;
  if (d->c)
    tesi_function_values(d->c, n, x, x + n, x + 2 * n, 0, c);
  else
    for (int64_t p = 0; p < n; p++) c[p] = 1;
}

static int64_t work_size(const Points *s, int64_t cells) {
  return cells * s->points * (3 + s->dim * s->dim + s->entries + 2);
}

/* Factors of `count` cells, g[count][s][points]; the point of the first fault in *where. */
static Fault fill_block(const Points *s, int64_t first, int64_t count, double *work, double *g,
                        int64_t *where) {
  const TesiMapped *m = s->m;
  const int64_t n = count * s->points;
  double *x = work, *J = x + 3 * n, *det = J + s->dim * s->dim * n, *a = det + n, *c = a + s->entries * n;
  tesi_geometry_tensor(m->geometry, first, count, s->q, s->B, s->G, x, J);
  tesi_geometry_determinant(s->dim, n, J, det);
  if (m->part)
    part_coefficients(s, first, count, x, a, c);
  else
    coefficients(s, n, x, a, c);
  for (int64_t p = 0; p < n; p++) {
    const int64_t point = p % s->points;
    const double w = s->unweighted ? 1 : s->weight[point];
    double jacobian[9], tensor[6], out[6], *to = g + p / s->points * s->numbers * s->points + point;
    *where = p;
    if (!(det[p] > 0) || !isfinite(det[p])) return INVERTED;
    if (m->stiffness) {
      for (int e = 0; e < s->dim * s->dim; e++) jacobian[e] = J[e * n + p];
      for (int e = 0; e < s->entries; e++) tensor[e] = a[e * n + p];
      if (!positive_definite(s->dim, tensor)) return NOT_POSITIVE;
      if (s->weights_only) {
        *to = w / det[p] * tensor[0];
      } else {
        metric(s->dim, jacobian, tensor, w / det[p], out);
        for (int e = 0; e < s->entries; e++) to[e * s->points] = out[e];
      }
      to += (s->numbers - m->mass) * s->points;
    }
    if (!m->mass) continue;
    if (!(c[p] >= 0) || !isfinite(c[p])) return NEGATIVE_MASS;
    *to = w * det[p] * c[p];
  }
  return NO_FAULT;
}

static TesStatus tell(TesContext *ctx, const Points *s, int64_t cell, double *work, double *g) {
  TesStatus status = TES_OK;
  static const char *const faults[] = {"", "the cell is inverted or degenerate",
                                       "the coefficient a is not positive definite",
                                       "the coefficient c is negative"};
  const TesMappedDesc *d = &s->m->desc;
  const int64_t n = s->points;
  int64_t p = 0;
  const Fault fault = fill_block(s, cell, 1, work, g, &p);
  const double *a = work + (4 + s->dim * s->dim) * n, *c = a + s->entries * n;
  const bool scalar = fault == NOT_POSITIVE && d->tensor == TES_TENSOR_SCALAR;
  if (scalar || fault == NEGATIVE_MASS) {
    const double value = scalar ? a[p] : c[p];
    const TesFunction *f = scalar ? d->a[0] : d->c;
    if (s->m->part) f = scalar ? tesi_mapped_a(s->m, cell) : tesi_mapped_c(s->m, cell);
    TES_FAIL(isfinite(value) ? TES_INVALID_INPUT : TES_NAN,
             "the coefficient %s is %g at (%g, %g, %g) in cell %lld, expected %s 0%s%s", scalar ? "a" : "c",
             value, work[p], work[n + p], work[2 * n + p], (long long)cell,
             scalar ? ">" : ">=", f ? ": " : "", f ? tes_function_text(f) : "");
  }
  TES_FAIL(TES_INVALID_INPUT, "%s at (%g, %g, %g) in cell %lld", faults[fault], work[p], work[s->points + p],
           work[2 * s->points + p], (long long)cell);
done:
  return status;
}

static TesStatus fill(const TesiMapped *m, int q, const double *point, const double *weight,
                      bool weights_only, int64_t first, int64_t count, double *g) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  Points s = {.m = m, .dim = m->dim, .q = q, .entries = m->dim * (m->dim + 1) / 2, .unweighted = !weight};
  s.weights_only = weights_only;
  s.numbers = weights_only ? 1 + m->mass : m->factors;
  s.points = m->dim == 3 ? q * q * q : q * q;
  const int64_t block = s.points >= 256 ? 1 : 256 / s.points;
  const int threads = tes_context_threads(ctx);
  double *work = NULL, *scratch = NULL;
  int64_t bad = INT64_MAX;
  tesi_geometry_tables(m->geometry, q, point, s.B, s.G);
  TES_ALLOC(&s.weight, s.points);
  for (int64_t p = 0; weight && p < s.points; p++)
    s.weight[p] = weight[p % q] * weight[p / q % q] * (m->dim == 3 ? weight[p / q / q] : 1);
  TES_ALLOC(&work, threads * work_size(&s, block));
#pragma omp parallel for schedule(static) reduction(min : bad) num_threads(threads)
  for (int64_t c = 0; c < count; c += block) {
    const int64_t cells = c + block < count ? block : count - c;
    int64_t where = 0;
    if (fill_block(&s, first + c, cells, work + omp_get_thread_num() * work_size(&s, block),
                   g + c * s.numbers * s.points, &where) != NO_FAULT) {
      const int64_t cell = first + c + where / s.points;
      bad = cell < bad ? cell : bad;
    }
  }
  if (bad < INT64_MAX) {
    TES_ALLOC(&scratch, s.numbers * s.points);
    TES_TRY(tell(ctx, &s, bad, work, scratch));
  }
done:
  tesi_free(ctx, &s.weight);
  tesi_free(ctx, &work);
  tesi_free(ctx, &scratch);
  return status;
}

TesStatus tesi_mapped_fill_factors(const TesiMapped *m, int64_t first, int64_t count, double *g) {
  return fill(m, m->q, m->point, m->weight, false, first, count, g);
}

TesStatus tesi_mapped_fill_weights(const TesiMapped *m, int64_t first, int64_t count, double *g) {
  return fill(m, m->q, m->point, m->weight, true, first, count, g);
}

TesStatus tesi_mapped_fill_affine(const TesiMapped *m, int64_t first, int64_t count, double *g) {
  const double middle = 0.5;
  return fill(m, 1, &middle, NULL, false, first, count, g);
}

TesStatus tesi_mapped_check(const TesiMapped *m) {
  enum { BLOCK = 1024 };
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  double *g = NULL;
  TES_ALLOC(&g, BLOCK * m->factors * m->cell_points);
  for (int64_t c = 0; c < m->cells; c += BLOCK)
    TES_TRY(tesi_mapped_fill_factors(m, c, c + BLOCK < m->cells ? BLOCK : m->cells - c, g));
done:
  tesi_free(ctx, &g);
  return status;
}

TesStatus tesi_mapped_fill_vertices(const TesiMapped *m, int64_t first, int64_t count, double *x) {
  const int64_t size = (int64_t)m->dim << m->dim;
  memcpy(x, m->geometry->nodes + first * size, (size_t)(count * size) * sizeof *x);
  return TES_OK;
}
