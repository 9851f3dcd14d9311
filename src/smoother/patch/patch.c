/* The multiplicative vertex-patch smoother with exact local solves, for separable operators: set-up of the nested
 * sweep. */
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "device/kernel.h"
#include "smoother/patch/patch_device.h"
#include "smoother/patch/patch_plan.h"

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  const TesiPatchPlan *plan = smoother->plan;
  plan->sweep(plan, b, x, sweep, zero_guess);
  return TES_OK;
}

static TesCost cost(const TesSmoother *smoother) {
  const TesSpace *space = smoother->op->space;
  const double k = space->degree, n = (double)space->length;
  (void)k;
  return (TesCost){.flops = 0, .bytes = 3 * n * (double)tesi_precision_size(smoother->op->precision)};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesiPatchPlan *plan = smoother->plan;
  if (!plan) return;
  tesi_patch_cell_destroy(ctx, &plan->cell);
  tesi_nested_axis_destroy(ctx, &plan->outer);
  tesi_nested_axis_destroy(ctx, &plan->middle);
  tesi_free(ctx, &plan->dual);
  tesi_free(ctx, &plan->values);
  tesi_free(ctx, &plan->coefficients);
  tesi_free(ctx, &plan->lambda);
  tesi_free(ctx, &plan->p);
  tesi_free(ctx, &plan->q);
  tesi_free(ctx, &plan->r);
  tesi_free(ctx, &plan->width);
  tesi_free(ctx, &plan->conductance);
  tesi_free(ctx, &plan->mask);
  for (int t = 0; plan->work && t < plan->threads; t++) tesi_free(ctx, &plan->work[t]);
  tesi_free(ctx, &plan->work);
  tesi_free(ctx, &smoother->plan);
}

