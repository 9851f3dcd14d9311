/* Set-up and launches of src/kernels/patch_rows.cu. */
#include "smoother/patch/patch_device.h"
#include <stdio.h>
#include <stdlib.h>
#include "basis/kernel_tables.h"
#include "device/kernel.h"
#include "device/tuning.h"
#include "device/upload.h"
#include "operator/trial.h"
#include "smoother/patch/patch.h"

/* The cut of the work into blocks: cells per chunk, rows per block, smallest number of resident blocks per
 * multiprocessor, odd row lengths in shared memory. */
typedef struct Cut {
  int cells, rows, blocks, pad;
} Cut;

/* 2D: smallest number of blocks of a launch, and of cells of a segment; four more cells per segment are computed
 * twice. */
enum { BLOCKS = 1056, SEGMENT = 32 };

typedef struct Plan {
  TesiKernel kernel, edges;
  Cut cut;
  int segments, segment; /* of rows in x, in 2D; cells of one */
  void *saved;           /* device: columns beside segments */
  unsigned threads;
  size_t shared;
  void *lines, *modes; /* device tables */
  double rz, ry, r0, scale;
} Plan;

static int round_up(int n, int unit) {
  return (n + unit - 1) / unit * unit;
}

/* [precision][degree]; measured on an H200. */
static Cut default_cut(int dim, int k, TesPrecision precision) {
  static const Cut cuts3[2][9] = {{{0},
                                   {8, 32, 2, 1},
                                   {16, 4, 2, 0},
                                   {8, 2, 3, 1},
                                   {4, 2, 2, 1},
                                   {4, 1, 3, 1},
                                   {4, 1, 2, 1},
                                   {2, 1, 2, 1},
                                   {4, 1, 1, 1}},
                                  {{0},
                                   {8, 32, 2, 1},
                                   {16, 4, 2, 0},
                                   {8, 2, 3, 1},
                                   {4, 2, 3, 1},
                                   {4, 1, 3, 1},
                                   {4, 1, 3, 1},
                                   {4, 1, 2, 1},
                                   {4, 1, 1, 1}}};
  if (dim == 3) return cuts3[precision][k];
  return (Cut){2, tesi_max(1, 192 / (2 * k * (2 * k - 1))), 2, 1};
}

/* Shared memory of a block in numbers, and its boundary rows, as in the kernel. */
static size_t shared_bytes(int dim, int k, Cut cut, size_t size) {
  const int m = 2 * k - 1, mz = dim == 3 ? m : 1, lines = mz * m, cx = cut.cells * k,
            faces = dim == 3 ? 4 * k : 1, kinds = dim == 3 ? 2 : 1;
  const int a_row = lines * ((cx | cut.pad) + cx + cut.cells / 2) + 2 * faces * (cx + 1) +
                    faces * 4 * ((cx | cut.pad) + cut.cells + 1) + kinds * 4 * mz * cx;
  return (size_t)(cut.rows * a_row) * size + (size_t)(cut.rows * 2 * faces) * sizeof(int);
}

/* "cells,rows,blocks,pad" in the environment: for measurements. */
static bool given_cut(Cut *cut) {
  const char *given = getenv("TESSERA_PATCH_CUT");
  return given && sscanf(given, "%d,%d,%d,%d", &cut->cells, &cut->rows, &cut->blocks, &cut->pad) == 4;
}

static int block_threads(int dim, int k, Cut cut) {
  const int m = 2 * k - 1, work = cut.rows * tesi_max(m * cut.cells * k, dim == 3 ? m * m : m);
  return round_up(tesi_max(work, cut.cells * k + 1), 32);
}

static TesiProgramDesc program_of(const TesOperator *op, const Cut cut, const char *tables) {
  const int dim = op->space->dim, k = op->space->degree;
  return (TesiProgramDesc){.file = "patch_rows.cu",
                           .real = op->precision,
                           .macros = {{"DIM", dim},
                                      {"DEGREE", k},
                                      {"CELLS", cut.cells},
                                      {"ROWS_A_BLOCK", cut.rows},
                                      {"THREADS", block_threads(dim, k, cut)},
                                      {"MIN_BLOCKS", cut.blocks},
                                      {"PAD", cut.pad}},
                           .tables = tables};
}

