/* Transport from its definition: cell by cell and point by point, all basis functions and their second derivatives. */
#include <math.h>
#include "basis/lagrange.h"
#include "functional/functional_ref.h"
#include "operator/form.h"
#include "operator/transport/transport_operator.h"

/* second[nodes]: (J^-1 a J^-T)_ef phi_ef at a point, from 1D derivatives: phi'' = sum over nodes m of phi_m' times
 * phi'(node m). */
static void second_derivatives(const TesiPlain *plain, int p, const TesiPlainPoint *at, double a[3][3],
                               double *second) {
  double B[3][TESI_MAX_POINTS], G[3][TESI_MAX_POINTS], H[3][TESI_MAX_POINTS] = {{0}}, M[3][3] = {{0}},
                                                       slopes[TESI_MAX_POINTS * TESI_MAX_POINTS];
  const int n = plain->n;
  tesi_lagrange(n, plain->node, n, plain->node, NULL, slopes);
  for (int e = 0; e < plain->dim; e++)
    for (int f = 0; f < plain->dim; f++)
      for (int r = 0; r < plain->dim; r++)
        for (int s = 0; s < plain->dim; s++) M[e][f] += at->inverse[e][r] * a[r][s] * at->inverse[f][s];
  for (int d = 0; d < plain->dim; d++, p /= plain->q) {
    tesi_lagrange(n, plain->node, 1, &plain->point[p % plain->q], B[d], G[d]);
    for (int i = 0; i < n; i++)
      for (int m = 0; m < n; m++) H[d][i] += G[d][m] * slopes[m * n + i];
  }
  for (int i = 0; i < plain->nodes; i++) {
    const int node[3] = {i % n, i / n % n, i / n / n};
    second[i] = 0;
    for (int e = 0; e < plain->dim; e++)
      for (int f = 0; f < plain->dim; f++) {
        double value = 1;
        for (int d = 0; d < plain->dim; d++)
          value *= d == e && d == f ? H[d][node[d]] : d == e || d == f ? G[d][node[d]] : B[d][node[d]];
        second[i] += M[e][f] * value;
      }
  }
}

/* gradient <- gradient - (J^-1 a J^-T) : Hess x: with it the Laplacian is that in space where J varies. J is a
 * polynomial along the line through the point in each direction. */
static TesStatus add_bend(const TesiPlain *plain, int64_t cell, int p, const TesiPlainPoint *at,
                          double a[3][3], double *gradient) {
  enum { N = 10 }; /* more than the degree of any geometry */
  TesContext *ctx = plain->space->context;
  TesStatus status = TES_OK;
  const int dim = plain->dim;
  double node[N], xi[3] = {0}, line[3 * N], x[3 * N], J[9 * N], B[N], G[N];
  tesi_gauss_lobatto(N, node, NULL);
  for (int d = 0; d < dim; d++, p /= plain->q) xi[d] = plain->point[p % plain->q];
  for (int f = 0; f < dim; f++) {
    for (int i = 0; i < N * dim; i++) line[i] = i % dim == f ? node[i / dim] : xi[i % dim];
    TES_TRY(tes_mesh_evaluate(plain->space->mesh, cell, N, line, x, J));
    tesi_lagrange(N, node, 1, &xi[f], B, G);
    for (int c = 0; c < dim; c++)
      for (int e = 0; e < dim; e++) {
        double bend = 0, M = 0;
        for (int i = 0; i < N; i++) bend += G[i] * J[(i * dim + c) * dim + e];
        for (int r = 0; r < dim; r++)
          for (int s = 0; s < dim; s++) M += at->inverse[e][r] * a[r][s] * at->inverse[f][s];
        gradient[c] -= M * bend;
      }
  }
done:
  return status;
}

static const TesFunction *pick(const TesCoefficient *a, int material) {
  return material >= 0 && a->material && a->material[material] ? a->material[material] : a->all;
}

