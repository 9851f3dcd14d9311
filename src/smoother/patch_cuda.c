/* Set-up and launches of src/kernels/patch_rows.cu. */
#include "smoother/patch_cuda.h"
#include <stdio.h>
#include <stdlib.h>
#include "basis/kernel_tables.h"
#include "device/kernel.h"
#include "smoother/patch.h"

/* How a block is cut: cells a chunk, rows a block, least number of resident blocks a multiprocessor, odd rows in shared memory. */
typedef struct Cut {
  int cells, rows, blocks, pad;
} Cut;

typedef struct Plan {
  TesiKernel kernel;
  Cut cut;
  unsigned threads;
  size_t shared;
  void *lines, *modes; /* device tables */
  double rz, ry, r0, scale;
} Plan;

static int round_up(int n, int unit) {
  return (n + unit - 1) / unit * unit;
}

/* [precision][degree]; measured on an H200 where bench/results/h200 has a row. */
static Cut choose_cut(int dim, int k, TesPrecision precision) {
  static const Cut cuts3[2][9] = {{{0},
                                   {8, 32, 2, 1},
                                   {8, 8, 2, 0},
                                   {8, 2, 3, 1},
                                   {4, 2, 2, 1},
                                   {4, 1, 3, 1},
                                   {4, 1, 2, 1},
                                   {2, 1, 2, 1},
                                   {4, 1, 1, 1}},
                                  {{0},
                                   {8, 32, 2, 1},
                                   {8, 8, 3, 1},
                                   {8, 2, 3, 1},
                                   {4, 2, 3, 1},
                                   {4, 1, 3, 1},
                                   {4, 1, 3, 1},
                                   {4, 1, 2, 1},
                                   {4, 1, 1, 1}}};
  Cut cut;
  const char *given = getenv("TESSERA_PATCH_CUT"); /* "cells,rows,blocks,pad": for measurements */
  if (given && sscanf(given, "%d,%d,%d,%d", &cut.cells, &cut.rows, &cut.blocks, &cut.pad) == 4) return cut;
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

static TesStatus compile(const TesSmoother *smoother, Plan *plan, TesiPatchNumbers *numbers) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const int k = smoother->op->space->degree, dim = smoother->op->space->dim, m = 2 * k - 1;
  const bool single = smoother->op->precision == TES_SINGLE;
  char degree[24], dimension[24], cells[24], rows[32], threads[24], blocks[24], pad[24], *tables = NULL;
  TesiProgram *program;
  const Cut cut = plan->cut = choose_cut(dim, k, smoother->op->precision);
  const int work = cut.rows * tesi_max(m * cut.cells * k, dim == 3 ? m * m : m);
  plan->threads = (unsigned)round_up(tesi_max(work, cut.cells * k + 1), 32);
  plan->shared = shared_bytes(dim, k, cut, tesi_precision_size(smoother->op->precision));
  snprintf(degree, sizeof degree, "DEGREE=%d", k);
  snprintf(dimension, sizeof dimension, "DIM=%d", dim);
  snprintf(cells, sizeof cells, "CELLS=%d", cut.cells);
  snprintf(rows, sizeof rows, "ROWS_A_BLOCK=%d", cut.rows);
  snprintf(threads, sizeof threads, "THREADS=%u", plan->threads);
  snprintf(blocks, sizeof blocks, "MIN_BLOCKS=%d", cut.blocks);
  snprintf(pad, sizeof pad, "PAD=%d", cut.pad);
  TES_TRY(tesi_kernel_tables(ctx, k, single ? "float" : "double", &tables, numbers));
  const TesiProgramDesc desc = {.file = "patch_rows.cu",
                                .options = {single ? "real=float" : "real=double", dimension, degree, cells,
                                            rows, threads, blocks, pad},
                                .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_rows", plan->shared, &plan->kernel));
done:
  tesi_free(ctx, &tables);
  return status;
}

/* Condensed line of nu: couplings w_j = (p + nu q) / (lambda + nu), inverses, 1 / (2 T00), T0k; stride between entries. */
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
static TesStatus upload(const TesSmoother *smoother, const double *values, int count, void **address) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesiDevice *device = tesi_context_device(ctx);
  const TesPrecision precision = smoother->op->precision;
  float *single = NULL;
  TES_ALLOC(&single, count);
  for (int i = 0; i < count; i++) single[i] = (float)values[i];
  TES_TRY(device->allocate(ctx, (size_t)count * tesi_precision_size(precision), address));
  TES_TRY(device->to_device(ctx, *address, precision == TES_SINGLE ? (const void *)single : values,
                            (size_t)count * tesi_precision_size(precision)));
done:
  tesi_free(ctx, &single);
  return status;
}

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
  plan->r0 = op->c * hx * hx / op->a;
  plan->scale = hx / (op->a * hy * hz);
  TES_ALLOC(&values, rows * lines + 2 * m);
  for (int j = 0; j < lines; j++)
    fill_line(n, plan->rz * n->lambda[j / m] + plan->ry * n->lambda[j % m] + plan->r0, values + j, lines);
  for (int j = 0; j < m; j++) {
    values[rows * lines + j] = plan->rz * n->a[j];
    values[rows * lines + m + j] = n->c[j];
  }
  TES_TRY(upload(smoother, values, rows * lines, &plan->lines));
  TES_TRY(upload(smoother, values + rows * lines, 2 * m, &plan->modes));
