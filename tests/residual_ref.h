/* Residuals of cells and of faces point by point, the yardstick of src/problem/adapt/residual_*.c. Fields are
 * evaluated by all functions of a cell, Jacobians by tes_mesh_evaluate()'s function, and nothing is shared but
 * quadrature points and what the problem's data are. */
#ifndef RESIDUAL_REF_H
#define RESIDUAL_REF_H

#include <math.h>
#include "mesh/inner_faces.h"
#include "problem/adapt/estimate.h"
#include "testing.h"

/* inverse[c][r] = d xi_c / d x_r; G[c][r] = d u_c / d x_r; slope: of the pressure. */
typedef struct RefPoint {
  int material;
  double x[3], inverse[3][3], det, u[3], rate[3], G[3][3], p, slope[3];
} RefPoint;

static double ref_value(const TesFunction *f, double constant, const double x[3], const double n[3]) {
  double value = constant;
  const double *const more[3] = {&n[0], &n[1], &n[2]};
  if (f) tesi_function_values_over(f, 1, &x[0], &x[1], &x[2], 0, more, &value);
  return value;
}

static const TesFunction *ref_pick(const TesFunction **of, int material, const TesFunction *otherwise) {
  return of && material >= 0 && of[material] ? of[material] : otherwise;
}

static void ref_invert(int dim, const double *J, RefPoint *at) {
  double A[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) A[r][c] = J[r * dim + c];
  at->det = 0;
  for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    for (int r = 0; r < 3; r++) {
      const int i = (r + 1) % 3, k = (r + 2) % 3;
      at->inverse[c][r] = A[i][d] * A[k][e] - A[i][e] * A[k][d];
    }
    at->det += A[0][c] * at->inverse[c][0];
  }
  for (int i = 0; i < 9; i++) at->inverse[i / 3][i % 3] /= at->det;
}

static void ref_field(const TesiCellView *view, int64_t cell, const double *x, const double *xi,
                      const RefPoint *at, double *value, double slope[3]) {
  double local[TESI_CELL_MOST], along[3];
  tesi_cells_read(view, cell, x, local);
  tesi_local_values(view->dim, view->degree, local, 1, xi, value, along);
  for (int r = 0; r < 3; r++) {
    slope[r] = 0;
    for (int c = 0; c < view->dim; c++) slope[r] += at->inverse[c][r] * along[c];
  }
}

static RefPoint ref_point(TesContext *ctx, const TesiResidual *s, int64_t cell, const double *xi) {
  RefPoint at = {.material = tes_mesh_material(s->space->mesh, cell)};
  double J[9], unused[3];
  const double *const pressure = s->u + s->components * s->space->length;
  assert_ok(ctx, tesi_geometry_evaluate(s->geometry, cell, 1, xi, at.x, J));
  ref_invert(s->rule.dim, J, &at);
  for (int c = 0; c < s->components; c++) {
    ref_field(s->space, cell, s->u + c * s->space->length, xi, &at, &at.u[c], at.G[c]);
    if (s->rate) ref_field(s->space, cell, s->rate + c * s->space->length, xi, &at, &at.rate[c], unused);
  }
  if (s->pressure) ref_field(s->pressure, cell, pressure, xi, &at, &at.p, at.slope);
  return at;
}