static TesStatus value_of(const TesCoefficient *a, int material, const double x[3], double otherwise,
                          double *value) {
  const TesFunction *f = pick(a, material);
  *value = otherwise;
  return f ? tes_function_evaluate(f, 1, &x[0], &x[1], &x[2], 0, value) : TES_OK;
}

static TesStatus matrix_of(const TesCoefficient *a, int material, const double x[3], double value[3][3]) {
  TesStatus status = TES_OK;
  for (int i = 0; i < 9 && status == TES_OK; i++) {
    double *to = &value[i / 3][i % 3];
    const TesFunction *entry = tesi_function_entry(pick(a, material), i / 3, i % 3, to);
    if (entry) status = tes_function_evaluate(entry, 1, &x[0], &x[1], &x[2], 0, to);
  }
  return status;
}

/* out[dim] <- the divergence of the rows of a: the gradient of a, where a is a number. */
static TesStatus divergence_of(const TesCoefficient *a, int material, int dim, const double x[3],
                               double out[3]) {
  TesStatus status = TES_OK;
  for (int i = 0; i < dim * dim && status == TES_OK; i++) {
    const int r = i / dim, s = i % dim;
    double otherwise, slope = 0;
    TesFunction *derivative = NULL;
    const TesFunction *entry = tesi_function_entry(pick(a, material), r, s, &otherwise);
    if (entry) status = tes_function_create_derivative(entry, s, &derivative);
    if (derivative) status = tes_function_evaluate(derivative, 1, &x[0], &x[1], &x[2], 0, &slope);
    out[r] += slope;
    tes_function_destroy(&derivative);
  }
  return status;
}

/* The contribution of one point to the nodes of its cell; slope[3]: the derivative of each component of b in its own
 * direction. */
static TesStatus add_point(const TesOperator *op, const TesiPlain *plain, TesFunction *const *slope,
                           int64_t cell, int p, const double *u, double *local) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiTransport *t = op->plan;
  const TesForm *form = &op->desc.form;
  const TesTermDesc *term = tesi_form_term(form, TES_TERM_TRANSPORT, 0),
                    *mass = tesi_form_term(form, TES_TERM_MASS, 0);
  const int k = plain->n - 1, material = tes_mesh_material(op->space->mesh, cell);
  TesiPlainPoint at;
  double b[3] = {0}, a[3][3], c = 0, second[TESI_PLAIN_NODES] = {0}, convection = 0, value = 0, laplacian = 0,
         B2 = 0, trace = 0, divergence = 0, gradient[3] = {0};
  TES_TRY(tesi_plain_point(plain, cell, -1, p, &at));
  for (int d = 0; d < plain->dim; d++)
    TES_TRY(value_of(&(TesCoefficient){.all = term->b[d]}, -1, at.x, 0, &b[d]));
  TES_TRY(matrix_of(&tesi_form_term(form, TES_TERM_DIFFUSION, 0)->a, material, at.x, a));
  if (mass) TES_TRY(value_of(&mass->a, material, at.x, 1, &c));
  for (int d = 0; term->conservative && d < plain->dim; d++) {
    double along = 0;
    TES_TRY(value_of(&(TesCoefficient){.all = slope[d]}, -1, at.x, 0, &along));
    divergence += along;
  }
  if (t->streamline) {
    second_derivatives(plain, p, &at, a, second);
    TES_TRY(
        divergence_of(&tesi_form_term(form, TES_TERM_DIFFUSION, 0)->a, material, plain->dim, at.x, gradient));
    TES_TRY(add_bend(plain, cell, p, &at, a, gradient));
  }
  for (int i = 0; i < plain->nodes; i++) {
    for (int d = 0; d < plain->dim; d++) convection += b[d] * at.slope[d][i] * u[i];
    for (int d = 0; d < plain->dim; d++) laplacian += gradient[d] * at.slope[d][i] * u[i];
    value += at.phi[i] * u[i], laplacian += second[i] * u[i];
  }
  for (int e = 0; e < plain->dim; e++) {
    double B = 0;
    for (int r = 0; r < plain->dim; r++) B += at.inverse[e][r] * b[r];
    for (int r = 0; r < plain->dim; r++)
      for (int s = 0; s < plain->dim; s++)
        trace += at.inverse[e][r] * a[r][s] * at.inverse[e][s] / plain->dim;
    B2 += B * B;
  }
  const double tau =
      t->streamline ? 1 / sqrt(term->rate * term->rate + 4. * k * k * B2 + pow(12. * k * k * trace, 2)) : 0;
  for (int i = 0; i < plain->nodes; i++) {
    double along = 0;
    for (int d = 0; d < plain->dim; d++) along += b[d] * at.slope[d][i];
    const double residual = c * value + convection + divergence * value - laplacian;
    local[i] +=
        at.weight * ((term->conservative ? -value * along : convection * at.phi[i]) + tau * residual * along);
  }