static TesStatus compile(const TesSmoother *smoother, Plan *plan, const Cut cut, TesiPatchNumbers *numbers) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int k = smoother->op->space->degree, dim = smoother->op->space->dim;
  char *tables = NULL;
  TesiProgram *program;
  plan->cut = cut;
  plan->threads = (unsigned)block_threads(dim, k, cut);
  plan->shared = shared_bytes(dim, k, cut, tesi_precision_size(smoother->op->precision));
  TES_TRY(tesi_kernel_tables(ctx, k, smoother->op->precision == TES_SINGLE ? "float" : "double", &tables,
                             numbers));
  const TesiProgramDesc desc = program_of(smoother->op, cut, tables);
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_rows", plan->shared, &plan->kernel));
  if (dim == 2) TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_edges", 0, &plan->edges));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* Condensed line of nu: couplings w_j = (p + nu q) / (lambda + nu), inverses, 1 / (2 T00), T0k; stride between
 * entries. */
static void fill_line(const TesiPatchNumbers *n, double nu, double *line, int stride) {
  const int bubbles = n->degree - 1;
  double T00 = n->K00 + nu * n->M00, T0k = n->K0k + nu * n->M0k;
  for (int j = 0; j < bubbles; j++) {
    const double r = n->p[j] + nu * n->q[j], inverse = 1 / (n->bubble_lambda[j] + nu);
    line[j * stride] = r * inverse;
    line[(bubbles + j) * stride] = inverse;
    T00 -= r * r * inverse;
    T0k -= (j < (bubbles + 1) / 2 ? 1 : -1) * r * r * inverse;
  }
  line[2 * bubbles * stride] = 1 / (2 * T00);
  line[(2 * bubbles + 1) * stride] = T0k;
}

/* Copies float64 values to the device in the smoother's precision. */
static TesStatus make_tables(const TesSmoother *smoother, Plan *plan, const TesiPatchNumbers *n) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const TesiAxis *axis = op->space->axis;
  const int m = 2 * n->degree - 1, mz = op->space->dim == 3 ? m : 1, lines = mz * m, rows = 2 * n->degree;
  double *values = NULL;
  const double hx = axis[0].h[0], hy = axis[1].h[0], hz = op->space->dim == 3 ? axis[2].h[0] : 1;
  plan->rz = op->space->dim == 3 ? hx * hx / (hz * hz) : 0;
  plan->ry = hx * hx / (hy * hy);
  plan->r0 = tesi_diffusion_of(op)->c * hx * hx / tesi_diffusion_of(op)->a;
  plan->scale = hx / (tesi_diffusion_of(op)->a * hy * hz);
  TES_ALLOC(&values, rows * lines + 2 * m);
  for (int j = 0; j < lines; j++)
    fill_line(n, plan->rz * n->lambda[j / m] + plan->ry * n->lambda[j % m] + plan->r0, values + j, lines);
  for (int j = 0; j < m; j++) {
    values[rows * lines + j] = plan->rz * n->a[j];
    values[rows * lines + m + j] = n->c[j];
  }
  TES_TRY(tesi_upload_numbers(ctx, values, rows * lines, op->precision, &plan->lines));
  TES_TRY(tesi_upload_numbers(ctx, values + rows * lines, 2 * m, op->precision, &plan->modes));
done:
  tesi_free(ctx, &values);
  return status;
}

static int blocks_of_rows(const TesSmoother *smoother, const Plan *plan, int py) {
  return ((smoother->op->space->axis[1].cells - py) / 2 + plan->cut.rows - 1) / plan->cut.rows;
}

/* Rows of planes are cut if their blocks would leave multiprocessors idle. */
static TesStatus cut_rows(const TesSmoother *smoother, Plan *plan) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  const int cells = space->axis[0].cells, least = getenv("TESSERA_PATCH_MANY") ? 6 : SEGMENT; /* for tests */
  const int rows = tesi_max(1, blocks_of_rows(smoother, plan, 0));
  const int wanted = tesi_min(space->dim == 3 ? 1 : (BLOCKS + rows - 1) / rows, tesi_max(1, cells / least));
  plan->segment = round_up((cells + wanted) / wanted, 2 * plan->cut.cells);
  plan->segments =
      wanted == 1 ? 1 : (cells + plan->segment) / plan->segment; /* the last segment extends to the end */
  if (plan->segments > 1)
    TES_TRY(tesi_context_device(ctx)->allocate(ctx,
                                               (size_t)(2 * plan->segments * space->axis[1].nodes) *
                                                   tesi_precision_size(smoother->op->precision),
                                               &plan->saved));
done:
  return status;
}

