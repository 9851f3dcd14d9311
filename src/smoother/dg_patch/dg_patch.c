#include "smoother/dg_patch/dg_patch.h"
#include "base/real.h"
#include "operator/dg/dg.h"
#include <math.h>
#include <stdio.h>
#include "base/team.h"
#include "device/kernel.h"

/* ---- a patch ------------------------------------------------------------------------------------------- */

/* Numbers of its unknowns, [z][y][x]. */
static int64_t number_of(const TesiDgPatchPlan *p, const int vertex[3], int j) {
  const TesSpace *space = p->stokes->space;
  const int n = 2 * (space->degree + 1);
  int64_t number = 0, step = 1;
  for (int d = 0; d < space->dim; d++) {
    number += step * p->axis[d].mode[(int64_t)vertex[d] * n + j % n];
    step *= space->axis[d].nodes;
    j /= n;
  }
  return number;
}

static TesiStokesLocal local_of(const TesiDgPatchPlan *p, const int vertex[3]) {
  TesiStokesLocal l = {.dim = p->stokes->space->dim, .nu = p->stokes->nu, .alpha = p->stokes->alpha};
  for (int d = 0; d < 3; d++) l.axis[d] = &p->axis[d].local[p->axis[d].type[vertex[d]]];
  return l;
}

typedef struct Colour {
  const TesiDgPatchPlan *plan;
  int first;
  TesPrecision precision;
  const void *r;
  void *x;
} Colour;

static void run_patches(const void *data, TesiSpan span) {
  const Colour *c = data;
  const TesiDgPatchPlan *p = c->plan;
  double *x = p->work + (int64_t)span.thread * 2 * p->numbers;
  for (int64_t i = c->first + span.first; i < c->first + span.end; i++) {
    const int *vertex = p->vertex[i];
    const TesiStokesLocal l = local_of(p, vertex);
    for (int j = 0; j < p->numbers; j++) {
      const int64_t at = number_of(p, vertex, j);
      x[j] = tesi_number_get(c->precision, c->r, at);
    }
    tesi_stokes_local_solve_scalar(&l, x, x + p->numbers);
    for (int j = 0; j < p->numbers; j++) {
      const int64_t at = number_of(p, vertex, j);
      tesi_number_add(c->precision, c->x, at, x[j]);
    }
  }
}

/* Between x and another vector: the last colour writes to x. */
static TesStatus apply_inside(const TesSmoother *smoother, const void *b, void *x, TesiColours colours,
                              bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiDgPatchPlan *p = smoother->plan;
  const TesOperator *op = smoother->op;
  const bool odd = colours.count % 2;
  void *const to[2] = {odd ? x : p->r, odd ? p->r : x};
  const void *from = zero_guess ? NULL : odd ? p->r : x;
  if (odd && !zero_guess)
    TES_TRY(tesi_context_device(ctx)->copy(ctx, op->length, 1, op->precision, x, op->precision, p->r));
  for (int i = 0; i < colours.count; i++) {
    TES_TRY(tesi_dg_patches_sweep(ctx, p->device, colours.first + i * colours.step, from, b, to[i % 2]));
    from = to[i % 2];
  }
done:
  return status;
}

static int colours_of(const TesSmoother *smoother) {
  const TesiDgPatchPlan *p = smoother->plan;
  return p->colours;
}

static TesStatus solve_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  const TesiDgPatchPlan *p = smoother->plan;
  const int start = p->first[colour], count = p->first[colour + 1] - start;
  if (p->device) return tesi_dg_patches_solve(smoother->context, p->device, start, count, r, x);
  tesi_team_share(p->threads, count, 1, run_patches,
                  &(Colour){.plan = p, .first = start, .precision = smoother->op->precision, .r = r, .x = x});
  return TES_OK;
}

static TesStatus apply_colours(const TesSmoother *smoother, const void *b, void *x, TesiColours colours,
                               bool zero_guess) {
  static const TesiResidualSweep sweep = {.solve = solve_colour};
  const TesiDgPatchPlan *p = smoother->plan;
  return p->inside ? apply_inside(smoother, b, x, colours, zero_guess)
                   : tesi_sweep_residuals(smoother, &sweep, p->r, colours, b, x, zero_guess);
}

/* ---- set-up -------------------------------------------------------------------------------------------- */

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const TesiDgPatchPlan *p = smoother->plan;
  return tesi_stokes_patch_sweep_ref(smoother->op, p->axis, false, b, x, sweep);
}

static TesCost cost(const TesSmoother *smoother) {
  const TesiDgPatchPlan *p = smoother->plan;
  const TesCost residual = tes_operator_info(smoother->op).cost;
  const double dim = p->stokes->space->dim, n = 2 * (p->stokes->space->degree + 1),
               patches = p->first[p->colours];
  return (TesCost){.flops = p->colours * residual.flops + patches * pow(n, dim) * (4 * dim * n + dim + 2),
                   .bytes = p->colours * 2 * residual.bytes};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiDgPatchPlan *p = smoother->plan;
  if (!p) return;
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &p->axis[d]);
  tesi_dg_patches_destroy(ctx, &p->device);
  if (p->r) tesi_context_device(ctx)->release(ctx, &p->r);
  tesi_free(ctx, &p->first);
  tesi_free(ctx, &p->vertex);
  tesi_free(ctx, &p->work);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {.apply = tesi_sweep_all_colours,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy,
                                        .colours = colours_of,
                                        .apply_colours = apply_colours};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesiDgPatchPlan *p;
  TES_CHECK(!smoother->red_black, "red-black colours are for patches of Stokes");
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  p->stokes = tesi_stokes_of(smoother->op);
  p->threads = tes_context_threads(ctx);
  p->numbers = 1;
  for (int d = 0; d < 3; d++) {
    p->axis[d].lexicographic = smoother->lexicographic;
    TES_TRY(tesi_stokes_patch_axis_create(ctx, p->stokes, d, 2, &p->axis[d]));
    if (d < p->stokes->space->dim) p->numbers *= 2 * (p->stokes->space->degree + 1);
  }
  const TesiStokesPatchAxis *a = p->axis;
  p->colours = tesi_stokes_patch_boxes(a);
  TES_ALLOC(&p->first, p->colours + 1);
  TES_ALLOC(&p->vertex, a[0].vertices * a[1].vertices * a[2].vertices);
  tesi_stokes_patch_list(a, p->stokes->space->dim, false, p->colours, p->first, p->vertex);
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_dg_patches_create(smoother->op, smoother->op->precision, p->axis, p->vertex,
                                   p->first[p->colours], false, &p->device));
    TES_TRY(tesi_dg_patches_prepare(smoother->op, p->axis, p->vertex, p->colours, p->first, p->device,
                                    &p->inside));
  } else {
    TES_ALLOC(&p->work, (int64_t)p->threads * 2 * p->numbers);
  }
  TES_TRY(tesi_operator_vector(smoother->op, &p->r));
  smoother->omega = 1;
  smoother->symmetric = true;
  snprintf(smoother->description, sizeof smoother->description,
           "vertex patches of %d unknowns in %d colours, solved by fast diagonalization%s", p->numbers,
           p->colours, p->device ? " by kernels" : "");
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  return tesi_is_dg(smoother->op) ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_dg = {TESI_SMOOTHES(TES_SMOOTHER_PATCH), refuses, init};
