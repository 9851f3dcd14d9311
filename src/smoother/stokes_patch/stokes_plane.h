/* Sweeps of vertex patches of Stokes in 2D with the residual inside the kernel (src/kernels/stokes_plane.cu): degrees
 * 1 to 8, any ends and cells, periodic directions of at least three cells. The iterate is that of stokes_patch.h up
 * to round-off. Levels of few patches take all colours in one launch. */
#ifndef TESI_STOKES_PLANE_H
#define TESI_STOKES_PLANE_H

#include "smoother/stokes_patch/stokes_patch.h"

typedef struct TesiStokesPlane TesiStokesPlane;
/* Axes of intervals of two cells, not mirrored. */
bool tesi_stokes_plane_serves(const TesOperator *op, const TesiStokesPatchAxis axis[3]);
/* precision: of the vectors. *plane is NULL after a failure. */
TesStatus tesi_stokes_plane_create(const TesOperator *op, TesPrecision precision,
                                   const TesiStokesPatchAxis axis[3], TesiStokesPlane **plane);
void tesi_stokes_plane_destroy(TesContext *ctx, TesiStokesPlane **plane);
TesStatus tesi_stokes_plane_apply(TesContext *ctx, TesiStokesPlane *plane, const void *b, void *x,
                                  TesiColours colours, bool zero_guess);
/* Patches and threads of a block; launches of a sweep. */
void tesi_stokes_plane_describe(const TesiStokesPlane *plane, int *patches, int *threads, int *launches);

/* stokes_plane_tables.c: the table of a kind of intervals, as the kernel has it; how many numbers. */
int tesi_plane_table_size(int n, bool open);
void tesi_plane_fill_table(double nu, int n, bool open, const TesiStokesPatchOuter *outer,
                           const TesiStokesLocalAxis *local, double *table);
/* S^+ [N^2][N^2] of modes (x fastest) in the kernel's order; returns how many numbers. to NULL: counts. */
int64_t tesi_plane_fill_inverse(int n, const bool split[2], const double *S, double *to);

#endif
