/* The quadrature form of the diffusion operator: plan, tiles, and the loop over them. */
#include "base/real.h"
#include "operator/form.h"
#include "operator/operator_periodic.h"
#include "operator/quadrature/quadrature.h"
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "device/kernel.h"
#include "operator/quadrature/quadrature_device.h"

enum { TILES = 64 /* about this many tiles, if there are so many cells: work for this many threads */ };

static TesiQuadKernels choose_kernels(const TesOperator *op) {
  return TESI_SIMD_PICK(tes_context_simd_bits(op->context),
                        tesi_quad_kernels)(op->space->dim, op->space->degree, op->precision);
}

/* Lanes without a cell in all tiles of `rows` rows, per layer. */
static int wasted_lanes(const TesiQuadPlan *plan, int rows) {
  const int lanes = plan->kernels.lanes, tiles = plan->cells[1] / rows, rest = plan->cells[1] % rows;
  const int full = rows * plan->cells[0], part = rest * plan->cells[0];
  return tiles * ((lanes - full % lanes) % lanes) + (lanes - part % lanes) % lanes;
}

/* Cells per tile in y and z. Thin tiles repeat the nodes between them, so there are about as many tiles in y as in
 * z. */
static void choose_tile(const TesiQuadPlan *plan, int size[2]) {
  const int y = plan->cells[1], z = plan->cells[2];
  const int tiles_y = plan->dim == 2 ? TILES : z < 8 ? TILES / z : 8;
  const int least = (y + tiles_y - 1) / tiles_y;
  size[0] = least;
  for (int rows = least + 1; rows <= tesi_min(2 * least + 2, y); rows++)
    if (wasted_lanes(plan, rows) < wasted_lanes(plan, size[0])) size[0] = rows;
  size[1] = plan->dim == 3 && y < 8 ? tesi_max(1, z * y / TILES) : (z + 7) / 8;
}

static void set_tile(TesiQuadPlan *plan, TesiQuadTile *tile, const int at[2], const int size[2]) {
  int *const range[2] = {tile->y, tile->z};
  for (int d = 0; d < 2; d++) {
    range[d][0] = at[d] * size[d];
    range[d][1] = tesi_min(range[d][0] + size[d], plan->cells[1 + d]);
    tile->low[d] = at[d] % 2 && at[d] > 0;
    tile->high[d] = at[d] % 2 && range[d][1] < plan->cells[1 + d];
  }
  tile->colour = at[0] % 2 + 2 * (at[1] % 2);
  tile->batch = plan->batches;
  plan->batches += tesi_quad_layer_batches(plan, tile) * (tile->z[1] - tile->z[0]);
}

static TesStatus make_tiles(TesContext *ctx, TesiQuadPlan *plan) {
  TesStatus status = TES_OK;
  int size[2], count[2];
  choose_tile(plan, size);
  for (int d = 0; d < 2; d++) count[d] = (plan->cells[1 + d] + size[d] - 1) / size[d];
  TES_ALLOC(&plan->tiles, count[0] * count[1]);
  for (int colour = 0; colour < 4; colour++) {
    plan->first_of_colour[colour] = plan->tile_count;
    for (int z = colour / 2; z < count[1]; z += 2)
      for (int y = colour % 2; y < count[0]; y += 2)
        set_tile(plan, &plan->tiles[plan->tile_count++], (int[]){y, z}, size);
  }
  plan->first_of_colour[4] = plan->tile_count;
done:
  return status;
}

/* 1 / h^2 per cell, in the operator's precision. */
static TesStatus make_widths(TesContext *ctx, const TesSpace *space, TesiQuadPlan *plan) {
  TesStatus status = TES_OK;
  for (int d = 0; d < plan->dim; d++) {
    const double *h = space->axis[d].h;
    TES_TRY(
        tesi_alloc(ctx, (size_t)plan->cells[d], tesi_precision_size(plan->precision), &plan->inverse_h2[d]));
    for (int c = 0; c < plan->cells[d]; c++) {
      tesi_number_set(plan->precision, plan->inverse_h2[d], c, 1 / (h[c] * h[c]));
    }
  }
done:
  return status;
}

