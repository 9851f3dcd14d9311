/* See mapped_fill.h: positions, coefficients, checks; the loops over points are in mapped_fill_simd.c. */
#include "operator/mapped/mapped_fill.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"

extern const TesiFillLoops tesi_fill_loops_128, tesi_fill_loops_256, tesi_fill_loops_512;

TesStatus tesi_fill_create(const TesiMapped *m, int q, const double *point, const double *weight,
                           bool weights_only, TesiFill *f) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const int64_t n = m->geometry->degree + 1;
  *f = (TesiFill){.m = m, .dim = m->dim, .q = q, .weights_only = weights_only};
  f->lanes = tesi_lanes(tes_context_simd_bits(ctx));
  f->loops = TESI_SIMD_PICK(tes_context_simd_bits(ctx), &tesi_fill_loops);
  f->entries = m->scalar ? 1 : m->dim * (m->dim + 1) / 2;
  f->numbers = weights_only ? 1 + m->mass : m->factors;
  f->points = m->dim == 3 ? q * q * q : q * q;
  /* nodes, x, J, det, a, an entry that mirrors one, c; one lane's points and values */
  f->work = TESI_LANES * (m->geometry->cell_nodes * m->dim +
                          f->points * (3 + m->dim * m->dim + 1 + f->entries + !m->scalar + 1)) +
            (4 * f->points + TESI_LANES - 1) / TESI_LANES * TESI_LANES;
  TES_ALLOC(&f->B, q * n);
  TES_ALLOC(&f->G, q * n);
  TES_ALLOC(&f->weight, f->points);
  tesi_geometry_tables(m->geometry, q, point, f->B, f->G);
  for (int64_t p = 0; p < f->points; p++)
    f->weight[p] = weight ? weight[p % q] * weight[p / q % q] * (m->dim == 3 ? weight[p / q / q] : 1) : 1;
done:
  return status;
}

void tesi_fill_destroy(TesiFill *f) {
  TesContext *ctx = f->m ? f->m->geometry->context : NULL;
  if (!ctx) return;
  tesi_free(ctx, &f->B);
  tesi_free(ctx, &f->G);
  tesi_free(ctx, &f->weight);
}

/* Values of a function at points x[3][n]. */
static void values(const TesFunction *f, double otherwise, int64_t n, const double *x, double *out) {
  if (f)
    tesi_function_values(f, n, x, x + n, x + 2 * n, 0, out);
  else
    for (int64_t p = 0; p < n; p++) out[p] = otherwise;
}

/* The same where each lane has a function of its own. */
static void values_of_lanes(const TesFunction *const f[TESI_LANES], double otherwise, int64_t points,
                            const double *x, double *work, double *out) {
  bool same = true;
  for (int l = 1; l < TESI_LANES; l++) same = same && f[l] == f[0];
  if (same) {
    values(f[0], otherwise, points * TESI_LANES, x, out);
    return;
  }
  for (int l = 0; l < TESI_LANES; l++) {
    for (int64_t i = 0; i < 3 * points; i++) work[i] = x[i * TESI_LANES + l];
    values(f[l], otherwise, points, work, work + 3 * points);
    for (int64_t p = 0; p < points; p++) out[p * TESI_LANES + l] = work[3 * points + p];
  }
}

/* Equal up to rounding; NaN counts as symmetric. */
static bool is_symmetric(double a, double b) {
  return !(fabs(a - b) > 1e-12 * fmax(fabs(a), fabs(b)));
}

/* Entry r, c of a[points][8]. */
static void fill_entry(const TesiFill *f, const TesFunction *const a[TESI_LANES], int r, int c,
                       const double *x, double *work, double *out) {
  const TesFunction *of[TESI_LANES];
  double otherwise = 0;
  for (int l = 0; l < TESI_LANES; l++) of[l] = tesi_function_entry(a[l], r, c, &otherwise);
  values_of_lanes(of, otherwise, f->points, x, work, out);
}

