/* The kind transport: the symmetric operator, then, eight cells at a time, the terms of the velocity. */
#include "operator/transport/transport_operator.h"
#include <stdio.h>
#include <string.h>
#include "base/team.h"
#include "device/copies.h"
#include "device/kernel.h"
#include "functional/functional.h"
#include "operator/dg/dg_device.h"
#include "operator/form.h"
#include "operator/transport/transport_device.h"
#include "operator/transport/upwind_constant.h"
#include "operator/transport/upwind_device.h"
#include "parallel/comm.h"

/* The contribution to y of a pass over the cells. */
typedef enum What { CONVECTION, MASS, LOAD, SLOPES, FACES, TRACES } What;

typedef struct Pass {
  TesiTransport *t;
  What what;
  double sign;
  const double *x;
  const TesFunction *f, *const *material;
  int set, *failed;
} Pass;

/* ---- a batch ------------------------------------------------------------------------------------------- */

/* Arrays of a thread. */
typedef struct Work {
  double *u, *g[3], *v, *scratch, *other, *more;
} Work;

static Work work_of(const TesiTransport *t, int thread) {
  const int64_t n = tesi_batches_array(t->batches);
  double *m = t->memory + thread * t->share;
  return (Work){m, {m + n, m + 2 * n, m + 3 * n}, m + 4 * n, m + 5 * n, m + 6 * n, m + 7 * n};
}

/* r <- r - div (a grad u) at the points, from the gradient g. M: factors of the second derivatives, then of the
 * first. */
static void subtract_diffusion(const TesiBatches *b, const double *M, double *const g[3], double *second,
                               double *r) {
  const int64_t n = tesi_batches_array(b);
  for (int e = 0; e < b->dim; e++)
    for (int f = e; f < b->dim; f++, M += n) {
      tesi_batch_slope(b, f, false, g[e], second);
      for (int64_t i = 0; i < n; i++) r[i] -= M[i] * second[i];
    }
  for (int e = 0; e < b->dim; e++, M += n)
    for (int64_t i = 0; i < n; i++) r[i] -= M[i] * g[e][i];
}

/* v <- v + sum over directions of D' (r B), which tests r with b . grad v; r includes the weights of points. */
static void test_streamline(const TesiBatches *b, const double *B, const double *r, const Work *w) {
  const int64_t n = tesi_batches_array(b);
  for (int d = 0; d < b->dim; d++, B += n) {
    for (int64_t i = 0; i < n; i++) w->scratch[i] = r[i] * B[i];
    tesi_batch_slope(b, d, true, w->scratch, w->more);
    for (int64_t i = 0; i < n; i++) w->v[i] += w->more[i];
  }
}

/* v <- w|J| B . grad u, r <- c u + B . grad u - div (a grad u); conservative: v <- 0, r only with streamlines. */
static void convect(const TesiTransport *t, const double *numbers, const Work *w, double *r) {
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b);
  const double *B = numbers + n, *c = numbers + (2 + b->dim) * n;
  if (t->conservative) memset(w->v, 0, (size_t)n * sizeof *w->v);
  if (t->conservative && !t->streamline) return;
  for (int d = 0; d < b->dim; d++) tesi_batch_slope(b, d, false, w->u, w->g[d]);
  for (int64_t i = 0; i < n; i++) {
    double sum = B[i] * w->g[0][i] + B[n + i] * w->g[1][i];
    if (b->dim == 3) sum += B[2 * n + i] * w->g[2][i];
    r[i] = sum;
    if (!t->conservative) w->v[i] = numbers[i] * sum;
  }
  if (!t->streamline) return;
  for (int64_t i = 0; i < n; i++) r[i] += c[i] * w->u[i];
  subtract_diffusion(b, numbers + (3 + b->dim) * n, w->g, w->scratch, r);
}

