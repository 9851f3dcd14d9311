#include "kernels/stokes_dense.h"
#include <stdio.h>
#include <string.h>
#include "base/team.h"
#include "device/kernel.h"
#include "device/vector.h"
#include "smoother/stokes_patch/stokes_patch.h"

/* For patches of one kind: the inverse [size][size] for the unknowns part by part, in the operator's precision. */
typedef struct Kind {
  int size;
  void *inverse;
} Kind;

typedef struct Plan {
  const TesSpace *space;
  TesiStokesPatchAxis axis[3];
  int colours, kinds;
  Kind *kind;
  void *r, **work; /* residual; [threads] right-hand sides of a patch */
  int threads;
} Plan;

static TesiStokesLocal local_of(const TesiStokes *s, const Plan *p, const int type[3]) {
  TesiStokesLocal l = {.dim = s->space->dim, .nu = s->nu, .alpha = s->alpha, .closed = true};
  for (int d = 0; d < 3; d++) {
    l.axis[d] = &p->axis[d].local[type[d]];
    if (d < l.dim && l.axis[d]->nodes >= l.axis[d]->modes) l.closed = false;
  }
  return l;
}

/* The columns are solutions for unit vectors; the matrix is symmetric. */
typedef struct Columns {
  const TesiStokesLocal *local;
  const double *S;
  int size;
  bool single;
  void *inverse;
  double **work; /* [threads] */
} Columns;

static void solve_columns(const void *data, TesiSpan span) {
  const Columns *c = data;
  const TesiStokesLocal *l = c->local;
  double *unit = c->work[span.thread], *work = unit + c->size, *part[TESI_RT_PARTS];
  for (int i = 0, at = 0; i <= l->dim; at += tesi_stokes_local_size(l, i++)) part[i] = unit + at;
  for (int64_t j = span.first; j < span.end; j++) {
    memset(unit, 0, sizeof *unit * (size_t)c->size);
    unit[j] = 1;
    tesi_stokes_local_solve(l, c->S, part, work);
    for (int i = 0; i < c->size; i++)
      if (c->single)
        ((float *)c->inverse)[j * c->size + i] = (float)unit[i];
      else
        ((double *)c->inverse)[j * c->size + i] = unit[i];
  }
}

TesStatus bench_stokes_dense_inverse(TesContext *ctx, const TesiStokesLocal *l, TesPrecision precision,
                                     int *size, void **inverse) {
  TesStatus status = TES_OK;
  const int n = tesi_stokes_local_pressures(l), threads = tes_context_threads(ctx);
  double *S = NULL, **work = NULL;
  *size = 0;
  for (int i = 0; i <= l->dim; i++) *size += tesi_stokes_local_size(l, i);
  TES_ALLOC(&S, (int64_t)n * n);
  TES_ALLOC(&work, threads);
  for (int t = 0; t < threads; t++) TES_ALLOC(&work[t], *size + 2 * tesi_stokes_local_most(l));
  TES_TRY(tesi_alloc(ctx, (size_t)*size * (size_t)*size, tesi_precision_size(precision), inverse));
  TES_TRY(tesi_stokes_local_invert(ctx, l, S));
  tesi_team_share(threads, *size, 1, solve_columns,
                  &(Columns){.local = l,
                             .S = S,
                             .size = *size,
                             .single = precision == TES_SINGLE,
                             .inverse = *inverse,
                             .work = work});
done:
  for (int t = 0; work && t < threads; t++) tesi_free(ctx, &work[t]);
  tesi_free(ctx, &work);
  tesi_free(ctx, &S);
  return status;
}

/* ---- a colour ------------------------------------------------------------------------------------------ */

typedef struct Colour {
  const Plan *plan;
  int colour;
  bool single;
  void *x;
} Colour;

/* Entries of the unknowns of a patch, part by part. */
static int64_t entry_of(const Plan *p, const int vertex[3], const int type[3], int part, int j) {
  int64_t entry = p->space->first[part], step = 1;
  for (int d = 0; d < p->space->dim; d++) {
    const TesiStokesPatchAxis *a = &p->axis[d];
    const TesiStokesLocalAxis *l = &a->local[type[d]];
    const int extent = d == part ? l->nodes : l->modes, at = j % extent;
    entry += step * (d == part ? a->node[(int64_t)vertex[d] * a->most + at]
                               : a->mode[(int64_t)vertex[d] * l->modes + at]);
    step *= p->space->scalar[part]->axis[d].nodes;
    j /= extent;
  }
  return entry;
}

static int part_size(const Plan *p, const int type[3], int part) {
  int size = 1;
  for (int d = 0; d < p->space->dim; d++) {
    const TesiStokesLocalAxis *l = &p->axis[d].local[type[d]];
    size *= d == part ? l->nodes : l->modes;
  }
  return size;
}

/* x += inverse r, in the precision of the vectors. */
#define SOLVE(real)                                                                                          \
  static void solve_##real(const Plan *p, const int vertex[3], const int type[3], const Kind *k,             \
                           const real *r, real *x, real *work) {                                             \
    for (int part = 0, i = 0; part < p->space->parts; part++)                                                \
      for (int j = 0; j < part_size(p, type, part); j++) work[i++] = r[entry_of(p, vertex, type, part, j)];  \
    for (int part = 0, i = 0; part < p->space->parts; part++)                                                \
      for (int j = 0; j < part_size(p, type, part); j++, i++) {                                              \
        const real *row = (const real *)k->inverse + (int64_t)i * k->size;                                   \
        real sum[16] = {0};                                                                                  \
        int c = 0;                                                                                           \
        for (; c + 16 <= k->size; c += 16)                                                                   \
          for (int s = 0; s < 16; s++) sum[s] += row[c + s] * work[c + s];                                   \
        for (; c < k->size; c++) sum[0] += row[c] * work[c];                                                 \
        for (int s = 1; s < 16; s++) sum[0] += sum[s];                                                       \
        x[entry_of(p, vertex, type, part, j)] += sum[0];                                                     \
      }                                                                                                      \
  }
