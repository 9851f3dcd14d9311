/* The Stokes operator in 3D, degrees 1 to 4, as one launch (src/kernels/saddle_tiles.cu). */
#ifndef TESI_SADDLE_TILES_H
#define TESI_SADDLE_TILES_H

#include "operator/saddle/saddle.h"

typedef struct TesiSaddleTiles TesiSaddleTiles;
bool tesi_saddle_tiles_serve(const TesOperator *op);
/* op has its axes. *tiles is NULL after a failure. */
TesStatus tesi_saddle_tiles_create(const TesOperator *op, TesiSaddleTiles **tiles);
void tesi_saddle_tiles_destroy(TesContext *ctx, TesiSaddleTiles **tiles);
/* y <- b + sign K x; b NULL: zero; y may be b. */
TesStatus tesi_saddle_tiles_add(const TesOperator *op, TesiSaddleTiles *tiles, const void *b, double sign,
                                const void *x, void *y);
/* y <- K x for a float32 x, in float64 arithmetic, y of precision of_y; the first asks for the kernel. Float64. */
TesStatus tesi_saddle_tiles_ready_single(const TesOperator *op, TesiSaddleTiles *tiles, TesPrecision of_y);
TesStatus tesi_saddle_tiles_apply_single(const TesOperator *op, TesiSaddleTiles *tiles, const float *x,
                                         TesPrecision of_y, void *y);

#endif
