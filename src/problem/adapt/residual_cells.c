/* Residuals inside cells, eight cells at a time: see estimate.h. */
#include <math.h>
#include <string.h>
#include "problem/adapt/estimate.h"

const TesFunction *tesi_residual_of_material(const TesFunction *const *by_material, int material,
                                             const TesFunction *otherwise) {
  return by_material && material >= 0 && by_material[material] ? by_material[material] : otherwise;
}

static int power(const TesiResidual *s, int n) {
  return s->rule.dim == 3 ? n * n * n : n * n;
}

/* ---- points and values ----------------------------------------------------------------------------------- */

static void find_points(TesiResidualAt *at, double *J) {
  const TesiCellRule *rule = &at->s->rule;
  tesi_lanes_points(rule->geometry, at->s->lanes, at->cell, rule->q, rule->geometry_B, rule->geometry_G,
                    at->nodes, at->x, J);
  at->placed = true;
}

/* Positions of points are found when a function asks for them: affine cells need none otherwise. */
static const double *positions(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  if (at->placed) return at->x;
  at->placed = true;
  if (!at->pair) {
    find_points(at, at->spare[TESI_SPARE - 1]);
    return at->x;
  }
  const int64_t across = at->cell[0] - s->space->cells;
  const TesiGeometry *g = across < 0 ? s->geometry : &s->geometry_across;
  int32_t cell[TESI_LANES];
  for (int l = 0; l < TESI_LANES; l++) cell[l] = at->cell[l] - (across < 0 ? 0 : (int32_t)s->space->cells);
  const TesiSideTables *t = across < 0 ? &s->table.geometry_side : &s->table.across_side;
  const TesiFaceTables tables = {t->n, s->face_rule.q, {t->B[0], t->B[0]}, {t->G[0], t->G[0]}, t->ends};
  tesi_lanes_nodes(g, cell, at->nodes);
  memset(at->x + 2 * at->n, 0, (size_t)at->n * sizeof *at->x);
  for (int r = 0; r < g->dim; r++)
    s->loops.face(g->dim, at->pair->face, false, &tables, at->nodes + r * TESI_LANES, g->dim,
                  at->x + r * at->n, NULL, 0);
  return at->x;
}

void tesi_residual_values(TesiResidualAt *at, const TesFunction *f, double constant,
                          const double *const *more, double *value) {
  const int64_t n = at->n;
  if (!f || tes_function_constant(f, &constant)) {
    for (int64_t i = 0; i < n; i++) value[i] = constant;
    return;
  }
  const double *x = positions(at);
  if (more)
    tesi_function_values_over(f, n, x, x + n, x + 2 * n, 0, more, value);
  else
    tesi_function_values(f, n, x, x + n, x + 2 * n, 0, value);
}

void tesi_residual_read(const TesiResidualAt *at, const TesiCellView *view, bool other, int fields,
                        const double *x, const double *across, double *local) {
  const int64_t cells = view->cells, nodes = view->cell_nodes;
  const int32_t *cell = other ? at->other : at->cell;
  if (cell[0] < cells) {
    tesi_cells_read_lanes(view, cell, fields, x, local);
    return;
  }
  for (int l = 0; l < TESI_LANES; l++)
    for (int64_t i = 0; i < fields * nodes; i++)
      local[i * TESI_LANES + l] = across[(cell[l] - cells) * fields * nodes + i];
}

void tesi_residual_evaluate(TesiResidualAt *at, int nodes, const double *B, const double *local,
                            double *values) {
  const TesiResidual *s = at->s;
  const int n = nodes, q = s->rule.q, three = s->rule.dim == 3;
  double *const first = three ? values : at->spare[0], *const second = three ? at->spare[0] : values;
  s->loops.contract((const int[3]){n, n, three ? n : 1}, 0, q, n, false, B, local, first);
  s->loops.contract((const int[3]){q, n, three ? n : 1}, 1, q, n, false, B, first, second);
  if (three) s->loops.contract((const int[3]){q, q, n}, 2, q, n, false, B, second, values);
}

void tesi_residual_differentiate(TesiResidualAt *at, const double *values, double *gradient) {
  const TesiResidual *s = at->s;
  const int q = s->rule.q, dim = s->rule.dim, size[3] = {q, q, dim == 3 ? q : 1};
  for (int d = 0; d < dim; d++)
    s->loops.contract(size, d, q, q, false, s->table.D, values, gradient + d * at->n);
  s->loops.to_space(dim, 1, at->points, &at->inverse, gradient);
}