/* v <- the integrand of the velocity's term at the points, in terms of test functions, for u at the points. */
static void carry(const TesiTransport *t, const double *numbers, const Work *w) {
  const int64_t n = tesi_batches_array(t->batches);
  const double *tau = numbers + (1 + t->batches->dim) * n;
  double *r = w->other;
  convect(t, numbers, w, r);
  for (int64_t i = 0; t->streamline && i < n; i++) r[i] *= tau[i];
  for (int64_t i = 0; t->conservative && i < n; i++) r[i] = (t->streamline ? r[i] : 0) - numbers[i] * w->u[i];
  if (t->streamline || t->conservative) test_streamline(t->batches, numbers + n, r, w);
}

double *tesi_transport_carry(const TesiTransport *t, int64_t number, int thread) {
  const Work w = work_of(t, thread);
  const int64_t n = tesi_batches_array(t->batches);
  carry(t, t->numbers + (t->uniform ? 0 : number) * t->arrays * n, &w);
  return w.v;
}

static TesStatus load_values(const Pass *pass, const TesiBatch *batch, const Work *w, double *r) {
  const TesiBatches *b = pass->t->batches;
  const int64_t n = tesi_batches_array(b);
  const TesFunction *f[TESI_BATCH];
  double *x = w->g[0];
  const TesiBatchPoints at = {.x = {x, x + n, x + 2 * n}, .weight = w->scratch};
  for (int l = 0; l < TESI_BATCH; l++) {
    const int material =
        pass->material ? tes_mesh_material(b->space->mesh, batch->first + tesi_min(l, batch->count - 1)) : -1;
    f[l] = material >= 0 && pass->material[material] ? pass->material[material] : pass->f;
  }
  b->kind->points(b, batch, true, &at, w->more + n);
  return tesi_batch_values(b, batch, f, &at, r, w->scratch);
}

static TesStatus run_batch(const Pass *pass, int64_t task, int64_t number, const Work *w) {
  TesiTransport *t = pass->t;
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  const double *numbers = t->numbers + (t->uniform ? 0 : number) * t->arrays * n,
               *tau = numbers + (1 + b->dim) * n;
  double *r = w->other;
  TesStatus status = TES_OK;
  if (pass->what == CONVECTION || pass->what == MASS || pass->what == TRACES)
    tesi_batch_evaluate(b, &batch, pass->x, w->u, w->scratch);
  if (pass->what == TRACES) {
    tesi_upwind_put(&t->upwind, number, w->u);
    return TES_OK;
  }
  if (pass->what == CONVECTION) carry(t, numbers, w);
  if (pass->what == MASS)
    for (int64_t i = 0; i < n; i++) r[i] = w->u[i], w->v[i] = 0;
  if (pass->what == LOAD) {
    status = load_values(pass, &batch, w, r);
    memset(w->v, 0, (size_t)n * sizeof *w->v);
  }
  const bool slopes = pass->what == SLOPES, others = t->streamline && pass->what != CONVECTION && !slopes;
  for (int64_t i = 0; slopes && i < n; i++) r[i] = numbers[i], w->v[i] = 0;
  for (int64_t i = 0; others && status == TES_OK && i < n; i++) r[i] *= tau[i];
  if ((others || slopes) && status == TES_OK) test_streamline(b, numbers + n, r, w);
  if (t->modal && pass->what == CONVECTION) tesi_upwind_add(&t->upwind, number, w->v, w->scratch, w->more);
  if (t->modal && slopes) tesi_upwind_subtract_speeds(&t->upwind, number, w->v, w->scratch, w->more);
  for (int64_t i = 0; i < n; i++) w->v[i] *= pass->sign;
  if (status == TES_OK) tesi_batch_integrate(&t->sums, task, &batch, w->v, w->scratch);
  return status;
}

static void run_tasks(const void *data, TesiSpan span) {
  const Pass *pass = data;
  const TesiBatches *b = pass->t->batches;
  const Work w = work_of(pass->t, span.thread);
  for (int64_t i = span.first; i < span.end; i++) {
    int64_t first;
    const int64_t task = tesi_batches_set_task(b, pass->set, i), count = tesi_batches_of_task(b, task, &first);
    for (int64_t k = first; k < first + count; k++) {
      const TesStatus status = run_batch(pass, task, k, &w);
      if (status != TES_OK) {
#pragma omp atomic write
        *pass->failed = status;
      }
    }
  }
}