done:
  tesi_free(ctx, &values);
  return status;
}

/* All rows of one (y, z)-colour, both x-colours. */
static TesStatus launch(const TesSmoother *smoother, const void *b, void *x, int py, int pz, TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const TesSpace *space = smoother->op->space;
  const bool single = smoother->op->precision == TES_SINGLE, three = space->dim == 3;
  const int nx = space->axis[0].nodes;
  int cells = space->axis[0].cells, patches = (space->axis[1].cells - py) / 2, shift = sweep == TES_BACKWARD,
      pitch = nx;
  long long plane = (long long)nx * space->axis[1].nodes;
  double r[4] = {plan->rz, plan->ry, plan->r0, plan->scale};
  float rf[4] = {(float)r[0], (float)r[1], (float)r[2], (float)r[3]};
  const void *lines = plan->lines, *modes = plan->modes;
  void *arguments[] = {&x,     &b,     &lines, &modes, &cells, &patches, &py, &pz,
                       &shift, &pitch, &plane, NULL,   NULL,   NULL,     NULL};
  for (int i = 0; i < 4; i++) arguments[11 + i] = single ? (void *)&rf[i] : (void *)&r[i];
  const TesiGrid grid = {(unsigned)((patches + plan->cut.rows - 1) / plan->cut.rows),
                         three ? (unsigned)((space->axis[2].cells - pz) / 2) : 1, 1};
  return tesi_kernel_launch(smoother->context, &plan->kernel, grid, plan->threads, plan->shared, arguments);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const int colours = op->space->dim == 3 ? 4 : 2;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->space->length, 0, x));
  for (int i = 0; i < colours; i++) {
    const int colour = sweep == TES_FORWARD ? i : colours - 1 - i;
    TES_TRY(launch(smoother, b, x, colour % 2, colour / 2, sweep));
  }
done:
  return status;
}

/* b and x once a row colour: read b, write x, boundary rows and columns of x. */
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
  }
  tesi_free(ctx, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_smoother_patch_apply_ref, .cost = cost, .destroy = destroy};

static bool is_served(const TesSpace *space) {
  bool served = space->degree <= (space->dim == 3 ? 8 : 10);
  for (int d = 0; d < space->dim; d++) {
    const TesiAxis *axis = &space->axis[d];
    served =
        served && axis->uniform && !axis->natural[0] && !axis->natural[1] && (d == 0 || axis->cells >= 2);
  }
  return served;
}

TesStatus tesi_smoother_patch_cuda_init(TesSmoother *smoother) {
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
  TES_TRY(compile(smoother, plan, &numbers));
  TES_TRY(make_tables(smoother, plan, &numbers));
  snprintf(smoother->description, sizeof smoother->description,
           "patch, exact local solves, rows by kernels: %d cells a step, %d rows and %u threads a block",
           plan->cut.cells, plan->cut.rows, plan->threads);
done:
  return status;
}
