/* Numbers at the points of a transport operator: velocity, streamline parameter, metric. */
#include <math.h>
#include <string.h>
#include "geometry/geometry.h"
#include "operator/form.h"
#include "operator/transport/transport_operator.h"
#include "parallel/comm.h"

/* Arrays of one batch while it is filled. */
typedef struct Fill {
  const TesOperator *op;
  TesiTransport *transport;
  TesiBatchPoints at;
  double *inverse[3][3]; /* [e][r]: d xi_e / d x_r */
  double *value[3], *product[2], *scratch;
  double *a[6];        /* the diffusion matrix, 00 01 (02) 11 (12 22); a scalar: a[0] */
  bool matrix, varies; /* whether a is a matrix; whether a varies */
  TesFunction *one, *zero;
} Fill;

/* values <- entry r, c of a coefficient in the cells of a batch (r < 0: a scalar; 1 without a function). */
static TesStatus evaluate_entry(const Fill *fill, const TesiBatch *batch, const TesCoefficient *a, int r,
                                int c, double *values) {
  const TesiBatches *b = fill->transport->batches;
  const TesFunction *f[TESI_BATCH];
  for (int l = 0; l < TESI_BATCH; l++) {
    const int material =
        a->material ? tes_mesh_material(b->space->mesh, batch->first + tesi_min(l, batch->count - 1)) : -1;
    double otherwise = 1;
    f[l] = material >= 0 && a->material[material] ? a->material[material] : a->all;
    if (r >= 0) f[l] = tesi_function_entry(f[l], r, c, &otherwise);
    if (!f[l]) f[l] = otherwise == 0 ? fill->zero : fill->one;
  }
  return tesi_batch_values(b, batch, f, &fill->at, values, fill->scratch);
}

static TesStatus evaluate(const Fill *fill, const TesiBatch *batch, const TesCoefficient *a, double *values) {
  return evaluate_entry(fill, batch, a, -1, -1, values);
}

static TesStatus evaluate_diffusion(const Fill *fill, const TesiBatch *batch, const TesCoefficient *a) {
  TesStatus status = TES_OK;
  const int dim = fill->transport->batches->dim;
  if (!fill->matrix) return evaluate(fill, batch, a, fill->a[0]);
  for (int r = 0, at = 0; r < dim; r++)
    for (int c = r; c < dim && status == TES_OK; c++, at++)
      status = evaluate_entry(fill, batch, a, r, c, fill->a[at]);
  return status;
}

/* Entry e, f of J^-1 a J^-T at a point of a lane. */
static double metric(const Fill *fill, int64_t i, int e, int f) {
  const int dim = fill->transport->batches->dim;
  double sum = 0;
  for (int r = 0; r < dim && !fill->matrix; r++) sum += fill->inverse[e][r][i] * fill->inverse[f][r][i];
  if (!fill->matrix) return fill->a[0][i] * sum;
  for (int r = 0, at = 0; r < dim; r++)
    for (int c = r; c < dim; c++, at++) {
      const double first = fill->inverse[e][r][i] * fill->inverse[f][c][i],
                   second = r == c ? 0 : fill->inverse[e][c][i] * fill->inverse[f][r][i];
      sum += fill->a[at][i] * (first + second);
    }
  return sum;
}

/* The columns of J^-T: the gradients, in space, of the reference coordinates. */
static void invert(const Fill *fill, const TesiBatch *batch) {
  const TesiBatches *b = fill->transport->batches;
  const int64_t n = tesi_batches_array(b);
  for (int e = 0; e < b->dim; e++) {
    for (int r = 0; r < b->dim; r++)
      for (int64_t i = 0; i < n; i++) fill->inverse[e][r][i] = r == e;
    b->kind->gradient(b, batch, &fill->at, fill->inverse[e]);
  }
}

static TesStatus put_velocity(const Fill *fill, const TesiBatch *batch, const TesTermDesc *term, double *to) {
  const TesiBatches *b = fill->transport->batches;
  const int64_t n = tesi_batches_array(b);
  TesStatus status = TES_OK;
  for (int r = 0; r < b->dim && status == TES_OK; r++)
    status = term->b[r] ? evaluate(fill, batch, &(TesCoefficient){.all = term->b[r]}, fill->value[r]) : TES_OK;
  for (int e = 0; e < b->dim; e++)
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      for (int r = 0; r < b->dim; r++)
        if (term->b[r]) sum += fill->inverse[e][r][i] * fill->value[r][i];
      to[e * n + i] = sum;
    }
  return status;
}