static void run_sets(Pass *pass) {
  const TesiBatches *b = pass->t->batches;
  for (pass->set = 0; pass->set < b->sets; pass->set++)
    tesi_team_share(pass->t->threads, tesi_batches_set_size(b, pass->set), 1, run_tasks, pass);
}

/* y <- y + sign (the contribution of the pass), arrays on the host. */
static TesStatus add_on_host(Pass pass, double *y) {
  TesiTransport *t = pass.t;
  const TesiBatches *b = t->batches;
  int failed = TES_OK;
  pass.failed = &failed;
  t->sums.values = y;
  for (int64_t i = 0; t->sums.at && i < b->tasks; i++) t->sums.at[i] = t->sums.first[i];
  if (t->modal && pass.what == CONVECTION) {
    pass.what = TRACES;
    run_sets(&pass);
    pass.what = CONVECTION;
  }
  run_sets(&pass);
  tesi_sums_finish(&t->sums);
  if (pass.what == CONVECTION) tesi_face_mass_add(&t->through, TES_DOUBLE, pass.sign, true, pass.x, y);
  return (TesStatus)failed;
}

/* For devices: the host computes terms that are needed once, or come from functions. */
static TesStatus add_by_host(const TesOperator *op, Pass pass, const void *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const size_t bytes = (size_t)op->length * sizeof(double);
  double *in = NULL, *out = NULL;
  TES_ALLOC(&in, op->length);
  TES_ALLOC(&out, op->length);
  if (x) TES_TRY(device->to_host(ctx, in, x, bytes));
  TES_TRY(device->to_host(ctx, out, y, bytes));
  pass.x = in;
  if (pass.what == FACES)
    tesi_face_mass_add(&pass.t->through, TES_DOUBLE, pass.sign, true, in, out);
  else
    TES_TRY(add_on_host(pass, out));
  TES_TRY(device->to_device(ctx, y, out, bytes));
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  return status;
}

/* every: for the lifting; values at given nodes count. */
static TesStatus add(const TesOperator *op, Pass pass, bool every, const void *x, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiTransport *t = op->plan;
  pass.t = t, pass.x = x;
  if (t->upwind_device && pass.what == CONVECTION)
    return tesi_upwind_device_add(ctx, t->upwind_device, pass.sign, x, y);
  if (t->upwind_device) return add_by_host(op, pass, x, y);
  if (!t->device) return add_on_host(pass, y);
  if (pass.what == LOAD || pass.what == SLOPES) return add_by_host(op, pass, x, y);
  TES_TRY(tesi_transport_device_add(ctx, t->device, pass.what == MASS, every, pass.sign, x, y));
  if (pass.what != CONVECTION || !t->through.faces) goto done;
  pass.what = FACES;
  TES_TRY(every ? add_by_host(op, pass, x, y) : tesi_face_mass_add_here(ctx, &t->through, pass.sign, x, y));
done:
  return status;
}

static TesStatus add_in_wide(const TesOperator *op, const void *pass, const void *x, void *y) {
  return add(op, *(const Pass *)pass, true, x, y);
}

/* The same for a call by itself. On several ranks it adds over all ranks, in all copies. For discontinuous elements
 * only the traces of neighbours are from other ranks. */
