/* The passes over batches of cells: see taylor_hood.h. */
#include "operator/taylor_hood/taylor_hood.h"
#include <math.h>
#include <string.h>
#include "base/team.h"
#include "device/copies.h"
#include "device/kernel.h"
#include "operator/taylor_hood/taylor_hood_device.h"

enum { ARRAYS = 31 /* of a thread, [points][lane] each */ };

typedef struct Pass {
  TesiTaylorHood *m;
  void (*batch)(const struct Pass *pass, int64_t task, int64_t number, double *memory, double *rate);
  const double *in, *gamma; /* gamma: [cells] */
  double *rate, *cell;      /* [threads]; [cells], may be NULL */
  int set;
} Pass;

/* ---- a batch ------------------------------------------------------------------------------------------- */

/* Arrays of a thread at the points of a batch; weight with |J|. */
typedef struct Work {
  TesiBatchPoints at;
  double *X[3][3]; /* [e][c] */
  double *u[3], *B[3], *sum, *slope, *scratch;
} Work;

/* On boxes only the diagonal of X is set. */
static bool is_there(const TesiBatches *b, int e, int c) {
  return !b->box || e == c;
}

/* Weights and X of a batch. */
static Work begin(const TesiBatches *b, const TesiBatch *batch, double *memory) {
  const int64_t n = tesi_batches_array(b);
  Work w = {.at = {.x = {memory, memory + n, memory + 2 * n},
                   .weight = memory + 3 * n,
                   .J = b->geometry ? memory + 4 * n : NULL}};
  for (int i = 0; i < 9; i++) w.X[i / 3][i % 3] = memory + (13 + i) * n;
  for (int c = 0; c < 3; c++) w.u[c] = memory + (22 + c) * n, w.B[c] = memory + (25 + c) * n;
  w.sum = memory + 28 * n, w.slope = memory + 29 * n, w.scratch = memory + 30 * n;
  b->kind->points(b, batch, false, &w.at, memory + 31 * n);
  for (int e = 0; e < b->dim; e++) {
    for (int c = 0; c < b->dim; c++)
      for (int64_t i = 0; i < n; i++) w.X[e][c][i] = e == c;
    b->kind->gradient(b, batch, &w.at, w.X[e]);
  }
  return w;
}

/* w->sum <- div u times the weights. */
static void find_divergence(const Pass *pass, const TesiBatch *batch, const Work *w) {
  const TesiBatches *b = pass->m->v;
  const int64_t n = tesi_batches_array(b);
  memset(w->sum, 0, (size_t)n * sizeof *w->sum);
  for (int c = 0; c < b->dim; c++) {
    tesi_batch_evaluate(b, batch, pass->in + c * b->length, w->u[c], w->scratch);
    for (int e = 0; e < b->dim; e++) {
      if (!is_there(b, e, c)) continue;
      tesi_batch_slope(b, e, false, w->u[c], w->slope);
      for (int64_t i = 0; i < n; i++) w->sum[i] += w->X[e][c][i] * w->slope[i];
    }
  }
  for (int64_t i = 0; i < n; i++) w->sum[i] *= w->at.weight[i];
}

static void divergence(const Pass *pass, int64_t task, int64_t number, double *memory, double *rate) {
  const TesiTaylorHood *m = pass->m;
  const TesiBatch batch = m->v->kind->batch(m->v, number);
  const Work w = begin(m->v, &batch, memory);
  TesiSums sums = m->p_sums;
  (void)rate;
  find_divergence(pass, &batch, &w);
  tesi_batch_integrate(&sums, task, &batch, w.sum, w.scratch);
}

/* b_i += sum over points of p div v_i; p includes the weights; w->u[1] is scratch. */
static void add_gradient(const TesiTaylorHood *m, int64_t task, const TesiBatch *batch, const Work *w,
                         const double *p) {
  const TesiBatches *b = m->v;
  const int64_t n = tesi_batches_array(b);
  for (int c = 0; c < b->dim; c++) {
    TesiSums sums = m->v_sums[c];
    memset(w->sum, 0, (size_t)n * sizeof *w->sum);
    for (int e = 0; e < b->dim; e++) {
      if (!is_there(b, e, c)) continue;
      for (int64_t i = 0; i < n; i++) w->u[1][i] = w->X[e][c][i] * p[i];
      tesi_batch_slope(b, e, true, w->u[1], w->slope);
      for (int64_t i = 0; i < n; i++) w->sum[i] += w->slope[i];
    }
    tesi_batch_integrate(&sums, task, batch, w->sum, w->scratch);
  }
}

