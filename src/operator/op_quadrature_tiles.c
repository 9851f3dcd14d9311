/* Set-up and launches of src/kernels/diffusion_tiles.cu: varying coefficients, one result a node, one order of summation. */
#include <stdio.h>
#include <stdlib.h>
#include "operator/op_quadrature_cuda.h"

enum {
  OPTIONS = 9,
  MOST_LAYERS = 32,
  ENOUGH = 1056 /* blocks: eight a multiprocessor of the largest GPUs */
};

/* The fastest of six a degree on an H200; long in x, where a block's face costs whole sectors a number. */
static TesiTileCut default_cut(int dim, int k, TesPrecision precision) {
  static const TesiTileCut cuts3[2][9] = {
      {{0}, {16, 4, 4}, {16, 2, 3}, {8, 2, 4}, {8, 2, 2}, {4, 2, 3}, {4, 1, 3}, {4, 1, 2}, {2, 1, 3}},
      {{0}, {16, 4, 4}, {16, 2, 3}, {8, 2, 4}, {8, 2, 2}, {4, 2, 3}, {4, 2, 2}, {2, 2, 3}, {2, 1, 4}}};
  if (dim == 3) return cuts3[precision][k];
  return (TesiTileCut){tesi_max(2, 16 / k), tesi_max(2, 16 / k), 2};
}

/* "x,y,blocks" in the environment: for measurements and tests. */
static TesiTileCut choose_cut(const TesOperator *op) {
  const char *given = getenv("TESSERA_DIFFUSION_TILES");
  TesiTileCut cut;
  if (given && sscanf(given, "%d,%d,%d", &cut.x, &cut.y, &cut.blocks) == 3) return cut;
  return default_cut(op->space->dim, op->space->degree, op->precision);
}

static TesStatus compile(const TesOperator *op, TesiQuadDevice *plan, const char *tables) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiQuadTiles *tiles = &plan->tiles;
  TesiProgram *program;
  const bool single = op->precision == TES_SINGLE;
  char text[OPTIONS][32];
  static const char *const names[OPTIONS] = {"DIM",     "DEGREE",     "TILE_X",   "TILE_Y",
                                             "THREADS", "MIN_BLOCKS", "REACTION", "RESIDUAL"};
  const int values[OPTIONS] = {op->space->dim,      op->space->degree, tiles->cut.x,    tiles->cut.y,
                               (int)tiles->threads, tiles->cut.blocks, plan->c != NULL, 0};
  TesiProgramDesc desc = {.file = "diffusion_tiles.cu", .tables = tables};
  desc.options[0] = single ? "real=float" : "real=double";
  for (int i = 0; i + 1 < OPTIONS; i++) {
    snprintf(text[i], sizeof text[i], "%s=%d", names[i], values[i]);
    desc.options[i + 1] = text[i];
  }
  desc.options[OPTIONS] = single ? NULL : "TESK_CONSTANT_TABLES=1"; /* as operands of float64 */
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_diffusion_tiles", tiles->shared, &tiles->apply));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_diffusion_faces", 0, &tiles->faces));
  desc.options[OPTIONS - 1] = "RESIDUAL=1";
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_diffusion_tiles", tiles->shared, &tiles->residual));
done:
  return status;
}

/* Blocks, their layers, and the numbers they leave on upper faces: rows of x-, y- and z-faces as in the kernel. */
static TesStatus cut_box(const TesOperator *op, TesiQuadDevice *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiQuadTiles *tiles = &plan->tiles;
  TeskDiffusion *a = &plan->arguments;
  const int k = op->space->degree, n = k + 1, dim = op->space->dim;
  const int64_t nx = tiles->cut.x * k + 1, ny = tiles->cut.y * k + 1, rows = tiles->cut.y * n,
                points = tiles->cut.x * n;
  const size_t size = tesi_precision_size(op->precision);
  tiles->threads = (unsigned)((points * tiles->cut.y * (dim == 3 ? n : 1) + 31) / 32 * 32);
  tiles->shared = (size_t)(3 * (dim == 3 ? n : 1) * rows * (points | 1)) * size;
  tiles->grid.x = (unsigned)((a->cells[0] + tiles->cut.x - 1) / tiles->cut.x);
  tiles->grid.y = (unsigned)((a->cells[1] + tiles->cut.y - 1) / tiles->cut.y);
  a->layers = tesi_min(MOST_LAYERS, a->cells[2]);
  while (a->layers > 1 &&
         (int64_t)tiles->grid.x * tiles->grid.y * ((a->cells[2] + a->layers - 1) / a->layers) < ENOUGH)
    a->layers = (a->layers + 1) / 2;
  tiles->grid.z = (unsigned)((a->cells[2] + a->layers - 1) / a->layers);
  const int64_t planes = dim == 3 ? a->layers * k + 1 : 1,
                blocks = (int64_t)tiles->grid.x * tiles->grid.y * tiles->grid.z;
  a->block_faces = planes * (nx + ny) + (dim == 3 ? nx * ny : 0);
  const int64_t shared_nodes = op->space->length / op->space->axis[0].nodes * (tiles->grid.x - 1) +
                               op->space->length / op->space->axis[1].nodes * (tiles->grid.y - 1) +
                               (dim == 3 ? a->plane * (tiles->grid.z - 1) : 0);
  tiles->face_blocks = (unsigned)tesi_min((int)((shared_nodes + 255) / 256), 8192);
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)(blocks * a->block_faces) * size, &tiles->values));
done:
  return status;
}

TesStatus tesi_quad_tiles_init(const TesOperator *op, TesiQuadDevice *plan, const char *tables) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  plan->tiles.cut = choose_cut(op);
  TES_TRY(cut_box(op, plan));
  TES_TRY(compile(op, plan, tables));
done:
  return status;
}

TesStatus tesi_quad_tiles_run(const TesOperator *op, const void *b, const void *x, double sign, void *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiQuadDevice *plan = op->plan;
  const TesiQuadTiles *tiles = &plan->tiles;
  TeskDiffusion argument = plan->arguments;
  void *values = tiles->values, *arguments[] = {&x, &y, &b, &values, &argument},
       *face_arguments[] = {&y, &values, &argument};
  argument.sign = sign;
  TES_TRY(tesi_kernel_launch(ctx, sign > 0 ? &tiles->apply : &tiles->residual, tiles->grid, tiles->threads,
                             tiles->shared, arguments));
  TES_TRY(
      tesi_kernel_launch(ctx, &tiles->faces, (TesiGrid){tiles->face_blocks, 1, 1}, 256, 0, face_arguments));
done:
  return status;
}
