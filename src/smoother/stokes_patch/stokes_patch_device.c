/* Vertex patches of Stokes on devices with kernels: for each colour the residual of the whole operator, then the exact
 * solves of its patches. */
#include <stdio.h>
#include "device/vector.h"
#include "smoother/stokes_patch/stokes_lanes.h"
#include "smoother/stokes_patch/stokes_plane.h"
#include "smoother/stokes_patch/stokes_patches.h"

typedef struct Plan {
  TesiStokesPatchAxis axis[3];
  TesiStokesLanes *lanes; /* where they or the next serve; else the patches, and residuals by the operator */
  TesiStokesPlane *plane;
  TesiStokesPatches patches;
  int colours, *first; /* [colours + 1]: patches of each */
  void *r;
} Plan;

TesStatus tesi_stokes_patch_kinds(TesContext *ctx, const TesSpace *space, int d, const TesiStokesPatchAxis *a,
                                  TesiStokesKind **kind) {
  TesStatus status = TES_OK;
  TES_ALLOC(kind, a->types);
  for (int v = a->vertices - 1; v >= 0; v--) {
    const TesiStokesLocalAxis *local = &a->local[a->type[v]];
    (*kind)[a->type[v]] =
        (TesiStokesKind){.local = local,
                         .first = d < space->dim ? a->node[(int64_t)v * a->most] - v * (space->degree + 1) : 0,
                         .open = d < space->dim && local->nodes >= local->modes};
  }
done:
  return status;
}

static TesStatus fill_patches(const TesSmoother *smoother, Plan *p) {
  const TesOperator *op = smoother->op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiStokes *s = tesi_stokes_of(op);
  const TesiStokesPatchAxis *a = p->axis;
  const int all = a[0].vertices * a[1].vertices * a[2].vertices;
  TesiStokesPlace *place = NULL;
  int(*vertex)[3] = NULL;
  TesiStokesKind *kind[3] = {NULL, NULL, NULL};
  for (int d = 0; d < 3; d++) TES_TRY(tesi_stokes_patch_kinds(ctx, s->space, d, &p->axis[d], &kind[d]));
  TES_ALLOC(&p->first, p->colours + 1);
  TES_ALLOC(&place, all);
  TES_ALLOC(&vertex, all);
  tesi_stokes_patch_list(a, s->space->dim, smoother->red_black, p->colours, p->first, vertex);
  for (int i = 0; i < all; i++) {
    place[i].nu = s->nu;
    for (int d = 0; d < 3; d++) place[i].vertex[d] = vertex[i][d], place[i].kind[d] = a[d].type[vertex[i][d]];
  }
  TES_TRY(tesi_stokes_patches_create(op, op->precision, (const TesiStokesKind *const *)kind,
                                     (const int[]){a[0].types, a[1].types, a[2].types}, place,
                                     p->first[p->colours], &p->patches));
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &kind[d]);
  tesi_free(ctx, &place);
  tesi_free(ctx, &vertex);
  return status;
}

static TesStatus solve_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  const Plan *p = smoother->plan;
  return tesi_stokes_patches_solve(smoother->context, &p->patches, false, p->first[colour],
                                   p->first[colour + 1] - p->first[colour], r, x);
}

static TesStatus apply_colours(const TesSmoother *smoother, const void *b, void *x, TesiColours colours,
                               bool zero_guess) {
  static const TesiResidualSweep sweep = {.solve = solve_colour};
  TesContext *ctx = smoother->context;
  const Plan *p = smoother->plan;
  if (p->lanes)
    return tesi_stokes_lanes_apply(ctx, p->lanes, b, x, colours, 1,
                                   zero_guess ? TESI_LANES_FROM_ZERO : TESI_LANES_FROM_X);
  if (p->plane) return tesi_stokes_plane_apply(ctx, p->plane, b, x, colours, zero_guess);
  return tesi_sweep_residuals(smoother, &sweep, p->r, colours, b, x, zero_guess);
}

static int colours_of(const TesSmoother *smoother) {
  const Plan *p = smoother->plan;
  return p->colours;
}

static TesStatus apply_between(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep,
                               bool zero_guess, const TesiBetween *between) {
  const Plan *p = smoother->plan;
  return tesi_stokes_lanes_apply_between(smoother->context, p->lanes, b, x,
                                         tesi_all_colours(p->colours, sweep),
                                         zero_guess ? TESI_LANES_FROM_ZERO : TESI_LANES_FROM_X, between);
}

static int layer_blocks(const TesSmoother *smoother) {
  const Plan *p = smoother->plan;
  return p->lanes ? TESI_LANES_CLASSES : 0;
}

static void layer_block(const void *smoother, int number, int first, int end, int64_t *start, int64_t *count) {
  const Plan *p = ((const TesSmoother *)smoother)->plan;
  tesi_stokes_lanes_layers(p->lanes, number, first, end, start, count);
}