static void set_sizes(const TesOperator *op, TesiQuadPlan *plan) {
  const TesSpace *space = op->space;
  plan->precision = op->precision;
  plan->dim = space->dim;
  plan->slow = plan->dim - 1;
  plan->n = space->degree + 1;
  plan->mid = plan->dim == 3 ? plan->n : 1;
  plan->points = (int64_t)plan->n * plan->n * plan->mid;
  for (int d = 0; d < 3; d++) {
    plan->cells[d] = d < plan->dim ? space->axis[d].cells : 1;
    plan->nodes[d] = d < plan->dim ? space->axis[d].nodes : 1;
    for (int end = 0; end < 2; end++) plan->natural[2 * d + end] = space->axis[d].end[end] != TESI_STRONG;
  }
  plan->kernels = choose_kernels(op);
  plan->threads = tesi_team_threads(op->context, 4 * space->length);
}

/* A thread's values, result and rows of a batch. */
static TesStatus make_work(TesContext *ctx, TesiQuadPlan *plan) {
  TesStatus status = TES_OK;
  const size_t vector = (size_t)plan->kernels.lanes * tesi_precision_size(plan->precision);
  plan->work_size = (size_t)(2 * plan->points + 2 * plan->n * plan->n + 4) * vector;
  plan->work_size = (plan->work_size + 4095) / 4096 * 4096;
  TES_TRY(tesi_alloc(ctx, (size_t)plan->threads, plan->work_size, &plan->work));
done:
  return status;
}

/* One application: y <- A x, or b - A x. */
typedef struct Run {
  const TesiQuadPlan *plan;
  TesiQuadRun run;
  const void *b, *x;
  void *y;
  double sign; /* of the faces */
  int face, parity;
  int64_t *taken; /* [colours] tiles */
} Run;

static void run_rows(const void *data, TesiSpan span) {
  const Run *r = data;
  for (int64_t i = span.first; i < span.end; i++)
    r->plan->kernels.face(r->plan, r->face, r->parity + 2 * (int)i, r->x, r->sign, r->y);
}

/* Adds the terms of faces, after the cells: first rows of even number, then rows of odd number, so that no two
 * threads add to one node. */
static void run_faces(const TesiQuadPlan *plan, const void *x, double sign, void *y) {
  for (int face = 0; face < 2 * plan->dim; face++) {
    if (!plan->face[face].alpha) continue;
    const int rows = plan->dim == 3 ? plan->cells[2 - (face / 2 == 2)] : 1;
    for (int parity = 0; parity < 2; parity++) {
      const Run run = {.plan = plan, .x = x, .y = y, .sign = sign, .face = face, .parity = parity};
      tesi_team_for(plan->threads, (rows - parity + 1) / 2, run_rows, &run);
    }
  }
}

static void run_tiles(const void *data, const TesiTeamMember *me) {
  const Run *r = data;
  const TesiQuadPlan *plan = r->plan;
  char *work = plan->work + (size_t)me->thread * plan->work_size;
  for (int colour = 0; colour < 4; colour++) {
    if (colour > 0) tesi_team_wait(me);
    for (int64_t t; (t = tesi_team_take(&r->taken[colour])) < plan->first_of_colour[colour + 1];)
      r->run(plan, &plan->tiles[t], r->b, r->x, r->y, work);
  }
}

static void run_cells(const TesiQuadPlan *plan, TesiQuadRun run, const void *b, const void *x, void *y) {
  const int *first = plan->first_of_colour;
  int64_t taken[4] = {first[0], first[1], first[2], first[3]};
  tesi_team_run(plan->threads, run_tiles,
                &(Run){.plan = plan, .run = run, .b = b, .x = x, .y = y, .taken = taken});
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  const TesiQuadPlan *plan = op->plan;
  run_cells(plan, plan->kernels.apply, NULL, x, y);
  run_faces(plan, x, 1, y);
  return TES_OK;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  const TesiQuadPlan *plan = op->plan;
  run_cells(plan, plan->kernels.apply, b, x, r);
  run_faces(plan, x, -1, r);
  return TES_OK;
}