static void gradient(const Pass *pass, int64_t task, int64_t number, double *memory, double *rate) {
  const TesiTaylorHood *m = pass->m;
  const TesiBatches *b = m->v;
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  const Work w = begin(b, &batch, memory);
  double *p = w.u[0];
  (void)rate;
  tesi_batch_evaluate(m->p, &batch, pass->in, p, w.scratch);
  for (int64_t i = 0; i < n; i++) p[i] *= w.at.weight[i];
  add_gradient(m, task, &batch, &w, p);
}

/* Lanes beyond the last cell have weights of 0. */
static void grad_div(const Pass *pass, int64_t task, int64_t number, double *memory, double *rate) {
  const TesiTaylorHood *m = pass->m;
  const TesiBatches *b = m->v;
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  const Work w = begin(b, &batch, memory);
  (void)rate;
  find_divergence(pass, &batch, &w);
  for (int64_t i = 0; i < n; i++)
    w.u[0][i] = pass->gamma[batch.first + tesi_min((int)(i % TESI_BATCH), batch.count - 1)] * w.sum[i];
  add_gradient(m, task, &batch, &w, w.u[0]);
}

/* The largest |B_e| over the lanes with a cell. */
static double largest(const TesiBatches *b, double *const B[3], const double *weight) {
  const int64_t n = tesi_batches_array(b);
  double most = 0;
  for (int e = 0; e < b->dim; e++)
    for (int64_t i = 0; i < n; i++)
      if (weight[i] != 0 && !(fabs(B[e][i]) <= most)) most = fabs(B[e][i]);
  return most;
}

/* The velocity along the reference axes. */
static void find_along(const Pass *pass, const TesiBatch *batch, const Work *w) {
  const TesiBatches *b = pass->m->over;
  const int64_t n = tesi_batches_array(b);
  for (int c = 0; c < b->dim; c++)
    tesi_batch_evaluate(b, batch, pass->in + c * b->length, w->u[c], w->scratch);
  for (int e = 0; e < b->dim; e++) {
    memset(w->B[e], 0, (size_t)n * sizeof *w->B[e]);
    for (int c = 0; c < b->dim; c++)
      for (int64_t i = 0; is_there(b, e, c) && i < n; i++) w->B[e][i] += w->X[e][c][i] * w->u[c][i];
  }
}

static void reach(const Pass *pass, int64_t task, int64_t number, double *memory, double *most) {
  const TesiBatches *b = pass->m->over;
  double lane[TESI_BATCH] = {0};
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  const Work w = begin(b, &batch, memory);
  (void)task;
  find_along(pass, &batch, &w);
  for (int e = 0; e < b->dim; e++) {
    memset(w.sum, 0, (size_t)n * sizeof *w.sum);
    for (int c = 0; c < b->dim; c++)
      for (int64_t i = 0; is_there(b, e, c) && i < n; i++) w.sum[i] += w.X[e][c][i] * w.X[e][c][i];
    for (int64_t i = 0; i < n; i++)
      if (w.at.weight[i] != 0 && !(fabs(w.B[e][i]) / w.sum[i] <= lane[i % TESI_BATCH]))
        lane[i % TESI_BATCH] = fabs(w.B[e][i]) / w.sum[i];
  }
  for (int l = 0; l < batch.count; l++) {
    if (!(lane[l] <= *most)) *most = lane[l];
    if (pass->cell) pass->cell[batch.first + l] = lane[l];
  }
}

