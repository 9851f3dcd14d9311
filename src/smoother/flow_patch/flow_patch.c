/* The smoother: see flow_patch.h. */
#include "smoother/flow_patch/flow_patch.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/team.h"
#include "device/kernel.h"
#include "operator/stokes/stokes_operator.h"
#include "smoother/flow_patch/flow_patch_device.h"
#include "smoother/solve_ref.h"

/* ---- a cell -------------------------------------------------------------------------------------------- */

/* local <- the modes of a cell, or back. */
static void move(const TesiFlowPatch *p, const int place[3], double *vector, double *local, bool back) {
  const int extent[3] = TESI_EXTENT(p->space), n = p->n, nz = p->space->dim == 3 ? n : 1;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < n; y++, local += n) {
      const int64_t row = ((int64_t)(place[2] * nz + z) * extent[1] + place[1] * n + y) * extent[0];
      double *from = vector + row + place[0] * n;
      if (back)
        memcpy(from, local, (size_t)n * sizeof *local);
      else
        memcpy(local, from, (size_t)n * sizeof *local);
    }
}

/* r <- r - A_KN x of the neighbour behind a face. */
static void subtract_neighbour(const TesiFlowPatch *p, int64_t cell, const int place[3], int face,
                               const int next[3], const double *x, double *r) {
  const int d = face / 2, side = face % 2, n = p->n, across = p->across;
  const double *C = p->jump[d] + (place[d] * 2 + side) * n * n,
               *F = p->inflow + (cell * 2 * p->space->dim + face) * across * across;
  const bool enters = p->enters[cell * 2 * p->space->dim + face];
  const double scale = 1 / sqrt(p->space->axis[d].h[place[d]] * p->space->axis[d].h[next[d]]);
  double trace[TESI_MAX_POINTS * TESI_MAX_POINTS], flux[TESI_MAX_POINTS * TESI_MAX_POINTS];
  int step = 1;
  for (int e = 0; e < d; e++) step *= n;
  for (int s = 0; s < across; s++) {
    const double *line = x + s % step + s / step * step * n;
    trace[s] = 0;
    for (int j = 0; j < n && enters; j++) trace[s] += scale * p->ends[1 - side][j] * line[j * step];
  }
  for (int s = 0; s < across; s++) {
    flux[s] = 0;
    for (int t = 0; t < across && enters; t++) flux[s] += F[s * across + t] * trace[t];
  }
  for (int s = 0; s < across; s++) {
    const int64_t at = s % step + s / step * step * n;
    for (int i = 0; i < n; i++) {
      double sum = p->ends[side][i] * flux[s];
      for (int j = 0; j < n; j++) sum += C[i * n + j] * x[at + j * step];
      r[at + i * step] -= sum;
    }
  }
}

static void solve_cell(const TesiFlowPatch *p, int64_t cell, const double *b, double *x, double *work) {
  double *r = work, *other = work + p->modes, *y = work + 2 * p->modes;
  const double *inverse = p->inverse + cell * p->modes * p->modes;
  int place[3], next[3];
  tesi_rt_cell(p->space, cell, place);
  move(p, place, (double *)b, r, false);
  for (int f = 0; f < 2 * p->space->dim; f++) {
    if (tesi_flow_behind(p->space, place, f, next) < 0) continue;
    move(p, next, x, other, false);
    subtract_neighbour(p, cell, place, f, next, other, r);
  }
  for (int i = 0; i < p->modes; i++) {
    const double *row = inverse + (int64_t)i * p->modes;
    double sum = 0;
    for (int j = 0; j < p->modes; j++) sum += row[j] * r[j];
    y[i] = sum;
  }
  move(p, place, x, y, true);
}

typedef struct Layer {
  const TesiFlowPatch *p;
  int64_t first;
  const double *b;
  double *x;
} Layer;

static void solve_layer(const void *data, TesiSpan span) {
  const Layer *l = data;
  for (int64_t i = span.first; i < span.end; i++)
    solve_cell(l->p, l->p->order[l->first + i], l->b, l->x,
               l->p->work + (int64_t)span.thread * 4 * l->p->modes);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiFlowPatch *p = smoother->plan;
  const TesOperator *op = smoother->op;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->length, 0, x));
  for (int i = 0; i < p->layers; i++) {
    const int l = sweep == TES_FORWARD ? i : p->layers - 1 - i;
    if (p->first[l + 1] == p->first[l]) continue; /* held */
    if (p->device) {
      TES_TRY(tesi_flow_device_layer(ctx, p, l, b, x));
      continue;
    }
    tesi_team_share(p->threads, p->first[l + 1] - p->first[l], 1, solve_layer, &(Layer){p, p->first[l], b, x});
  }
done:
  return status;
}

/* ---- the plain version --------------------------------------------------------------------------------- */

/* Arrays of the host: on devices by the operator's own plain version. */
static TesStatus image_of(const TesSmoother *smoother, const double *x, double *y) {
  const TesiOperatorTable *table = smoother->op->table;
  const TesiFlowPatch *p = smoother->plan;
  return p->device ? table->apply_ref(smoother->op, x, y) : table->apply(smoother->op, x, y);
}