static int round_up(int n, int multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/* Room for one vector before the even vertices, for vertex 0, and after the row, since vectors may reach beyond it. The
 * row has an odd number of cache lines, so that rows are in different cache sets. */
static void place_row(TesiPatchPlan *plan, size_t size) {
  TesiPatchRow *row = &plan->row;
  const int lanes = row->lanes, line = (int)(64 / size);
  row->even = lanes;
  row->odd = row->even + round_up((plan->cells + 1) / 2, lanes);
  row->bubbles = row->odd + round_up((plan->cells + 1) / 2, lanes);
  row->stride = round_up(plan->cells, 4);
  row->begin = plan->natural[0] ? 0 : lanes;
  row->end = row->bubbles + round_up((plan->degree - 1) * row->stride, lanes);
  row->pitch = round_up(row->end + lanes, line);
  if (row->pitch / line % 2 == 0) row->pitch += line;
}

/* The halves of A[B][B]: even [E][E], then odd [O][O]; inputs (columns) or outputs (rows) are the modes. */
static void halve(int bubbles, const double *A, bool transposed, bool modes_out, double *halves) {
  const int even = (bubbles + 1) / 2, odd = bubbles / 2;
  for (int part = 0; part < 2; part++) {
    const int size = part ? odd : even, first = part ? even : 0;
    for (int o = 0; o < size; o++)
      for (int i = 0; i < size; i++) {
        const int row = modes_out ? first + o : o, column = modes_out ? i : first + i;
        *halves++ = transposed ? A[column * bubbles + row] : A[row * bubbles + column];
      }
  }
}

static TesStatus fill_cell_tables(TesContext *ctx, TesPrecision precision, TesiPatchPlan *plan) {
  TesStatus status = TES_OK;
  const TesiPatchCell *cell = &plan->cell;
  const int bubbles = plan->degree - 1, even = (bubbles + 1) / 2,
            count = even * even + (bubbles / 2) * (bubbles / 2);
  double *halves = NULL;
  TES_ALLOC(&halves, count + 1);
  halve(bubbles, cell->modes, true, true, halves);
  TES_TRY(tesi_patch_table(ctx, precision, count, 0, halves, &plan->dual));
  halve(bubbles, cell->modes, false, false, halves);
  TES_TRY(tesi_patch_table(ctx, precision, count, 0, halves, &plan->values));
  halve(bubbles, cell->inverse, false, true, halves);
  TES_TRY(tesi_patch_table(ctx, precision, count, 0, halves, &plan->coefficients));
  TES_TRY(tesi_patch_table(ctx, precision, bubbles, 0, cell->lambda, &plan->lambda));
  TES_TRY(tesi_patch_table(ctx, precision, bubbles, 0, cell->p, &plan->p));
  TES_TRY(tesi_patch_table(ctx, precision, bubbles, 0, cell->q, &plan->q));
  TES_TRY(tesi_patch_table(ctx, precision, bubbles, 0, cell->r, &plan->r));
done:
  tesi_free(ctx, &halves);
  return status;
}

/* Tables along x, lane by lane. */
static TesStatus fill_lanes(const TesOperator *op, TesiPatchPlan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *axis = &op->space->axis[0];
  const int padding = 3 * plan->row.lanes;
  double *values = NULL;
  TES_ALLOC(&values, tesi_max(plan->cells, plan->row.bubbles));
  TES_TRY(tesi_patch_table(ctx, op->precision, plan->cells, padding, axis->h, &plan->width));
  for (int c = 0; c < plan->cells; c++) values[c] = tesi_diffusion_of(op)->a / axis->h[c];
  TES_TRY(tesi_patch_table(ctx, op->precision, plan->cells, padding, values, &plan->conductance));
  memset(values, 0, sizeof *values * (size_t)tesi_max(plan->cells, plan->row.bubbles));
  for (int v = 0; v <= plan->cells; v++) {
    const bool unknown = (v > 0 || plan->natural[0]) && (v < plan->cells || plan->natural[1]);
    values[v % 2 ? plan->row.odd + v / 2 : plan->row.even + v / 2 - 1] = unknown;
  }
  TES_TRY(tesi_patch_table(ctx, op->precision, plan->row.bubbles, padding, values, &plan->mask));
done:
  tesi_free(ctx, &values);
  return status;
}

typedef struct Build {
  void (*sweep)(const TesiPatchPlan *plan, const void *b, void *x, TesSweep sweep, bool zero_guess);
  size_t (*work)(const TesiPatchPlan *plan);
} Build;

static Build choose_build(int bits, TesPrecision precision) {
  if (precision == TES_DOUBLE)
    return (Build){TESI_SIMD_PICK(bits, tesk_patch_double), TESI_SIMD_PICK(bits, tesk_patch_work_double)};
  return (Build){TESI_SIMD_PICK(bits, tesk_patch_float), TESI_SIMD_PICK(bits, tesk_patch_work_float)};
}

static TesStatus fill_work(TesContext *ctx, int64_t length, size_t bytes, TesiPatchPlan *plan) {
  TesStatus status = TES_OK;
  plan->threads = tesi_max(1, tesi_min(tesi_team_threads(ctx, 8 * length), plan->outer.count));
  TES_ALLOC(&plan->work, plan->threads);
  for (int t = 0; t < plan->threads; t++) TES_TRY(tesi_alloc(ctx, bytes, 1, &plan->work[t]));
done:
  return status;
}

/* Vectors contain cells of a line, so they are not wider than the number of cells. */
static int choose_bits(const TesOperator *op) {
  int bits = tes_context_simd_bits(op->context);
  const int number = 8 * (int)tesi_precision_size(op->precision);
  while (bits / number > op->space->axis[0].cells && tesi_simd_built(bits / 2) < bits)
    bits = tesi_simd_built(bits / 2);
  return bits;
}

static TesStatus fill_plan(const TesOperator *op, TesiPatchPlan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesSpace *space = op->space;
  const size_t size = tesi_precision_size(op->precision);
  const int bits = choose_bits(op);
  const Build build = choose_build(bits, op->precision);
  plan->dim = space->dim, plan->degree = space->degree;
  plan->a = tesi_diffusion_of(op)->a, plan->c = tesi_diffusion_of(op)->c;
  plan->cells = space->axis[0].cells, plan->nodes = space->axis[0].nodes;
  plan->odd_end = space->axis[0].odd_end;
  plan->graded = !space->axis[0].uniform && !plan->odd_end;
  plan->h = space->axis[0].h[0], plan->h_end = space->axis[0].h[plan->cells - 1];
  for (int end = 0; end < 2; end++) {
    plan->natural[end] = space->axis[0].end[end] != TESI_STRONG;
    plan->alpha[end] = tesi_diffusion_of(op)->alpha[end];
  }
  plan->row.lanes = (int)((size_t)bits / 8 / size);
  place_row(plan, size);
  TES_TRY(tesi_patch_cell_create(ctx, plan->degree, &plan->cell));
  TES_TRY(fill_cell_tables(ctx, op->precision, plan));
  TES_TRY(tesi_nested_axis_create(op, plan->dim - 1, &plan->cell, true, &plan->outer));
  if (plan->dim == 3) TES_TRY(tesi_nested_axis_create(op, 1, &plan->cell, false, &plan->middle));
  TES_TRY(fill_lanes(op, plan));
  plan->sweep = build.sweep;
  TES_TRY(fill_work(ctx, space->length, build.work(plan), plan));
done:
  return status;
}

static const TesiSmootherTable table = {
    .apply = apply,
    .apply_ref = tesi_smoother_patch_apply_ref,
    .cost = cost,
    .destroy = destroy,
};

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesiPatchPlan *plan = NULL;
  TES_CHECK(smoother->omega == 0 || smoother->omega == 1,
            "omega is %g: the multiplicative patch smoother with exact local solves is not damped",
            smoother->omega);
  smoother->omega = 1;
  smoother->symmetric = true;
  if (tesi_has_kernels(ctx)) {
    TES_TRY(tesi_smoother_patch_device_init(smoother));
    goto done;
  }
  TES_NEW(&plan);
  smoother->table = &table;
  smoother->plan = plan;
  TES_TRY(fill_plan(smoother->op, plan));
  snprintf(smoother->description, sizeof smoother->description,
           "patch, exact local solves, nested sweep, degree %d (%s), %s, %d-bit SIMD", plan->degree,
           tesi_simd_word(plan->degree <= tesi_simd_degrees(choose_bits(smoother->op)), plan->degree,
                          TESI_PATCH_SPECIALISED),
           smoother->op->precision == TES_DOUBLE ? "float64" : "float32", choose_bits(smoother->op));
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  const char *reason = tesi_smoother_wants_patches(smoother);
  return reason ? reason : smoother->local == TES_LOCAL_EXACT ? NULL : TESI_ELSEWHERE;
}

const TesiSmootherKind tesi_smoother_exact = {TESI_SMOOTHES(TES_SMOOTHER_PATCH), refuses, init};