static void convection(const Pass *pass, int64_t task, int64_t number, double *memory, double *rate) {
  const TesiTaylorHood *m = pass->m;
  const TesiBatches *b = m->over;
  const int64_t n = tesi_batches_array(b);
  const TesiBatch batch = b->kind->batch(b, number);
  const Work w = begin(b, &batch, memory);
  find_along(pass, &batch, &w);
  const double most = largest(b, w.B, w.at.weight);
  if (!(most <= *rate)) *rate = most;
  for (int c = 0; c < b->dim; c++) {
    TesiSums sums = m->over_sums[c];
    memset(w.sum, 0, (size_t)n * sizeof *w.sum);
    for (int e = 0; e < b->dim; e++) {
      tesi_batch_slope(b, e, false, w.u[c], w.slope);
      for (int64_t i = 0; i < n; i++) w.sum[i] += w.B[e][i] * w.slope[i];
    }
    for (int64_t i = 0; i < n; i++) w.sum[i] *= w.at.weight[i];
    tesi_batch_integrate(&sums, task, &batch, w.sum, w.scratch);
  }
}

/* ---- a pass -------------------------------------------------------------------------------------------- */

static void run_tasks(const void *data, TesiSpan span) {
  const Pass *pass = data;
  const TesiTaylorHood *m = pass->m;
  double *memory = m->memory + span.thread * m->share, rate = pass->rate ? pass->rate[span.thread] : 0;
  for (int64_t i = span.first; i < span.end; i++) {
    int64_t first;
    const int64_t task = tesi_batches_set_task(m->v, pass->set, i),
                  count = tesi_batches_of_task(m->v, task, &first);
    for (int64_t k = first; k < first + count; k++) pass->batch(pass, task, k, memory, &rate);
  }
  if (pass->rate) pass->rate[span.thread] = rate;
}

/* out += the results of the pass for `count` sums, whose vectors lie one after another. */
static void add(Pass *pass, TesiSums *sums, int count, double *out) {
  TesiTaylorHood *m = pass->m;
  const int64_t length = sums->batches->length;
  for (int c = 0; c < count; c++) {
    sums[c].values = out + c * length;
    for (int64_t t = 0; sums[c].at && t < m->v->tasks; t++) sums[c].at[t] = sums[c].first[t];
  }
  for (pass->set = 0; pass->set < m->v->sets; pass->set++)
    tesi_team_share(m->threads, tesi_batches_set_size(m->v, pass->set), 1, run_tasks, pass);
  for (int c = 0; c < count; c++) tesi_sums_finish(&sums[c]);
}

/* *values <- host memory to read from: the vector's own entries, or a copy of device memory. NULL stays NULL. */
static TesStatus borrow(TesContext *ctx, const TesVector *v, double **values) {
  TesStatus status = TES_OK;
  *values = v && !tesi_has_kernels(ctx) ? v->data : NULL;
  if (!v || *values) return TES_OK;
  TES_ALLOC(values, v->length);
  TES_TRY(tes_vector_get(v, *values));
done:
  return status;
}

/* Ends a loan of values. written: the entries were changed. */
static TesStatus give_back(TesContext *ctx, TesVector *v, bool written, double **values) {
  TesStatus status = TES_OK;
  if (!v || !*values || !tesi_has_kernels(ctx)) return TES_OK;
  if (written) status = tes_vector_set(v, *values);
  tesi_free(ctx, values);
  return status;
}

/* Input and output of a pass. Element iso has no kernels for these passes; its vectors are copied to the host, which
 * happens only for a force or a residual now and then. */
typedef struct Vectors {
  const TesVector *in, *gamma;
  TesVector *out, *cell; /* NULL: none */
  bool add;              /* add to `out`; otherwise `out` is overwritten */
} Vectors;

/* Adds the contributions of all ranks at common nodes. */
static void sum_over_ranks(const TesSpace *space, int count, double *out) {
  for (int c = 0; c < count; c++)
    tesi_exchange_sum(space->layout->shared, TES_DOUBLE, out + c * space->length);
}

/* The same for a vector on a device, after a pass with this status. */
static TesStatus sum_copies(TesStatus status, const TesSpace *space, int count, const TesVector *b) {
  for (int c = 0; c < count && status == TES_OK; c++)
    status = tesi_sum_copies(space->context, space->layout->shared, TES_DOUBLE,
                             (double *)b->data + c * space->length);
  return status;
}