void tesi_residual_begin(TesiResidualAt *at, int64_t batch) {
  const TesiResidual *s = at->s;
  const int32_t *item = s->cells.item + batch * TESI_LANES;
  const bool affine = s->geometry->kind == TES_GEOMETRY_AFFINE;
  at->pair = NULL, at->placed = false, at->count = 0;
  at->points = power(s, s->rule.q), at->n = at->points * TESI_LANES;
  for (int l = 0; l < TESI_LANES; l++) {
    at->item[l] = at->cell[l] = tesi_cells_node(item[l]);
    at->count += item[l] >= 0;
  }
  at->material = tes_mesh_material(s->space->mesh, at->cell[0]);
  if (affine)
    tesi_lanes_points(s->geometry, s->lanes, at->cell, 1, s->table.middle_B, s->table.middle_G, at->nodes,
                      at->spare[0], at->J);
  else
    find_points(at, at->J);
  at->inverse = (TesiBatchInverse){at->J, at->det, !affine};
  s->loops.invert(s->rule.dim, affine ? 1 : at->points, at->J, at->det);
  for (int64_t p = 0; p < at->points; p++)
    for (int l = 0; l < TESI_LANES; l++)
      at->weight[p * TESI_LANES + l] =
          l < at->count ? s->table.w[p] * at->det[(affine ? 0 : p * TESI_LANES) + l] : 0;
}

void tesi_residual_gradients(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  const int64_t n = at->n, nodes = (int64_t)s->space->cell_nodes * TESI_LANES;
  tesi_residual_read(at, s->space, false, s->components, s->u, NULL, at->local);
  for (int c = 0; c < s->components; c++) {
    tesi_residual_evaluate(at, s->space->n, s->rule.B, at->local + c * nodes, at->u + c * n);
    tesi_residual_differentiate(at, at->u + c * n, at->G + c * s->rule.dim * n);
  }
}

/* ---- coefficients ------------------------------------------------------------------------------------------ */

static const TesFunction *coefficient(const TesiResidualAt *at) {
  const TesiNumbered *data = at->s->data;
  return tesi_residual_of_material(data->a, at->material, data->data.a);
}

double tesi_residual_diffusion(const TesiResidual *s, int64_t cell) {
  const TesFunction *a =
      tesi_residual_of_material(s->data->a, tes_mesh_material(s->space->mesh, cell), s->data->data.a);
  const double middle[3] = {0.5, 0.5, 0.5};
  double x[3] = {0}, value = 1;
  if (!a || tes_function_constant(a, &value)) return value;
  if (tesi_geometry_evaluate(s->geometry, cell, 1, middle, x, NULL) != TES_OK) return NAN;
  tesi_function_values(a, 1, &x[0], &x[1], &x[2], 0, &value);
  return value;
}

void tesi_residual_diffusions(TesiResidualAt *at, double a[TESI_LANES]) {
  const TesiResidual *s = at->s;
  const TesFunction *f = coefficient(at);
  double value = 1, *const x = at->spare[0];
  const bool constant = !f || tes_function_constant(f, &value);
  for (int l = 0; l < TESI_LANES; l++) a[l] = value;
  if (constant) return;
  tesi_lanes_points(s->geometry, s->lanes, at->cell, 1, s->table.middle_B, s->table.middle_G, at->nodes, x,
                    at->spare[1]);
  tesi_function_values(f, TESI_LANES, x, x + TESI_LANES, x + 2 * TESI_LANES, 0, a);
}

/* b[3][n]; 0 beyond dim. */
static void velocity_at(TesiResidualAt *at, double *b) {
  for (int d = 0; d < 3; d++) tesi_residual_values(at, at->s->data->data.b[d], 0, NULL, b + d * at->n);
}

void tesi_residual_speeds(TesiResidualAt *at, double speed[TESI_LANES]) {
  const TesiResidual *s = at->s;
  double *b = at->u, square[TESI_LANES];
  memset(speed, 0, TESI_LANES * sizeof *speed);
  if (!s->transports && !s->carried) return;
  if (!s->carried) velocity_at(at, b = at->spare[4]);
  for (int64_t p = 0; p < at->n; p += TESI_LANES) {
    for (int l = 0; l < TESI_LANES; l++) square[l] = 0;
    for (int d = 0; d < s->rule.dim; d++)
      for (int l = 0; l < TESI_LANES; l++) square[l] += b[d * at->n + p + l] * b[d * at->n + p + l];
    for (int l = 0; l < TESI_LANES; l++) speed[l] = speed[l] > square[l] ? speed[l] : square[l];
  }
  for (int l = 0; l < TESI_LANES; l++) speed[l] = sqrt(speed[l]);
}