static void set_dirichlet(const TesOperator *op, double value, void *v) {
  const TesiAxis *axis = op->space->axis;
  int64_t at = 0;
  for (int z = 0; z < axis[2].nodes; z++)
    for (int y = 0; y < axis[1].nodes; y++)
      for (int x = 0; x < axis[0].nodes; x++, at++) {
        const int node[3] = {x, y, z};
        bool unknown = true;
        for (int d = 0; d < op->space->dim; d++)
          unknown = unknown && node[d] >= tesi_axis_first(&axis[d]) && node[d] < tesi_axis_end(&axis[d]);
        if (unknown) continue;
        tesi_number_set(op->precision, v, at, value);
      }
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  const TesiQuadPlan *plan = op->plan;
  run_cells(plan, plan->kernels.diagonal, NULL, NULL, d);
  run_faces(plan, NULL, 1, d);
  set_dirichlet(op, 1, d);
  return TES_OK;
}

/* Additions and multiplications along one line, by the functions of quadrature_lines_body.h. */
static double line_flops(int n, bool has_c, int kind) {
  const double E = (n + 1) / 2, O = n / 2;
  const double keep = 2 * (E * E + O * O), halves = 2 * O, stiffness = 8 * E * O + 2 * halves + n;
  switch (kind) {
  case 0:
    return 2 * halves + keep; /* interpolation */
  case 1:
    return 3 * halves + keep + stiffness + (has_c ? 2 * n : 0); /* slow */
  case 2:
    return 2 * halves + stiffness + 2 * n; /* middle */
  default:
    return 3 * halves + stiffness + 2 * n + keep; /* rows */
  }
}

static TesCost cost(const TesOperator *op) {
  const TesiQuadPlan *plan = op->plan;
  const double size = (double)tesi_precision_size(op->precision);
  const double cells = (double)plan->cells[0] * plan->cells[1] * plan->cells[2],
               lines = (double)plan->n * plan->mid;
  double a_line =
      2 * line_flops(plan->n, false, 0) + line_flops(plan->n, plan->c, 1) + line_flops(plan->n, false, 3);
  if (plan->dim == 3) a_line += 2 * line_flops(plan->n, false, 0) + line_flops(plan->n, false, 2);
  return (TesCost){
      .flops = cells * lines * a_line,
      .bytes = size * (2 * (double)op->space->length + cells * (double)plan->points * (plan->c ? 2 : 1))};
}

static void destroy(TesOperator *op) {
  TesContext *ctx = op->context;
  TesiQuadPlan *plan = op->plan;
  if (!plan) return;
  for (int d = 0; d < 3; d++) tesi_free(ctx, &plan->inverse_h2[d]);
  for (int face = 0; face < 6; face++) tesi_free(ctx, &plan->face[face].alpha);
  tesi_free(ctx, &plan->tables);
  tesi_free(ctx, &plan->squares);
  tesi_free(ctx, &plan->values);
  tesi_free(ctx, &plan->a);
  tesi_free(ctx, &plan->c);
  tesi_free(ctx, &plan->tiles);
  tesi_free(ctx, &plan->work);
  tesi_free(ctx, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = tesi_diffusion_lift,
                                        .apply_ref = tesi_diffusion_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

static TesStatus init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiQuadPlan *plan;
  TES_TRY(tesi_diffusion_create(op));
  if (tesi_space_is_periodic(op->space)) return tesi_operator_periodic_init(op);
  if (tesi_has_kernels(ctx)) return tesi_operator_quadrature_device_init(op);
  op->table = &table;
  TES_NEW(&plan);
  op->plan = plan;
  set_sizes(op, plan);
  TES_TRY(make_tiles(ctx, plan));
  TES_TRY(make_widths(ctx, op->space, plan));
  TES_TRY(tesi_quad_make_tables(ctx, plan));
  TES_TRY(make_work(ctx, plan));
  TES_TRY(tesi_quad_evaluate(op, plan));
  snprintf(op->description, sizeof op->description, "quadrature, degree %d %s, float%d, %d lanes of cells",
           op->space->degree,
           tesi_simd_word(plan->kernels.specialised, op->space->degree, TESI_QUAD_SPECIALISED),
           op->precision == TES_DOUBLE ? 64 : 32, plan->kernels.lanes);
done:
  return status;
}

const TesiOperatorKind tesi_operator_quadrature = {.name = "quadrature",
                                                   .takes = TESI_TERM(DIFFUSION) | TESI_TERM(MASS) |
                                                            TESI_TERM(ROBIN),
                                                   .needs = TESI_TERM(DIFFUSION),
                                                   .refuses = tesi_diffusion_refuses,
                                                   .init = init,
                                                   .release = tesi_diffusion_release};