static TesStatus run(Pass pass, const Vectors *v, TesiSums *sums, int count, double *most) {
  TesContext *ctx = pass.m->context;
  TesStatus status = TES_OK;
  double *in = NULL, *gamma = NULL, *out = NULL;
  const TesSpace *space = sums == &pass.m->p_sums ? pass.m->pressure : pass.m->velocity;
  TES_TRY(borrow(ctx, v->in, &in));
  TES_TRY(borrow(ctx, v->gamma, &gamma));
  TES_TRY(borrow(ctx, v->out, &out));
  TES_TRY(borrow(ctx, v->cell, &pass.cell));
  if (most) TES_ALLOC(&pass.rate, pass.m->threads);
  pass.in = in, pass.gamma = gamma;
  if (out && !v->add) memset(out, 0, (size_t)(count * sums->batches->length) * sizeof *out);
  add(&pass, sums, count, out);
  if (out) sum_over_ranks(space, count, out);
  if (most) *most = 0;
  for (int t = 0; most && t < pass.m->threads; t++)
    if (!(pass.rate[t] <= *most)) *most = pass.rate[t];
  if (most) tesi_reduce(ctx, TESI_MAXIMUM, 1, most);
done:
  tesi_free(ctx, &pass.rate);
  give_back(ctx, (TesVector *)v->in, false, &in);
  give_back(ctx, (TesVector *)v->gamma, false, &gamma);
  const TesStatus wrote = give_back(ctx, v->out, status == TES_OK, &out),
                  told = give_back(ctx, v->cell, status == TES_OK, &pass.cell);
  return status != TES_OK ? status : wrote != TES_OK ? wrote : told;
}

TesStatus tesi_taylor_hood_divergence(TesiTaylorHood *m, const TesVector *u, TesVector *b) {
  if (m->device) return sum_copies(tesi_taylor_hood_device_divergence(m, u, b), m->pressure, 1, b);
  return run((Pass){.m = m, .batch = divergence}, &(Vectors){.in = u, .out = b}, &m->p_sums, 1, NULL);
}

TesStatus tesi_taylor_hood_gradient(TesiTaylorHood *m, const TesVector *p, TesVector *b) {
  if (m->device) return sum_copies(tesi_taylor_hood_device_gradient(m, p, b), m->velocity, m->dim, b);
  return run((Pass){.m = m, .batch = gradient}, &(Vectors){.in = p, .out = b}, m->v_sums, m->dim, NULL);
}

/* Values already in the vector are complete on every rank. */
static TesStatus add_gradient_on_ranks(TesiTaylorHood *m, const TesVector *p, TesVector *b) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  TesVector *part = NULL;
  TES_TRY(tesi_vector_create_on(b->layout, TES_DOUBLE, &part));
  TES_TRY(tesi_taylor_hood_gradient(m, p, part));
  TES_TRY(tes_vector_axpy(1, part, b));
done:
  tes_vector_destroy(&part);
  return status;
}

TesStatus tesi_taylor_hood_add_gradient(TesiTaylorHood *m, const TesVector *p, TesVector *b) {
  const Vectors vectors = {.in = p, .out = b, .add = true};
  if (tesi_ranks(m->context) > 1) return add_gradient_on_ranks(m, p, b);
  if (m->device) return tesi_taylor_hood_device_add_gradient(m, p, b);
  return run((Pass){.m = m, .batch = gradient}, &vectors, m->v_sums, m->dim, NULL);
}

TesStatus tesi_taylor_hood_convection(TesiTaylorHood *m, const TesVector *u, TesVector *b, double *rate) {
  if (m->device)
    return sum_copies(tesi_taylor_hood_device_convection(m, u, b, NULL, rate), m->velocity, m->dim, b);
  return run((Pass){.m = m, .batch = convection}, &(Vectors){.in = u, .out = b}, m->over_sums, m->dim, rate);
}

TesStatus tesi_taylor_hood_reach(TesiTaylorHood *m, const TesVector *u, double *most, TesVector *cell) {
  if (m->device) return tesi_taylor_hood_device_convection(m, u, NULL, cell, most);
  return run((Pass){.m = m, .batch = reach}, &(Vectors){.in = u, .cell = cell}, m->over_sums, 0, most);
}