/* F[component][direction] = a grad u, or sigma. */
static void ref_flux(const TesiResidual *s, const RefPoint *at, double F[3][3]) {
  static const double none[3] = {0};
  const TesiNumbered *data = s->data;
  const TesFunction *a = ref_pick(data->a, at->material, data->data.a),
                    *lambda = ref_pick(data->lambda, at->material, data->data.lambda),
                    *strain = ref_pick(data->expansion, at->material, data->data.expansion);
  const int dim = s->rule.dim;
  const double l = s->pressure ? 0 : ref_value(lambda, 0, at->x, none),
               hot = ref_value(strain, 0, at->x, none), trace = at->G[0][0] + at->G[1][1] + at->G[2][2];
  if (s->components == 1) {
    for (int r = 0; r < dim; r++) {
      F[0][r] = 0;
      for (int c = 0; c < dim; c++) {
        double otherwise = r == c;
        const TesFunction *entry = tesi_function_entry(a, r, c, &otherwise);
        F[0][r] += ref_value(entry, otherwise, at->x, none) * at->G[0][c];
      }
    }
    return;
  }
  const double mu = ref_value(a, 1, at->x, none);
  for (int c = 0; c < dim; c++)
    for (int r = 0; r < dim; r++)
      if (s->pressure && !s->symmetric)
        F[c][r] = mu * at->G[c][r];
      else
        F[c][r] = mu * (at->G[c][r] + at->G[r][c]) +
                  (c == r ? l * trace - (strain ? (s->thermal * l + 2 * mu) * hot : 0) : 0);
}

/* The residual at a point without the divergence of the flux; F is completed. */
static void ref_source(const TesiResidual *s, const RefPoint *at, double F[3][3], double r[3]) {
  static const double none[3] = {0};
  const TesiNumbered *data = s->data;
  const TesFunction *of_c = ref_pick(data->c, at->material, data->data.c);
  const double c = s->components == 1 || s->dense ? ref_value(of_c, s->dense, at->x, none) : 0;
  const bool unit = !s->dense || !of_c;
  for (int k = 0; k < s->components; k++) {
    r[k] = ref_value(ref_pick(data->f[k], at->material, data->data.f[k]), 0, at->x, none);
    if (!s->dense) r[k] -= c * at->u[k];
    if (s->rate) r[k] -= (unit ? 1 : c) * at->rate[k];
    if (s->pressure) r[k] -= at->slope[k] + s->alpha * at->u[k];
    for (int d = 0; d < s->rule.dim; d++) {
      const double b = ref_value(data->data.b[d], 0, at->x, none);
      if (s->carried) r[k] -= at->u[d] * at->G[k][d];
      if (s->transports && !s->conservative) r[k] -= b * at->G[k][d];
      if (s->transports && s->conservative) F[k][d] -= b * at->u[k];
    }
  }
}

/* r[components][points], and div u. */
static void ref_cell(TesContext *ctx, const TesiResidual *s, int64_t cell, double *r, double *weight,
                     double *divergence) {
  static double C[3][3][TESI_CELL_POINTS], det[TESI_CELL_POINTS];
  const TesiCellRule *rule = &s->rule;
  const int q = rule->q, dim = rule->dim, n = (int)rule->points;
  for (int p = 0; p < n; p++) {
    const int at[3] = {p % q, p / q % q, p / q / q};
    const double xi[3] = {rule->point[at[0]], rule->point[at[1]], rule->point[at[2]]};
    const RefPoint point = ref_point(ctx, s, cell, xi);
    double F[3][3], source[3];
    ref_flux(s, &point, F);
    ref_source(s, &point, F, source);
    det[p] = point.det;
    weight[p] = point.det * rule->weight[at[0]] * rule->weight[at[1]] * (dim == 3 ? rule->weight[at[2]] : 1);
    divergence[p] = point.G[0][0] + point.G[1][1] + point.G[2][2];
    for (int k = 0; k < s->components; k++) {
      r[k * n + p] = source[k];
      for (int c = 0; c < dim; c++) {
        C[k][c][p] = 0;
        for (int d = 0; d < dim; d++) C[k][c][p] += point.det * point.inverse[c][d] * F[k][d];
      }
    }
  }
  for (int p = 0; p < n; p++)
    for (int c = 0, step = 1; c < dim; c++, step *= q)
      for (int i = 0, at = p / step % q; i < q; i++)
        for (int k = 0; k < s->components; k++)
          r[k * n + p] += s->table.D[at * q + i] * C[k][c][p + (i - at) * step] / det[p];
}

