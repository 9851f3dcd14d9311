/* The kind: the symmetric operator, then eight cells at a time what the velocity adds. */
#include "operator/transport/transport_operator.h"
#include <stdio.h>
#include <string.h>
#include "base/team.h"
#include "device/kernel.h"
#include "functional/functional.h"
#include "operator/form.h"

/* What a pass over the cells adds to y. */
typedef enum What { CONVECTION, MASS, LOAD, SLOPES } What;

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

static void differentiate(const TesiBatches *b, int d, bool transposed, const double *in, double *out) {
  const int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  b->loops.contract(size, d, b->q, b->q, transposed, b->D, in, out);
}

/* r <- r - a Lap u from the gradient g. */
static void subtract_laplacian(const TesiBatches *b, const double *M, double *const g[3], double *second,
                               double *r) {
  const int64_t n = tesi_batches_array(b);
  for (int e = 0; e < b->dim; e++)
    for (int f = e; f < b->dim; f++, M += n) {
      differentiate(b, f, false, g[e], second);
      for (int64_t i = 0; i < n; i++) r[i] -= M[i] * second[i];
    }
}

/* v <- v + sum over directions of D' (r B): r is tested with b . grad v; the weights of points are in it. */
static void test_streamline(const TesiBatches *b, const double *B, const double *r, const Work *w) {
  const int64_t n = tesi_batches_array(b);
  for (int d = 0; d < b->dim; d++, B += n) {
    for (int64_t i = 0; i < n; i++) w->scratch[i] = r[i] * B[i];
    differentiate(b, d, true, w->scratch, w->more);
    for (int64_t i = 0; i < n; i++) w->v[i] += w->more[i];
  }
}

/* v <- w|J| B . grad u, r <- c u + B . grad u - a Lap u; conservative: v <- 0, r only with streamlines. */
static void convect(const TesiTransport *t, const double *numbers, const Work *w, double *r) {
  const TesiBatches *b = t->batches;
  const int64_t n = tesi_batches_array(b);
  const double *B = numbers + n, *c = numbers + (2 + b->dim) * n;
  if (t->conservative) memset(w->v, 0, (size_t)n * sizeof *w->v);
  if (t->conservative && !t->streamline) return;
  for (int d = 0; d < b->dim; d++) differentiate(b, d, false, w->u, w->g[d]);
  for (int64_t i = 0; i < n; i++) {
    double sum = B[i] * w->g[0][i] + B[n + i] * w->g[1][i];
    if (b->dim == 3) sum += B[2 * n + i] * w->g[2][i];
    r[i] = sum;
    if (!t->conservative) w->v[i] = numbers[i] * sum;
  }
  if (!t->streamline) return;
  for (int64_t i = 0; i < n; i++) r[i] += c[i] * w->u[i];
  subtract_laplacian(b, numbers + (3 + b->dim) * n, w->g, w->scratch, r);
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
  const double *numbers = t->numbers + number * t->arrays * n, *tau = numbers + (1 + b->dim) * n;
  double *r = w->other;
  TesStatus status = TES_OK;
  if (pass->what == CONVECTION || pass->what == MASS)
    tesi_batch_evaluate(b, &batch, pass->x, w->u, w->scratch);
  if (pass->what == CONVECTION) convect(t, numbers, w, r);
  if (pass->what == MASS)
    for (int64_t i = 0; i < n; i++) r[i] = w->u[i], w->v[i] = numbers[i] * w->u[i];
  if (pass->what == LOAD) {
    status = load_values(pass, &batch, w, r);
    memset(w->v, 0, (size_t)n * sizeof *w->v);
  }
  const bool carried = t->conservative && pass->what == CONVECTION, slopes = pass->what == SLOPES;
  for (int64_t i = 0; slopes && i < n; i++) r[i] = numbers[i], w->v[i] = 0;
  for (int64_t i = 0; t->streamline && !slopes && status == TES_OK && i < n; i++) r[i] *= tau[i];
  for (int64_t i = 0; carried && i < n; i++) r[i] = (t->streamline ? r[i] : 0) - numbers[i] * w->u[i];
  if ((t->streamline || carried || slopes) && status == TES_OK) test_streamline(b, numbers + n, r, w);
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
    const int64_t task = tesi_batches_set_task(b, pass->set, i),
                  count = tesi_batches_of_task(b, task, &first);
    for (int64_t k = first; k < first + count; k++) {
      const TesStatus status = run_batch(pass, task, k, &w);
      if (status != TES_OK) {
#pragma omp atomic write
        *pass->failed = status;
      }
    }
  }
}

/* y <- y + sign (what the pass adds). */
static TesStatus add(Pass pass, double *y) {
  TesiTransport *t = pass.t;
  const TesiBatches *b = t->batches;
  int failed = TES_OK;
  pass.failed = &failed;
  t->sums.values = y;
  for (int64_t i = 0; t->sums.at && i < b->tasks; i++) t->sums.at[i] = t->sums.first[i];
  for (pass.set = 0; pass.set < b->sets; pass.set++)
    tesi_team_share(t->threads, tesi_batches_set_size(b, pass.set), 1, run_tasks, &pass);
  tesi_sums_finish(&t->sums);
  if (pass.what == CONVECTION) tesi_face_mass_add(&t->through, TES_DOUBLE, pass.sign, true, pass.x, y);
  return (TesStatus)failed;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  TesiTransport *t = op->plan;
  const TesStatus status = t->symmetric->table->apply(t->symmetric, x, y);
  return status == TES_OK ? add((Pass){.t = t, .what = CONVECTION, .sign = 1, .x = x}, y) : status;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  TesiTransport *t = op->plan;
  const TesStatus status = t->symmetric->table->residual(t->symmetric, b, x, r);
  return status == TES_OK ? add((Pass){.t = t, .what = CONVECTION, .sign = -1, .x = x}, r) : status;
}

