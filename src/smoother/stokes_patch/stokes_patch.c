/* Vertex patches and closed cells of Stokes: sweeps, fused and from residuals. */
#include "smoother/stokes_patch/stokes_patch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "device/kernel.h"

/* ---- a colour ------------------------------------------------------------------------------------------ */

typedef struct Colour {
  const TesiStokesPatchPlan *plan;
  int bits, first;
  bool single;
  TesiStokesPatchJob job;
} Colour;

static void run_tasks(const void *data, TesiSpan span) {
  const Colour *c = data;
  const TesiStokesPatchPlan *p = c->plan;
  for (int64_t i = c->first + span.first; i < c->first + span.end; i++) {
    if (c->single)
      TESI_SIMD_PICK(c->bits, tesk_stokes_patch_float)(p, &p->task[i], &c->job, p->work[span.thread]);
    else
      TESI_SIMD_PICK(c->bits, tesk_stokes_patch_double)(p, &p->task[i], &c->job, p->work[span.thread]);
  }
}

static int threads_of(const TesSmoother *smoother, int64_t numbers) {
  const TesiStokesPatchPlan *p = smoother->plan;
  return tesi_min(tesi_team_threads(smoother->context, numbers), p->threads);
}

static void run_colour(const TesSmoother *smoother, int colour, const TesiStokesPatchJob *job) {
  const TesiStokesPatchPlan *p = smoother->plan;
  const int first = p->first_task[colour], count = p->first_task[colour + 1] - first;
  const Colour c = {.plan = p,
                    .bits = tes_context_simd_bits(smoother->context),
                    .first = first,
                    .single = smoother->op->precision == TES_SINGLE,
                    .job = *job};
  tesi_team_share(threads_of(smoother, (int64_t)count * p->pressures * 256), count, 1, run_tasks, &c);
}

/* ---- entries that no patch of a colour writes ------------------------------------------------------------ */

typedef struct Rest {
  const TesiStokesPatchPlan *plan;
  const TesiStokesPatchRest *rest[3]; /* NULL: the direction does not exist */
  size_t size;                        /* of a number */
  int part;
  const char *from;
  char *to;
} Rest;

static bool is_rest(const Rest *r, int d, int i) {
  return r->rest[d] && (d == r->part ? r->rest[d]->node : r->rest[d]->mode)[i];
}

/* Lines along x. */
static void copy_lines(const void *data, TesiSpan span) {
  const Rest *r = data;
  const int extent[3] = TESI_EXTENT(r->plan->space->scalar[r->part]);
  const TesiStokesPatchRest *x = r->rest[0];
  const int *list = r->part ? x->modes : x->nodes, count = r->part ? x->mode_count : x->node_count;
  for (int64_t l = span.first; l < span.end; l++) {
    const size_t at = (size_t)(r->plan->space->first[r->part] + l * extent[0]) * r->size;
    if (is_rest(r, 1, (int)(l % extent[1])) || is_rest(r, 2, (int)(l / extent[1])))
      memcpy(r->to + at, r->from + at, (size_t)extent[0] * r->size);
    else
      for (int i = 0; i < count; i++)
        memcpy(r->to + at + (size_t)list[i] * r->size, r->from + at + (size_t)list[i] * r->size, r->size);
  }
}

static void copy_rest(const TesSmoother *smoother, int colour, const void *from, void *to) {
  const TesiStokesPatchPlan *p = smoother->plan;
  const TesiStokesPatchAxis *a = p->axis;
  int of[3];
  tesi_stokes_patch_box(a, colour, of);
  Rest r = {.plan = p, .size = tesi_precision_size(smoother->op->precision), .from = from, .to = to};
  for (int d = 0; d < p->space->dim; d++) r.rest[d] = &p->rest[d][of[d]];
  for (r.part = 0; r.part < p->space->parts; r.part++) {
    const int extent[3] = TESI_EXTENT(p->space->scalar[r.part]);
    const int64_t lines = (int64_t)extent[1] * extent[2];
    tesi_team_for(threads_of(smoother, lines * extent[0]), lines, copy_lines, &r);
  }
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

static TesStatus solve_colour(const TesSmoother *smoother, int colour, const void *r, void *x) {
  run_colour(smoother, colour, &(TesiStokesPatchJob){.r = r, .x_new = x});
  return TES_OK;
}

/* Patches of a red or black colour do not know each other: x is changed where it stands. Those of other colours read
 * what others of them change: between x and a second vector. */
static TesStatus apply_fused(const TesSmoother *smoother, const void *b, void *x, TesiColours colours) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiStokesPatchPlan *p = smoother->plan;
  const TesOperator *op = smoother->op;
  void *from = x, *to = p->red_black ? x : p->r;
  for (int i = 0; i < colours.count; i++) {
    const int colour = colours.first + i * colours.step;
    if (to != from) copy_rest(smoother, colour, from, to);
    run_colour(smoother, colour, &(TesiStokesPatchJob){.b = b, .x = from, .x_new = to});
    void *const other = from;
    from = to, to = other;
  }
  if (from != x)
    TES_TRY(tesi_context_device(ctx)->copy(ctx, op->length, 1, op->precision, from, op->precision, x));
done:
  return status;
}

