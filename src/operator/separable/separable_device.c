/* Set-up and launches of src/kernels/separable.cu and separable_tiles.cu. */
#include "operator/form.h"
#include "operator/separable/separable_device.h"
#include <stdio.h>
#include "basis/kernel_tables.h"
#include "basis/lagrange.h"
#include "device/kernel.h"
#include "device/tuning.h"
#include "device/upload.h"
#include "kernels/separable_arguments.h"
#include "operator/quadrature/quadrature_device.h"
#include "operator/separable/separable_cut.h"
#include "operator/tile_grid.h"
#include "operator/trial.h"

typedef struct Plan {
  TesiKernel apply, residual, diagonal, faces;
  TesiSeparableCut cut;
  unsigned threads;
  size_t shared;
  TeskLaplace arguments;
  TesiTileGrid grid; /* with tiles */
  void *values;      /* device, with tiles: the results that blocks leave on their faces */
  void *scales;      /* device: widths and a / widths of the cells of all directions */
} Plan;

/* Compiles the program; with `all` also the kernels other than `apply`. */
static TesStatus compile(const TesOperator *op, Plan *plan, const TesiSeparableCut cut, bool all) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  char *tables = NULL;
  TesiProgram *program;
  TesiSeparableText text;
  TES_TRY(tesi_kernel_tables(ctx, op->space->degree, op->precision == TES_SINGLE ? "float" : "double",
                             &tables, NULL));
  tesi_separable_describe(op, cut, tables, &text);
  plan->cut = cut;
  plan->threads = text.threads;
  plan->shared = text.shared;
  TES_TRY(tesi_program_get(ctx, &text.desc, &program));
  const char *name = tesi_separable_is_tiled(&cut) ? "tesk_separable_tiles" : "tesk_separable";
  TES_TRY(tesi_kernel_get(ctx, program, name, plan->shared, &plan->apply));
  if (tesi_separable_is_tiled(&cut))
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_tile_faces", 0, &plan->faces));
  if (!all) goto done;
  text.desc.macros[text.residual].value = 1;
  TES_TRY(tesi_program_get(ctx, &text.desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, name, plan->shared, &plan->residual));
  tesi_separable_describe(op, tesi_separable_default_cut(op->space->dim, op->space->degree, op->precision),
                          tables, &text);
  TES_TRY(tesi_program_get(ctx, &text.desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_separable_diagonal", 0, &plan->diagonal));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* Fewer layers per block on small boxes, so that every multiprocessor has some work. */
static int choose_layers(const TesiSeparableCut *cut, const int blocks, int total) {
  enum { ENOUGH = 1056 }; /* eight per multiprocessor of the largest GPUs */
  int layers = tesi_min(cut->layers, total);
  while (layers > 2 && blocks * ((total + layers - 1) / layers) < ENOUGH) layers = (layers + 1) / 2;
  return layers;
}

static int tiles(const TesiAxis *axis, int cells) {
  return (axis->cells + (axis->end[1] != TESI_STRONG ? 1 : 0) + cells - 1) / cells;
}

static void fill_arguments(const TesOperator *op, Plan *plan) {
  const TesiAxis *axis = op->space->axis;
  const int dim = op->space->dim;
  TeskLaplace *a = &plan->arguments;
  const double hx = axis[0].h[0], hy = axis[1].h[0], hz = dim == 3 ? axis[2].h[0] : 1;
  const bool graded = tesi_separable_is_graded(op);
  for (int d = 0; d < dim; d++) {
    a->cells[d] = axis[d].cells;
    for (int e = 0; e < 2; e++) a->dirichlet[2 * d + e] = axis[d].end[e] == TESI_STRONG;
  }
  a->pitch = axis[0].nodes;
  a->plane = (long long)axis[0].nodes * axis[1].nodes;
  a->scale = graded ? 1 : tesi_diffusion_of(op)->a * hy * hz / hx;
  a->xr = graded ? 1 : hx * hx / (hy * hy);
  a->zk = graded ? 1 : hx * hx / (hz * hz);
  a->zc = graded ? tesi_diffusion_of(op)->c : tesi_diffusion_of(op)->c * hx * hx / tesi_diffusion_of(op)->a;
  const double robin[3] = {hx / tesi_diffusion_of(op)->a, hy / tesi_diffusion_of(op)->a,
                           hx * hx / (tesi_diffusion_of(op)->a * hz)};
  for (int f = 0; f < 6; f++) a->robin[f] = tesi_diffusion_of(op)->alpha[f] * (graded ? 1 : robin[f / 2]);
  const int total = dim == 3 ? tiles(&axis[2], 1) : 1;
  a->layers_total = total;
  a->layers = choose_layers(&plan->cut, tiles(&axis[0], plan->cut.x) * tiles(&axis[1], plan->cut.y), total);
}

static TesStatus cut_tiles(const TesOperator *op, Plan *plan) {
  TesContext *ctx = op->context;
  if (!tesi_separable_is_tiled(&plan->cut)) return TES_OK;
  plan->grid = tesi_tile_grid(op->space, plan->cut.x, plan->cut.y, plan->cut.pad);
  plan->arguments.layers = plan->grid.layers;
  plan->arguments.block_faces = plan->grid.block_faces;
  return tesi_context_device(ctx)->allocate(
      ctx, (size_t)plan->grid.values * tesi_precision_size(op->precision), &plan->values);
}

/* [direction][mass, stiffness][cells] in the operator's precision, one allocation. */
static TesStatus upload_scales(const TesOperator *op, Plan *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const size_t size = tesi_precision_size(op->precision);
  int total = 0;
  double *values = NULL, *at;
  for (int d = 0; d < op->space->dim; d++) total += 2 * op->space->axis[d].cells;
  TES_ALLOC(&values, total);
  at = values;
  for (int d = 0; d < op->space->dim; d++) {
    const TesiAxis *axis = &op->space->axis[d];
    for (int c = 0; c < axis->cells; c++) *at++ = axis->h[c];
    for (int c = 0; c < axis->cells; c++) *at++ = tesi_diffusion_of(op)->a / axis->h[c];
  }
  TES_TRY(tesi_upload_numbers(ctx, values, total, op->precision, &plan->scales));
  char *to = plan->scales;
  for (int d = 0; d < op->space->dim; d++) {
    const size_t bytes = (size_t)op->space->axis[d].cells * size;
    plan->arguments.mass[d] = to;
    plan->arguments.stiffness[d] = to + bytes;
    to += 2 * bytes;
  }
done:
  tesi_free(ctx, &values);
  return status;
}

static TesStatus launch_tiles(const TesOperator *op, const TesiKernel *kernel, const void *b, const void *x,
                              void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const Plan *plan = op->plan;
  TeskLaplace argument = plan->arguments;
  void *values = plan->values, *arguments[] = {&x, &y, &b, &values, &argument},
       *face_arguments[] = {&y, &values, &argument};
  argument.sign = b ? -1 : 1;
  TES_TRY(tesi_kernel_launch(ctx, kernel, plan->grid.grid, plan->threads, plan->shared, arguments));
  TES_TRY(tesi_kernel_launch(ctx, &plan->faces, (TesiGrid){plan->grid.face_blocks, 1, 1}, 256, 0,
                             face_arguments));
done:
  return status;
}

static TesStatus launch(const TesOperator *op, const TesiKernel *kernel, const void *b, const void *x,
                        void *y) {
  if (tesi_separable_is_tiled(&((const Plan *)op->plan)->cut)) return launch_tiles(op, kernel, b, x, y);
  const Plan *plan = op->plan;
  const TesiAxis *axis = op->space->axis;
  TeskLaplace argument = plan->arguments;
  void *arguments[] = {&x, &y, &b, &argument};
  const TesiGrid grid = {(unsigned)tiles(&axis[0], plan->cut.x), (unsigned)tiles(&axis[1], plan->cut.y),
                         (unsigned)((argument.layers_total + argument.layers - 1) / argument.layers)};
  return tesi_kernel_launch(op->context, kernel, grid, plan->threads, plan->shared, arguments);
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return launch(op, &((const Plan *)op->plan)->apply, NULL, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return launch(op, &((const Plan *)op->plan)->residual, b, x, r);
}

/* Diagonals of the assembled 1D matrices of one direction: mass [nodes], stiffness with end terms and reaction
 * [nodes]. */
static void diagonals(const TesOperator *op, int d, double *m, double *s) {
  const TesiAxis *axis = &op->space->axis[d];
  double mass[TESI_MAX_POINTS * TESI_MAX_POINTS], stiffness[TESI_MAX_POINTS * TESI_MAX_POINTS];
  const int k = axis->degree, n = k + 1;
  tesi_cell_matrices(k, mass, stiffness);
  for (int c = 0; c < axis->cells; c++)
    for (int i = 0; i < n; i++) {
      m[c * k + i] += axis->h[c] * mass[i * n + i];
      s[c * k + i] += tesi_diffusion_of(op)->a / axis->h[c] * stiffness[i * n + i] +
                      (d == 0 ? tesi_diffusion_of(op)->c * axis->h[c] * mass[i * n + i] : 0);
    }
  s[0] += tesi_diffusion_of(op)->alpha[2 * d];
  s[axis->nodes - 1] += tesi_diffusion_of(op)->alpha[2 * d + 1];
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const Plan *plan = op->plan;
  double *values = NULL;
  void *table = NULL, *at[6] = {0};
  int total = 0, used = 0;
  for (int e = 0; e < op->space->dim; e++) total += 2 * op->space->axis[e].nodes;
  TES_ALLOC(&values, total);
  TES_TRY(device->allocate(ctx, (size_t)total * sizeof *values, &table));
  for (int e = 0; e < op->space->dim; e++) {
    const int nodes = op->space->axis[e].nodes;
    diagonals(op, e, values + used, values + used + nodes);
    at[2 * e] = (double *)table + used;
    at[2 * e + 1] = (double *)table + used + nodes;
    used += 2 * nodes;
  }
  TES_TRY(device->to_device(ctx, table, values, (size_t)total * sizeof *values));
  TeskLaplace argument = plan->arguments;
  void *arguments[] = {&d, &at[0], &at[1], &at[2], &at[3], &at[4], &at[5], &argument};
  const int64_t blocks = (op->space->length + 255) / 256;
  TES_TRY(tesi_kernel_launch(ctx, &plan->diagonal,
                             (TesiGrid){(unsigned)(blocks < 4096 ? blocks : 4096), 1, 1}, 256, 0, arguments));
  TES_TRY(device->synchronize(ctx));
done:
  device->release(ctx, &table);
  tesi_free(ctx, &values);
  return status;
}

/* Seven even-odd products of a cell's lines. */
static TesCost cost(const TesOperator *op) {
  const double n = (double)op->space->length, k = op->space->degree;
  return (TesCost){.flops = n * 2 * ((op->space->dim == 3 ? 7 : 4) * (k + 1) / 2 + 8),
                   .bytes = 2 * n * (double)tesi_precision_size(op->precision)};
}

static void destroy(TesOperator *op) {
  Plan *plan = op->plan;
  if (plan) {
    tesi_context_device(op->context)->release(op->context, &plan->scales);
    tesi_context_device(op->context)->release(op->context, &plan->values);
  }
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .correct_residual = tesi_operator_correct_residual_device,
                                        .diagonal = diagonal,
                                        .lift = tesi_diffusion_lift,
                                        .apply_ref = tesi_diffusion_apply_ref,
                                        .cost = cost,
                                        .destroy = destroy};

/* ---- the choice of a cut by timing, 3D with equal cells and Dirichlet faces ---------------------------- */
typedef struct Trial {
  TesiTrial box;
  TesiSeparableCut cut[TESI_TUNING_CANDIDATES];
  int count;
} Trial;

static TesStatus run_trial(void *data) {
  const Trial *trial = data;
  return apply(&trial->box.op, tes_vector_data(trial->box.x), tes_vector_data(trial->box.y));
}

static TesStatus time_cut(void *data, int candidate, double *seconds) {
  Trial *trial = data;
  TesOperator *op = &trial->box.op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Plan *plan = NULL;
  TES_NEW(&plan);
  op->plan = plan;
  TES_TRY(compile(op, plan, trial->cut[candidate], false));
  fill_arguments(op, plan);
  TES_TRY(cut_tiles(op, plan));
  TES_TRY(upload_scales(op, plan));
  TES_TRY(tesi_tuning_time(ctx, run_trial, trial, seconds));
done:
  if (op->plan) destroy(op);
  return status;
}

/* Of each candidate two programs. */
static void describe_candidate(const void *data, int program, const char *tables, TesiProgramDesc *desc) {
  const Trial *trial = data;
  TesiSeparableText text;
  tesi_separable_describe(&trial->box.op, trial->cut[program / 2], tables, &text);
  *desc = text.desc;
  desc->macros[text.residual].value = program % 2;
}

static void prepare_trial(void *data) {
  const Trial *trial = data;
  tesi_trial_prepare(&trial->box, 2 * trial->count, describe_candidate, trial);
}

static TesStatus make_trial(const TesOperator *op, TesContext *ctx, int nodes, Trial *trial) {
  const int k = op->space->degree, n = tesi_tuning_cells(nodes, k);
  /* Blocks of separable_tiles.cu are 5, 6 or 8 cells long without their halo: 120 cells leave no remainder. */
  const int n_x = k >= 7 && n >= 32 ? 120 : n;
  return tesi_trial_create(ctx, op, (const int[]){n_x, n, n}, &trial->box);
}

/* On several ranks each rank times the candidates alone. Its cuts to other ranks are natural ends, for which tiled
 * candidates are not taken. */
static TesStatus choose_cut(const TesOperator *op, TesiSeparableCut *cut) {
  TesContext *ctx = op->context, *alone = NULL;
  TesStatus status = TES_OK;
  const bool plain = tesi_separable_is_plain(op), ranks = tesi_ranks(ctx) > 1;
  const int k = op->space->degree;
  char name[64], text[TESI_TUNING_CANDIDATES][48];
  TesiSeparableCut given = tesi_separable_default_cut(op->space->dim, k, op->precision);
  Trial trial = {0};
  TesiTuning tuning = {.name = name, .prepare = prepare_trial, .time = time_cut, .data = &trial};
  int nodes;
  *cut = given;
  if (tesi_separable_given_cut(&given)) {
    if (plain || !tesi_separable_is_tiled(&given)) *cut = given;
    return TES_OK;
  }
  if ((!plain && !(ranks && op->space->dim == 3)) || !tesi_tuning_is_on(ctx)) return TES_OK;
  snprintf(name, sizeof name, "operator-3d-q%d-%s-%s", k, op->precision == TES_SINGLE ? "float32" : "float64",
           tesi_tuning_class(op->space->length, &nodes));
  const int count = trial.count = tesi_separable_list_cuts(k, op->precision, trial.cut);
  for (int i = 0; i < count; i++) {
    const TesiSeparableCut *c = &trial.cut[i];
    snprintf(text[i], sizeof text[i], "%d,%d,%d,%d,%d,%d,%d,%d,%d", c->x, c->y, c->nodes, c->blocks,
             c->layers, c->joint, c->pad, c->in_place, c->task_y);
    tuning.candidate[i] = text[i];
  }
  if (ranks) TES_TRY(tesi_context_create_alone(ctx, &alone));
  const int choice = make_trial(op, ranks ? alone : ctx, nodes, &trial) == TES_OK
                         ? tesi_tune(ranks ? alone : ctx, &tuning)
                         : 0;
  if (plain || !tesi_separable_is_tiled(&trial.cut[choice])) *cut = trial.cut[choice];
done:
  tesi_trial_destroy(&trial.box);
  tes_context_destroy(&alone);
  return status;
}

TesStatus tesi_operator_separable_device_init(TesOperator *op) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const int most = op->space->dim == 3 ? 8 : 10;
  Plan *plan = NULL;
  TesiSeparableCut cut;
  if (op->space->degree > most) return tesi_operator_quadrature_device_init(op);
  TES_NEW(&plan);
  op->plan = plan;
  op->table = &table;
  TES_TRY(choose_cut(op, &cut));
  TES_TRY(compile(op, plan, cut, true));
  fill_arguments(op, plan);
  TES_TRY(cut_tiles(op, plan));
  TES_TRY(upload_scales(op, plan));
  snprintf(op->description, sizeof op->description,
           "separable, kernels of degree %d: blocks of %d x %d cells, %d layers, %u threads",
           op->space->degree, plan->cut.x, plan->cut.y, plan->arguments.layers, plan->threads);
done:
  return status;
}
