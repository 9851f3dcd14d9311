/* Set-up and launches of src/kernels/patch_q1.cu: degree 1, rows of up to 2048 cells. Three kernels: blocks of rows,
 * four launches per sweep (two in 2D); blocks of whole planes, two launches and a third less traffic, if there are
 * enough planes; and in 2D one launch per colour of vertices, if rows would leave multiprocessors idle or are too
 * long. */
#include <stdio.h>
#include <stdlib.h>
#include "device/kernel.h"
#include "smoother/patch/patch.h"
#include "smoother/patch/patch_device.h"

enum { ROWS = 16, HEIGHT = 8, MOST_CELLS = 2048, MULTIPROCESSORS = 132 }; /* ROWS, HEIGHT as in the kernel */
enum { POINTS_THREADS = 128, MANY = 1 << 18 /* cells in 2D: vertices by colours */ };

/* How planes are swept: smallest number of resident blocks per multiprocessor (0: by rows), whether rows go through
 * shared memory, number of planes that are swept at the same time. The rest of the planes is swept by rows if it is
 * less than half of this number. */
typedef struct Planes {
  int blocks, staged, places;
} Planes;

typedef struct Stencil { /* as in patch_q1.cu */
  double s[2][4], scale;
} Stencil;

typedef struct Plan {
  TesiKernel rows, planes, points;
  Planes cut;
  bool by_points;
  unsigned threads;
  size_t shared, shared_planes;
  Stencil stencil;
} Plan;

bool tesi_patch_q1_serves(const TesSpace *space) {
  return space->degree == 1 && (space->dim == 2 || space->axis[0].cells <= MOST_CELLS);
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
                         mz * my * kx +
                         tesi_diffusion_of(op)->c * hx * hx / tesi_diffusion_of(op)->a * mz * my * mx;
      if (!three && j / 2) stencil->s[i][j] = 0;
    }
  stencil->scale = hx / (tesi_diffusion_of(op)->a * hy * hz);
}

/* Rows of one y-colour, of the planes pz + 2 i from the `skipped`-th on. */
static TesStatus launch_rows(const TesSmoother *smoother, const void *b, void *x, int py, int pz, int skipped,
                             TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const TesiAxis *axis = smoother->op->space->axis;
  const bool three = smoother->op->space->dim == 3;
  int cells = axis[0].cells, cells_y = axis[1].cells, first = sweep == TES_BACKWARD;
  long long plane = (long long)axis[0].nodes * axis[1].nodes;
  Stencil stencil = plan->stencil;
  const size_t offset = (size_t)(2 * skipped * plane) * tesi_precision_size(smoother->op->precision);
  const void *b_from = (const char *)b + offset;
  void *x_from = (char *)x + offset;
  void *arguments[] = {&x_from, &b_from, &cells, &cells_y, &py, &pz, &first, &plane, &stencil};
  const int rows = (cells_y - py) / 2, planes = (three ? (axis[2].cells - pz) / 2 : 1) - skipped;
  return tesi_kernel_launch(smoother->context, &plan->rows,
                            (TesiGrid){(unsigned)((rows + ROWS - 1) / ROWS), (unsigned)planes, 1},
                            plan->threads, plan->shared, arguments);
}

static bool takes_points(const TesSpace *space) {
  const TesiAxis *a = space->axis;
  return space->dim == 2 && (a[0].cells > MOST_CELLS || (double)a[0].cells * a[1].cells >= MANY ||
                             getenv("TESSERA_PATCH_MANY") /* for tests */);
}

/* A colour of vertices, 2D; colours x fastest. */
static TesStatus launch_points(const TesSmoother *smoother, const void *b, void *x, int colour) {
  const Plan *plan = smoother->plan;
  const TesiAxis *axis = smoother->op->space->axis;
  int cells = axis[0].cells, cells_y = axis[1].cells, cx = colour % 2, cy = colour / 2;
  Stencil stencil = plan->stencil;
  void *arguments[] = {&x, &b, &cells, &cells_y, &cx, &cy, &stencil};
  const int columns = (cells - cx) / 2, rows = (cells_y - cy) / 2, height = HEIGHT, wide = POINTS_THREADS;
  if (columns == 0 || rows == 0) return TES_OK;
  return tesi_kernel_launch(
      smoother->context, &plan->points,
      (TesiGrid){(unsigned)((columns + wide - 1) / wide), (unsigned)((rows + height - 1) / height), 1},
      POINTS_THREADS, 0, arguments);
}

static TesStatus launch_planes(const TesSmoother *smoother, const void *b, void *x, int pz, int count,
                               TesSweep sweep) {
  const Plan *plan = smoother->plan;
  const TesiAxis *axis = smoother->op->space->axis;
  int cells = axis[0].cells, cells_y = axis[1].cells, first = sweep == TES_BACKWARD;
  long long plane = (long long)axis[0].nodes * axis[1].nodes;
  Stencil stencil = plan->stencil;
  void *arguments[] = {&x, &b, &cells, &cells_y, &pz, &first, &plane, &stencil};
  return tesi_kernel_launch(smoother->context, &plan->planes, (TesiGrid){(unsigned)count, 1, 1},
                            plan->threads, plan->shared_planes, arguments);
}

