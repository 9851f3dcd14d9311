/* Set-up, boundaries and threads: see rt_convection.h. */
#include "operator/rt_convection/rt_convection.h"
#include <math.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "basis/gauss.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "functional/batch_faces.h"
#include "operator/rt_convection/rt_convection_device.h"

enum { LANES = TESI_RT_CONVECTION_LANES, FACE = TESI_RT_POINTS * TESI_RT_POINTS };

/* ---- set-up -------------------------------------------------------------------------------------------- */

static void fill_tables(TesiRtConvection *c) {
  tesi_rt_tables(c->n, c->q, &c->table);
  tesi_lagrange(c->q, c->table.x, c->q, c->table.x, NULL, c->derivative);
  for (int end = 0; end < 2; end++) tesi_rt_legendre(c->n, 1, end, c->end[end], NULL);
}

static TesStatus allocate(TesiRtConvection *c, int64_t aside) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  TES_ALLOC(&c->u, c->space->length);
  TES_ALLOC(&c->y, c->space->length);
  TES_ALLOC(&c->aside, aside);
  TES_ALLOC(&c->work, c->share * c->threads + LANES);
  TES_ALLOC(&c->rates, c->batches);
done:
  return status;
}

TesStatus tesi_rt_convection_create(const TesSpace *space, TesiRtConvection **convection) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesiRtConvection *c = NULL;
  int64_t points = 1, size, aside = 0;
  *convection = NULL;
  TES_CHECK(space->degree >= 1 && space->degree <= TESI_RT_CONVECTION_DEGREE,
            "convection of element rt has the degrees 1 to %d, got %d", TESI_RT_CONVECTION_DEGREE,
            space->degree);
  TES_CHECK(
      !tesi_has_kernels(ctx) || space->dim == 2 || space->degree <= TESI_RT_CONVECTION_SPACE,
      "convection of element rt has kernels for the degrees 1 to %d in space, got %d: take --device cpu",
      TESI_RT_CONVECTION_SPACE, space->degree);
  TES_NEW(&c);
  c->context = ctx, c->space = space;
  if (tesi_ranks(ctx) > 1) {
    TES_TRY(tesi_rt_convection_ranks_create(space, &c->ranks));
    *convection = c;
    return TES_OK;
  }
  c->n = space->degree + 1, c->q = (3 * c->n + 1) / 2;
  fill_tables(c);
  c->cells = space->scalar[space->dim]->length;
  size = c->n + 1;
  for (int d = 0; d < space->dim; d++) {
    points *= c->q, c->cells /= c->n;
    if (d > 0) size *= c->n;
  }
  c->batches = (c->cells + LANES - 1) / LANES;
  c->threads = tesi_team_threads(ctx, c->cells * points * c->q);
  c->share = LANES * (int64_t)(8 * points + 7 * size + 8);
  for (int i = 0; i < space->dim; i++) {
    c->aside_size[i] = size / (c->n + 1);
    c->aside_at[i] = aside;
    aside += c->aside_size[i] * c->cells;
  }
  TES_TRY(tesi_has_kernels(ctx) ? tesi_rt_convection_device_create(c, &c->device) : allocate(c, aside));
  *convection = c;
  c = NULL;
done:
  tesi_rt_convection_destroy(&c);
  return status;
}

void tesi_rt_convection_destroy(TesiRtConvection **convection) {
  TesiRtConvection *c = *convection;
  if (!c) return;
  TesContext *ctx = c->context;
  *convection = NULL;
  for (int i = 0; i < 18; i++) tesi_free(ctx, &c->given[i / 3][i % 3]);
  tesi_free(ctx, &c->u);
  tesi_free(ctx, &c->y);
  tesi_free(ctx, &c->aside);
  tesi_free(ctx, &c->work);
  tesi_free(ctx, &c->rates);
  tesi_rt_convection_device_destroy(ctx, &c->device);
  tesi_rt_convection_ranks_destroy(&c->ranks);
  tesi_free(ctx, &c);
}

/* ---- boundaries ---------------------------------------------------------------------------------------- */

/* Cell `number` among the cells at a side, x fastest. */
static void side_cell(const TesSpace *space, int side, int64_t number, int cell[3]) {
  tesi_rt_line(space, side / 2, number, cell);
  if (side % 2) cell[side / 2] = tesi_modal(space, side / 2)->cells - 1;
}

