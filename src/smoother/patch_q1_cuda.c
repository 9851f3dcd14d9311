/* Set-up and launches of src/kernels/patch_q1.cu: degree 1, rows of up to 2048 cells. Two kernels: blocks of rows, four launches a
 * sweep (two in 2D), and blocks of whole planes, two launches and a third less traffic, where there are planes enough. */
#include <stdio.h>
#include <stdlib.h>
#include "device/kernel.h"
#include "smoother/patch.h"
#include "smoother/patch_cuda.h"

enum { ROWS = 16, MOST_CELLS = 2048 }; /* ROWS as in the kernel */

typedef struct Stencil { /* as in patch_q1.cu */
  double s[2][4], scale;
} Stencil;

typedef struct Plan {
  TesiKernel kernel;
  bool planes;
  unsigned threads;
  size_t shared;
  Stencil stencil;
} Plan;

bool tesi_patch_q1_serves(const TesSpace *space) {
  return space->degree == 1 && space->axis[0].cells <= MOST_CELLS;
}

/* 1D stiffness and mass of width 1 at the same vertex and at a neighbour. */
static const double stiffness[2] = {2, -1}, mass[2] = {4.0 / 6, 1.0 / 6};

static void fill_stencil(const TesOperator *op, Stencil *stencil) {
  const TesiAxis *axis = op->space->axis;
  const bool three = op->space->dim == 3;
  const double hx = axis[0].h[0], hy = axis[1].h[0], hz = three ? axis[2].h[0] : 1;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 4; j++) {
      const double kx = stiffness[i], mx = mass[i], ky = stiffness[j & 1], my = mass[j & 1],
                   kz = three ? stiffness[j / 2] : 0, mz = three ? mass[j / 2] : 1;
      stencil->s[i][j] = hx * hx / (hz * hz) * kz * my * mx + hx * hx / (hy * hy) * mz * ky * mx +
                         mz * my * kx + op->c * hx * hx / op->a * mz * my * mx;
      if (!three && j / 2) stencil->s[i][j] = 0;
    }
  stencil->scale = hx / (op->a * hy * hz);
}

static TesStatus launch(const TesSmoother *smoother, const void *b, void *x, int py, int pz, TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const TesiAxis *axis = smoother->op->space->axis;
  const bool three = smoother->op->space->dim == 3;
  int cells = axis[0].cells, cells_y = axis[1].cells, first = sweep == TES_BACKWARD;
  long long plane = (long long)axis[0].nodes * axis[1].nodes;
  Stencil stencil = plan->stencil;
  void *arguments[] = {&x, &b, &cells, &cells_y, &py, &pz, &first, &plane, &stencil};
  const int rows = (cells_y - py) / 2, planes = three ? (axis[2].cells - pz) / 2 : 1;
  return tesi_kernel_launch(smoother->context, &plan->kernel,
                            (TesiGrid){(unsigned)((rows + ROWS - 1) / ROWS), (unsigned)planes, 1},
                            plan->threads, plan->shared, arguments);
}

static TesStatus launch_planes(const TesSmoother *smoother, const void *b, void *x, int pz, TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const TesiAxis *axis = smoother->op->space->axis;
  int cells = axis[0].cells, cells_y = axis[1].cells, first = sweep == TES_BACKWARD;
  long long plane = (long long)axis[0].nodes * axis[1].nodes;
  Stencil stencil = plan->stencil;
  void *arguments[] = {&x, &b, &cells, &cells_y, &pz, &first, &plane, &stencil};
  return tesi_kernel_launch(smoother->context, &plan->kernel,
                            (TesiGrid){(unsigned)((axis[2].cells - pz) / 2), 1, 1}, plan->threads,
                            plan->shared, arguments);
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const bool planes = ((const Plan *)smoother->plan)->planes;
  const int colours = op->space->dim == 3 && !planes ? 4 : 2;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->space->length, 0, x));
  for (int i = 0; i < colours; i++) {
    const int colour = sweep == TES_FORWARD ? i : colours - 1 - i;
    TES_TRY(planes ? launch_planes(smoother, b, x, colour, sweep)
                   : launch(smoother, b, x, colour % 2, colour / 2, sweep));
  }
done:
  return status;
}

/* A colour of rows reads the planes around it, b, and writes a quarter of x: 6 values an unknown; a colour of planes the same for half
 * of them: 4 values. */
static TesCost cost(const TesSmoother *smoother) {
  const double n = (double)smoother->op->space->length,
               values = ((const Plan *)smoother->plan)->planes ? 4 : 6;
  return (TesCost){.flops = n * 20,
                   .bytes = n * values * (double)tesi_precision_size(smoother->op->precision)};
}

static void destroy(TesSmoother *smoother) {
  tesi_free(smoother->context, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_smoother_patch_apply_ref, .cost = cost, .destroy = destroy};

/* Planes by default where a launch has one for every multiprocessor of the largest GPUs. */
static bool choose_planes(const TesSpace *space, bool single, int *blocks) {
  const char *given =
      getenv("TESSERA_Q1_PLANES"); /* least resident blocks, 0: rows; for measurements and tests */
  *blocks = single ? 3 : 2;
  if (space->dim == 2 || space->axis[1].cells < 2) return false;
  if (given) return (*blocks = atoi(given)) > 0;
  return space->axis[2].cells >= 256;
}

TesStatus tesi_smoother_patch_q1_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  const bool single = smoother->op->precision == TES_SINGLE;
  char threads[24], least[24];
  int blocks;
  TesiProgram *program;
  Plan *plan = NULL;
  TES_NEW(&plan);
  smoother->plan = plan;
  smoother->table = &table;
  plan->planes = choose_planes(space, single, &blocks);
  plan->threads = (unsigned)tesi_max(32, (space->axis[0].cells / 2 + 31) / 32 * 32);
  plan->shared = 4 * (2 * (size_t)plan->threads + 3) * tesi_precision_size(smoother->op->precision);
  fill_stencil(smoother->op, &plan->stencil);
  snprintf(threads, sizeof threads, "THREADS=%u", plan->threads);
  snprintf(least, sizeof least, "MIN_BLOCKS=%d", blocks);
  const TesiProgramDesc desc = {.file = "patch_q1.cu",
                                .options = {single ? "real=float" : "real=double",
                                            space->dim == 3 ? "DIM=3" : "DIM=2", threads, least}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, plan->planes ? "tesk_patch_q1_plane" : "tesk_patch_q1", plan->shared,
                          &plan->kernel));
  snprintf(smoother->description, sizeof smoother->description,
           "patch, degree 1: %s by kernels of %u threads", plan->planes ? "planes" : "rows", plan->threads);
done:
  return status;
}