static TesStatus solve_cells(const TesSmoother *smoother, const void *b, bool ordered, void *x) {
  const Plan *p = smoother->plan;
  return p->lanes ? tesi_stokes_lanes_solve_cells(smoother->context, p->lanes, b, x,
                                                  ordered ? TESI_LANES_ORDERED : TESI_LANES_FROM_X)
                  : apply_colours(smoother, b, x, tesi_colour_of_cells(), false);
}

static bool order(const TesSmoother *smoother, TesiEntryOrder *order) {
  const Plan *p = smoother->plan;
  if (p->lanes) *order = tesi_stokes_lanes_order(p->lanes);
  return p->lanes;
}

static TesStatus apply_ordered(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep,
                               int sweeps) {
  const Plan *p = smoother->plan;
  return tesi_stokes_lanes_apply(smoother->context, p->lanes, b, x, tesi_all_colours(p->colours, sweep),
                                 sweeps, TESI_LANES_ORDERED);
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const Plan *p = smoother->plan;
  return tesi_stokes_patch_sweep_ref(smoother->op, p->axis, smoother->red_black, b, x, sweep);
}

static TesCost cost(const TesSmoother *smoother) {
  const Plan *p = smoother->plan;
  double patches = 1;
  for (int d = 0; d < 3; d++) patches *= p->axis[d].vertices;
  return tesi_stokes_patch_cost(smoother->op, p->axis[0].span, p->colours, patches);
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *p = smoother->plan;
  if (!p) return;
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &p->axis[d]);
  tesi_stokes_lanes_destroy(ctx, &p->lanes);
  tesi_stokes_plane_destroy(ctx, &p->plane);
  tesi_stokes_patches_free(ctx, &p->patches);
  tesi_context_device(ctx)->release(ctx, &p->r);
  tesi_free(ctx, &p->first);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {.apply = tesi_sweep_all_colours,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy,
                                        .solve_cells = solve_cells,
                                        .order = order,
                                        .apply_ordered = apply_ordered,
                                        .colours = colours_of,
                                        .apply_colours = apply_colours,
                                        .apply_between = apply_between,
                                        .layer_blocks = layer_blocks,
                                        .layer_block = layer_block};

static void describe(TesSmoother *smoother) {
  const Plan *p = smoother->plan;
  const int kinds = p->axis[0].types * p->axis[1].types * p->axis[2].types;
  char cut[80];
  int lanes, threads, launches;
  if (p->lanes) {
    tesi_stokes_lanes_describe(p->lanes, &lanes, &threads);
    snprintf(cut, sizeof cut, "with residuals%s, %d lanes, %d threads per block",
             p->axis[0].mirrored ? ", walls mirrored" : "", lanes, threads);
  } else if (p->plane) {
    tesi_stokes_plane_describe(p->plane, &lanes, &threads, &launches);
    snprintf(cut, sizeof cut, "with residuals in %d launch%s, %d patches, %d threads per block", launches,
             launches > 1 ? "es" : "", lanes, threads);
  } else {
    snprintf(cut, sizeof cut, "%u threads per patch%s", p->patches.threads,
             p->patches.shared ? "" : " in global memory");
  }
  snprintf(smoother->description, sizeof smoother->description,
           "%s in %d colours, solved exactly by kernels: %d kinds, %s",
           tesi_stokes_patch_span(smoother) == 1 ? "closed cells" : "vertex patches", p->colours, kinds, cut);
}

TesStatus tesi_smoother_stokes_device_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  Plan *p;
  TES_CHECK(smoother->local != TES_LOCAL_CG,
            "the local solver cg of stokes has no kernels: take exact, or --device cpu");
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  const int span = tesi_stokes_patch_span(smoother);
  const bool lanes = span == 2 && !smoother->red_black && tesi_stokes_lanes_serve(op);
  for (int d = 0; d < 3; d++) {
    p->axis[d].mirrored = lanes && tesi_stokes_lanes_mirrors(op);
    p->axis[d].lexicographic = smoother->lexicographic;
    TES_TRY(tesi_stokes_patch_axis_create(ctx, tesi_stokes_of(op), d, span, &p->axis[d]));
  }
  p->colours = tesi_stokes_patch_colours(p->axis, smoother->red_black);
  if (lanes) {
    TES_TRY(tesi_stokes_lanes_create(op, op->precision, p->axis, &p->lanes));
  } else if (span == 2 && !smoother->red_black && tesi_stokes_plane_serves(op, p->axis)) {
    TES_TRY(tesi_stokes_plane_create(op, op->precision, p->axis, &p->plane));
  } else {
    TES_TRY(fill_patches(smoother, p));
    TES_TRY(tesi_operator_vector(op, &p->r));
  }
  smoother->omega = 1;
  smoother->symmetric = true;
  describe(smoother);
done:
  return status;
}