/* Points x[3][q^(dim - 1)] of a cell's face, and weights. */
static int face_points(const TesiRtConvection *c, int side, const int cell[3], double *x, double *w) {
  const TesSpace *space = c->space;
  const int d = side / 2, q = c->q, count = space->dim == 2 ? q : q * q;
  for (int p = 0; p < count; p++) {
    int rest = p;
    w[p] = 1;
    for (int e = 0; e < 3; e++) {
      const TesiAxis *a = tesi_modal(space, e);
      x[e * count + p] = e >= space->dim ? 0 : a->vertices[side % 2 ? a->cells : 0];
      if (e == d || e >= space->dim) continue;
      x[e * count + p] = a->vertices[cell[e]] + c->table.x[rest % q] * a->h[cell[e]];
      w[p] *= c->table.w[rest % q] * a->h[cell[e]];
      rest /= q;
    }
  }
  return count;
}

/* The condition on a side, at its points; zeros are not stored. */
static TesStatus fill_side(TesiRtConvection *c, int side, const TesiGiven *given) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  double x[3 * FACE], normal[3 * FACE] = {0}, w[FACE];
  const int d = side / 2;
  for (int i = 0; i < c->space->dim; i++) {
    const TesFunction *g = given->how[i] == TESI_WEAK ? given->g[i] : NULL;
    double **values = &c->given[side][i];
    tesi_free(ctx, values);
    c->how[side][i] = given->how[i];
    if (tesi_function_is_zero(g)) continue;
    TES_ALLOC(values, tesi_rt_convection_side_cells(c, side) * (c->space->dim == 2 ? c->q : c->q * c->q));
    for (int64_t k = 0; k < tesi_rt_convection_side_cells(c, side); k++) {
      int cell[3];
      side_cell(c->space, side, k, cell);
      const int count = face_points(c, side, cell, x, w);
      for (int p = 0; p < count; p++) normal[d * count + p] = side % 2 ? 1 : -1;
      TES_TRY(tesi_boundary_values(g, count, x, normal, *values + k * count));
    }
  }
done:
  return status;
}

TesStatus tesi_rt_convection_give(TesiRtConvection *c, const TesiGiven *given) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  if (c->ranks) return tesi_rt_convection_ranks_give(c->ranks, given);
  for (int side = 0; side < 2 * c->space->dim; side++)
    if (!tesi_modal(c->space, side / 2)->periodic) TES_TRY(fill_side(c, side, &given[side]));
  if (c->device) TES_TRY(tesi_rt_convection_device_sides(c));
done:
  return status;
}

/* values[q^(dim - 1)] <- component i on the face of a cell at a side. With integrals: y <- y + integrals. */
static void trace(const TesiRtConvection *c, int side, const int cell[3], int i, const double *u, bool add,
                  double *values, double *y) {
  enum { LOCAL = TESI_RT_LOCAL * TESI_RT_LOCAL * TESI_RT_LOCAL };
  const TesSpace *space = c->space;
  const int d = side / 2, end = side % 2, q = c->q, count = space->dim == 2 ? q : q * q;
  int e[3];
  double local[LOCAL];
  for (int a = 0; a < 3; a++) e[a] = tesi_rt_extent(space, i, a);
  if (add) memset(local, 0, sizeof *local * (size_t)(e[0] * e[1] * e[2]));
  if (!add) tesi_rt_read(space, i, cell, u, local);
  for (int p = 0; p < count; p++) {
    double sum = 0;
    for (int k = 0; k < e[0] * e[1] * e[2]; k++) {
      const int at[3] = {k % e[0], k / e[0] % e[1], k / e[0] / e[1]};
      double basis = i == d ? at[d] == (end ? e[d] - 1 : 0) : c->end[end][at[d]];
      int rest = p;
      for (int a = 0; a < space->dim && basis != 0; a++) {
        if (a == d) continue;
        basis *= (a == i ? c->table.nodal : c->table.modal)[0][rest % q * e[a] + at[a]];
        rest /= q;
      }
      sum += basis * local[k];
      if (add) local[k] += basis * values[p];
    }
    if (!add) values[p] = sum;
  }
  if (add) tesi_rt_add(space, i, cell, local, y);
}