static TesStatus add_whole(const TesOperator *op, Pass pass, bool every, const void *x, TesVector *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesVector *part = NULL;
  if (op->wide && pass.what == CONVECTION) return tesi_operator_in_wide(op, add_in_wide, &pass, x, y->data);
  if (!op->local || op->wide) return add(op, pass, every, x, y->data);
  TES_TRY(tesi_vector_create_on(op->space->layout, TES_DOUBLE, &part));
  TES_TRY(add(op, pass, every, x, part->data));
  TES_TRY(tesi_sum_copies(ctx, op->space->layout->shared, TES_DOUBLE, part->data));
  TES_TRY(tes_vector_axpy(1, part, y));
done:
  tes_vector_destroy(&part);
  return status;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* The table of the symmetric part for this rank's cells (operator_ranks.c). */
static const TesiOperatorTable *table_of(const TesOperator *op) {
  return op->local ? op->local : op->table;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  TesiTransport *t = op->plan;
  if (t->constant) return tesi_dg_device_add(op->context, t->constant, NULL, 1, x, y);
  if (t->lines) return tesi_lines_run(op->context, t->lines, &(TesiLinesJob){.x = x, .y = y});
  const TesStatus status = table_of(t->symmetric)->apply(t->symmetric, x, y);
  return status == TES_OK ? add(op, (Pass){.what = CONVECTION, .sign = 1}, false, x, y) : status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  TesiTransport *t = op->plan;
  if (t->constant) return tesi_dg_device_add(op->context, t->constant, b, -1, x, r);
  if (t->lines) return tesi_lines_run(op->context, t->lines, &(TesiLinesJob){.x = x, .b = b, .y = r});
  const TesStatus status = table_of(t->symmetric)->residual(t->symmetric, b, x, r);
  return status == TES_OK ? add(op, (Pass){.what = CONVECTION, .sign = -1}, false, x, r) : status;
}

TesStatus tesi_transport_subtract(const TesOperator *op, const TesVector *x, TesVector *b) {
  return add_whole(op, (Pass){.what = CONVECTION, .sign = -1}, true, x->data, b);
}

TesStatus tesi_transport_slopes(const TesOperator *op, TesVector *y) {
  const TesStatus status = tes_vector_fill(y, 0);
  return status == TES_OK ? add_whole(op, (Pass){.what = SLOPES, .sign = 1}, false, NULL, y) : status;
}

TesStatus tesi_transport_add_mass(const TesOperator *op, const TesVector *x, TesVector *y) {
  const TesiTransport *t = op->plan;
  return t->streamline ? add_whole(op, (Pass){.what = MASS, .sign = 1}, true, x->data, y) : TES_OK;
}

TesStatus tesi_transport_load(const TesOperator *op, const TesFunction *f, const TesFunction *const *material,
                              TesVector *b) {
  TesiTransport *t = op->plan;
  if (!t->streamline) return TES_OK;
  return add_whole(op, (Pass){.what = LOAD, .sign = 1, .f = f, .material = material}, false, NULL, b);
}

static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesiTransport *t = op->plan;
  const TesStatus status = table_of(t->symmetric)->lift(t->symmetric, u, b);
  return status == TES_OK ? add(op, (Pass){.what = CONVECTION, .sign = -1}, true, u->data, b->data) : status;
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  (void)d;
  TES_FAIL(TES_MISSING, "an operator of kind transport tells no diagonal: smoothers take its symmetric part");
done:
  return status;
}

/* Contractions with B and D and their transposes, and a few operations per point; with faces between cells as many
 * per point of a face, and their speeds. */