/* c <- c + div b: (1 / |J|) sum over e of the derivative of |J| B_e. */
static void add_divergence(const Fill *fill, const double *w, const double *B, double *c) {
  const TesiBatches *b = fill->transport->batches;
  const int64_t n = tesi_batches_array(b);
  const int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  double *J = fill->value[2], *product = fill->product[0], *slope = fill->product[1];
  for (int64_t i = 0; i < n; i++) {
    int64_t p = i / TESI_BATCH;
    J[i] = w[i];
    for (int d = 0; d < b->dim; d++, p /= b->q) J[i] /= b->weight[p % b->q];
  }
  for (int e = 0; e < b->dim; e++) {
    for (int64_t i = 0; i < n; i++) product[i] = J[i] * B[e * n + i];
    b->loops.contract(size, e, b->q, b->q, false, b->D, product, slope);
    for (int64_t i = 0; i < n; i++) c[i] += J[i] > 0 ? slope[i] / J[i] : 0;
  }
}

/* A[dim] <- J^-1 (div a): for a matrix, the divergence row by row of the polynomial through the points. */
static void put_gradient(const Fill *fill, double *A) {
  const TesiBatches *b = fill->transport->batches;
  const int64_t n = tesi_batches_array(b);
  const int dim = b->dim, size[3] = {b->q, b->q, dim == 3 ? b->q : 1};
  double *slope = fill->product[0];
  memset(A, 0, (size_t)(dim * n) * sizeof *A);
  for (int r = 0, at = 0; r < dim; r++)
    for (int s = r; s < dim; s++) {
      const double *a = fill->a[fill->matrix ? at++ : 0];
      if (!fill->matrix && s != r) continue;
      for (int e = 0; e < dim; e++) {
        b->loops.contract(size, e, b->q, b->q, false, b->D, a, slope);
        for (int f = 0; f < dim; f++)
          for (int64_t i = 0; i < n; i++) {
            const double other = s == r ? 0 : fill->inverse[f][s][i] * fill->inverse[e][r][i];
            A[f * n + i] += slope[i] * (fill->inverse[f][r][i] * fill->inverse[e][s][i] + other);
          }
      }
    }
}

/* A <- A + div (J^-1 a J^-T) without the derivatives of a: - J^-1 (N : Hess x), N the metric. */
static void add_curvature(const Fill *fill, const double *N, double *A) {
  const TesiBatches *b = fill->transport->batches;
  const int64_t n = tesi_batches_array(b);
  const int dim = b->dim, size[3] = {b->q, b->q, dim == 3 ? b->q : 1};
  double *bend = fill->product[0], *sum = fill->product[1];
  for (int r = 0; r < dim; r++) {
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int e = 0, at = 0; e < dim; e++)
      for (int f = e; f < dim; f++, at++) {
        b->loops.contract(size, f, b->q, b->q, false, b->D, fill->at.J + (r * dim + e) * n, bend);
        for (int64_t i = 0; i < n; i++) sum[i] += N[at * n + i] * bend[i];
      }
    for (int e = 0; e < dim; e++)
      for (int64_t i = 0; i < n; i++) A[e * n + i] -= fill->inverse[e][r][i] * sum[i];
  }
}

/* tau w|J|, c, the metric and the divergence of the diffusion matrix of a batch; the Peclet number. */
static TesStatus put_streamline(const Fill *fill, const TesiBatch *batch, const TesTermDesc *term,
                                const double *w, const double *B, double *to) {
  TesiTransport *t = fill->transport;
  const TesiBatches *b = t->batches;
  const TesForm *form = &fill->op->desc.form;
  const TesTermDesc *mass = tesi_form_term(form, TES_TERM_MASS, 0),
                    *diffusion = tesi_form_term(form, TES_TERM_DIFFUSION, 0);
  const int64_t n = tesi_batches_array(b);
  const int k = b->n - 1, dim = b->dim;
  double *c = fill->value[1];
  TesStatus status = evaluate_diffusion(fill, batch, &diffusion->a);
  if (status == TES_OK && mass) status = evaluate(fill, batch, &mass->a, c);
  for (int64_t i = 0; i < n && status == TES_OK; i++) {
    double B2 = 0, trace = 0;
    int at = 2;
    for (int e = 0; e < dim; e++) {
      B2 += B[e * n + i] * B[e * n + i];
      t->rate = fmax(t->rate, fabs(B[e * n + i]));
    }
    for (int e = 0; e < dim; e++)
      for (int f = e; f < dim; f++, at++) {
        const double M = metric(fill, i, e, f);
        if (e == f) trace += M / dim;
        if (to) to[at * n + i] = M * (e == f ? 1 : 2);
      }
    t->speed = fmax(t->speed, k * sqrt(B2));
    t->peclet = fmax(t->peclet, sqrt(B2) / (2 * k * trace));
    if (!to) continue;
    const double diffusive = 12. * k * k * trace;
    to[i] = w[i] / sqrt(term->rate * term->rate + 4. * k * k * B2 + diffusive * diffusive);
    to[n + i] = mass ? c[i] : 0;
  }
  if (to && t->conservative) add_divergence(fill, w, B, to + n);
  double *A = to ? to + (2 + dim * (dim + 1) / 2) * n : NULL;
  if (to && status == TES_OK && fill->varies) put_gradient(fill, A);
  if (to && status == TES_OK && b->geometry && b->geometry->kind != TES_GEOMETRY_AFFINE)
    add_curvature(fill, to + 2 * n, A);
  return status;
}