static TesStatus sweep_colour(const TesSmoother *smoother, const void *b, void *x, int pz, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  const Planes *cut = &((const Plan *)smoother->plan)->cut;
  const int all = space->dim == 3 ? (space->axis[2].cells - pz) / 2 : 1;
  int whole = cut->blocks ? all : 0;
  if (whole > cut->places && all % cut->places * 2 < cut->places) whole = all / cut->places * cut->places;
  if (whole) TES_TRY(launch_planes(smoother, b, x, pz, whole, sweep));
  for (int i = 0; i < 2 && whole < all; i++)
    TES_TRY(launch_rows(smoother, b, x, sweep == TES_FORWARD ? i : 1 - i, pz, whole, sweep));
done:
  return status;
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesOperator *op = smoother->op;
  const int colours = op->space->dim == 3 ? 2 : 1;
  const bool by_points = ((const Plan *)smoother->plan)->by_points;
  if (zero_guess) TES_TRY(tesi_context_device(ctx)->fill(ctx, op->precision, op->space->length, 0, x));
  for (int i = 0; i < 4 && by_points; i++)
    TES_TRY(launch_points(smoother, b, x, sweep == TES_FORWARD ? i : 3 - i));
  if (by_points) return TES_OK;
  for (int i = 0; i < colours; i++)
    TES_TRY(sweep_colour(smoother, b, x, sweep == TES_FORWARD ? i : colours - 1 - i, sweep));
done:
  return status;
}

/* Values of traffic per unknown: 6 by rows (a colour of rows reads b and the planes around it, and writes a quarter of
 * x); 4 by planes (a colour does this for half of the planes); 8 by colours of vertices in 2D. */
static TesCost cost(const TesSmoother *smoother) {
  const double n = (double)smoother->op->space->length, values = ((const Plan *)smoother->plan)->by_points ? 8
                                                                 : ((const Plan *)smoother->plan)->cut.blocks
                                                                     ? 4
                                                                     : 6;
  return (TesCost){.flops = n * 20,
                   .bytes = n * values * (double)tesi_precision_size(smoother->op->precision)};
}

static void destroy(TesSmoother *smoother) {
  tesi_free(smoother->context, &smoother->plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = tesi_smoother_patch_apply_ref, .cost = cost, .destroy = destroy};

/* By default planes are used if a launch has a plane for every multiprocessor of the largest GPUs. */
static Planes choose_planes(const TesSpace *space, bool single) {
  const char *given = getenv("TESSERA_Q1_PLANES"); /* "blocks,staged,places": for measurements and tests */
  Planes cut = {.blocks = single ? 3 : 2, .staged = 1};
  if (space->dim == 2 || space->axis[1].cells < 2) return (Planes){0};
  if (!given && space->axis[2].cells < 256) return (Planes){0};
  cut.places = MULTIPROCESSORS * cut.blocks;
  if (given) (void)sscanf(given, "%d,%d,%d", &cut.blocks, &cut.staged, &cut.places);
  return cut;
}

TesStatus tesi_smoother_patch_q1_init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const TesSpace *space = smoother->op->space;
  const bool single = smoother->op->precision == TES_SINGLE;
  const size_t size = tesi_precision_size(smoother->op->precision);
  TesiProgram *program;
  Plan *plan = NULL;
  TES_NEW(&plan);
  smoother->plan = plan;
  smoother->table = &table;
  plan->cut = choose_planes(space, single);
  plan->by_points = takes_points(space);
  plan->threads =
      plan->by_points ? POINTS_THREADS : (unsigned)tesi_max(32, (space->axis[0].cells / 2 + 31) / 32 * 32);
  plan->shared = 4 * (2 * (size_t)plan->threads + 3) * size;
  plan->shared_planes = plan->shared + (plan->cut.staged ? 16 * plan->threads * size : 0);
  fill_stencil(smoother->op, &plan->stencil);
  const TesiProgramDesc desc = {.file = "patch_q1.cu",
                                .real = smoother->op->precision,
                                .macros = {{"DIM", space->dim},
                                           {"THREADS", (int)plan->threads},
                                           {"MIN_BLOCKS", tesi_max(1, plan->cut.blocks)},
                                           {"STAGED", plan->cut.staged}}};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_q1", plan->shared, &plan->rows));
  if (space->dim == 2) TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_q1_points", 0, &plan->points));
  if (space->dim == 3)
    TES_TRY(tesi_kernel_get(ctx, program, "tesk_patch_q1_plane", plan->shared_planes, &plan->planes));
  snprintf(smoother->description, sizeof smoother->description, "patch, degree 1: %s by kernels of %u threads",
           plan->by_points    ? "colours of vertices"
           : plan->cut.blocks ? "planes"
                              : "rows",
           plan->threads);
done:
  return status;
}