SOLVE(double)
SOLVE(float)

static void run_patches(const void *data, TesiSpan span) {
  const Colour *c = data;
  const Plan *p = c->plan;
  const TesiStokesPatchAxis *a = p->axis;
  for (int64_t v = span.first; v < span.end; v++) {
    const int vertex[3] = {(int)(v % a[0].vertices), (int)(v / a[0].vertices % a[1].vertices),
                           (int)(v / a[0].vertices / a[1].vertices)},
              type[3] = {a[0].type[vertex[0]], a[1].type[vertex[1]], a[2].type[vertex[2]]};
    const Kind *k = &p->kind[type[0] + a[0].types * (type[1] + a[1].types * type[2])];
    if (tesi_stokes_patch_colour(a, p->space->dim, false, vertex) != c->colour) continue;
    if (c->single)
      solve_float(p, vertex, type, k, p->r, c->x, p->work[span.thread]);
    else
      solve_double(p, vertex, type, k, p->r, c->x, p->work[span.thread]);
  }
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *p = smoother->plan;
  const TesOperator *op = smoother->op;
  const int64_t all = (int64_t)p->axis[0].vertices * p->axis[1].vertices * p->axis[2].vertices;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->length, 0, x));
  for (int i = 0; i < p->colours; i++) {
    TES_TRY(op->table->residual(op, b, x, p->r));
    tesi_team_share(p->threads, all, 8, run_patches,
                    &(Colour){.plan = p,
                              .colour = sweep == TES_FORWARD ? i : p->colours - 1 - i,
                              .single = op->precision == TES_SINGLE,
                              .x = x});
  }
done:
  return status;
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const Plan *p = smoother->plan;
  return tesi_stokes_patch_sweep_ref(smoother->op, p->axis, false, b, x, sweep);
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *p = smoother->plan;
  const double patches = (double)p->axis[0].vertices * p->axis[1].vertices * p->axis[2].vertices,
               size = p->kind[p->kinds / 2].size;
  const TesCost residual = tes_operator_info(smoother->op).cost;
  return (TesCost){.flops = p->colours * residual.flops + 2 * patches * size * size,
                   .bytes = 2 * p->colours * residual.bytes};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *p = smoother->plan;
  if (!p) return;
  for (int k = 0; p->kind && k < p->kinds; k++) tesi_free(ctx, &p->kind[k].inverse);
  for (int t = 0; p->work && t < p->threads; t++) tesi_free(ctx, &p->work[t]);
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &p->axis[d]);
  tesi_free(ctx, &p->kind);
  tesi_free(ctx, &p->work);
  if (p->r) tesi_context_device(ctx)->release(ctx, &p->r);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

static TesStatus fill(TesContext *ctx, const TesOperator *op, Plan *p) {
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const size_t size = tesi_precision_size(op->precision);
  int most = 0;
  p->space = s->space;
  p->kinds = 1;
  for (int d = 0; d < 3; d++) {
    TES_TRY(tesi_stokes_patch_axis_create(ctx, s, d, 2, &p->axis[d]));
    p->kinds *= p->axis[d].types;
  }
  p->colours = tesi_stokes_patch_colours(p->axis, false);
  TES_ALLOC(&p->kind, p->kinds);
  for (int k = 0; k < p->kinds; k++) {
    const int *types = (const int[]){p->axis[0].types, p->axis[1].types};
    const TesiStokesLocal l =
        local_of(s, p, (const int[]){k % types[0], k / types[0] % types[1], k / types[0] / types[1]});
    TES_TRY(bench_stokes_dense_inverse(ctx, &l, op->precision, &p->kind[k].size, &p->kind[k].inverse));
    most = tesi_max(most, p->kind[k].size);
  }
  p->threads = tes_context_threads(ctx);
  TES_ALLOC(&p->work, p->threads);
  for (int t = 0; t < p->threads; t++) TES_TRY(tesi_alloc(ctx, (size_t)most, size, &p->work[t]));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)op->length * size, &p->r));
done:
  return status;
}

TesStatus bench_stokes_dense_create(TesContext *ctx, const TesOperator *op, TesSmoother **smoother) {
  TesStatus status = TES_OK;
  TesSmoother *s = NULL;
  Plan *plan = NULL;
  *smoother = NULL;
  TES_NEW(&s);
  s->context = tesi_context_retain(ctx);
  s->op = tesi_operator_retain(op);
  s->kind = TES_SMOOTHER_PATCH;
  s->local = TES_LOCAL_EXACT;
  s->omega = 1;
  s->table = &table;
  TES_NEW(&plan);
  s->plan = plan;
  TES_TRY(fill(ctx, op, plan));
  snprintf(s->description, sizeof s->description, "vertex patches by %d dense inverses", plan->kinds);
  *smoother = s;
  s = NULL;
done:
  tes_smoother_destroy(&s);
  return status;
}
