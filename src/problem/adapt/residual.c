/* Residuals: see estimate.h. */
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "problem/adapt/estimate.h"
#include "problem/in_time.h"
#include "mesh/inner_faces.h"

static void side_tables(int n, const TesiFaceRule *rule, TesiSideTables *t) {
  static const double ends[2] = {0, 1};
  double node[TESI_HANGING_NODES], point[TESI_FACE_POINTS];
  t->n = n;
  tesi_gauss_lobatto(n, node, NULL);
  tesi_lagrange(n, node, 2, ends, NULL, t->ends);
  for (int i = 0; i < TESI_SIDES; i++) {
    const int half = i % 3;
    for (int p = 0; p < rule->q; p++)
      point[p] = (half == 2 ? 0.5 : 0) + (half ? 0.5 : 1) * (i < 3 ? rule->point[p] : 1 - rule->point[p]);
    tesi_lagrange(n, node, rule->q, point, t->B[i], t->G[i]);
  }
}

/* u_t of all components, one after the other; second order: u_tt; nothing before the first step. */
static TesStatus find_rate(const TesProblem *p, TesiResidual *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (p->equation->second_order) {
    TES_ALLOC(&s->rate, p->space->length);
    return tes_vector_get(p->in_time->stepper->second, s->rate);
  }
  const TesiRate rate = tesi_problem_rate(p);
  double *values = NULL;
  const int64_t length = s->components * s->space->length;
  if (rate.count == 0) return TES_OK;
  TES_ALLOC(&s->rate, length);
  TES_ALLOC(&values, length);
  for (int64_t i = 0; i < length; i++) s->rate[i] = rate.weight[0] * s->u[i];
  for (int j = 0; j < rate.count; j++) {
    TES_TRY(tes_vector_get(rate.old[j], values));
    for (int64_t i = 0; i < length; i++) s->rate[i] += rate.weight[1 + j] * values[i];
  }
done:
  tesi_free(ctx, &values);
  return status;
}

/* The problem's numbers belong to operators, with sigma in c, and to another time. */
static TesStatus take_time(const TesProblem *p, TesiResidual *s) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  s->mesh = tesi_mesh_retain(p->mesh);
  TES_TRY(tesi_numbered_copy(p->mesh, &p->in_time->numbers, &s->own));
  TES_TRY(tesi_numbered_at(p->mesh, p->in_time->march.time, 1, 0, &s->own));
  s->data = &s->own;
  TES_TRY(find_rate(p, s));
done:
  return status;
}

/* Cell views of the solution's components; of flows: of the velocity's components, then of the pressure. */
static TesStatus take_parts(const TesProblem *problem, TesiResidual *s) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesSpace *space = problem->space;
  const TesiOwn *own = problem->equation->own;
  const bool flow = own && own->reaction;
  s->components = space->scalars - flow;
  for (int c = 0; c < s->components; c++) TES_TRY(tesi_space_cells(space->scalar[c], &s->part[c]));
  s->space = s->part[0];
  if (flow) TES_TRY(tesi_space_cells(space->scalar[s->components], &s->pressure));
  if (flow) tesi_cell_rule(s->pressure, s->space->degree + 2, &s->pressure_rule);
  s->carried = flow && problem->in_time;
  s->symmetric = flow && problem->variant.flow == TES_FLOW_SYMMETRIC;
  if (flow) s->alpha = own->reaction(problem);
done:
  return status;
}