static TesStatus fill_batch(Fill *fill, int64_t number, const TesTermDesc *term) {
  TesiTransport *t = fill->transport;
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  double *to = t->numbers + number * t->arrays * n;
  b->kind->points(b, &batch, true, &fill->at, fill->scratch + n);
  invert(fill, &batch);
  for (int64_t i = 0; i < n; i++) to[i] = fill->at.weight[i];
  TesStatus status = put_velocity(fill, &batch, term, to + n);
  if (status == TES_OK)
    status = put_streamline(fill, &batch, term, to, to + n, t->streamline ? to + (1 + b->dim) * n : NULL);
  return status;
}

static bool is_constant(const TesFunction *f) {
  double value;
  return !f || tes_function_constant(f, &value);
}

/* Whether all cells are equal and have equal numbers. */
static bool is_uniform(const TesOperator *op, const TesSpace *box, const TesTermDesc *term) {
  const TesForm *form = &op->desc.form;
  const int materials = tes_mesh_materials(op->space->mesh);
  double value;
  if (!box) return false;
  for (int d = 0; d < op->space->dim; d++)
    if (!box->axis[d].uniform || !is_constant(term->b[d])) return false;
  for (int i = 0; i < form->terms; i++)
    if (form->term[i].term != TES_TERM_TRANSPORT && form->term[i].term != TES_TERM_ROBIN &&
        !tesi_coefficient_constant(&form->term[i].a, materials, &value))
      return false;
  return true;
}

TesStatus tesi_transport_fill(const TesOperator *op, TesiTransport *t) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b);
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  double *memory = NULL;
  Fill fill = {.op = op, .transport = t};
  t->arrays = 1 + b->dim + (t->streamline ? 2 + b->dim * (b->dim + 3) / 2 : 0);
  t->uniform = !tesi_reduce_any(ctx, !is_uniform(op, b->box, term)); /* all ranks must decide alike */
  const int64_t batches = t->uniform ? 1 : b->batches;
  tesi_free(ctx, &t->numbers);
  TES_ALLOC(&t->numbers, batches * t->arrays * n);
  TES_ALLOC(&memory, 34 * n + tesi_batches_work(b));
  for (int d = 0; d < 3; d++) fill.at.x[d] = memory + d * n, fill.value[d] = memory + (4 + d) * n;
  for (int i = 0; i < 9; i++) fill.inverse[i / 3][i % 3] = memory + (7 + i) * n;
  fill.at.weight = memory + 3 * n;
  fill.at.J = b->geometry ? memory + 16 * n : NULL;
  fill.product[0] = memory + 25 * n, fill.product[1] = memory + 26 * n;
  for (int i = 0; i < 6; i++) fill.a[i] = memory + (27 + i) * n;
  const TesCoefficient *a = &tesi_form_term(&op->desc.form, TES_TERM_DIFFUSION, 0)->a;
  const int materials = tes_mesh_materials(op->space->mesh);
  double value;
  fill.matrix = tesi_coefficient_is_matrix(a, materials);
  fill.varies = fill.matrix || !tesi_coefficient_constant(a, materials, &value);
  fill.scratch = memory + 33 * n;
  t->peclet = t->speed = t->rate = 0;
  TES_TRY(tes_function_create_constant(ctx, 1, &fill.one));
  TES_TRY(tes_function_create_constant(ctx, 0, &fill.zero));
  for (int64_t i = 0; i < batches; i++) TES_TRY(fill_batch(&fill, i, term));
  for (int64_t i = 0; t->uniform && i < t->arrays * n; i++)
    t->numbers[i] = t->numbers[i / TESI_BATCH * TESI_BATCH];
  double most[3] = {t->peclet, t->speed, t->rate};
  tesi_reduce(ctx, TESI_MAXIMUM, 3, most);
  t->peclet = most[0], t->speed = most[1], t->rate = most[2];
done:
  tes_function_destroy(&fill.one);
  tes_function_destroy(&fill.zero);
  tesi_free(ctx, &memory);
  return status;
}
