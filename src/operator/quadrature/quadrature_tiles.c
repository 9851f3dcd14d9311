/* Set-up and launches of src/kernels/quadrature_tiles.cu: varying coefficients, one result per node, one order of
 * summation. */
#include <stdio.h>
#include <stdlib.h>
#include "operator/quadrature/quadrature_device.h"

/* The fastest of at least six cuts per degree on an H200. They are long in x, since a block's face there costs a
 * whole sector per number. */
static TesiTileCut default_cut(int dim, int k, TesPrecision precision) {
  static const TesiTileCut cuts3[2][9] = {{{0},
                                           {32, 4, 3, 1},
                                           {32, 4, 1, 1},
                                           {8, 2, 4, 0},
                                           {8, 2, 2, 0},
                                           {4, 2, 3, 0},
                                           {4, 1, 3, 0},
                                           {4, 1, 2, 0},
                                           {2, 1, 3, 0}},
                                          {{0},
                                           {32, 4, 2, 1},
                                           {32, 4, 1, 1},
                                           {8, 2, 4, 0},
                                           {8, 2, 2, 0},
                                           {4, 2, 3, 0},
                                           {4, 2, 2, 0},
                                           {4, 1, 2, 0},
                                           {2, 1, 4, 0}}};
  if (dim == 3) return cuts3[precision][k];
  return (TesiTileCut){tesi_max(2, 16 / k), tesi_max(2, 16 / k), 2, 0};
}

/* "x,y,blocks,whole" in the environment: for measurements and tests. */
static TesiTileCut choose_cut(const TesOperator *op) {
  const char *given = getenv("TESSERA_DIFFUSION_TILES");
  TesiTileCut cut;
  if (given && sscanf(given, "%d,%d,%d,%d", &cut.x, &cut.y, &cut.blocks, &cut.whole) == 4) return cut;
  return default_cut(op->space->dim, op->space->degree, op->precision);
}

static TesStatus compile(const TesOperator *op, TesiQuadDevice *plan, const char *tables) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiQuadTiles *tiles = &plan->tiles;
  TesiProgram *program;
  enum { RESIDUAL = 7 };
  TesiProgramDesc desc = {.file = tiles->cut.whole ? "quadrature_cells.cu" : "quadrature_tiles.cu",
                          .real = op->precision,
                          .macros = {{"DIM", op->space->dim},
                                     {"DEGREE", op->space->degree},
                                     {"TILE_X", tiles->cut.x},
                                     {"TILE_Y", tiles->cut.y},
                                     {"THREADS", (int)tiles->threads},
                                     {"MIN_BLOCKS", tiles->cut.blocks},
                                     {"REACTION", plan->c != NULL},
                                     [RESIDUAL] = {"RESIDUAL", 0},
                                     /* as operands of float64 */
                                     {op->precision == TES_DOUBLE ? "TESK_CONSTANT_TABLES" : NULL, 1}},
                          .tables = tables};
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_quadrature_tiles", tiles->shared, &tiles->apply));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_tile_faces", 0, &tiles->faces));
  desc.macros[RESIDUAL].value = 1;
  TES_TRY(tesi_program_get(ctx, &desc, &program));
  TES_TRY(tesi_kernel_get(ctx, program, "tesk_quadrature_tiles", tiles->shared, &tiles->residual));
done:
  return status;
}

/* Threads and shared memory of a block, as in the kernels. */
static void size_block(const TesOperator *op, TesiQuadTiles *tiles) {
  const TesiTileCut *cut = &tiles->cut;
  const int k = op->space->degree, n = k + 1, planes = op->space->dim == 3 ? n : 1, points = cut->x * n;
  const int cells = cut->x * cut->y, nodes = (cut->x * k + 1) * (cut->y * k + 1);
  const int threads = cut->whole ? cells : points * cut->y * planes;
  const int numbers = cut->whole ? cells * (2 * (n * n * n | 1) + 2 * k * n) + 3 * k * nodes
                                 : 3 * planes * cut->y * n * (points | 1);
  tiles->threads = (unsigned)((threads + 31) / 32 * 32);
  tiles->shared = (size_t)numbers * tesi_precision_size(op->precision);
}

static TesStatus cut_box(const TesOperator *op, TesiQuadDevice *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiQuadTiles *tiles = &plan->tiles;
  const size_t size = tesi_precision_size(op->precision);
  size_block(op, tiles);
  tiles->grid = tesi_tile_grid(op->space, tiles->cut.x, tiles->cut.y, 0);
  plan->arguments.layers = tiles->grid.layers;
  plan->arguments.block_faces = tiles->grid.block_faces;
  TES_TRY(tesi_context_device(ctx)->allocate(ctx, (size_t)tiles->grid.values * size, &tiles->values));
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
  TES_TRY(tesi_kernel_launch(ctx, sign > 0 ? &tiles->apply : &tiles->residual, tiles->grid.grid,
                             tiles->threads, tiles->shared, arguments));
  TES_TRY(tesi_kernel_launch(ctx, &tiles->faces, (TesiGrid){tiles->grid.face_blocks, 1, 1}, 256, 0,
                             face_arguments));
done:
  return status;
}