/* The point of the other side: ends of directions by the pair. */
static void ref_face_point(const TesiResidual *s, const TesiFacePair *pair, bool other, const double at[2],
                           double xi[3]) {
  const int face = other ? pair->other_face : pair->face;
  for (int d = 0, e = 0; d < s->rule.dim; d++) {
    xi[d] = face & 1;
    if (d == face / 2) continue;
    const int number = other ? pair->number[e] : 0;
    const double from = at[other && pair->swapped ? !e : e], t = number < 3 ? from : 1 - from;
    xi[d] = number % 3 == 0 ? t : (t + number % 3 - 1) / 2;
    e++;
  }
}

static bool ref_condition(const TesiResidual *s, int name, bool open, const RefPoint *at, const double n[3],
                          double j[3]) {
  const TesiGiven *on = &s->data->given[name >= 0 ? name : tes_mesh_boundaries(s->space->mesh)];
  const bool free = !open || tesi_given_open(on, s->rule.dim);
  double along = 0, inward = 0;
  bool counts = false;
  for (int d = 0; d < 3; d++) inward += at->u[d] * n[d];
  for (int c = 0; c < s->components; c++) {
    j[c] += ref_value(on->alpha, 0, at->x, n) * (open ? 0 : at->u[c]);
    if (free && on->g[c]) j[c] -= ref_value(on->g[c], 0, at->x, n);
    if (open) j[c] -= (at->p - (free ? ref_value(on->g[s->rule.dim], 0, at->x, n) : 0)) * n[c];
    if (open && free && s->carried && inward < 0) j[c] -= inward / 2 * at->u[c];
    const bool given = tesi_cells_given(s->part[c], name);
    if (given) j[c] = 0;
    counts = counts || !given;
    along += j[c] * n[c];
  }
  for (int c = 0; c < s->components && on->how[0] == TESI_NORMAL; c++) j[c] -= along * n[c];
  for (int d = 0; d < s->rule.dim && on->how[0] == TESI_FLUX && s->transports; d++)
    j[0] -= ref_value(s->data->data.b[d], 0, at->x, n) * n[d] * at->u[0];
  return counts;
}

/* j[components][points]; returns whether the face counts. */
static bool ref_face(TesContext *ctx, const TesiResidual *s, const TesiFacePair *pair, double *j,
                     double *weight) {
  const TesiFaceRule *rule = &s->face_rule;
  const TesMesh *mesh = s->space->mesh;
  const int dim = rule->dim, q = rule->q, n = rule->points;
  bool counts = true;
  int name = -1;
  const bool inside = pair->other >= 0,
             named = tesi_mesh_has_name(mesh, pair->cell, pair->face, &name) ||
                     (inside && tesi_mesh_has_name(mesh, pair->other, pair->other_face, &name));
  for (int p = 0; p < n; p++) {
    const double from[2] = {rule->point[p % q], rule->point[p / q % q]};
    double xi[3], normal[3] = {0}, size = 0, F[3][3], jump[3];
    ref_face_point(s, pair, false, from, xi);
    const RefPoint own = ref_point(ctx, s, pair->cell, xi);
    for (int r = 0; r < dim; r++) size += pow(own.inverse[pair->face / 2][r], 2);
    size = sqrt(size);
    for (int r = 0; r < dim; r++)
      normal[r] = (pair->face & 1 ? 1 : -1) * own.inverse[pair->face / 2][r] / size;
    weight[p] = rule->weight[p % q] * (dim == 3 ? rule->weight[p / q] : 1) * own.det * size;
    for (int side = 0; side <= inside; side++) {
      ref_face_point(s, pair, side, from, xi);
      const RefPoint at = side ? ref_point(ctx, s, pair->other, xi) : own;
      for (int r = 0; r < dim; r++) assert_near(at.x[r], own.x[r], 1e-12);
      ref_flux(s, &at, F);
      for (int c = 0; c < s->components; c++)
        for (int r = 0; r < dim; r++)
          jump[c] = (side || r ? jump[c] : 0) + (side ? -1 : 1) * F[c][r] * normal[r];
    }
    if (!inside || named) counts = ref_condition(s, name, s->pressure && !inside, &own, normal, jump);
    for (int c = 0; c < s->components; c++) j[c * n + p] = jump[c];
  }
  return counts;
}

#endif
