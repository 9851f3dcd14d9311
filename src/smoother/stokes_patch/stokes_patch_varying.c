#include "smoother/stokes_patch/stokes_patch_varying.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/real.h"
#include "base/team.h"
#include "device/upload.h"

static const double rung_ratio = 1.25;

/* ---- patches ------------------------------------------------------------------------------------------- */

static int extent_of(const TesiStokesVaryingPlan *p, const TesiVaryingPatch *patch, int part, int d) {
  const TesiStokesLocalAxis *l = &p->axis[d].local[patch->type[d]];
  return d >= p->stokes->stokes.space->dim ? 1 : d == part ? l->nodes : l->modes;
}

static int part_size(const TesiStokesVaryingPlan *p, const TesiVaryingPatch *patch, int part) {
  return extent_of(p, patch, part, 0) * extent_of(p, patch, part, 1) * extent_of(p, patch, part, 2);
}

static int patch_size(const TesiStokesVaryingPlan *p, const TesiVaryingPatch *patch) {
  int size = 0;
  for (int part = 0; part < p->stokes->stokes.space->parts; part++) size += part_size(p, patch, part);
  return size;
}

/* Numbers of the unknowns of a part, [z][y][x]. */
static int64_t number_of(const TesiStokesVaryingPlan *p, const TesiVaryingPatch *patch, int part, int j) {
  const TesSpace *space = p->stokes->stokes.space;
  int64_t number = space->first[part], step = 1;
  for (int d = 0; d < space->dim; d++) {
    const TesiStokesPatchAxis *a = &p->axis[d];
    const int e = extent_of(p, patch, part, d), at = j % e, v = patch->vertex[d];
    number += step * (d == part ? a->node[(int64_t)v * a->most + at]
                                : a->mode[(int64_t)v * 2 * (space->degree + 1) + at]);
    step *= space->scalar[part]->axis[d].nodes;
    j /= e;
  }
  return number;
}

/* The cells round a vertex. */
static int list_cells(const TesSpace *space, const int vertex[3], int cell[8][3]) {
  const int count = 1 << space->dim;
  for (int c = 0; c < count; c++)
    for (int d = 0; d < 3; d++)
      cell[c][d] = d < space->dim ? (vertex[d] + (c >> d & 1)) % tesi_modal(space, d)->cells : 0;
  return count;
}

static bool is_closed(const TesiStokesVaryingPlan *p, const int type[3]) {
  const TesSpace *space = p->stokes->stokes.space;
  for (int d = 0; d < space->dim; d++)
    if (p->axis[d].local[type[d]].nodes >= 2 * (space->degree + 1)) return false;
  return true;
}

/* Largest over least nu; c = max(mean, 0.6 max). At an open end of the box the energy of the symmetric form reaches
 * twice the energy of the gradient form for velocities without divergence. There c is 5/3 of that, so that a
 * correction is at most twice the exact correction. */
static double measure(const TesiStokesVaryingPlan *p, TesiVaryingPatch *patch) {
  const TesiStokesVarying *s = p->stokes;
  const TesSpace *space = s->stokes.space;
  int cell[8][3];
  const int cells = list_cells(space, patch->vertex, cell);
  double sum = 0, all = 0, least = INFINITY, largest = 0;
  for (int c = 0; c < cells; c++) {
    const int64_t i = tesi_rt_cell_number(s->stokes.space, cell[c]);
    double volume = 1;
    for (int d = 0; d < space->dim; d++) volume *= tesi_modal(space, d)->h[cell[c][d]];
    sum += volume * s->mean[i], all += volume;
    least = fmin(least, s->least[i]), largest = fmax(largest, s->largest[i]);
  }
  patch->c = fmax(sum / all, 0.6 * largest);
  if (s->symmetric && !is_closed(p, patch->type)) patch->c *= 5.0 / 3;
  return largest / least;
}

static TesiVaryingPatch patch_at(const TesiStokesVaryingPlan *p, const int vertex[3]) {
  TesiVaryingPatch patch = {.vertex = {vertex[0], vertex[1], vertex[2]}};
  for (int d = 0; d < 3; d++) patch.type[d] = p->axis[d].type[vertex[d]];
  return patch;
}