TesStatus tesi_residual_create(const TesProblem *problem, TesiResidual **residual) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  *residual = NULL;
  TES_NEW(&s);
  s->data = &problem->numbered;
  TES_TRY(take_parts(problem, s));
  const TesiCellView *space = s->space;
  TES_TRY(tesi_mesh_geometry(problem->mesh, &s->geometry));
  TES_ALLOC(&s->u, problem->space->length);
  TES_TRY(tes_vector_get(problem->u, s->u));
  s->transports = tesi_problem_transports(problem);
  s->conservative = problem->variant.conservative;
  s->l2 = s->transports || (problem->in_time && !problem->equation->second_order);
  s->dense = problem->equation->second_order;
  s->thermal = problem->variant.plane == TES_PLANE_STRESS ? 2 : 3;
  if (problem->in_time) TES_TRY(take_time(problem, s));
  tesi_cell_rule(space, space->degree + 2, &s->rule);
  tesi_face_rule(space->dim, space->degree, space->degree + 2, s->geometry, &s->face_rule);
  tesi_lagrange(s->rule.q, s->rule.point, s->rule.q, s->rule.point, NULL, s->D);
  side_tables(space->n, &s->face_rule, &s->side);
  side_tables(s->geometry->degree + 1, &s->face_rule, &s->geometry_side);
  TES_TRY(tesi_face_pairs(space, &s->across, &s->pair, &s->pairs));
  if (tesi_ranks(ctx) > 1) {
    TES_TRY(tesi_residual_take_across(s));
    side_tables(s->geometry_across.degree + 1, &s->face_rule, &s->across_side);
  }
  *residual = s;
  s = NULL;
done:
  tesi_residual_destroy(ctx, &s);
  return status;
}

void tesi_residual_destroy(TesContext *ctx, TesiResidual **residual) {
  if (!*residual) return;
  tesi_free(ctx, &(*residual)->pair);
  tesi_across_free(ctx, &(*residual)->across);
  tesi_free(ctx, &(*residual)->u_across);
  tesi_free(ctx, &(*residual)->geometry_across.nodes);
  tesi_free(ctx, &(*residual)->names_across);
  tesi_free(ctx, &(*residual)->u);
  tesi_free(ctx, &(*residual)->rate);
  tesi_numbered_free((*residual)->mesh, &(*residual)->own);
  tes_mesh_destroy(&(*residual)->mesh);
  tesi_free(ctx, residual);
}

static const TesFunction *pick(const TesFunction *const *by_material, int material,
                               const TesFunction *otherwise) {
  return by_material && material >= 0 && by_material[material] ? by_material[material] : otherwise;
}

static int material_of(const TesiResidual *s, int64_t cell) {
  const int64_t across = cell - s->space->cells;
  return across < 0 ? tes_mesh_material(s->space->mesh, cell) : s->names_across[across].material;
}

/* Values at n points x[3][n]; `constant` if there is no function. */
static void values_of(const TesFunction *f, double constant, int64_t n, const double *x, double *value) {
  for (int64_t p = 0; p < n && !f; p++) value[p] = constant;
  if (f) tesi_function_values(f, n, x, x + n, x + 2 * n, 0, value);
}

/* A matrix, stored as 00 01 (02) 11 (12 22), times v. */
static void multiply(int dim, int64_t n, const double *a, int64_t p, const double *v, double *out) {
  for (int r = 0; r < dim; r++) out[r] = 0;
  for (int r = 0, at = 0; r < dim; r++)
    for (int c = r; c < dim; c++, at++) {
      out[r] += a[at * n + p] * v[c];
      if (c > r) out[c] += a[at * n + p] * v[r];
    }
}

double tesi_residual_diffusion(const TesiResidual *s, int64_t cell) {
  const TesFunction *a = pick(s->data->a, material_of(s, cell), s->data->data.a);
  const double middle[3] = {0.5, 0.5, 0.5};
  double x[3] = {0}, value = 1;
  if (!a || tes_function_constant(a, &value)) return value;
  if (tesi_geometry_evaluate(s->geometry, cell, 1, middle, x, NULL) != TES_OK) return NAN;
  tesi_function_values(a, 1, &x[0], &x[1], &x[2], 0, &value);
  return value;
}

/* out[p] += sum over direction c of D in[p']. */
static void add_derivative(const TesiResidual *s, int c, const double *in, double *out) {
  const int q = s->rule.q, stride = c == 0 ? 1 : c == 1 ? q : q * q;
  for (int64_t p = 0; p < s->rule.points; p++) {
    const int at = (int)(p / stride % q);
    const double *line = in + p - at * stride;
    double sum = 0;
    for (int i = 0; i < q; i++) sum += s->D[at * q + i] * line[i * stride];
    out[p] += sum;
  }
}

