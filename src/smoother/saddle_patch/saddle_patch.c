/* Set-up of vertex patches: kinds of intervals a direction, a table of S^+ for each combination of them, patches in
 * groups of a SIMD vector. */
#include "smoother/saddle_patch/saddle_patch.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "device/kernel.h"

enum { WORK_ARRAYS = 6 };

/* ---- tables in the precision of the operator ----------------------------------------------------------- */

static int64_t put(TesPrecision precision, void *numbers, int64_t *at, int rows, int columns, bool transposed,
                   const double *A) {
  const int64_t start = *at;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      const double value = transposed ? A[j * rows + i] : A[i * columns + j];
      if (precision == TES_DOUBLE)
        ((double *)numbers)[(*at)++] = value;
      else
        ((float *)numbers)[(*at)++] = (float)value;
    }
  return start;
}

static TesStatus fill_table(TesContext *ctx, TesPrecision precision, const TesiSaddleLocalAxis *l,
                            void **table) {
  TesStatus status = TES_OK;
  const int M = l->nodes, N = l->modes;
  const int64_t size = 2 * M * M + 2 * N * N + 2 * N * M + M + N;
  TesiSaddlePatchTable *t;
  TES_TRY(tesi_alloc(ctx, sizeof *t + (size_t)size * tesi_precision_size(precision), 1, table));
  t = *table;
  *t = (TesiSaddlePatchTable){.nodes = M, .modes = N};
  void *const numbers = t + 1;
  int64_t at = 0;
  t->Zc_forward = put(precision, numbers, &at, M, M, true, l->Zc);
  t->Zd_forward = put(precision, numbers, &at, N, N, true, l->Zd);
  t->Zc_back = put(precision, numbers, &at, M, M, false, l->Zc);
  t->Zd_back = put(precision, numbers, &at, N, N, false, l->Zd);
  t->G = put(precision, numbers, &at, N, M, false, l->G);
  t->G_transposed = put(precision, numbers, &at, M, N, true, l->G);
  t->lc = put(precision, numbers, &at, 1, M, false, l->lc);
  t->ld = put(precision, numbers, &at, 1, N, false, l->ld);
  t->size = at;
done:
  return status;
}

static TesStatus fill_tables(TesContext *ctx, TesPrecision precision, TesiSaddlePatchAxis *p) {
  TesStatus status = TES_OK;
  TES_ALLOC(&p->table, p->types);
  for (int t = 0; t < p->types; t++) TES_TRY(fill_table(ctx, precision, &p->local[t], &p->table[t]));
done:
  return status;
}

/* An open end of the box in an interval adds a node. */
static bool is_closed(const TesiSaddlePatchPlan *p, const int type[3]) {
  for (int d = 0; d < p->rt->dim; d++)
    if (p->axis[d].local[type[d]].nodes >= 2 * p->rt->n) return false;
  return true;
}

static TesStatus fill_inverse(const TesSmoother *smoother, const int type[3], double *S, void *to) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiSaddlePatchPlan *p = smoother->plan;
  const int64_t n = p->pressures;
  const TesiSaddleLocal local = {
      .dim = p->rt->dim,
      .axis = {&p->axis[0].local[type[0]], &p->axis[1].local[type[1]], &p->axis[2].local[type[2]]},
      .nu = p->saddle->nu,
      .alpha = p->saddle->alpha,
      .closed = is_closed(p, type)};
  int64_t at = 0;
  TES_TRY(tesi_saddle_local_invert(ctx, &local, S));
  put(smoother->op->precision, to, &at, (int)n, (int)n, false, S);
done:
  return status;
}

static TesStatus check_room(const TesSmoother *smoother, double count) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiSaddlePatchPlan *p = smoother->plan;
  const double size =
                   (double)p->pressures * p->pressures * (double)tesi_precision_size(smoother->op->precision),
               room = (double)tes_memory_available() / 2;
  if (count * size > room)
    TES_FAIL(TES_OUT_OF_MEMORY,
             "%.0f kinds of patches with inverse Schur complements of %.3g MB need %.3g GiB, %.3g GiB are "
             "free: use equal cells in more directions, fewer cells or a lower degree",
             count, 1e-6 * size, count * size / (1 << 30), room / (1 << 30));
done:
  return status;
}

static TesStatus fill_inverses(const TesSmoother *smoother, TesiSaddlePatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiSaddlePatchAxis *a = p->axis;
  const size_t n = (size_t)p->pressures, size = tesi_precision_size(smoother->op->precision);
  double *S = NULL;
  p->inverses = a[0].types * a[1].types * a[2].types;
  TES_TRY(check_room(smoother, (double)a[0].types * a[1].types * a[2].types));
  TES_ALLOC(&p->inverse, p->inverses);
  for (int i = 0; i < p->inverses; i++) TES_TRY(tesi_alloc(ctx, n * n, size, &p->inverse[i]));
  TES_ALLOC(&S, n * n);
  for (int i = 0; i < p->inverses; i++) {
    const int type[3] = {i % a[0].types, i / a[0].types % a[1].types, i / a[0].types / a[1].types};
    TES_TRY(fill_inverse(smoother, type, S, p->inverse[i]));
  }
done:
  tesi_free(ctx, &S);
  return status;
}

