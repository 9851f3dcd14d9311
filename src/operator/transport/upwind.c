/* See upwind.h. */
#include "operator/transport/upwind.h"
#include <math.h>
#include <string.h>
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "functional/batch_faces.h"
#include "space/space.h"

enum { LINE = 17 /* points, of degree 15 */, FACE = LINE * LINE * TESI_BATCH };

/* ---- places -------------------------------------------------------------------------------------------- */

static int64_t face_array(const TesiUpwind *u) {
  return (int64_t)u->points * TESI_BATCH;
}

static int64_t batch_array(const TesiUpwind *u) {
  return 2 * u->batches->dim * face_array(u);
}

static const double *speeds_of(const TesiUpwind *u, int64_t number, int face) {
  return u->speed + (u->uniform ? 0 : number) * batch_array(u) + face * face_array(u);
}

static double *traces_of(const TesiUpwind *u, int64_t number, int face) {
  return u->trace + number * batch_array(u) + face * face_array(u);
}

/* Whether the face of a lane is on the boundary of the box. */
static bool is_end(const TesiUpwind *u, const TesiBatch *batch, int face, int lane) {
  const int d = face / 2, cell = tesi_batch_cell(batch, d, lane), cells = u->batches->box->axis[d].cells;
  return !u->periodic[d] && cell == (face % 2 ? cells - 1 : 0);
}

/* Coordinates x[3][points][lane] of a face of a batch, and weights. In a periodic direction the last face is the
 * first one. */