/* y <- y + the terms of the flow through a side. */
static void add_side(const TesiRtConvection *c, int side, double *y) {
  const int d = side / 2, outwards = side % 2 ? 1 : -1;
  double x[3 * FACE], w[FACE], normal[FACE], value[FACE];
  if (c->how[side][!d] == TESI_FLUX) return;
  for (int64_t k = 0; k < tesi_rt_convection_side_cells(c, side); k++) {
    int cell[3];
    bool enters = false;
    side_cell(c->space, side, k, cell);
    const int count = face_points(c, side, cell, x, w);
    trace(c, side, cell, d, c->u, false, normal, NULL);
    for (int p = 0; p < count; p++) enters = enters || outwards * normal[p] < 0;
    for (int i = 0; i < c->space->dim && enters; i++) {
      const double *g = c->given[side][i], share = c->how[side][i] == TESI_OPEN ? 0.5 : 1;
      if (c->how[side][i] == TESI_STRONG) continue;
      trace(c, side, cell, i, c->u, false, value, NULL);
      for (int p = 0; p < count; p++) {
        const double given = g ? g[k * count + p] : 0;
        value[p] = share * w[p] * fmax(0, -outwards * normal[p]) * (value[p] - given);
      }
      trace(c, side, cell, i, NULL, true, value, y);
    }
  }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

typedef struct Task {
  const TesiRtConvection *c;
  TesiRtConvectionCells *cells;
} Task;

/* Vectors of eight lanes need addresses that are multiples of 64 bytes. */
static double *aligned(double *work) {
  return (double *)(((uintptr_t)work + 63) / 64 * 64);
}

static void run_cells(const void *data, TesiSpan span) {
  const Task *t = data;
  t->cells(t->c, span.first, span.end, aligned(t->c->work + span.thread * t->c->share));
}

/* y at the lower nodes of each cell <- y + the numbers that the cell below put aside. */
static void add_aside(const void *data, TesiSpan span) {
  const TesiRtConvection *c = ((const Task *)data)->c;
  const TesSpace *space = c->space;
  for (int64_t k = span.first; k < span.end; k++)
    for (int i = 0; i < space->dim; i++) {
      const TesiAxis *axis = tesi_modal(space, i);
      int cell[3], below[3];
      tesi_rt_cell(space, k, cell);
      memcpy(below, cell, sizeof below);
      if (cell[i] == 0 && !axis->periodic) continue;
      below[i] = (cell[i] + axis->cells - 1) % axis->cells;
      const double *from = c->aside + c->aside_at[i] + tesi_rt_cell_number(space, below) * c->aside_size[i];
      int64_t first = space->first[i], stride = 1, step[3] = {0};
      int e[3] = {1, 1, 1};
      for (int d = 0; d < space->dim; d++) {
        first += stride * cell[d] * c->n;
        e[d] = d == i ? 1 : c->n, step[d] = stride;
        stride *= space->scalar[i]->axis[d].nodes;
      }
      for (int z = 0; z < e[2]; z++)
        for (int y = 0; y < e[1]; y++)
          for (int x = 0; x < e[0]; x++) c->y[first + x * step[0] + y * step[1] + z * step[2]] += *from++;
    }
}

TesStatus tesi_rt_convection_apply(TesiRtConvection *c, const TesVector *u, TesVector *b, double *rate) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const TesSpace *space = c->space;
  if (c->ranks) return tesi_rt_convection_ranks_apply(c->ranks, u, b, rate);
  if (c->device) return tesi_rt_convection_device_apply(c, u, b, rate);
  const int bits = tes_context_simd_bits(ctx);
  const Task task = {c, TESI_SIMD_PICK(bits, tesi_rt_convection_cells)};
  TES_TRY(tes_vector_get(u, c->u));
  tesi_team_for(c->threads, c->batches, run_cells, &task);
  tesi_team_for(c->threads, c->cells, add_aside, &task);
  for (int side = 0; side < 2 * space->dim; side++)
    if (!tesi_modal(space, side / 2)->periodic) add_side(c, side, c->y);
  for (int64_t i = space->first[space->dim]; i < space->first[space->parts]; i++) c->y[i] = 0;
  *rate = 0;
  for (int64_t i = 0; i < c->batches; i++)
    if (c->rates[i] > *rate || isnan(c->rates[i])) *rate = c->rates[i];
  TES_TRY(tes_vector_set(b, c->y));
done:
  return status;
}