static int colours_of(const TesSmoother *smoother) {
  const TesiStokesPatchPlan *p = smoother->plan;
  return p->colours;
}

static TesStatus apply_colours(const TesSmoother *smoother, const void *b, void *x, TesiColours colours,
                               bool zero_guess) {
  static const TesiResidualSweep sweep = {.solve = solve_colour};
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiStokesPatchPlan *p = smoother->plan;
  const TesOperator *op = smoother->op;
  if (!p->fused) return tesi_sweep_residuals(smoother, &sweep, p->r, colours, b, x, zero_guess);
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->length, 0, x));
  TES_TRY(apply_fused(smoother, b, x, colours));
done:
  return status;
}

static TesStatus solve_cells(const TesSmoother *smoother, const void *b, bool ordered, void *x) {
  (void)ordered; /* sweeps of the processor have no order of their own */
  return apply_colours(smoother, b, x, tesi_colour_of_cells(), false);
}

/* Flops of an inner patch. A cell has one basis per direction, a vertex patch has even and odd halves. */
static double cell_flops(int dim, double n) {
  const double K = pow(n, dim), lines = K / n, nodes = lines * (n + 1) * (n + 1), modes = K * n;
  return 2 * (2 * dim * (nodes + (dim - 1) * modes * (1 + 1 / n) + lines * n * (n + 1)) + 2 * dim * modes +
              K * K);
}

static double patch_flops(int dim, double n) {
  const double N = 2 * n, K = pow(N, dim), lines = K / N, halves = 2 * n * n /* multiplications of a line */;
  return 2 * (lines * halves * (2 * dim * dim + 4 * dim) + K * K / pow(2, dim));
}

/* Lc, Mc and D of the nodes at the ends, and Ld across faces. */
static double outside_flops(int dim, double n) {
  const double N = 2 * n, lines = pow(N, dim - 1);
  return 2 * dim * lines *
         (2 * (dim - 1) * (1 + 1 / N) * n * n + 2 * (dim - 1) * N + 2 * n * (n + 1) + N + 4 * n);
}

TesCost tesi_stokes_patch_cost(const TesOperator *op, int span, int colours, double patches) {
  const TesCost residual = tes_operator_info(op).cost;
  const TesSpace *space = tesi_stokes_of(op)->space;
  const double flops =
      span == 1 ? cell_flops(space->dim, space->degree + 1) : patch_flops(space->dim, space->degree + 1);
  return (TesCost){.flops = colours * residual.flops + patches * flops, .bytes = colours * 2 * residual.bytes};
}

static TesCost cost(const TesSmoother *smoother) {
  const TesiStokesPatchPlan *p = smoother->plan;
  double patches = 1;
  for (int d = 0; d < 3; d++) patches *= p->axis[d].vertices;
  if (!p->fused) return tesi_stokes_patch_cost(smoother->op, p->axis[0].span, p->colours, patches);
  const double vector = (double)tesi_precision_size(smoother->op->precision) * (double)smoother->op->length;
  return (TesCost){.flops = patches * (patch_flops(p->space->dim, p->space->degree + 1) +
                                       outside_flops(p->space->dim, p->space->degree + 1)),
                   .bytes = p->colours * 4 * vector};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiStokesPatchPlan *p = smoother->plan;
  if (!p) return;
  tesi_stokes_patch_tables_free(ctx, p);
  tesi_stokes_patch_tasks_free(ctx, p);
  for (int d = 0; d < 3; d++) tesi_stokes_patch_axis_free(ctx, &p->axis[d]);
  for (int t = 0; p->work && t < p->threads; t++) tesi_free(ctx, &p->work[t]);
  if (p->r) tesi_context_device(ctx)->release(ctx, &p->r);
  tesi_free(ctx, &p->work);
  tesi_free(ctx, &smoother->plan);
}