/* b[3][points]; 0 beyond dim. */
static void velocity_at(const TesiResidual *s, const TesiCellPoints *at, double *b) {
  const int64_t n = s->rule.points;
  for (int d = 0; d < 3; d++) values_of(s->data->data.b[d], 0, n, at->x, b + d * n);
}

double tesi_residual_speed(const TesiResidual *s, int64_t cell, const TesiCellPoints *at) {
  const int64_t n = s->rule.points;
  double b[3 * TESI_CELL_POINTS], most = 0;
  if (!s->transports && !s->carried) return 0;
  if (s->carried)
    tesi_residual_velocity(s, cell, b);
  else
    velocity_at(s, at, b);
  for (int64_t p = 0; p < n; p++) {
    double square = 0;
    for (int d = 0; d < s->rule.dim; d++) square += b[d * n + p] * b[d * n + p];
    most = fmax(most, square);
  }
  return sqrt(most);
}

void tesi_residual_streamline(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                              const double *local, double *r) {
  const int dim = s->rule.dim, k = s->space->degree;
  const int64_t n = s->rule.points;
  double b[3 * TESI_CELL_POINTS], slope[3][TESI_CELL_POINTS], row[3][3 * TESI_CELL_POINTS],
      flux[3][3 * TESI_CELL_POINTS];
  velocity_at(s, at, b);
  for (int d = 0; d < dim; d++) tesi_cell_evaluate(&s->rule, d, local, slope[d]);
  for (int64_t p = 0; p < n; p++) {
    double inverse[9];
    tesi_cell_inverse(&s->rule, at, p, inverse);
    for (int e = 0; e < dim; e++)
      for (int d = 0; d < dim; d++) row[e][d * n + p] = flux[e][d * n + p] = inverse[e * dim + d];
  }
  for (int e = 0; e < dim; e++) tesi_residual_flux(s, cell, n, at->x, flux[e]);
  for (int64_t p = 0; p < n; p++) {
    double B2 = 0, trace = 0, along = 0;
    for (int e = 0; e < dim; e++) {
      double B = 0;
      for (int d = 0; d < dim; d++) {
        B += row[e][d * n + p] * b[d * n + p];
        trace += row[e][d * n + p] * flux[e][d * n + p] / dim;
      }
      B2 += B * B;
      along += B * slope[e][p];
    }
    const double diffusive = 12. * k * k * trace;
    r[p] = along / sqrt(4. * k * k * B2 + diffusive * diffusive);
  }
}

/* r -= b . grad u, F[dim][points] the gradient. Conservative: F -= b u instead, F the flux a grad u. */
static void carry(const TesiResidual *s, const TesiCellPoints *at, const double *u, double *F, double *r) {
  const int64_t n = s->rule.points;
  double b[3 * TESI_CELL_POINTS];
  velocity_at(s, at, b);
  for (int d = 0; d < s->rule.dim; d++)
    for (int64_t p = 0; p < n; p++)
      if (s->conservative)
        F[d * n + p] -= b[d * n + p] * u[p];
      else
        r[p] -= b[d * n + p] * F[d * n + p];
}

/* r += div F; F[dim][points] is overwritten: 1/|J| sum over c of d/dxi_c (|J| J^-1 F)_c. */
static void add_divergence(const TesiResidual *s, const TesiCellPoints *at, double *F, double *r) {
  const int dim = s->rule.dim;
  const int64_t n = s->rule.points;
  double sum[TESI_CELL_POINTS] = {0};
  for (int64_t p = 0; p < n; p++) {
    double inverse[9], flux[3];
    tesi_cell_inverse(&s->rule, at, p, inverse);
    for (int d = 0; d < dim; d++) flux[d] = at->det[p] * F[d * n + p];
    for (int c = 0; c < dim; c++) {
      F[c * n + p] = 0;
      for (int d = 0; d < dim; d++) F[c * n + p] += inverse[c * dim + d] * flux[d];
    }
  }
  for (int c = 0; c < dim; c++) add_derivative(s, c, F + c * n, sum);
  for (int64_t p = 0; p < n; p++) r[p] += sum[p] / at->det[p];
}