static TesStatus save_edges(const TesSmoother *smoother, const void *x, int shift) {
  const Plan *plan = smoother->plan;
  const TesiAxis *axis = smoother->op->space->axis;
  int cells = axis[0].cells, nodes = axis[1].nodes, pitch = axis[0].nodes, segment = plan->segment;
  void *saved = plan->saved;
  void *arguments[] = {&x, &saved, &cells, &nodes, &pitch, &segment, &shift};
  const TesiGrid grid = {((unsigned)nodes + plan->threads - 1) / plan->threads, 2 * (unsigned)plan->segments,
                         1};
  return tesi_kernel_launch(smoother->context, &plan->edges, grid, plan->threads, 0, arguments);
}

/* All rows of one (y, z)-colour, both x-colours. */
static TesStatus launch(const TesSmoother *smoother, const void *b, void *x, int py, int pz, TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const TesSpace *space = smoother->op->space;
  const bool single = smoother->op->precision == TES_SINGLE, three = space->dim == 3;
  const int nx = space->axis[0].nodes;
  int cells = space->axis[0].cells, patches = (space->axis[1].cells - py) / 2, shift = sweep == TES_BACKWARD,
      pitch = nx, colour = py + 2 * pz, segment = plan->segment;
  long long plane = (long long)nx * space->axis[1].nodes;
  double r[4] = {plan->rz, plan->ry, plan->r0, plan->scale};
  float rf[4] = {(float)r[0], (float)r[1], (float)r[2], (float)r[3]};
  const void *lines = plan->lines, *modes = plan->modes, *saved = plan->saved;
  void *arguments[] = {&x,       &b,     &lines, &modes, &cells, &patches, &colour, &shift,
                       &segment, &saved, &pitch, &plane, NULL,   NULL,     NULL,    NULL};
  for (int i = 0; i < 4; i++) arguments[12 + i] = single ? (void *)&rf[i] : (void *)&r[i];
  const TesiGrid grid = {(unsigned)blocks_of_rows(smoother, plan, py),
                         three ? (unsigned)((space->axis[2].cells - pz) / 2) : 1, (unsigned)plan->segments};
  return tesi_kernel_launch(smoother->context, &plan->kernel, grid, plan->threads, plan->shared, arguments);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const Plan *plan = smoother->plan;
  const int colours = op->space->dim == 3 ? 4 : 2;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->space->length, 0, x));
  for (int i = 0; i < colours; i++) {
    const int colour = sweep == TES_FORWARD ? i : colours - 1 - i;
    if (plan->segments > 1) TES_TRY(save_edges(smoother, x, sweep == TES_BACKWARD));
    TES_TRY(launch(smoother, b, x, colour % 2, colour / 2, sweep));
  }
done:
  return status;
}

/* b and x are passed once per row colour: it reads b, and writes x and the boundary rows and columns of x. */
static TesCost cost(const TesSmoother *smoother) {
  const TesSpace *space = smoother->op->space;
  const double k = space->degree, m = 2 * k - 1, n = (double)space->length;
  const bool three = space->dim == 3;
  const double share = three ? m * m / (4 * k * k) : m / (2 * k), passes = three ? 4 : 2,
               faces = three ? 8 * k / (4 * k * k) : 2 / (2 * k), contraction = 2 * k + 2;
  return (TesCost){.flops = n * passes * 2 * share * ((three ? 4 : 2) * contraction + 2 * k),
                   .bytes = n * passes * (2 * share + faces + share / (2 * k)) *
                            (double)tesi_precision_size(smoother->op->precision)};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  Plan *plan = smoother->plan;
  const TesiDevice *device = tesi_context_device(ctx);
  if (plan) {
    device->release(ctx, &plan->lines);
    device->release(ctx, &plan->modes);
    device->release(ctx, &plan->saved);
  }
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_smoother_patch_apply_ref, .cost = cost, .destroy = destroy};

static bool is_served(const TesSpace *space) {
  bool served = space->degree <= (space->dim == 3 ? 8 : 10);
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *axis = &space->axis[d];
    served = served && axis->uniform && axis->end[0] == TESI_STRONG && axis->end[1] == TESI_STRONG &&
             (d == 0 || axis->cells >= 2);
  }
  return served;
}

/* ---- the choice of a cut by timing, 3D ----------------------------------------------------------------- */
typedef struct Trial {
  TesiTrial box;
  TesSmoother smoother;
  Cut cut[TESI_TUNING_CANDIDATES];
  int count;
} Trial;