/* Colour by colour. */
static TesStatus list_patches(TesContext *ctx, TesiStokesVaryingPlan *p) {
  TesStatus status = TES_OK;
  const TesiStokesPatchAxis *a = p->axis;
  const int all = a[0].vertices * a[1].vertices * a[2].vertices;
  int(*vertex)[3] = NULL;
  p->colours = tesi_stokes_patch_boxes(a);
  TES_ALLOC(&p->first, p->colours + 1);
  TES_ALLOC(&p->patch, all);
  TES_ALLOC(&vertex, all);
  tesi_stokes_patch_list(a, 3, false, p->colours, p->first, vertex);
  for (int i = 0; i < all; i++) p->patch[i] = patch_at(p, vertex[i]);
done:
  tesi_free(ctx, &vertex);
  return status;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

/* The table that a patch takes: its number, one past the last if there is none. */
static int find_table(const TesiStokesVaryingPlan *p, const TesiVaryingPatch *patch, int rung) {
  int t = 0;
  while (t < p->tables &&
         (memcmp(p->table[t].type, patch->type, sizeof patch->type) != 0 || p->table[t].rung != rung))
    t++;
  return t;
}

static TesStatus add_table(TesContext *ctx, TesiStokesVaryingPlan *p, const TesiVaryingPatch *patch, int rung) {
  TesStatus status = TES_OK;
  const TesiStokes *s = &p->stokes->stokes;
  TesiVaryingTable *t = &p->table[p->tables];
  *t = (TesiVaryingTable){.local = {.dim = s->space->dim,
                                    .nu = 1,
                                    .alpha = s->alpha / pow(rung_ratio, rung),
                                    .closed = is_closed(p, patch->type)},
                          .rung = rung};
  memcpy(t->type, patch->type, sizeof t->type);
  for (int d = 0; d < 3; d++) t->local.axis[d] = &p->axis[d].local[patch->type[d]];
  const int64_t n = tesi_stokes_local_pressures(&t->local);
  const double size = (double)(n * n) * sizeof(double), room = (double)tes_memory_available() / 2;
  if (size > room)
    TES_FAIL(
        TES_OUT_OF_MEMORY,
        "inverse Schur complements of patches of %.3g MB each do not fit into the %.3g GiB that are free: "
        "use equal cells in more directions, fewer cells or a lower degree",
        1e-6 * size, room / (1 << 30));
  TES_ALLOC(&t->S, n * n);
  p->tables++;
  TES_TRY(tesi_stokes_local_invert(ctx, &t->local, t->S));
done:
  return status;
}

int tesi_stokes_varying_round(const TesiStokesVaryingPlan *p, TesiVaryingPatch *patch) {
  if (p->stokes->stokes.alpha == 0) return 0;
  const int rung = (int)lround(log(patch->c) / log(rung_ratio));
  patch->c = pow(rung_ratio, rung);
  return rung;
}

static TesStatus fill_tables(TesContext *ctx, TesiStokesVaryingPlan *p) {
  TesStatus status = TES_OK;
  TES_ALLOC(&p->table, p->first[p->colours] + 1);
  for (int i = 0; i < p->first[p->colours]; i++) {
    TesiVaryingPatch *patch = &p->patch[i];
    if (patch->exact) continue;
    const int rung = tesi_stokes_varying_round(p, patch);
    patch->table = find_table(p, patch, rung);
    if (patch->table < p->tables) continue;
    TES_TRY(add_table(ctx, p, patch, rung));
  }
done:
  return status;
}

/* ---- exact patches ------------------------------------------------------------------------------------- */

/* The first patch of the same kind, where all of a kind are alike; else the patch itself. */
static TesiVaryingPatch *find_like(const TesiStokesVaryingPlan *p, TesiVaryingPatch *patch) {
  TesiVaryingPatch *like = p->own ? p->patch : patch;
  while (memcmp(like->type, patch->type, sizeof patch->type) != 0) like++;
  return like;
}

static TesStatus fill_exact(const TesSmoother *smoother, TesiStokesVaryingPlan *p, TesiVaryingPatch *patch) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int n = patch_size(p, patch), parts = p->stokes->stokes.space->parts;
  int cell[8][3];
  int64_t *list = NULL;
  double *K = NULL;
  const TesiVaryingPatch *like = find_like(p, patch);
  p->exact++;
  patch->shared = like != patch;
  if (patch->shared) patch->exact = like->exact;
  if (patch->shared) return TES_OK;
  TES_ALLOC(&list, n);
  TES_ALLOC(&K, (int64_t)n * n);
  for (int part = 0, i = 0; part < parts; part++)
    for (int j = 0; j < part_size(p, patch, part); j++) list[i++] = number_of(p, patch, part, j);
  const int cells = list_cells(p->stokes->stokes.space, patch->vertex, cell);
  TES_TRY(
      tesi_stokes_varying_invert(p->op, cells, (const int(*)[3])cell, is_closed(p, patch->type), n, list, K));
  TES_TRY(tesi_upload_numbers(ctx, K, (int64_t)n * n, smoother->op->precision, &patch->exact));
done:
  tesi_free(ctx, &list);
  tesi_free(ctx, &K);
  return status;
}