/* a[entries][points][8]; returns the bits of lanes in which mirrored entries differ. other: [points][8]. */
static unsigned diffusion(const TesiFill *f, const int32_t *cell, const double *x, double *work, double *a,
                          double *other) {
  const int64_t n = f->points * TESI_LANES;
  const TesFunction *of[TESI_LANES];
  unsigned faults = 0;
  for (int l = 0; l < TESI_LANES; l++) of[l] = tesi_mapped_a(f->m, cell[l]);
  if (f->m->scalar) {
    values_of_lanes(of, 1, f->points, x, work, a);
    return 0;
  }
  for (int r = 0, at = 0; r < f->dim; r++)
    for (int c = r; c < f->dim; c++, at++) {
      bool mirrored = true;
      fill_entry(f, of, r, c, x, work, a + at * n);
      for (int l = 0; l < TESI_LANES; l++) mirrored = mirrored && tesi_function_mirrored(of[l], r, c);
      if (mirrored) continue;
      fill_entry(f, of, c, r, x, work, other);
      for (int64_t i = 0; i < n; i++)
        if (!is_symmetric(a[at * n + i], other[i])) faults |= 1u << i % TESI_LANES;
    }
  return faults;
}

/* The places of a group's arrays in work. */
typedef struct Arrays {
  double *nodes, *x, *J, *det, *a, *other, *c, *lane;
} Arrays;

static Arrays place(const TesiFill *f, double *work) {
  const int64_t n = f->points * TESI_LANES;
  Arrays s = {.nodes = work};
  s.x = work + TESI_LANES * f->m->geometry->cell_nodes * f->dim;
  s.J = s.x + 3 * n;
  s.det = s.J + f->dim * f->dim * n;
  s.a = s.det + n;
  s.other = s.a + f->entries * n;
  s.c = s.other + (f->m->scalar ? 0 : n);
  s.lane = s.c + n;
  return s;
}

unsigned tesi_fill_cells(const TesiFill *f, const int32_t cell[TESI_LANES], double *work, double *out) {
  const TesiMapped *m = f->m;
  const bool scalar = m->scalar;
  const Arrays s = place(f, work);
  tesi_lanes_points(m->geometry, f->lanes, cell, f->q, f->B, f->G, s.nodes, s.x, s.J);
  f->lanes->determinant(f->dim, f->points, s.J, s.det);
  unsigned faults = f->lanes->faulty(f->points, true, s.det);
  if (m->stiffness) {
    faults |= diffusion(f, cell, s.x, s.lane, s.a, s.other);
    faults |= f->loops->indefinite(f->dim, scalar, f->points, s.a);
    if (f->weights_only)
      f->loops->weights(f->points, f->weight, s.det, s.a, out);
    else
      f->loops->metric(f->dim, scalar, f->points, f->weight, s.J, s.det, s.a, out);
  }
  if (m->mass) {
    const TesFunction *of[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) of[l] = tesi_mapped_c(m, cell[l]);
    values_of_lanes(of, 1, f->points, s.x, s.lane, s.c);
    faults |= f->lanes->faulty(f->points, false, s.c);
    f->loops->mass(f->points, f->weight, s.det, s.c, out + (f->numbers - 1) * f->points * TESI_LANES);
  }
  return faults;
}

int64_t tesi_fill_worst(int64_t bad, unsigned bits, const int32_t cell[TESI_LANES]) {
  for (int l = 0; bits && l < TESI_LANES; l++)
    if (bits >> l & 1 && cell[l] < bad) bad = cell[l];
  return bad;
}

/* The error at a point, if there is one. */
typedef enum Fault { NO_FAULT, INVERTED, NOT_POSITIVE, NEGATIVE_MASS } Fault;

/* The coefficient a at a point as it was given, v[3][3]; whether it is symmetric there. */
static bool matrix_at(const TesFunction *a, int dim, const double x[3], double v[3][3]) {
  bool symmetric = true;
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      const TesFunction *entry = tesi_function_entry(a, r, c, &v[r][c]);
      if (entry) tesi_function_values(entry, 1, &x[0], &x[1], &x[2], 0, &v[r][c]);
      symmetric = symmetric && (c >= r || is_symmetric(v[r][c], v[c][r]));
    }
  return symmetric;
}

static void position(const TesiFill *f, const Arrays *s, int64_t point, double x[3]) {
  for (int d = 0; d < 3; d++) x[d] = s->x[(d * f->points + point) * TESI_LANES];
}

