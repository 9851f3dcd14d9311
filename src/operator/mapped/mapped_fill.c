/* See mapped_fill.h: positions, coefficients, checks; the loops over points are in mapped_fill_simd.c. */
#include "operator/mapped/mapped_fill.h"
#include <math.h>
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
  f->entries = m->desc.tensor == TESI_TENSOR_SCALAR ? 1 : m->dim * (m->dim + 1) / 2;
  f->numbers = weights_only ? 1 + m->mass : m->factors;
  f->points = m->dim == 3 ? q * q * q : q * q;
  /* nodes, x, J, det, a, c; one lane's points and values */
  f->work = TESI_LANES *
                (m->geometry->cell_nodes * m->dim + f->points * (3 + m->dim * m->dim + 1 + f->entries + 1)) +
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

/* Values of a function, NULL: 1, at points x[3][n]. */
static void values(const TesFunction *f, int64_t n, const double *x, double *out) {
  if (f)
    tesi_function_values(f, n, x, x + n, x + 2 * n, 0, out);
  else
    for (int64_t p = 0; p < n; p++) out[p] = 1;
}

/* The same where each lane has a function of its own. */
static void values_of_lanes(const TesFunction *const f[TESI_LANES], int64_t points, const double *x,
                            double *work, double *out) {
  bool same = true;
  for (int l = 1; l < TESI_LANES; l++) same = same && f[l] == f[0];
  if (same) {
    values(f[0], points * TESI_LANES, x, out);
    return;
  }
  for (int l = 0; l < TESI_LANES; l++) {
    for (int64_t i = 0; i < 3 * points; i++) work[i] = x[i * TESI_LANES + l];
    values(f[l], points, work, work + 3 * points);
    for (int64_t p = 0; p < points; p++) out[p * TESI_LANES + l] = work[3 * points + p];
  }
}

/* a[entries][points][8] */
static void diffusion(const TesiFill *f, const int32_t *cell, const double *x, double *work, double *a) {
  const TesiMappedDesc *d = &f->m->desc;
  const int64_t n = f->points * TESI_LANES;
  const TesFunction *of[TESI_LANES];
  if (d->tensor == TESI_TENSOR_SCALAR) {
    for (int l = 0; l < TESI_LANES; l++) of[l] = tesi_mapped_a(f->m, cell[l]);
    values_of_lanes(of, f->points, x, work, a);
    return;
  }
  for (int r = 0, at = 0; r < f->dim; r++)
    for (int e = r; e < f->dim; e++, at++)
      if (d->tensor == TESI_TENSOR_FULL ? d->a[at] != NULL : e == r)
        values(d->a[d->tensor == TESI_TENSOR_FULL ? at : r], n, x, a + at * n);
      else
        for (int64_t p = 0; p < n; p++) a[at * n + p] = e == r;
}

/* Where a group's arrays are in work. */
typedef struct Arrays {
  double *nodes, *x, *J, *det, *a, *c, *lane;
} Arrays;

static Arrays place(const TesiFill *f, double *work) {
  const int64_t n = f->points * TESI_LANES;
  Arrays s = {.nodes = work};
  s.x = work + TESI_LANES * f->m->geometry->cell_nodes * f->dim;
  s.J = s.x + 3 * n;
  s.det = s.J + f->dim * f->dim * n;
  s.a = s.det + n;
  s.c = s.a + f->entries * n;
  s.lane = s.c + n;
  return s;
}

unsigned tesi_fill_cells(const TesiFill *f, const int32_t cell[TESI_LANES], double *work, double *out) {
  const TesiMapped *m = f->m;
  const bool scalar = m->desc.tensor == TESI_TENSOR_SCALAR;
  const Arrays s = place(f, work);
  tesi_lanes_points(m->geometry, f->lanes, cell, f->q, f->B, f->G, s.nodes, s.x, s.J);
  f->lanes->determinant(f->dim, f->points, s.J, s.det);
  unsigned faults = f->lanes->faulty(f->points, true, s.det);
  if (m->stiffness) {
    diffusion(f, cell, s.x, s.lane, s.a);
    faults |= f->loops->indefinite(f->dim, scalar, f->points, s.a);
    if (f->weights_only)
      f->loops->weights(f->points, f->weight, s.det, s.a, out);
    else
      f->loops->metric(f->dim, scalar, f->points, f->weight, s.J, s.det, s.a, out);
  }
  if (m->mass) {
    const TesFunction *of[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) of[l] = tesi_mapped_c(m, cell[l]);
    values_of_lanes(of, f->points, s.x, s.lane, s.c);
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

/* What is wrong at a point, if anything. */
typedef enum Fault { NO_FAULT, INVERTED, NOT_POSITIVE, NEGATIVE_MASS } Fault;

/* That of the first point of lane 0 that has one. */
static Fault find_fault(const TesiFill *f, const Arrays *s, int64_t *point) {
  const int64_t n = f->points * TESI_LANES;
  const bool scalar = f->m->desc.tensor == TESI_TENSOR_SCALAR;
  _Alignas(64) double a[6 * TESI_LANES];
  for (*point = 0; *point < f->points; ++*point) {
    const int64_t at = *point * TESI_LANES;
    for (int e = 0; e < f->entries; e++)
      memcpy(a + e * TESI_LANES, s->a + e * n + at, TESI_LANES * sizeof *a);
    if (f->lanes->faulty(1, true, s->det + at) & 1) return INVERTED;
    if (f->m->stiffness && f->loops->indefinite(f->dim, scalar, 1, a) & 1) return NOT_POSITIVE;
    if (f->m->mass && f->lanes->faulty(1, false, s->c + at) & 1) return NEGATIVE_MASS;
  }
  return NO_FAULT;
}

TesStatus tesi_fill_tell(const TesiFill *f, int64_t bad) {
  static const char *const faults[] = {"", "the cell is inverted or degenerate",
                                       "the coefficient a is not positive definite",
                                       "the coefficient c is negative"};
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
  const Fault fault = find_fault(f, &s, &p);
  const double *x = s.x + p * TESI_LANES, y = x[f->points * TESI_LANES], z = x[2 * f->points * TESI_LANES];
  const bool scalar = fault == NOT_POSITIVE && m->desc.tensor == TESI_TENSOR_SCALAR;
  if (scalar || fault == NEGATIVE_MASS) {
    const double value = (scalar ? s.a : s.c)[p * TESI_LANES];
    const TesFunction *function = scalar ? tesi_mapped_a(m, bad) : tesi_mapped_c(m, bad);
    TES_FAIL(isfinite(value) ? TES_INVALID_INPUT : tesi_function_fault(function),
             "%sthe coefficient %s is %g at (%g, %g, %g) in cell %lld, expected %s 0%s%s",
             tesi_function_where(function), scalar ? "a" : "c", value, *x, y, z, (long long)bad,
             scalar ? ">" : ">=", function ? ": " : "", function ? tes_function_text(function) : "");
  }
  TES_FAIL(TES_INVALID_INPUT, "%s at (%g, %g, %g) in cell %lld", faults[fault], *x, y, z, (long long)bad);
done:
  tesi_free(ctx, &work);
  tesi_free(ctx, &out);
  return status;
}