TesStatus tesi_taylor_hood_grad_div(TesiTaylorHood *m, const TesVector *gamma, const TesVector *u,
                                    TesVector *b) {
  const Vectors vectors = {.in = u, .gamma = gamma, .out = b};
  if (m->device) return sum_copies(tesi_taylor_hood_device_grad_div(m, gamma, u, b), m->velocity, m->dim, b);
  return run((Pass){.m = m, .batch = grad_div}, &vectors, m->v_sums, m->dim, NULL);
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static int64_t share_of(const TesiBatches *b) {
  return ARRAYS * tesi_batches_array(b) + tesi_batches_work(b);
}

/* The same places for sums over other points. */
static void share_sums(TesiTaylorHood *m) {
  for (int c = 0; c < m->dim; c++) m->over_sums[c] = m->v_sums[c], m->over_sums[c].batches = m->over;
}

static TesStatus create_loops(TesiTaylorHood *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  m->threads = tesi_team_threads(ctx, m->over->cells * m->over->points * m->dim);
  m->share = share_of(m->over);
  TES_ALLOC(&m->memory, m->share * m->threads);
  for (int c = 0; c < m->dim; c++) TES_TRY(tesi_sums_create(m->v, true, NULL, &m->v_sums[c]));
  TES_TRY(tesi_sums_create(m->p, true, NULL, &m->p_sums));
  share_sums(m);
done:
  return status;
}

/* Points of convection per direction. On affine cells the integrand is a polynomial of degree 3k per direction. */
static int points_over(const TesiTaylorHood *m) {
  const int k = m->velocity->degree;
  const bool affine = m->v->box || m->v->geometry->kind == TES_GEOMETRY_AFFINE;
  return 3 * k / 2 + (affine ? 1 : 2);
}

static TesStatus list_faces(TesiTaylorHood *m) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  bool *all = NULL;
  TES_ALLOC(&all, m->over->boundaries + 1);
  for (int i = 0; i < m->over->boundaries; i++) all[i] = true;
  TES_TRY(tesi_boundary_faces(m->over, all, false, &m->face, &m->faces));
done:
  tesi_free(ctx, &all);
  return status;
}

TesStatus tesi_taylor_hood_create(const TesSpace *velocity, const TesSpace *pressure,
                                  TesiTaylorHood **taylor_hood) {
  TesContext *ctx = velocity->context;
  TesStatus status = TES_OK;
  TesiTaylorHood *m = NULL;
  const int k = velocity->degree;
  *taylor_hood = NULL;
  TES_NEW(&m);
  m->context = ctx;
  m->dim = velocity->dim;
  m->velocity = tesi_space_retain(velocity);
  m->pressure = tesi_space_retain(pressure);
  TES_TRY(tesi_batches_create(m->velocity, k + 1, &m->v));
  TES_TRY(tesi_batches_create(m->pressure, k + 1, &m->p));
  TES_TRY(tesi_batches_create(m->velocity, points_over(m), &m->over));
  TES_TRY(list_faces(m));
  /* element iso, of degree 1, has its own kernels and uses only the batches */
  TES_TRY(tesi_has_kernels(ctx) && k > 1 ? tesi_taylor_hood_device_create(m) : create_loops(m));
  *taylor_hood = m;
  m = NULL;
done:
  tesi_taylor_hood_destroy(&m);
  return status;
}

void tesi_taylor_hood_destroy(TesiTaylorHood **taylor_hood) {
  TesiTaylorHood *m = *taylor_hood;
  if (!m) return;
  TesContext *ctx = m->context;
  tesi_taylor_hood_device_destroy(ctx, &m->device);
  for (int c = 0; c < m->dim; c++) tesi_sums_free(&m->v_sums[c]);
  tesi_sums_free(&m->p_sums);
  tesi_free(ctx, &m->face);
  tesi_batches_destroy(&m->v);
  tesi_batches_destroy(&m->p);
  tesi_batches_destroy(&m->over);
  tes_space_destroy(&m->velocity);
  tes_space_destroy(&m->pressure);
  tesi_free(ctx, &m->memory);
  tesi_free(ctx, taylor_hood);
}