static TesCost cost(const TesOperator *op) {
  const TesiTransport *t = op->plan;
  const TesiBatches *b = t->batches;
  if (t->lines) return tesi_lines_cost(t->lines);
  TesCost c = t->symmetric->table->cost(t->symmetric);
  if (t->constant) {
    c.flops += 4. * b->dim * (double)op->length;
    return c;
  }
  const double cells = (double)b->cells, numbers = t->uniform ? 0 : t->arrays * 8.,
               points = (double)b->points, line = 2. * b->q;
  const int contractions = 3 * b->dim + (t->streamline ? b->dim * (b->dim + 3) / 2 : 0);
  c.flops += cells * points * (contractions * line + 2 * t->arrays);
  c.bytes += cells * points * numbers + 3. * (double)op->length * 8;
  if (t->modal) {
    const double faces = cells * 2 * b->dim * t->upwind.points;
    c.flops += faces * (4 * (b->dim - 1) * line + 6);
    c.bytes += faces * (t->uniform ? 0 : 8);
  }
  return c;
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiTransport *t = op->plan;
  if (!t) return;
  tes_operator_destroy(&t->symmetric);
  tesi_sums_free(&t->sums);
  tesi_face_mass_free(ctx, &t->through);
  tesi_upwind_free(ctx, &t->upwind);
  tesi_lines_destroy(ctx, &t->lines);
  if (t->batches) tesi_batches_destroy(&t->batches);
  tesi_transport_device_destroy(ctx, &t->device);
  tesi_upwind_device_destroy(ctx, &t->upwind_device);
  tesi_dg_device_destroy(ctx, &t->constant);
  tesi_free(ctx, &t->numbers);
  tesi_free(ctx, &t->memory);
  tesi_free(ctx, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = lift,
                                        .apply_ref = tesi_transport_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

/* ---- creation ------------------------------------------------------------------------------------------ */

static const char *refuses(const TesOperatorDesc *desc) {
  const TesTermDesc *term = tesi_form_term(&desc->form, TES_TERM_TRANSPORT, 0);
  if (desc->precision != TES_DOUBLE && !tesi_has_kernels(desc->space->context)) return "it is in float64";
  if (desc->space->element->with_pressure) return "the element is not q or dg";
  if (!desc->space->element->nodal && term && term->streamline == TES_STREAMLINE_ALWAYS)
    return "streamline terms are of element q";
  return NULL;
}

/* Whether a sum of products of 1D matrices is the whole operator. */
static TesStatus create_lines(const TesOperator *op, TesiTransport *t) {
  tesi_lines_destroy(op->context, &t->lines);
  return t->streamline || t->modal || tesi_ranks(op->context) > 1
             ? TES_OK
             : tesi_lines_create(op, t->symmetric, &t->lines);
}

/* The form without its transport term. */
static TesStatus create_symmetric(const TesOperator *op, TesOperator **symmetric) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesForm *form = &op->desc.form;
  TesTermDesc *term = NULL;
  int terms = 0;
  TES_ALLOC(&term, form->terms);
  for (int i = 0; i < form->terms; i++)
    if (form->term[i].term != TES_TERM_TRANSPORT) term[terms++] = form->term[i];
  TES_TRY(tes_operator_create(
      ctx,
      &(TesOperatorDesc){.space = op->space, .form = {terms, term, form->penalty}, .precision = op->precision},
      symmetric));
done:
  tesi_free(ctx, &term);
  return status;
}

/* Numbers at the points, and whether there are streamline terms. Without them, equal numbers in all cells need one
 * point less for the same integrals. */
static TesStatus fill_points(const TesOperator *op, const TesTermDesc *term, TesiTransport *t) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_batches_create(op->space, op->space->degree + TESI_TRANSPORT_MORE, &t->batches));
  t->streamline = term->streamline == TES_STREAMLINE_ALWAYS;
  TES_TRY(tesi_transport_fill(op, t));
  const bool more = term->streamline == TES_STREAMLINE_AUTO && t->peclet > 1 && !t->modal;
  if (t->uniform && !t->streamline && !more) {
    tesi_batches_destroy(&t->batches);
    TES_TRY(tesi_batches_create(op->space, op->space->degree + 1, &t->batches));
  }
  t->streamline = t->streamline || more;
  if (more || (t->uniform && !t->streamline)) TES_TRY(tesi_transport_fill(op, t));
done:
  return status;
}

/* Speeds at the faces of discontinuous elements. The arrays are allocated again when the numbers of one batch start
 * or stop to hold for all cells. */
static TesStatus fill_faces(const TesOperator *op, const TesTermDesc *term, TesiTransport *t) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  if (!t->upwind.speed || t->upwind.uniform != t->uniform) {
    tesi_upwind_free(ctx, &t->upwind);
    TES_TRY(tesi_upwind_create(op->space, t->batches, t->conservative, t->uniform, term->through, &t->upwind));
  }
  TES_TRY(tesi_upwind_fill(&t->upwind, term->b));
  if (t->upwind_device) TES_TRY(tesi_upwind_device_fill(ctx, t, t->upwind_device));
  TES_TRY(tesi_upwind_constant_fill(op, t));
done:
  return status;
}