/* The error of the first point of lane 0 that has one. */
static Fault find_fault(const TesiFill *f, const Arrays *s, int64_t cell, int64_t *point) {
  const int64_t n = f->points * TESI_LANES;
  const bool scalar = f->m->scalar;
  _Alignas(64) double a[6 * TESI_LANES];
  for (*point = 0; *point < f->points; ++*point) {
    const int64_t at = *point * TESI_LANES;
    for (int e = 0; e < f->entries; e++)
      memcpy(a + e * TESI_LANES, s->a + e * n + at, TESI_LANES * sizeof *a);
    if (f->lanes->faulty(1, true, s->det + at) & 1) return INVERTED;
    if (f->m->stiffness && f->loops->indefinite(f->dim, scalar, 1, a) & 1) return NOT_POSITIVE;
    if (f->m->stiffness && !scalar) {
      double x[3], v[3][3];
      position(f, s, *point, x);
      if (!matrix_at(tesi_mapped_a(f->m, cell), f->dim, x, v)) return NOT_POSITIVE;
    }
    if (f->m->mass && f->lanes->faulty(1, false, s->c + at) & 1) return NEGATIVE_MASS;
  }
  return NO_FAULT;
}

static TesStatus tell_matrix(const TesiFill *f, int64_t cell, const double x[3]) {
  TesContext *ctx = f->m->geometry->context;
  TesStatus status = TES_OK;
  const TesFunction *a = tesi_mapped_a(f->m, cell);
  char text[300];
  double v[3][3];
  int used = 0;
  const bool symmetric = matrix_at(a, f->dim, x, v);
  for (int r = 0; r < f->dim; r++)
    for (int c = 0; c < f->dim; c++)
      used += snprintf(text + used, sizeof text - (size_t)used, "%s%g%s",
                       c   ? ", "
                       : r ? "], ["
                           : "[[",
                       v[r][c], r + c == 2 * f->dim - 2 ? "]]" : "");
  TES_FAIL(
      TES_INVALID_INPUT,
      "%sthe coefficient a is %s at (%g, %g, %g) in cell %lld, which is not %s; expected a symmetric and "
      "positive definite matrix: %.300s",
      tesi_function_where(a), text, x[0], x[1], x[2], (long long)cell,
      symmetric ? "positive definite" : "symmetric", tes_function_text(a));
done:
  return status;
}

TesStatus tesi_fill_tell(const TesiFill *f, int64_t bad) {
  static const char *const faults[] = {"", "the cell is inverted or degenerate",
                                       "the coefficient a is not positive", "the coefficient c is negative"};
  const TesiMapped *m = f->m;
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  int32_t cell[TESI_LANES];
  int64_t p;
  double *work = NULL, *out = NULL;
  if (bad == INT64_MAX) return TES_OK;
  TES_ALLOC(&work, f->work);
  TES_ALLOC(&out, f->numbers * f->points * TESI_LANES);
  for (int l = 0; l < TESI_LANES; l++) cell[l] = (int32_t)bad;
  tesi_fill_cells(f, cell, work, out);
  const Arrays s = place(f, work);
  const Fault fault = find_fault(f, &s, bad, &p);
  double x[3];
  position(f, &s, p, x);
  const bool scalar = fault == NOT_POSITIVE && !tesi_function_is_matrix(tesi_mapped_a(m, bad));
  if (fault == NOT_POSITIVE && !scalar) TES_TRY(tell_matrix(f, bad, x));
  if (scalar || fault == NEGATIVE_MASS) {
    const double value = (scalar ? s.a : s.c)[p * TESI_LANES];
    const TesFunction *function = scalar ? tesi_mapped_a(m, bad) : tesi_mapped_c(m, bad);
    TES_FAIL(isfinite(value) ? TES_INVALID_INPUT : tesi_function_fault(function),
             "%sthe coefficient %s is %g at (%g, %g, %g) in cell %lld, expected %s 0%s%s",
             tesi_function_where(function), scalar ? "a" : "c", value, x[0], x[1], x[2], (long long)bad,
             scalar ? ">" : ">=", function ? ": " : "", function ? tes_function_text(function) : "");
  }
  TES_FAIL(TES_INVALID_INPUT, "%s at (%g, %g, %g) in cell %lld", faults[fault], x[0], x[1], x[2],
           (long long)bad);
done:
  tesi_free(ctx, &work);
  tesi_free(ctx, &out);
  return status;
}