/* G <- a G, a matrix stored as 00 01 (02) 11 (12 22). */
static void multiply(TesiResidualAt *at, const TesFunction *f, double *G) {
  const int dim = at->s->rule.dim;
  const int64_t n = at->n;
  double *const a = at->spare[4], *const x = (double *)positions(at);
  tesi_function_entries(f, dim, n, x, x + n, x + 2 * n, 0, a);
  for (int64_t i = 0; i < n; i++) {
    double in[3], out[3] = {0};
    for (int d = 0; d < dim; d++) in[d] = G[d * n + i];
    for (int r = 0, e = 0; r < dim; r++)
      for (int c = r; c < dim; c++, e++) {
        out[r] += a[e * n + i] * in[c];
        if (c > r) out[c] += a[e * n + i] * in[r];
      }
    for (int d = 0; d < dim; d++) G[d * n + i] = out[d];
  }
}

static void scale(int count, int64_t n, const double *a, double *G) {
  for (int c = 0; c < count; c++)
    for (int64_t i = 0; i < n; i++) G[c * n + i] *= a[i];
}

static void multiply_by(TesiResidualAt *at, const TesFunction *f, int count, double *G) {
  double constant = 1;
  if (f && !tes_function_constant(f, &constant)) {
    tesi_residual_values(at, f, 1, NULL, at->spare[0]);
    scale(count, at->n, at->spare[0], G);
  }
  for (int64_t i = 0; constant != 1 && i < count * at->n; i++) G[i] *= constant;
}

/* mu (G + G') + lambda trace(G) I */
static void stress(int dim, int64_t n, const double *mu, const double *pressure, double *G) {
  for (int c = 0; c < dim; c++)
    for (int r = c; r < dim; r++) {
      double *const upper = G + (c * dim + r) * n, *const lower = G + (r * dim + c) * n;
      for (int64_t i = 0; i < n; i++) upper[i] = mu[i] * (upper[i] + lower[i]) + (c == r ? pressure[i] : 0);
      for (int64_t i = 0; c < r && i < n; i++) lower[i] = upper[i];
    }
}

void tesi_residual_flux(TesiResidualAt *at, double *G) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim;
  const int64_t n = at->n;
  const TesFunction *a = coefficient(at),
                    *lambda = s->pressure ? NULL
                                          : tesi_residual_of_material(s->data->lambda, at->material,
                                                                      s->data->data.lambda);
  double *const mu = at->spare[0], *const pressure = at->spare[1], *const trace = at->spare[2];
  const bool matrix = tesi_function_is_matrix(a), one = s->components == 1;
  if (one && matrix) multiply(at, a, G);
  if ((one || (s->pressure && !s->symmetric)) && !matrix) multiply_by(at, a, s->components * dim, G);
  if (one || (s->pressure && !s->symmetric)) return;
  tesi_residual_values(at, a, 1, NULL, mu);
  tesi_residual_values(at, lambda, 0, NULL, pressure);
  memcpy(trace, G, (size_t)n * sizeof *trace);
  for (int c = 1; c < dim; c++)
    for (int64_t i = 0; i < n; i++) trace[i] += G[(c * dim + c) * n + i];
  scale(1, n, trace, pressure);
  stress(dim, n, mu, pressure, G);
}

void tesi_residual_take_off_thermal(TesiResidualAt *at, double *G) {
  const TesiResidual *s = at->s;
  const TesiNumbered *data = s->data;
  const int dim = s->rule.dim;
  const int64_t n = at->n;
  const TesFunction *strain = tesi_residual_of_material(data->expansion, at->material, data->data.expansion);
  double *const mu = at->spare[0], *const lambda = at->spare[1], *const value = at->spare[2];
  if (!strain) return;
  tesi_residual_values(at, strain, 0, NULL, value);
  tesi_residual_values(at, coefficient(at), 1, NULL, mu);
  tesi_residual_values(at, tesi_residual_of_material(data->lambda, at->material, data->data.lambda), 0, NULL,
                       lambda);
  for (int c = 0; c < dim; c++)
    for (int64_t i = 0; i < n; i++)
      G[(c * dim + c) * n + i] -= (s->thermal * lambda[i] + 2 * mu[i]) * value[i];
}

/* ---- residuals ---------------------------------------------------------------------------------------------- */