static void place_face(const TesiUpwind *u, const TesiBatch *batch, int face, double *x, double *weight) {
  const TesiBatches *b = u->batches;
  const int64_t n = face_array(u);
  int stride = 1;
  for (int64_t i = 0; i < n; i++) weight[i] = 1, x[2 * n + i] = 0;
  for (int d = 0; d < b->dim; d++) {
    const TesiAxis *axis = &b->box->axis[d];
    for (int64_t i = 0; i < n; i++) {
      const int cell = tesi_batch_cell(batch, d, (int)(i % TESI_BATCH)),
                p = (int)(i / TESI_BATCH) / stride % b->q,
                end = (cell + face % 2) % (u->periodic[d] ? axis->cells : axis->cells + 1);
      x[d * n + i] = d == face / 2 ? axis->vertices[end] : axis->vertices[cell] + axis->h[cell] * b->point[p];
      if (d != face / 2) weight[i] *= axis->h[cell] * b->weight[p];
    }
    if (d != face / 2) stride *= b->q;
  }
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static TesiHow end_of(const TesSpace *space, bool conservative, const signed char *through, int i) {
  if (tes_space_given(space, i)) return TESI_WEAK;
  const bool passes = through && through[i];
  return passes == conservative ? TESI_OPEN : TESI_FLUX;
}

TesStatus tesi_upwind_create(const TesSpace *space, const TesiBatches *b, bool conservative, bool uniform,
                             const signed char *through, TesiUpwind *u) {
  static const double ends[2] = {0, 1};
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  double tables[2 * TESI_MAX_POINTS];
  *u = (TesiUpwind){.batches = b, .conservative = conservative, .uniform = uniform, .points = 1};
  for (int d = 0; d < b->dim; d++) u->periodic[d] = space->axis[d].periodic;
  for (int d = 1; d < b->dim; d++) u->points *= b->q;
  for (int i = 0; i < 2 * b->dim; i++) u->end[i] = end_of(space, conservative, through, i);
  tesi_lagrange(b->q, b->point, 2, ends, tables, NULL);
  for (int i = 0; i < 2 * b->q; i++) u->ends[i / b->q][i % b->q] = tables[i];
  TES_ALLOC(&u->speed, (uniform ? 1 : b->batches) * batch_array(u));
  if (!tesi_has_kernels(ctx)) TES_ALLOC(&u->trace, b->batches * batch_array(u));
done:
  return status;
}

void tesi_upwind_free(TesContext *ctx, TesiUpwind *u) {
  tesi_free(ctx, &u->speed);
  tesi_free(ctx, &u->trace);
}

static TesStatus fill_face(TesiUpwind *u, int64_t number, int face, const TesFunction *b) {
  TesContext *ctx = u->batches->context;
  TesStatus status = TES_OK;
  const TesiBatch batch = u->batches->kind->batch(u->batches, number);
  const int64_t n = face_array(u);
  double x[3 * FACE], weight[FACE], *to = (double *)speeds_of(u, number, face);
  place_face(u, &batch, face, x, weight);
  memset(to, 0, (size_t)n * sizeof *to);
  if (b) TES_TRY(tes_function_evaluate(b, n, x, x + n, x + 2 * n, 0, to));
  for (int64_t i = 0; i < n; i++) to[i] *= (face % 2 ? 1 : -1) * weight[i];
done:
  return status;
}

TesStatus tesi_upwind_fill(TesiUpwind *u, const TesFunction *const b[3]) {
  TesContext *ctx = u->batches->context;
  TesStatus status = TES_OK;
  const int64_t batches = u->uniform ? 1 : u->batches->batches;
  for (int64_t i = 0; i < batches; i++)
    for (int f = 0; f < 2 * u->batches->dim; f++) TES_TRY(fill_face(u, i, f, b[f / 2]));
done:
  return status;
}

/* ---- traces -------------------------------------------------------------------------------------------- */

void tesi_upwind_put(const TesiUpwind *u, int64_t number, const double *values) {
  const TesiBatches *b = u->batches;
  const int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  for (int f = 0; f < 2 * b->dim; f++)
    b->loops.contract(size, f / 2, 1, b->q, false, u->ends[f % 2], values, traces_of(u, number, f));
}

/* v += values at the points of a face times the test functions; more, scratch: [points of a cell]. */
static void test_face(const TesiUpwind *u, int face, const double *values, double *v, double *more) {
  const TesiBatches *b = u->batches;
  const int64_t n = tesi_batches_array(b);
  int size[3] = {b->q, b->q, b->dim == 3 ? b->q : 1};
  size[face / 2] = 1;
  b->loops.contract(size, face / 2, 1, b->q, true, u->ends[face % 2], values, more);
  for (int64_t i = 0; i < n; i++) v[i] += more[i];
}

/* The batch of the cells behind a face, in direction y or z, of all cells of a batch; -1: there is none. */
static int64_t behind(const TesiUpwind *u, const TesiBatch *batch, int64_t number, int face) {
  const TesiBatches *b = u->batches;
  const int d = face / 2, cells = b->box->axis[d].cells, step = face % 2 ? 1 : -1, at = batch->at[d] + step;
  const int64_t stride = d == 1 ? b->task_batches : b->task_batches * b->box->axis[1].cells;
  if (at >= 0 && at < cells) return number + step * stride;
  return u->periodic[d] ? number - step * (cells - 1) * stride : -1;
}

/* e <- the traces behind the lower or upper face in x: from the next lane, or from the next batch of the row. */
static void take_along(const TesiUpwind *u, const TesiBatch *batch, int64_t number, int face, double *e) {
  const TesiBatches *b = u->batches;
  const int64_t row = number / b->task_batches * b->task_batches, last = row + b->task_batches - 1;
  const int cells = b->box->axis[0].cells, count = batch->count;
  const double *own = traces_of(u, number, 1 - face);
  const int64_t next = face ? (number < last ? number + 1 : row) : (number > row ? number - 1 : last);
  const int lane = face           ? 0
                   : next == last ? (cells - 1) % TESI_BATCH
                                  : TESI_BATCH - 1,
            at_end = face ? count - 1 : 0;
  const double *beside = traces_of(u, next, 1 - face);
  for (int p = 0; p < u->points; p++)
    for (int l = 0; l < TESI_BATCH; l++) {
      const int from = tesi_max(0, tesi_min(face ? l + 1 : l - 1, count - 1));
      e[p * TESI_BATCH + l] = l == at_end ? beside[p * TESI_BATCH + lane] : own[p * TESI_BATCH + from];
    }
}

/* At the boundary, by lane: e <- 0 where values are given, else u. */
static void end_traces(const TesiUpwind *u, const TesiBatch *batch, int face, const double *own, double *e) {
  for (int l = 0; l < TESI_BATCH; l++)
    for (int p = 0; p < u->points && is_end(u, batch, face, l); p++)
      e[p * TESI_BATCH + l] = u->end[face] == TESI_WEAK ? 0 : own[p * TESI_BATCH + l];
}

static void close_ends(const TesiUpwind *u, const TesiBatch *batch, int face, const double *speed,
                       const double *own, double *r) {
  for (int l = 0; l < TESI_BATCH && u->end[face] == TESI_FLUX; l++)
    for (int p = 0; p < u->points && is_end(u, batch, face, l); p++) {
      const int i = p * TESI_BATCH + l;
      r[i] = u->conservative ? 0 : -speed[i] * own[i];
    }
}

void tesi_upwind_add(const TesiUpwind *u, int64_t number, double *v, double *scratch, double *more) {
  const TesiBatches *b = u->batches;
  const int64_t n = face_array(u);
  const TesiBatch batch = b->kind->batch(b, number);
  double e[FACE];
  for (int f = 0; f < 2 * b->dim; f++) {
    const double *speed = speeds_of(u, number, f), *own = traces_of(u, number, f), *other = e;
    const int64_t next = f < 2 ? -1 : behind(u, &batch, number, f);
    if (f < 2) take_along(u, &batch, number, f, e);
    if (next >= 0) other = traces_of(u, next, f ^ 1);
    if (f < 2 || next < 0) end_traces(u, &batch, f, own, e);
    for (int64_t i = 0; i < n; i++) {
      const double in = fmin(speed[i], 0);
      scratch[i] = u->conservative ? (speed[i] - in) * own[i] + in * other[i] : in * (other[i] - own[i]);
    }
    if (f < 2 || next < 0) close_ends(u, &batch, f, speed, own, scratch);
    test_face(u, f, scratch, v, more);
  }
}

void tesi_upwind_subtract_speeds(const TesiUpwind *u, int64_t number, double *v, double *scratch,
                                 double *more) {
  const int64_t n = face_array(u);
  for (int f = 0; f < 2 * u->batches->dim; f++) {
    const double *speed = speeds_of(u, number, f);
    for (int64_t i = 0; i < n; i++) scratch[i] = -speed[i];
    test_face(u, f, scratch, v, more);
  }
}

/* ---- boundaries ---------------------------------------------------------------------------------------- */

static double part_of(double speed, TesiUpwindPart part) {
  return part == TESI_UPWIND_IN ? fmin(speed, 0) : part == TESI_UPWIND_OUT ? fmax(speed, 0) : speed;
}

/* values <- the values of a face in the lanes on the boundary, 0 in the other lanes. */
static TesStatus weigh_boundary(const TesiUpwind *u, int64_t number, const TesiBatch *batch, int face,
                                TesiUpwindPart part, double factor, const TesFunction *g, double *values) {
  TesContext *ctx = u->batches->context;
  TesStatus status = TES_OK;
  const int64_t n = face_array(u);
  const double *speed = speeds_of(u, number, face);
  double x[3 * FACE], normal[3 * FACE], of_g[FACE];
  if (g) {
    place_face(u, batch, face, x, values);
    for (int64_t i = 0; i < 3 * n; i++) normal[i] = i / n != face / 2 ? 0 : face % 2 ? 1 : -1;
    TES_TRY(tesi_boundary_values(g, (int)n, x, normal, of_g));
  }
  for (int64_t i = 0; i < n; i++)
    values[i] = is_end(u, batch, face, (int)(i % TESI_BATCH))
                    ? factor * part_of(speed[i], part) * (g ? of_g[i] : 1)
                    : 0;
done:
  return status;
}

TesStatus tesi_upwind_boundary(const TesiUpwind *u, int boundary, TesiUpwindPart part, double factor,
                               const TesFunction *g, double *y) {
  const TesiBatches *b = u->batches;
  TesContext *ctx = b->context;
  TesStatus status = TES_OK;
  const int64_t n = tesi_batches_array(b);
  TesiSums sums = {.batches = b, .values = y, .given = true};
  double *work = NULL;
  _Alignas(64) double values[FACE]; /* aligned, since vectors are loaded from it */
  TES_ALLOC(&work, 3 * n);
  const bool cut = tesi_mesh_cut(b->space->mesh, boundary);
  for (int64_t i = 0; i < b->batches && !u->periodic[boundary / 2] && !cut; i++) {
    const TesiBatch batch = b->kind->batch(b, i);
    if (!is_end(u, &batch, boundary, boundary % 2 ? TESI_BATCH - 1 : 0)) continue;
    TES_TRY(weigh_boundary(u, i, &batch, boundary, part, factor, g, values));
    memset(work, 0, (size_t)n * sizeof *work);
    test_face(u, boundary, values, work, work + n);
    tesi_batch_integrate(&sums, i / b->task_batches, &batch, work, work + 2 * n);
  }
done:
  tesi_free(ctx, &work);
  return status;
}