/* ---- colours and groups -------------------------------------------------------------------------------- */

/* Vertices of an axis with a colour and a kind. */
static int pick_vertices(const TesiSaddlePatchAxis *a, int colour, int type, int *vertex) {
  int count = 0;
  for (int v = 0; v < a->vertices; v++)
    if (a->colour[v] == colour && a->type[v] == type) vertex[count++] = v;
  return count;
}

/* Appends the patches of a colour and kinds; only counts where task is NULL. */
static void add_group(const TesiSaddlePatchPlan *p, const int colour[3], const int type[3], int lanes,
                      int *const list[3], TesiSaddlePatchTask *task, int (*vertices)[3], int *tasks,
                      int *patches) {
  int count[3];
  for (int d = 0; d < 3; d++) count[d] = pick_vertices(&p->axis[d], colour[d], type[d], list[d]);
  const int all = count[0] * count[1] * count[2];
  for (int i = 0; i < all; i++) {
    if (i % lanes == 0) {
      if (task)
        task[*tasks] = (TesiSaddlePatchTask){.type = {type[0], type[1], type[2]},
                                             .inverse = type[0] + p->axis[0].types *
                                                                      (type[1] + p->axis[1].types * type[2]),
                                             .count = tesi_min(lanes, all - i),
                                             .vertex = vertices + *patches};
      ++*tasks;
    }
    if (vertices) {
      vertices[*patches][0] = list[0][i % count[0]];
      vertices[*patches][1] = list[1][i / count[0] % count[1]];
      vertices[*patches][2] = list[2][i / count[0] / count[1]];
    }
    ++*patches;
  }
}

static void add_colour(const TesiSaddlePatchPlan *p, int c, int lanes, int *const list[3],
                       TesiSaddlePatchTask *task, int (*vertices)[3], int *tasks, int *patches) {
  const TesiSaddlePatchAxis *a = p->axis;
  const int colour[3] = {c % a[0].colours, c / a[0].colours % a[1].colours, c / a[0].colours / a[1].colours};
  for (int t = 0; t < a[0].types * a[1].types * a[2].types; t++) {
    const int type[3] = {t % a[0].types, t / a[0].types % a[1].types, t / a[0].types / a[1].types};
    add_group(p, colour, type, lanes, list, task, vertices, tasks, patches);
  }
}

static TesStatus fill_tasks(TesContext *ctx, int lanes, TesiSaddlePatchPlan *p) {
  TesStatus status = TES_OK;
  int *list[3] = {NULL}, tasks = 0, patches = 0;
  for (int d = 0; d < 3; d++) TES_ALLOC(&list[d], p->axis[d].vertices);
  p->colours = p->axis[0].colours * p->axis[1].colours * p->axis[2].colours;
  TES_ALLOC(&p->first_task, p->colours + 1);
  for (int c = 0; c < p->colours; c++) add_colour(p, c, lanes, list, NULL, NULL, &tasks, &patches);
  TES_ALLOC(&p->task, tasks);
  TES_ALLOC(&p->vertices, patches);
  tasks = patches = 0;
  for (int c = 0; c < p->colours; c++) {
    add_colour(p, c, lanes, list, p->task, p->vertices, &tasks, &patches);
    p->first_task[c + 1] = tasks;
  }
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &list[d]);
  return status;
}

/* ---- the smoother -------------------------------------------------------------------------------------- */

typedef struct Colour {
  const TesiSaddlePatchPlan *plan;
  int bits, first;
  bool single;
  const void *r;
  void *x;
} Colour;

static void run_tasks(const void *data, TesiSpan span) {
  const Colour *c = data;
  const TesiSaddlePatchPlan *p = c->plan;
  for (int64_t i = c->first + span.first; i < c->first + span.end; i++) {
    if (c->single)
      TESI_SIMD_PICK(c->bits, tesk_saddle_patch_float)(p, &p->task[i], c->r, c->x, p->work[span.thread]);
    else
      TESI_SIMD_PICK(c->bits, tesk_saddle_patch_double)(p, &p->task[i], c->r, c->x, p->work[span.thread]);
  }
}