static TesStatus create_device(const TesOperator *op, TesiTransport *t) {
  if (!tesi_has_kernels(op->context)) return TES_OK;
  return t->modal ? tesi_upwind_device_create(op, t, &t->upwind_device)
                  : tesi_transport_device_create(op, t, &t->device);
}

static TesStatus init(TesOperator *op) {
  enum { ARRAYS = 9 };
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  TesiTransport *t;
  op->table = &table;
  TES_NEW(&t);
  op->plan = t;
  TES_TRY(create_symmetric(op, &t->symmetric));
  op->singular = t->symmetric->singular;
  t->conservative = term->conservative;
  t->through.precision = op->precision;
  t->modal = op->space->element->weak;
  if (term->through && !t->modal)
    TES_TRY(tesi_transport_faces(op->space, term->b, term->through, &t->through));
  TES_TRY(fill_points(op, term, t));
  if (t->modal) TES_TRY(fill_faces(op, term, t));
  t->threads = tesi_team_threads(ctx, t->batches->cells * t->batches->points);
  t->share = ARRAYS * tesi_batches_array(t->batches) + tesi_batches_work(t->batches);
  TES_ALLOC(&t->memory, t->share * t->threads);
  TES_TRY(tesi_sums_create(t->batches, t->modal, NULL, &t->sums));
  TES_TRY(create_device(op, t));
  TES_TRY(create_lines(op, t));
  snprintf(op->description, sizeof op->description,
           "transport%s%s, degree %d, %s, cell Peclet number %.2g%s; with %.58s",
           t->conservative ? " (conservative)" : "",
           t->modal   ? ", upwind"
           : t->lines ? ", 1D matrices"
                      : "",
           op->space->degree, op->precision == TES_DOUBLE ? "float64" : "float32", t->peclet,
           t->streamline ? ", SUPG" : "", t->symmetric->description);
done:
  return status;
}

static TesStatus move_widened(const TesOperator *op, TesOperator *widened, const TesFunction *const b[3]) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesFunction *own[3] = {NULL, NULL, NULL};
  for (int d = 0; d < 3; d++) TES_TRY(tesi_operator_continue(op, b[d], &own[d]));
  if (tesi_transport_move(widened, (const TesFunction *const *)own) != TES_OK)
    TES_FAIL(TES_INVALID_INPUT, "%s", tes_context_message(widened->context));
done:
  for (int d = 0; d < 3; d++) tes_function_destroy(&own[d]);
  return status;
}

TesStatus tesi_transport_move(TesOperator *op, const TesFunction *const b[3]) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiTransport *t = op->plan;
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  TesOperator *widened = tesi_operator_widened(op);
  if (widened) TES_TRY(move_widened(op, widened, b));
  for (int d = 0; d < 3; d++) {
    const TesFunction **own = (const TesFunction **)&term->b[d];
    tes_function_destroy((TesFunction **)own);
    *own = tesi_function_retain(b[d]);
  }
  TES_TRY(tesi_transport_fill(op, t));
  t->renewed = t->lines || t->through.faces;
  if (t->device) TES_TRY(tesi_transport_device_fill(ctx, t, t->device));
  if (t->modal) TES_TRY(fill_faces(op, term, t));
  TES_TRY(create_lines(op, t));
  t->renewed = t->renewed || t->lines;
  if (!term->through || t->modal) goto done;
  tesi_face_mass_free(ctx, &t->through);
  t->through = (TesiFaceMass){.precision = op->precision};
  TES_TRY(tesi_transport_faces(op->space, term->b, term->through, &t->through));
done:
  return status;
}

const TesiOperatorKind tesi_operator_transport = {.name = "transport",
                                                  .matrices = true,
                                                  .takes = TESI_TERM(DIFFUSION) | TESI_TERM(MASS) |
                                                           TESI_TERM(ROBIN) | TESI_TERM(TRANSPORT),
                                                  .needs = TESI_TERM(DIFFUSION) | TESI_TERM(TRANSPORT),
                                                  .refuses = refuses,
                                                  .init = init};
