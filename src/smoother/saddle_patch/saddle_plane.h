/* Sweeps of vertex patches of Stokes in 2D with the residual inside the kernel (src/kernels/saddle_plane.cu): degrees
 * 1 to 8, any ends and cells, rings of at least three cells. The iterate is that of saddle_patch.h up to round-off.
 * Levels of few patches take all colours in one launch. */
#ifndef TESI_SADDLE_PLANE_H
#define TESI_SADDLE_PLANE_H

#include "smoother/saddle_patch/saddle_patch.h"

typedef struct TesiSaddlePlane TesiSaddlePlane;
/* Axes of intervals of two cells, not mirrored. */
bool tesi_saddle_plane_serves(const TesOperator *op, const TesiSaddlePatchAxis axis[3]);
/* precision: of the vectors. *plane is NULL after a failure. */
TesStatus tesi_saddle_plane_create(const TesOperator *op, TesPrecision precision,
                                   const TesiSaddlePatchAxis axis[3], TesiSaddlePlane **plane);
void tesi_saddle_plane_destroy(TesContext *ctx, TesiSaddlePlane **plane);
TesStatus tesi_saddle_plane_apply(TesContext *ctx, TesiSaddlePlane *plane, const void *b, void *x,
                                  TesiColours colours, bool zero_guess);
/* Patches and threads of a block; launches of a sweep. */
void tesi_saddle_plane_describe(const TesiSaddlePlane *plane, int *patches, int *threads, int *launches);

/* saddle_plane_tables.c: the table of a kind of intervals, as the kernel has it; how many numbers. */
int tesi_plane_table_size(int n, bool open);
void tesi_plane_fill_table(double nu, int n, bool open, const TesiSaddlePatchOuter *outer,
                           const TesiSaddleLocalAxis *local, double *table);
/* S^+ [N^2][N^2] of modes (x fastest) in the kernel's order; returns how many numbers. to NULL: counts. */
int64_t tesi_plane_fill_inverse(int n, const bool split[2], const double *S, double *to);

#endif