/* gradient[dim][n] <- a gradient. */
static void diffuse(const TesiResidual *s, const TesFunction *f, int64_t n, const double *x, double *gradient) {
  const int dim = s->space->dim;
  double a[6 * TESI_CELL_POINTS];
  tesi_function_entries(f, dim, n, x, x + n, x + 2 * n, 0, a);
  for (int64_t p = 0; p < n; p++) {
    double in[3], out[3];
    for (int d = 0; d < dim; d++) in[d] = gradient[d * n + p];
    multiply(dim, n, a, p, in, out);
    for (int d = 0; d < dim; d++) gradient[d * n + p] = out[d];
  }
}

void tesi_residual_flux(const TesiResidual *s, int64_t cell, int64_t n, const double *x, double *gradient) {
  const int dim = s->space->dim, material = material_of(s, cell);
  const TesFunction *a = pick(s->data->a, material, s->data->data.a);
  double mu[TESI_CELL_POINTS], lambda[TESI_CELL_POINTS];
  if (s->components == 1) {
    diffuse(s, a, n, x, gradient);
    return;
  }
  values_of(a, 1, n, x, mu);
  for (int64_t i = 0; s->pressure && !s->symmetric && i < dim * dim * n; i++) gradient[i] *= mu[i % n];
  if (s->pressure && !s->symmetric) return;
  values_of(s->pressure ? NULL : pick(s->data->lambda, material, s->data->data.lambda), 0, n, x, lambda);
  for (int64_t p = 0; p < n; p++) {
    double G[3][3], trace = 0;
    for (int c = 0; c < dim; c++)
      for (int r = 0; r < dim; r++) G[c][r] = gradient[(c * dim + r) * n + p];
    for (int c = 0; c < dim; c++) trace += G[c][c];
    for (int c = 0; c < dim; c++)
      for (int r = 0; r < dim; r++)
        gradient[(c * dim + r) * n + p] = mu[p] * (G[c][r] + G[r][c]) + (c == r ? lambda[p] * trace : 0);
  }
}

/* flux[dim][dim][n] of a displacement, without the thermal stress. */
static void take_off_thermal(const TesiResidual *s, int64_t cell, int64_t n, const double *x, double *flux) {
  const int dim = s->space->dim, material = material_of(s, cell);
  const TesFunction *strain = pick(s->data->expansion, material, s->data->data.expansion);
  double mu[TESI_CELL_POINTS], lambda[TESI_CELL_POINTS], value[TESI_CELL_POINTS];
  if (!strain) return;
  values_of(strain, 0, n, x, value);
  values_of(pick(s->data->a, material, s->data->data.a), 1, n, x, mu);
  values_of(pick(s->data->lambda, material, s->data->data.lambda), 0, n, x, lambda);
  for (int c = 0; c < dim; c++)
    for (int64_t p = 0; p < n; p++)
      flux[(c * dim + c) * n + p] -= (s->thermal * lambda[p] + 2 * mu[p]) * value[p];
}

void tesi_residual_gradient(const TesiResidual *s, int64_t cell, const TesiCellPoints *at, double *gradient) {
  const TesiCellRule *rule = &s->rule;
  const int64_t n = rule->points;
  double local[TESI_CELL_MOST];
  for (int c = 0; c < s->components; c++) {
    double *const g = gradient + c * rule->dim * n;
    tesi_cells_read(s->space, cell, s->u + c * s->space->length, local);
    for (int d = 0; d < rule->dim; d++) tesi_cell_evaluate(rule, d, local, g + d * n);
    tesi_cell_gradient(rule, at, g, g);
  }
}