done:
  return status;
}

/* The contribution of one point of a face with `through`. */
static TesStatus add_face_point(const TesTermDesc *term, int sign, const TesiPlain *plain, int64_t cell,
                                int face, int p, const double *u, double *local) {
  TesContext *ctx = plain->space->context;
  TesStatus status = TES_OK;
  TesiPlainPoint at;
  double speed = 0, value = 0;
  TES_TRY(tesi_plain_point(plain, cell, face, p, &at));
  for (int r = 0; r < plain->dim; r++) {
    double b;
    TES_TRY(value_of(&(TesCoefficient){.all = term->b[r]}, -1, at.x, 0, &b));
    speed += b * at.normal[r];
  }
  for (int i = 0; i < plain->nodes; i++) value += at.phi[i] * u[i];
  for (int i = 0; i < plain->nodes; i++) local[i] += sign * at.weight * speed * value * at.phi[i];
done:
  return status;
}

static TesStatus add_cell(const TesOperator *op, const TesiPlain *plain, TesFunction *const *slope,
                          int64_t cell, const double *u, double *local) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  for (int p = 0; p < plain->points; p++) TES_TRY(add_point(op, plain, slope, cell, p, u, local));
  for (int f = 0, name; term->through && f < 2 * plain->dim; f++) {
    if (!tes_mesh_on_boundary(op->space->mesh, cell, f, &name) || name < 0 || !term->through[name]) continue;
    for (int p = 0; p < plain->points / plain->q; p++)
      TES_TRY(add_face_point(term, term->through[name], plain, cell, f, p, u, local));
  }
done:
  return status;
}

TesStatus tesi_transport_apply_ref(const TesOperator *op, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiTransport *t = op->plan;
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  TesFunction *slope[3] = {NULL};
  TesiPlain plain;
  for (int d = 0; d < op->space->dim && term->conservative; d++)
    if (term->b[d]) TES_TRY(tes_function_create_derivative(term->b[d], d, &slope[d]));
  TES_TRY(t->symmetric->table->apply_ref(t->symmetric, x, y));
  if (t->modal) TES_TRY(tesi_upwind_apply_ref(op, x, y));
  if (t->modal) goto done;
  TES_TRY(tesi_plain_init(op->space, op->space->degree + TESI_TRANSPORT_MORE, &plain));
  for (int64_t cell = 0; cell < plain.cells; cell++) {
    double u[TESI_PLAIN_NODES], local[TESI_PLAIN_NODES] = {0};
    const TesiCellView *s = plain.view;
    tesi_cells_read(s, cell, x, u);
    TES_TRY(add_cell(op, &plain, slope, cell, u, local));
    tesi_hanging_write(s->dim, s->n, s->halves, s->mask[cell], local);
    for (int i = 0; i < plain.nodes; i++) {
      const int32_t node = s->index[cell * s->cell_nodes + i];
      if (node >= 0) y[node] += local[i];
    }
  }
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&slope[d]);
  return status;
}