/* All patches that want it, or none of the level. */
static TesStatus fill_exacts(const TesSmoother *smoother, TesiStokesVaryingPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int all = p->first[p->colours];
  const bool all_exact = smoother->local == TES_LOCAL_EXACT || smoother->local == TES_LOCAL_DENSE;
  const double least = all_exact                             ? 0
                       : smoother->local == TES_LOCAL_SCALED ? INFINITY
                                                             : TESI_VARYING_EXACT_RATIO,
               number = (double)tesi_precision_size(smoother->op->precision);
  double bytes = 0;
  int wanted = 0;
  bool *exact = NULL;
  TES_ALLOC(&exact, all + 1);
  for (int i = 0; i < all; i++) {
    const double n = patch_size(p, &p->patch[i]);
    exact[i] = measure(p, &p->patch[i]) > least;
    wanted += exact[i];
    if (exact[i] && find_like(p, &p->patch[i]) == &p->patch[i]) bytes += n * n * number;
  }
  const bool fits =
      bytes <= TESI_VARYING_EXACT_BYTES && bytes <= 0.25 * (double)tesi_context_device(ctx)->available(ctx);
  if (!fits && all_exact)
    TES_FAIL(TES_OUT_OF_MEMORY,
             "exact inverses of %d patches need %.3g GiB, at most 1 GiB and a quarter of the free memory are "
             "taken: use local_solver auto%s",
             wanted, bytes / (1 << 30), p->own ? "" : " or scaled");
  if (!fits) p->refused = wanted;
  for (int i = 0; i < all && fits; i++)
    if (exact[i]) TES_TRY(fill_exact(smoother, p, &p->patch[i]));
done:
  tesi_free(ctx, &exact);
  return status;
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

typedef struct Colour {
  const TesiStokesVaryingPlan *plan;
  TesPrecision precision;
  int first;
  const void *r;
  void *x;
} Colour;

/* x[list] += exact r[list]. */
static void solve_exactly(const Colour *c, const TesiVaryingPatch *patch, double *work) {
  const TesiStokesVaryingPlan *p = c->plan;
  const int parts = p->stokes->stokes.space->parts, n = patch_size(p, patch);
  for (int part = 0, i = 0; part < parts; part++)
    for (int j = 0; j < part_size(p, patch, part); j++)
      work[i++] = tesi_number_get(c->precision, c->r, number_of(p, patch, part, j));
  for (int part = 0, i = 0; part < parts; part++)
    for (int j = 0; j < part_size(p, patch, part); j++, i++) {
      double sum = 0;
      if (c->precision == TES_DOUBLE)
        for (int k = 0; k < n; k++) sum += ((const double *)patch->exact)[(int64_t)i * n + k] * work[k];
      else
        for (int k = 0; k < n; k++)
          sum += (double)((const float *)patch->exact)[(int64_t)i * n + k] * work[k];
      tesi_number_add(c->precision, c->x, number_of(p, patch, part, j), sum);
    }
}

static void solve_scaled(const Colour *c, const TesiVaryingPatch *patch, double *work) {
  const TesiStokesVaryingPlan *p = c->plan;
  const TesiVaryingTable *t = &p->table[patch->table];
  const int dim = t->local.dim, most = tesi_stokes_local_most(&t->local);
  double *part[TESI_RT_PARTS];
  for (int i = 0; i <= dim; i++) {
    part[i] = work + (2 + i) * most;
    for (int j = 0; j < part_size(p, patch, i); j++)
      part[i][j] = tesi_number_get(c->precision, c->r, number_of(p, patch, i, j)) * (i == dim ? patch->c : 1);
  }
  tesi_stokes_local_solve(&t->local, t->S, part, work);
  for (int i = 0; i <= dim; i++)
    for (int j = 0; j < part_size(p, patch, i); j++)
      tesi_number_add(c->precision, c->x, number_of(p, patch, i, j), part[i][j] / (i == dim ? 1 : patch->c));
}

static void run_patches(const void *data, TesiSpan span) {
  const Colour *c = data;
  double *work = c->plan->work + span.thread * c->plan->share;
  for (int64_t i = c->first + span.first; i < c->first + span.end; i++) {
    const TesiVaryingPatch *patch = &c->plan->patch[i];
    if (patch->exact)
      solve_exactly(c, patch, work);
    else
      solve_scaled(c, patch, work);
  }
}

static int colours_of(const TesSmoother *smoother) {
  const TesiStokesVaryingPlan *p = smoother->plan;
  return p->colours;
}

static TesStatus solve_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  const TesiStokesVaryingPlan *p = smoother->plan;
  const int start = p->first[colour];
  if (p->scaled) return tesi_stokes_varying_patches_solve(smoother->context, p, colour, r, x);
  tesi_team_share(p->threads, p->first[colour + 1] - start, 1, run_patches,
                  &(Colour){.plan = p, .precision = smoother->op->precision, .first = start, .r = r, .x = x});
  return TES_OK;
}