static TesStatus run_trial(void *data) {
  const Trial *trial = data;
  return apply(&trial->smoother, tes_vector_data(trial->box.x), tes_vector_data(trial->box.y), TES_FORWARD,
               false);
}

static TesStatus time_cut(void *data, int candidate, double *seconds) {
  Trial *trial = data;
  TesSmoother *smoother = &trial->smoother;
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  TesiPatchNumbers numbers;
  Plan *plan = NULL;
  TES_NEW(&plan);
  smoother->plan = plan;
  TES_TRY(compile(smoother, plan, trial->cut[candidate], &numbers));
  TES_TRY(make_tables(smoother, plan, &numbers));
  TES_TRY(cut_rows(smoother, plan));
  TES_TRY(tesi_tuning_time(ctx, run_trial, trial, seconds));
done:
  if (smoother->plan) destroy(smoother);
  return status;
}

static void describe_candidate(const void *data, int program, const char *tables, TesiProgramDesc *desc) {
  const Trial *trial = data;
  *desc = program_of(&trial->box.op, trial->cut[program], tables);
}

static void prepare_trial(void *data) {
  const Trial *trial = data;
  tesi_trial_prepare(&trial->box, trial->count, describe_candidate, trial);
}

/* The default cut, and long chunks of few rows, which take the fewest steps through small boxes. */
static int list_cuts(int k, TesPrecision precision, Cut cuts[TESI_TUNING_CANDIDATES]) {
  const Cut first = cuts[0] = default_cut(3, k, precision);
  const Cut others[] = {{2 * first.cells, tesi_max(1, first.rows / 2), tesi_min(2, first.blocks), 0},
                        {first.cells, 1, 1, first.pad},
                        {2 * first.cells, 1, 1, first.pad},
                        {4 * first.cells, 1, 1, first.pad}};
  int count = 1;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (block_threads(3, k, others[i]) <= 1024 &&
        shared_bytes(3, k, others[i], tesi_precision_size(precision)) < 220 << 10)
      cuts[count++] = others[i];
  return count;
}

static TesStatus make_trial(const TesSmoother *smoother, int nodes, Trial *trial) {
  const int n = tesi_tuning_cells(nodes, smoother->op->space->degree);
  trial->smoother.context = smoother->context;
  trial->smoother.op = &trial->box.op;
  return tesi_trial_create(smoother->context, smoother->op, (const int[]){n, n, n}, &trial->box);
}

static Cut choose_cut(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  const int k = op->space->degree;
  char name[64], text[TESI_TUNING_CANDIDATES][48];
  Cut given = default_cut(op->space->dim, k, op->precision);
  Trial trial = {0};
  TesiTuning tuning = {.name = name, .prepare = prepare_trial, .time = time_cut, .data = &trial};
  int nodes;
  if (given_cut(&given) || op->space->dim != 3 || !tesi_tuning_is_on(smoother->context)) return given;
  snprintf(name, sizeof name, "patch-3d-q%d-%s-%s", k, op->precision == TES_SINGLE ? "float32" : "float64",
           tesi_tuning_class(op->space->length, &nodes));
  const int count = trial.count = list_cuts(k, op->precision, trial.cut);
  for (int i = 0; i < count; i++) {
    const Cut *c = &trial.cut[i];
    snprintf(text[i], sizeof text[i], "%d,%d,%d,%d", c->cells, c->rows, c->blocks, c->pad);
    tuning.candidate[i] = text[i];
  }
  const int choice = make_trial(smoother, nodes, &trial) == TES_OK ? tesi_tune(smoother->context, &tuning) : 0;
  tesi_trial_destroy(&trial.box);
  return trial.cut[choice];
}

TesStatus tesi_smoother_patch_device_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  TesiPatchNumbers numbers;
  Plan *plan = NULL;
  if (!is_served(space)) return tesi_smoother_patch_local_init(smoother);
  if (tesi_patch_q1_serves(space)) return tesi_smoother_patch_q1_init(smoother);
  TES_NEW(&plan);
  smoother->plan = plan;
  smoother->table = &table;
  TES_TRY(compile(smoother, plan, choose_cut(smoother), &numbers));
  TES_TRY(make_tables(smoother, plan, &numbers));
  TES_TRY(cut_rows(smoother, plan));
  snprintf(smoother->description, sizeof smoother->description,
           "patch, exact local solves, rows by kernels: %d cells per step, %d rows and %u threads per block",
           plan->cut.cells, plan->cut.rows, plan->threads);
done:
  return status;
}
