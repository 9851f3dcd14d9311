/* The Stokes operator in 3D, degrees 1 to 4, as one launch (src/kernels/stokes_tiles.cu). */
#ifndef TESI_STOKES_TILES_H
#define TESI_STOKES_TILES_H

#include "operator/stokes/stokes_operator.h"

typedef struct TesiStokesTiles TesiStokesTiles;
bool tesi_stokes_tiles_serve(const TesOperator *op);
/* op must have its axes already. *tiles is NULL after a failure. */
TesStatus tesi_stokes_tiles_create(const TesOperator *op, TesiStokesTiles **tiles);
void tesi_stokes_tiles_destroy(TesContext *ctx, TesiStokesTiles **tiles);
/* y <- b + sign K x; b NULL: zero; y may be b. */
TesStatus tesi_stokes_tiles_add(const TesOperator *op, TesiStokesTiles *tiles, const void *b, double sign,
                                const void *x, void *y);
/* y <- K x for a float32 x, in float64 arithmetic, y of precision of_y. The first function asks for the kernel.
 * Float64 operators only. */
TesStatus tesi_stokes_tiles_ready_single(const TesOperator *op, TesiStokesTiles *tiles, TesPrecision of_y);
TesStatus tesi_stokes_tiles_apply_single(const TesOperator *op, TesiStokesTiles *tiles, const float *x,
                                         TesPrecision of_y, void *y);

#endif