static TesStatus apply_colours(const TesSmoother *smoother, const void *b, void *x, TesiColours colours,
                               bool zero_guess) {
  static const TesiResidualSweep sweep = {.solve = solve_colour};
  const TesiStokesVaryingPlan *p = smoother->plan;
  return tesi_sweep_residuals(smoother, &sweep, p->r, colours, b, x, zero_guess);
}

/* Exact solves of all patches: what is done where all of them are exact, or where the form is the gradient's with a
 * constant viscosity. */
static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const TesiStokesVaryingPlan *p = smoother->plan;
  return tesi_stokes_patch_sweep_ref(smoother->op, p->axis, false, b, x, sweep);
}

static TesCost cost(const TesSmoother *smoother) {
  const TesiStokesVaryingPlan *p = smoother->plan;
  TesCost all = tesi_stokes_patch_cost(smoother->op, 2, p->colours, p->first[p->colours] - p->exact);
  for (int i = 0; i < p->first[p->colours]; i++) {
    const double n = patch_size(p, &p->patch[i]);
    if (!p->patch[i].exact) continue;
    all.flops += 2 * n * n;
    all.bytes += n * n * (double)tesi_precision_size(smoother->op->precision);
  }
  return all;
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiStokesVaryingPlan *p = smoother->plan;
  if (!p) return;
  for (int i = 0; p->patch && i < p->first[p->colours]; i++)
    if (!p->patch[i].shared) tesi_context_device(ctx)->release(ctx, &p->patch[i].exact);
  for (int t = 0; t < p->tables; t++) tesi_free(ctx, &p->table[t].S);
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &p->axis[d]);
  if (p->r) tesi_context_device(ctx)->release(ctx, &p->r);
  tesi_free(ctx, &p->patch);
  tesi_free(ctx, &p->first);
  tesi_free(ctx, &p->table);
  tesi_free(ctx, &p->work);
  tesi_stokes_patches_free(ctx, &p->patches);
  tesi_free(ctx, &p->scaled);
  tes_operator_destroy(&p->own);
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {.apply = tesi_sweep_all_colours,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy,
                                        .colours = colours_of,
                                        .apply_colours = apply_colours};

static void describe(TesSmoother *smoother) {
  const TesiStokesVaryingPlan *p = smoother->plan;
  const int all = p->first[p->colours];
  snprintf(smoother->description, sizeof smoother->description,
           "vertex patches in %d colours%s: %d by Schur complements scaled by nu, %d by inverses%s",
           p->colours, p->scaled ? ", by kernels" : "", all - p->exact, p->exact,
           p->refused ? "; no room for inverses where nu varies 3-fold: more iterations" : "");
}

static TesStatus create_own(const TesOperator *op, TesOperator **own) {
  TesOperatorDesc desc = op->desc;
  desc.space = op->space, desc.precision = op->precision, desc.kind = tesi_operator_stokes_varying.name;
  return tes_operator_create(op->context, &desc, own);
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(smoother->op->precision);
  TesiStokesVaryingPlan *p;
  int64_t most = 1;
  TES_CHECK(!smoother->red_black,
            "solver.colours: red_black is for a constant viscosity without dense inverses; take parquet");
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  if (!tesi_is_stokes_varying(smoother->op)) TES_TRY(create_own(smoother->op, &p->own));
  p->op = p->own ? p->own : smoother->op;
  p->stokes = tesi_stokes_varying_of(p->op);
  const TesSpace *space = p->stokes->stokes.space;
  p->threads = tes_context_threads(ctx);
  for (int d = 0; d < 3; d++) {
    p->axis[d].lexicographic = smoother->lexicographic;
    TES_TRY(tesi_stokes_patch_axis_create(ctx, &p->stokes->stokes, d, 2, &p->axis[d]));
    if (d < space->dim) most *= 2 * space->degree + 3;
  }
  TES_TRY(list_patches(ctx, p));
  TES_TRY(fill_exacts(smoother, p));
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_stokes_varying_patches_create(smoother, p));
  } else {
    TES_TRY(fill_tables(ctx, p));
    p->share = (2 + space->parts) * most;
    TES_ALLOC(&p->work, p->threads * p->share);
  }
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)smoother->op->length * size, &p->r));
  smoother->omega = 1;
  smoother->symmetric = true;
  describe(smoother);
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const bool dense = smoother->local == TES_LOCAL_DENSE && smoother->op->kind == &tesi_operator_stokes;
  return tesi_is_stokes_varying(smoother->op) || dense ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_stokes_varying = {TESI_SMOOTHES(TES_SMOOTHER_PATCH), refuses, init};
