/* The quadrature form on devices with kernels: plan, set-up of coefficients and launches. */
#ifndef TESI_QUADRATURE_DEVICE_H
#define TESI_QUADRATURE_DEVICE_H

#include "device/kernel.h"
#include "kernels/quadrature_arguments.h"
#include "operator/operator.h"
#include "operator/tile_grid.h"

/* src/kernels/quadrature_tiles.cu: cells per block in x and y, least number of resident blocks. whole: one cell per
 * thread, quadrature_cells.cu. */
typedef struct TesiTileCut {
  int x, y, blocks, whole;
} TesiTileCut;

typedef struct TesiQuadTiles {
  TesiKernel apply, residual, faces;
  TesiTileCut cut;
  TesiTileGrid grid;
  unsigned threads;
  size_t shared;
  void *values; /* device: results of blocks on their upper faces */
} TesiQuadTiles;

typedef struct TesiQuadDevice {
  TesiKernel apply, start, diagonal, face;
  int n;                 /* points per direction */
  int64_t points, cells; /* of a cell; of the box */
  int batch, side_batch; /* cells per block; sides of a face per block */
  unsigned threads, side_threads;
  size_t shared, diagonal_shared, side_shared;
  bool coloured; /* cells in 2^dim launches, which fix the order of sums, or in one launch with atomics */
  bool tiled;    /* varying a, specialised degrees: blocks march through layers; `apply` is then not used */
  TesiQuadTiles tiles;
  TeskDiffusion arguments;
  void *h, *a, *c, *alpha[6]; /* device */
} TesiQuadDevice;

/* quadrature_device.c: for varying coefficients, and for constant coefficients if the separable kernels do not support
 * the degree. */
TesStatus tesi_operator_quadrature_device_init(TesOperator *op);

/* quadrature_tiles.c: y <- A x (sign 1) or b - A x (sign -1), without the terms of faces. Arguments and coefficients
 * must be set before. */
TesStatus tesi_quad_tiles_init(const TesOperator *op, TesiQuadDevice *plan, const char *tables);
TesStatus tesi_quad_tiles_run(const TesOperator *op, const void *b, const void *x, double sign, void *y);

/* quadrature_setup_device.c: evaluates a, c and alpha into plan->a, c, alpha; checks their signs; may set
 * op->singular. */
TesStatus tesi_quad_device_evaluate(TesOperator *op, TesiQuadDevice *plan);

/* Whether a coefficient is given and differs from the constant 0. */
bool tesi_coefficient_given(const TesFunction *function);

#endif