static void run_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  const TesiSaddlePatchPlan *p = smoother->plan;
  const int first = p->first_task[colour], count = p->first_task[colour + 1] - first;
  const Colour c = {.plan = p,
                    .bits = tes_context_simd_bits(smoother->context),
                    .first = first,
                    .single = smoother->op->precision == TES_SINGLE,
                    .r = r,
                    .x = x};
  const int threads = tesi_team_threads(smoother->context, (int64_t)count * p->pressures * p->pressures);
  tesi_team_for(tesi_min(threads, p->threads), count, run_tasks, &c);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiSaddlePatchPlan *p = smoother->plan;
  const TesOperator *op = smoother->op;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->length, 0, x));
  for (int i = 0; i < p->colours; i++) {
    const bool first = i == 0 && zero_guess;
    if (!first) TES_TRY(op->table->residual(op, b, x, p->r));
    run_colour(smoother, sweep == TES_FORWARD ? i : p->colours - 1 - i, first ? b : p->r, x);
  }
done:
  return status;
}

TesCost tesi_saddle_patch_cost(const TesOperator *op, int colours, double patches) {
  const TesCost residual = tes_operator_info(op).cost;
  const double dim = tesi_saddle_of(op)->rt->dim, N = 2 * tesi_saddle_of(op)->rt->n, K = pow(N, dim);
  const double transforms = 2 * (2 * dim * dim + 2 * dim + 2 * dim) * N * K;
  return (TesCost){.flops = colours * residual.flops + patches * (transforms + 2 * K * K),
                   .bytes = colours * 2 * residual.bytes};
}

static TesCost cost(const TesSmoother *smoother) {
  const TesiSaddlePatchPlan *p = smoother->plan;
  double patches = 1;
  for (int d = 0; d < 3; d++) patches *= p->axis[d].vertices;
  return tesi_saddle_patch_cost(smoother->op, p->colours, patches);
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const TesiSaddlePatchPlan *p = smoother->plan;
  return tesi_saddle_patch_sweep_ref(smoother->op, p->axis, b, x, sweep);
}

static void free_axis(TesContext *ctx, TesiSaddlePatchAxis *a) {
  for (int t = 0; a->table && t < a->types; t++) tesi_free(ctx, &a->table[t]);
  tesi_free(ctx, &a->table);
  tesi_saddle_patch_axis_free(ctx, a);
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiSaddlePatchPlan *p = smoother->plan;
  if (!p) return;
  for (int d = 0; d < 3; d++) free_axis(ctx, &p->axis[d]);
  for (int i = 0; p->inverse && i < p->inverses; i++) tesi_free(ctx, &p->inverse[i]);
  for (int t = 0; p->work && t < p->threads; t++) tesi_free(ctx, &p->work[t]);
  if (p->r) tesi_context_device(ctx)->release(ctx, &p->r);
  tesi_free(ctx, &p->inverse);
  tesi_free(ctx, &p->work);
  tesi_free(ctx, &p->first_task);
  tesi_free(ctx, &p->task);
  tesi_free(ctx, &p->vertices);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {apply, apply_ref, cost, destroy};

static TesStatus create_work(const TesSmoother *smoother, TesiSaddlePatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(smoother->op->precision);
  size_t most = 1;
  for (int d = 0; d < p->rt->dim; d++) most *= (size_t)p->axis[d].most;
  p->work_size = WORK_ARRAYS * most;
  TES_ALLOC(&p->work, p->threads);
  for (int t = 0; t < p->threads; t++) TES_TRY(tesi_alloc(ctx, p->work_size, 64, &p->work[t]));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)smoother->op->length * size, &p->r));
done:
  return status;
}

TesStatus tesi_smoother_saddle_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int lanes =
      tesi_simd_built(tes_context_simd_bits(ctx)) / 8 / (int)tesi_precision_size(smoother->op->precision);
  TesiSaddlePatchPlan *p;
  if (tesi_has_kernels(ctx)) return tesi_smoother_saddle_device_init(smoother);
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  p->saddle = tesi_saddle_of(smoother->op);
  p->rt = p->saddle->rt;
  p->threads = tes_context_threads(ctx);
  p->modes = 2 * p->rt->n;
  p->pressures = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(tesi_saddle_patch_axis_create(ctx, p->saddle, d, &p->axis[d]));
    TES_TRY(fill_tables(ctx, smoother->op->precision, &p->axis[d]));
    if (d < p->rt->dim) p->pressures *= p->modes;
  }
  TES_TRY(fill_inverses(smoother, p));
  TES_TRY(fill_tasks(ctx, lanes, p));
  TES_TRY(create_work(smoother, p));
  smoother->omega = 1;
  smoother->symmetric = true;
  snprintf(smoother->description, sizeof smoother->description,
           "vertex patches in %d colours, solved exactly: %d kinds, Schur complements of %d", p->colours,
           p->inverses, p->pressures);
done:
  return status;
}