TesStatus tesi_transport_slopes(const TesOperator *op, TesVector *y) {
  const TesStatus status = tes_vector_fill(y, 0);
  return status == TES_OK ? add((Pass){.t = op->plan, .what = SLOPES, .sign = 1}, y->data) : status;
}

TesStatus tesi_transport_mass(const TesOperator *op, const TesVector *x, TesVector *y) {
  const TesStatus status = tes_vector_fill(y, 0);
  return status == TES_OK ? add((Pass){.t = op->plan, .what = MASS, .sign = 1, .x = x->data}, y->data)
                          : status;
}

TesStatus tesi_transport_load(const TesOperator *op, const TesFunction *f, const TesFunction *const *material,
                              TesVector *b) {
  TesiTransport *t = op->plan;
  if (!t->streamline) return TES_OK;
  return add((Pass){.t = t, .what = LOAD, .sign = 1, .f = f, .material = material}, b->data);
}

static TesStatus lift(const TesOperator *op, const TesVector *u, TesVector *b) {
  TesiTransport *t = op->plan;
  const TesStatus status = tes_operator_lift(t->symmetric, u, b);
  return status == TES_OK ? add((Pass){.t = t, .what = CONVECTION, .sign = -1, .x = u->data}, b->data)
                          : status;
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  (void)d;
  TES_FAIL(TES_MISSING, "an operator of kind transport tells no diagonal: smoothers take its symmetric part");
done:
  return status;
}

/* Contractions with B and D and their transposes, and a few operations a point. */
static TesCost cost(const TesOperator *op) {
  const TesiTransport *t = op->plan;
  const TesiBatches *b = t->batches;
  TesCost c = t->symmetric->table->cost(t->symmetric);
  const double cells = (double)b->cells, points = (double)b->points, line = 2. * b->q;
  const int contractions = 3 * b->dim + (t->streamline ? b->dim * (b->dim + 3) / 2 : 0);
  c.flops += cells * points * (contractions * line + 2 * t->arrays);
  c.bytes += cells * points * t->arrays * 8 + 3. * (double)op->length * 8;
  return c;
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiTransport *t = op->plan;
  if (!t) return;
  tes_operator_destroy(&t->symmetric);
  tesi_sums_free(&t->sums);
  tesi_face_mass_free(ctx, &t->through);
  if (t->batches) tesi_batches_destroy(&t->batches);
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
  if (!tesi_form_term(&desc->form, TES_TERM_TRANSPORT, 0)) return "the form has no transport term";
  if (!tesi_form_term(&desc->form, TES_TERM_DIFFUSION, 0)) return "the form has no diffusion term";
  if (desc->precision != TES_DOUBLE) return "it is in float64";
  if (tesi_space_rt(desc->space)) return "the element is not q";
  return NULL;
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
      &(TesOperatorDesc){.space = op->space, .form = {terms, term, form->penalty}, .precision = TES_DOUBLE},
      symmetric));
done:
  tesi_free(ctx, &term);
  return status;
}

static TesStatus init(TesOperator *op) {
  enum { ARRAYS = 9 };
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesTermDesc *term = tesi_form_term(&op->desc.form, TES_TERM_TRANSPORT, 0);
  TesiTransport *t;
  if (tesi_has_kernels(ctx)) TES_FAIL(TES_MISSING, "transport runs on the device cpu alone");
  op->table = &table;
  TES_NEW(&t);
  op->plan = t;
  TES_TRY(create_symmetric(op, &t->symmetric));
  op->singular = t->symmetric->singular;
  TES_TRY(tesi_batches_create(op->space, op->space->degree + TESI_TRANSPORT_MORE, &t->batches));
  t->streamline = term->streamline == TES_STREAMLINE_ALWAYS;
  t->conservative = term->conservative;
  if (term->through) TES_TRY(tesi_transport_faces(op->space, term->b, term->through, &t->through));
  TES_TRY(tesi_transport_fill(op, t));
  if (term->streamline == TES_STREAMLINE_AUTO && t->peclet > 1) {
    tesi_free(ctx, &t->numbers);
    t->streamline = true;
    TES_TRY(tesi_transport_fill(op, t));
  }
  t->threads = tesi_team_threads(ctx, t->batches->cells * t->batches->points);
  t->share = ARRAYS * tesi_batches_array(t->batches) + tesi_batches_work(t->batches);
  TES_ALLOC(&t->memory, t->share * t->threads);
  TES_TRY(tesi_sums_create(t->batches, false, NULL, &t->sums));
  snprintf(op->description, sizeof op->description,
           "transport%s, degree %d, float64, cell Peclet number %.2g%s; with %.58s",
           t->conservative ? " (conservative)" : "", op->space->degree, t->peclet,
           t->streamline ? ", SUPG" : "", t->symmetric->description);
done:
  return status;
}

const TesiOperatorKind tesi_operator_transport = {.name = "transport", .refuses = refuses, .init = init};