/* A <- the operator within a cell, column by column. unit and image are as long as vectors; local[modes] */
static TesStatus take_columns(const TesSmoother *smoother, const int place[3], double *unit, double *image,
                              double *local, double *A) {
  const TesiFlowPatch *p = smoother->plan;
  const TesOperator *op = smoother->op;
  TesStatus status = TES_OK;
  for (int j = 0; j < p->modes && status == TES_OK; j++) {
    memset(unit, 0, (size_t)op->length * sizeof *unit);
    for (int k = 0; k < p->modes; k++) local[k] = k == j;
    move(p, place, unit, local, true);
    status = image_of(smoother, unit, image);
    move(p, place, image, local, false);
    for (int k = 0; k < p->modes; k++) A[k * p->modes + j] = local[k];
  }
  return status;
}

/* x_K <- x_K + A_KK^-1 (b - A x)_K, cell by cell. */
static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiFlowPatch *p = smoother->plan;
  const TesOperator *op = smoother->op;
  const int n = p->modes;
  double *unit = NULL, *image = NULL, *A = NULL, *r = NULL;
  TES_ALLOC(&unit, op->length);
  TES_ALLOC(&image, op->length);
  TES_ALLOC(&A, (int64_t)n * n);
  TES_ALLOC(&r, 2LL * n);
  for (int64_t i = 0; i < p->cells; i++) {
    int place[3];
    tesi_rt_cell(p->space, p->order[sweep == TES_FORWARD ? i : p->cells - 1 - i], place);
    TES_TRY(take_columns(smoother, place, unit, image, r, A));
    TES_TRY(image_of(smoother, x, image));
    for (int64_t k = 0; k < op->length; k++) image[k] = b[k] - image[k];
    move(p, place, image, r, false);
    tesi_solve_ref(n, A, r);
    move(p, place, x, r + n, false);
    for (int k = 0; k < n; k++) r[n + k] += r[k];
    move(p, place, x, r + n, true);
  }
done:
  tesi_free(ctx, &unit);
  tesi_free(ctx, &image);
  tesi_free(ctx, &A);
  tesi_free(ctx, &r);
  return status;
}

/* ---- set-up -------------------------------------------------------------------------------------------- */

static TesCost cost(const TesSmoother *smoother) {
  const TesiFlowPatch *p = smoother->plan;
  const double modes = p->modes, faces = 2 * p->space->dim, across = p->across;
  const double numbers = modes * modes + faces * across * across;
  return (TesCost){.flops = (double)p->cells * 2 * (numbers + faces * modes * (p->n + 2)),
                   .bytes = (double)p->cells * 8 * (numbers + (faces + 3) * modes)};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiFlowPatch *p = smoother->plan;
  if (!p) return;
  for (int d = 0; d < 3; d++) tesi_free(ctx, &p->jump[d]);
  tesi_flow_device_destroy(ctx, &p->device);
  tesi_free(ctx, &p->order);
  tesi_free(ctx, &p->first);
  tesi_free(ctx, &p->inverse);
  tesi_free(ctx, &p->inflow);
  tesi_free(ctx, &p->enters);
  tesi_free(ctx, &p->work);
  tesi_free(ctx, &smoother->plan);
}

static TesStatus hold(TesSmoother *smoother, int first, int end) {
  TesiFlowPatch *p = smoother->plan;
  int64_t kept = 0;
  for (int l = 0; l < p->layers; l++) {
    const int64_t begin = p->first[l], stop = p->first[l + 1];
    p->first[l] = kept;
    for (int64_t i = begin; i < stop; i++) {
      int place[3];
      tesi_rt_cell(p->space, p->order[i], place);
      const int at = place[p->space->dim - 1];
      if (at >= first && at < end) p->order[kept++] = p->order[i];
    }
  }
  p->cells = p->first[p->layers] = kept;
  return p->device ? tesi_flow_device_order(smoother->context, p) : TES_OK;
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy, .hold = hold};

int64_t tesi_smoother_flow_closed(const TesSmoother *smoother) {
  return smoother && smoother->table == &table ? ((const TesiFlowPatch *)smoother->plan)->longest : 0;
}

double tesi_smoother_flow_bytes(const TesSpace *space) {
  const double modes = pow(space->degree + 1, space->dim), across = modes / (space->degree + 1);
  return 8 * (double)space->length / modes * (modes * modes + 2 * space->dim * across * across);
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesiFlowPatch *p;
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  p->transport = tesi_transport_of(smoother->op);
  p->space = smoother->op->space;
  const TesiStokes *stokes = tesi_stokes_of(p->transport->symmetric);
  p->nu = stokes->nu, p->alpha = stokes->alpha;
  p->n = p->space->degree + 1, p->modes = p->across = 1;
  for (int d = 0; d < p->space->dim; d++) p->modes *= p->n, p->across *= d ? p->n : 1;
  p->cells = tesi_rt_cells(p->space);
  p->threads = tesi_team_threads(ctx, p->cells * p->modes);
  TES_ALLOC(&p->work, (int64_t)p->threads * 4 * p->modes);
  TES_TRY(tesi_flow_matrices(smoother->op, p));
  TES_TRY(tesi_flow_order(ctx, p));
  if (tesi_has_kernels(ctx)) TES_TRY(tesi_flow_device_create(smoother->op, p));
  smoother->omega = 1;
  smoother->symmetric = false;
  snprintf(smoother->description, sizeof smoother->description,
           "cells of %d unknowns, solved exactly in the order of the flow, in %d layers", p->modes, p->layers);
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  return tesi_is_upwind(smoother->op) ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_flow = {TESI_SMOOTHES(TES_SMOOTHER_CELL_PATCH), refuses, init};