/* r -= b . grad u with G the gradient. Conservative: G -= b u instead, with G the flux a grad u. */
static void carry(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  const int64_t n = at->n;
  double *const b = at->spare[4];
  velocity_at(at, b);
  for (int d = 0; d < s->rule.dim; d++)
    for (int64_t i = 0; i < n; i++)
      if (s->conservative)
        at->G[d * n + i] -= b[d * n + i] * at->u[i];
      else
        at->r[i] -= b[d * n + i] * at->G[d * n + i];
}

/* r += div G, 1/|J| sum over c of d/dxi_c (|J| J^-1 G)_c. */
static void add_divergence(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  const int q = s->rule.q, dim = s->rule.dim, size[3] = {q, q, dim == 3 ? q : 1};
  const int64_t n = at->n;
  double *const slope = at->spare[4];
  s->loops.to_cell(dim, s->components, at->points, &at->inverse, at->G);
  for (int c = 0; c < s->components; c++) {
    for (int d = 0; d < dim; d++)
      s->loops.contract(size, d, q, q, false, s->table.D, at->G + (c * dim + d) * n, slope + d * n);
    s->loops.divide(dim, at->points, &at->inverse, slope, at->r + c * n);
  }
}

/* r -= c u, and what changes in time. */
static void react(TesiResidualAt *at) {
  const TesiResidual *s = at->s;
  const int64_t n = at->n, nodes = (int64_t)s->space->cell_nodes * TESI_LANES;
  const TesFunction *c = s->components == 1 || s->dense
                             ? tesi_residual_of_material(s->data->c, at->material, s->data->data.c)
                             : NULL;
  double *const value = at->spare[4], *const rate = at->spare[5];
  if (c) tesi_residual_values(at, c, 0, NULL, value);
  for (int64_t i = 0; c && !s->dense && i < n; i++) at->r[i] -= value[i] * at->u[i];
  if (!s->rate) return;
  tesi_residual_read(at, s->space, false, s->components, s->rate, NULL, at->local);
  for (int k = 0; k < s->components; k++) {
    tesi_residual_evaluate(at, s->space->n, s->rule.B, at->local + k * nodes, rate);
    for (int64_t i = 0; i < n; i++) at->r[k * n + i] -= (c && s->dense ? value[i] : 1) * rate[i];
  }
}

void tesi_residual_cells(TesiResidualAt *at, int64_t batch) {
  const TesiResidual *s = at->s;
  const TesiNumbered *data = s->data;
  tesi_residual_begin(at, batch);
  tesi_residual_gradients(at);
  for (int c = 0; c < s->components; c++)
    tesi_residual_values(at, tesi_residual_of_material(data->f[c], at->material, data->data.f[c]), 0, NULL,
                         at->r + c * at->n);
  if (s->transports && !s->conservative) carry(at);
  if (s->pressure) tesi_residual_of_flow(at);
  tesi_residual_flux(at, at->G);
  tesi_residual_take_off_thermal(at, at->G);
  if (s->transports && s->conservative) carry(at);
  add_divergence(at);
  react(at);
}

void tesi_residual_streamline(TesiResidualAt *at, const double *v, double *along) {
  const TesiResidual *s = at->s;
  const int dim = s->rule.dim, k = s->space->degree;
  const int64_t n = at->n;
  double *const b = at->spare[4], *const slope = at->spare[7], *const B2 = at->spare[10],
                *const trace = at->spare[11];
  const double *inverse = at->inverse.matrix;
  const int64_t between = at->inverse.step ? n : TESI_LANES;
#define ROW(e, d, i) inverse[((e)*dim + (d)) * between + (at->inverse.step ? (i) : (i) % TESI_LANES)]
  for (int e = 0; e < dim; e++)
    for (int d = 0; d < dim; d++)
      for (int64_t i = 0; i < n; i++) at->G[(e * dim + d) * n + i] = ROW(e, d, i);
  for (int e = 0; e < dim; e++) tesi_residual_flux(at, at->G + e * dim * n);
  velocity_at(at, b);
  tesi_residual_differentiate(at, v, slope);
  for (int64_t i = 0; i < n; i++) {
    B2[i] = trace[i] = along[i] = 0;
    for (int e = 0; e < dim; e++) {
      double speed = 0;
      for (int d = 0; d < dim; d++) {
        speed += ROW(e, d, i) * b[d * n + i];
        trace[i] += ROW(e, d, i) * at->G[(e * dim + d) * n + i] / dim;
      }
      B2[i] += speed * speed;
      along[i] += b[e * n + i] * slope[e * n + i];
    }
    const double diffusive = 12. * k * k * trace[i];
    along[i] /= sqrt(4. * k * k * B2[i] + diffusive * diffusive);
  }
#undef ROW
}