static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  const TesiStokesPatchPlan *p = smoother->plan;
  return tesi_stokes_patch_sweep_ref(smoother->op, p->axis, p->red_black, b, x, sweep);
}

static const TesiSmootherTable table = {.apply = tesi_sweep_all_colours,
                                        .apply_ref = apply_ref,
                                        .cost = cost,
                                        .destroy = destroy,
                                        .solve_cells = solve_cells,
                                        .colours = colours_of,
                                        .apply_colours = apply_colours};

static TesStatus create_work(const TesSmoother *smoother, TesiStokesPatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(smoother->op->precision);
  p->work_size = tesi_stokes_patch_work(p->space);
  TES_ALLOC(&p->work, p->threads);
  for (int t = 0; t < p->threads; t++) TES_TRY(tesi_alloc(ctx, p->work_size, 64, &p->work[t]));
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)smoother->op->length * size, &p->r));
done:
  return status;
}

/* In a periodic direction the parity of numbers of patches changes from each to the next where their count is even. */
static bool can_fuse(const TesiStokesPatchPlan *p) {
  if (p->axis[0].span == 1) return false;
  for (int d = 0; d < p->space->dim; d++) {
    if (p->axis[d].ring_of_two) return false;
    if (p->red_black && tesi_modal(p->space, d)->periodic && p->axis[d].vertices % 4 == 2) return false;
  }
  return true;
}

static TesStatus init_axes(const TesSmoother *smoother, TesiStokesPatchPlan *p) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int span = tesi_stokes_patch_span(smoother);
  const bool mirrored = getenv("TESSERA_PATCH_MIRRORED") != NULL; /* for tests of those of devices */
  p->modes = span * (p->space->degree + 1);
  p->pressures = 1;
  for (int d = 0; d < 3; d++) {
    p->axis[d].mirrored = mirrored;
    p->axis[d].lexicographic = smoother->lexicographic;
    TES_TRY(tesi_stokes_patch_axis_create(ctx, p->stokes, d, span, &p->axis[d]));
    if (d < p->space->dim) p->pressures *= p->modes;
  }
done:
  return status;
}

static void describe(TesSmoother *smoother, const TesiStokesPatchPlan *p) {
  char how[80] = "solved exactly";
  if (p->iterates && p->inverses)
    snprintf(how, sizeof how, "solved by conjugate gradients with %d tables", p->inverses);
  else if (p->iterates)
    snprintf(how, sizeof how, "solved by conjugate gradients");
  snprintf(smoother->description, sizeof smoother->description,
           "%s in %d colours%s, %s: %d kinds, Schur complements of %d",
           p->axis[0].span == 1 ? "closed cells" : "vertex patches", p->colours,
           p->fused ? ", residuals inside" : "", how, p->kinds, p->pressures);
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int bits = tesi_simd_built(tes_context_simd_bits(ctx)),
            lanes = bits / 8 / (int)tesi_precision_size(smoother->op->precision);
  TesiStokesPatchPlan *p;
  if (tesi_has_kernels(ctx)) return tesi_smoother_stokes_device_init(smoother);
  smoother->table = &table;
  TES_NEW(&p);
  smoother->plan = p;
  p->stokes = tesi_stokes_of(smoother->op);
  p->space = p->stokes->space;
  p->threads = tes_context_threads(ctx);
  p->red_black = smoother->red_black;
  TES_TRY(init_axes(smoother, p));
  const TesSmoother *below = smoother->below;
  TES_TRY(tesi_stokes_patch_tables_create(smoother, below && below->table == &table ? below->plan : NULL, p));
  /* the fused way is that of exact local solves */
  p->fused = !smoother->unfused && !p->iterates && !p->axis[0].mirrored && can_fuse(p);
  TES_TRY(tesi_stokes_patch_tasks_create(ctx, lanes, p));
  TES_TRY(create_work(smoother, p));
  smoother->omega = 1;
  smoother->symmetric = true;
  describe(smoother, p);
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  return smoother->op->kind == &tesi_operator_stokes ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_stokes = {
    TESI_SMOOTHES(TES_SMOOTHER_PATCH) | TESI_SMOOTHES(TES_SMOOTHER_CELL_PATCH), refuses, init};