void tesi_residual_cell(const TesiResidual *s, int64_t cell, TesiCellPoints *at, double *r) {
  const TesiCellRule *rule = &s->rule;
  const int dim = rule->dim, material = material_of(s, cell);
  const int64_t n = rule->points;
  double local[TESI_CELL_MOST], F[9 * TESI_CELL_POINTS], value[TESI_CELL_POINTS], u[TESI_CELL_POINTS];
  tesi_cell_points(rule, cell, at);
  tesi_cells_read(s->space, cell, s->u, local);
  tesi_cell_evaluate(rule, -1, local, u);
  tesi_residual_gradient(s, cell, at, F);
  for (int c = 0; c < s->components; c++)
    values_of(pick(s->data->f[c], material, s->data->data.f[c]), 0, n, at->x, r + c * n);
  if (s->transports && !s->conservative) carry(s, at, u, F, r);
  if (s->pressure) tesi_residual_of_flow(s, cell, at, F, r);
  tesi_residual_flux(s, cell, n, at->x, F);
  take_off_thermal(s, cell, n, at->x, F);
  if (s->transports && s->conservative) carry(s, at, u, F, r);
  for (int c = 0; c < s->components; c++) add_divergence(s, at, F + c * dim * n, r + c * n);
  const TesFunction *c = s->components == 1 || s->dense ? pick(s->data->c, material, s->data->data.c) : NULL;
  for (int64_t p = 0; p < n; p++) value[p] = 1; /* what u_t counts with */
  if (c) values_of(c, 0, n, at->x, value);
  for (int64_t p = 0; c && !s->dense && p < n; p++) r[p] -= value[p] * u[p], value[p] = 1;
  for (int i = 0; s->rate && i < s->components; i++) {
    tesi_cells_read(s->space, cell, s->rate + i * s->space->length, local);
    tesi_cell_evaluate(rule, -1, local, u);
    for (int64_t p = 0; p < n; p++) r[i * n + p] -= value[p] * u[p];
  }
}

void tesi_pair_points(const TesiResidual *s, const TesiFacePair *pair, bool other, double *xi) {
  const TesiFaceRule *rule = &s->face_rule;
  const int dim = rule->dim, face = other ? pair->other_face : pair->face;
  for (int p = 0; p < rule->points; p++) {
    const double at[2] = {rule->point[p % rule->q], rule->point[p / rule->q % rule->q]};
    double t[2] = {at[0], at[1]};
    for (int d = 0; other && d < dim - 1; d++)
      t[d] = pair->origin[d] + pair->axis[0][d] * at[0] + (dim == 3 ? pair->axis[1][d] * at[1] : 0);
    for (int d = 0, e = 0; d < dim; d++) xi[p * dim + d] = d == face / 2 ? face & 1 : t[e++];
  }
}

/* One side of a face at its points, n of them, in the order of the pair's own face; gradient[components][dim][n],
 * reference. */
typedef struct SidePoints {
  double x[3 * TESI_FACE_MOST], J[9 * TESI_FACE_MOST], u[3 * TESI_FACE_MOST], gradient[9 * TESI_FACE_MOST];
} SidePoints;

/* The number of one of six tables, for the points t = origin + axis s. */
static int side_number(double origin, double axis) {
  const double size = fabs(axis), low = axis < 0 ? origin - size : origin;
  return (axis < 0 ? 3 : 0) + (size > 0.75 ? 0 : low < 0.25 ? 1 : 2);
}

static TesiFaceTables pick_tables(const TesiSideTables *t, int q, const int number[2]) {
  return (TesiFaceTables){.n = t->n,
                          .q = q,
                          .B = {t->B[number[0]], t->B[number[1]]},
                          .G = {t->G[number[0]], t->G[number[1]]},
                          .ends = t->ends};
}

static void transpose(int q, int count, double *values) {
  for (int c = 0; c < count; c++, values += q * q)
    for (int i = 0; i < q; i++)
      for (int j = 0; j < i; j++) {
        const double swap = values[i * q + j];
        values[i * q + j] = values[j * q + i];
        values[j * q + i] = swap;
      }
}

static void evaluate_side(const TesiResidual *s, const TesiFacePair *pair, bool other, SidePoints *at) {
  const int dim = s->rule.dim, q = s->face_rule.q, n = s->face_rule.points;
  const int cell = other ? pair->other : pair->cell, face = other ? pair->other_face : pair->face;
  int number[2] = {0, 0};
  bool swapped = false; /* the face's first direction is the second direction of the own face */
  double local[TESI_CELL_MOST];
  for (int d = 0; other && d < dim - 1; d++) {
    const int e = pair->axis[0][d] != 0 ? 0 : 1;
    number[d] = side_number(pair->origin[d], pair->axis[e][d]);
    swapped = e != d;
  }
  const TesiFaceTables tables = pick_tables(&s->side, q, number),
                       geometry = pick_tables(cell < s->space->cells ? &s->geometry_side : &s->across_side, q,
                                              number);
  const int64_t across = cell - s->space->cells, nodes = s->space->cell_nodes;
  for (int c = 0; c < s->components; c++) {
    if (across < 0)
      tesi_cells_read(s->space, cell, s->u + c * s->space->length, local);
    else
      memcpy(local, s->u_across + (across * s->components + c) * nodes, (size_t)nodes * sizeof *local);
    tesi_tensor_face(dim, face, &tables, local, 1, at->u + c * n, at->gradient + c * dim * n, n);
  }
  tesi_geometry_face(across < 0 ? s->geometry : &s->geometry_across, across < 0 ? cell : across, face,
                     &geometry, at->x, at->J);
  if (!swapped) return;
  transpose(q, 3, at->x);
  transpose(q, 9, at->J);
  transpose(q, s->components, at->u);
  transpose(q, 3 * s->components, at->gradient); /* of 3D: in 2D nothing is swapped */
}

static void jacobian_at(int dim, int n, const SidePoints *at, int p, double *J) {
  for (int e = 0; e < dim * dim; e++) J[e] = at->J[e * n + p];
}

/* |J| times the rows of the inverse of J; returns |J|. */
static double cofactors(int dim, const double *J, double rows[3][3]) {
  double det = 0;
  if (dim == 2) {
    rows[0][0] = J[3], rows[0][1] = -J[1], rows[1][0] = -J[2], rows[1][1] = J[0];
    return J[0] * J[3] - J[1] * J[2];
  }
  for (int c = 0; c < 3; c++)
    for (int r = 0; r < 3; r++) {
      const int d = (c + 1) % 3, e = (c + 2) % 3, i = (r + 1) % 3, k = (r + 2) % 3;
      rows[c][r] = J[i * 3 + d] * J[k * 3 + e] - J[k * 3 + d] * J[i * 3 + e];
    }
  for (int r = 0; r < 3; r++) det += J[r * 3] * rows[0][r];
  return det;
}

/* a grad u . normal, or sigma normal, of one side; normal[points][dim], flux[components][points]. */
static void normal_flux(const TesiResidual *s, int64_t cell, const SidePoints *at, const double *normal,
                        double *flux) {
  const int dim = s->rule.dim, n = s->face_rule.points;
  double G[9 * TESI_FACE_MOST];
  for (int p = 0; p < n; p++) {
    double J[9], rows[3][3];
    jacobian_at(dim, n, at, p, J);
    const double det = cofactors(dim, J, rows);
    for (int c = 0; c < s->components; c++)
      for (int r = 0; r < dim; r++) {
        double sum = 0;
        for (int d = 0; d < dim; d++) sum += rows[d][r] * at->gradient[(c * dim + d) * n + p];
        G[(c * dim + r) * n + p] = sum / det;
      }
  }
  tesi_residual_flux(s, cell, n, at->x, G);
  take_off_thermal(s, cell, n, at->x, G);
  for (int c = 0; c < s->components; c++)
    for (int p = 0; p < n; p++) {
      flux[c * n + p] = 0;
      for (int r = 0; r < dim; r++) flux[c * n + p] += G[(c * dim + r) * n + p] * normal[p * dim + r];
    }
}

/* weight = w |J_F|, and the outward unit normal of the pair's own cell. */
static void normals(const TesiResidual *s, const TesiFacePair *pair, const SidePoints *at, double *weight,
                    double *normal) {
  const TesiFaceRule *rule = &s->face_rule;
  const int dim = rule->dim;
  for (int p = 0; p < rule->points; p++) {
    double J[9], n[3], size = 0;
    jacobian_at(dim, rule->points, at, p, J);
    tesi_face_normal(dim, J, pair->face, n);
    for (int r = 0; r < dim; r++) size += n[r] * n[r];
    size = sqrt(size);
    weight[p] = rule->weight[p % rule->q] * (dim == 3 ? rule->weight[p / rule->q] : 1) * size;
    for (int r = 0; r < dim; r++) normal[p * dim + r] = n[r] / size;
  }
}

void tesi_residual_leave_tangential(int dim, int points, const double *normal, double *j) {
  for (int p = 0; p < points; p++) {
    double along = 0;
    for (int c = 0; c < dim; c++) along += normal[c * points + p] * j[c * points + p];
    for (int c = 0; c < dim; c++) j[c * points + p] -= along * normal[c * points + p];
  }
}

/* On a face of the boundary `name`: turns j, the flux, into its difference from the condition. */
static bool named_face(const TesiResidual *s, int name, const SidePoints *at, const double *normal, double *j) {
  const int n = s->face_rule.points;
  int counts = 0;
  const TesiGiven *on = &s->data->given[name >= 0 ? name : tes_mesh_boundaries(s->space->mesh)];
  double alpha[TESI_FACE_MOST], out[3 * TESI_FACE_MOST] = {0};
  for (int p = 0; p < n; p++)
    for (int d = 0; d < s->rule.dim; d++) out[d * n + p] = normal[p * s->rule.dim + d];
  const double *const more[3] = {out, out + n, out + 2 * n};
  values_of(on->alpha, 0, n, at->x, alpha);
  for (int c = 0; c < s->components; c++) {
    double g[TESI_FACE_MOST] = {0};
    const bool given = tesi_cells_given(s->part[c], name);
    counts += !given;
    if (!given && on->g[c])
      tesi_function_values_over(on->g[c], n, at->x, at->x + n, at->x + 2 * n, 0, more, g);
    for (int p = 0; p < n; p++) j[c * n + p] = given ? 0 : j[c * n + p] + alpha[p] * at->u[c * n + p] - g[p];
  }
  if (on->how[0] == TESI_NORMAL) tesi_residual_leave_tangential(s->components, n, out, j);
  if (on->how[0] == TESI_FLUX && s->transports)
    for (int d = 0; d < s->rule.dim; d++) {
      double b[TESI_FACE_MOST];
      values_of(s->data->data.b[d], 0, n, at->x, b);
      for (int p = 0; p < n; p++) j[p] -= b[p] * out[d * n + p] * at->u[p];
    }
  return counts > 0;
}

static bool boundary_face(const TesiResidual *s, const TesiFacePair *pair, const SidePoints *at,
                          const double *normal, double *j) {
  int name;
  if (!tes_mesh_on_boundary(s->space->mesh, pair->cell, pair->face, &name)) return false;
  if (s->pressure) return tesi_residual_open_face(s, &(TesiOpenFace){pair, name, at->x, at->u, normal}, j);
  return named_face(s, name, at, normal, j);
}

static bool has_name(const TesiResidual *s, int64_t cell, int face, int *name) {
  const int64_t across = cell - s->space->cells;
  if (across < 0) return tesi_mesh_has_name(s->space->mesh, cell, face, name);
  *name = s->names_across[across].face;
  return *name >= 0;
}

bool tesi_residual_face(const TesiResidual *s, int64_t face, double *j, double *weight) {
  const TesiFacePair *pair = &s->pair[face];
  double normal[3 * TESI_FACE_MOST], flux[3 * TESI_FACE_MOST];
  SidePoints at;
  evaluate_side(s, pair, false, &at);
  normals(s, pair, &at, weight, normal);
  normal_flux(s, pair->cell, &at, normal, j);
  if (pair->other < 0) return boundary_face(s, pair, &at, normal, j);
  evaluate_side(s, pair, true, &at);
  normal_flux(s, pair->other, &at, normal, flux);
  for (int i = 0; i < s->components * s->face_rule.points; i++) j[i] -= flux[i];
  int name;
  const bool named =
      has_name(s, pair->cell, pair->face, &name) || has_name(s, pair->other, pair->other_face, &name);
  return !named || named_face(s, name, &at, normal, j);
}
