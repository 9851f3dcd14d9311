/* Sweeps of vertex patches of Stokes with the residual inside the kernel, patches in lanes
 * (src/kernels/stokes_lanes.cu): in 3D, degrees 1 to 4, equal cells, walls and periodic directions of an even number
 * of cells. With exact axes the sweep gives the iterate of stokes_patches.h, up to round-off. With mirrored axes,
 * patches at walls have other local matrices: the sweep then gives the iterate of the unfused sweep of
 * stokes_patch.h with the same axes. */
#ifndef TESI_STOKES_LANES_H
#define TESI_STOKES_LANES_H

#include "smoother/stokes_patch/stokes_patch.h"

typedef struct TesiStokesLanes TesiStokesLanes;
enum { TESI_LANES_DEGREES = 4 };
/* stokes_lanes_serve.c. Numbers of a vector by classes, half[d] cells of a class: in x whole groups of cells. */
double tesi_lanes_count(const TesSpace *space, int half[3]);
/* Axes of intervals of two cells; mirrored where tesi_stokes_lanes_mirrors says so. */
bool tesi_stokes_lanes_mirrors(const TesOperator *op);
bool tesi_stokes_lanes_serve(const TesOperator *op);
/* precision: of the vectors. *lanes is NULL after a failure. */
TesStatus tesi_stokes_lanes_create(const TesOperator *op, TesPrecision precision,
                                   const TesiStokesPatchAxis axis[3], TesiStokesLanes **lanes);
void tesi_stokes_lanes_destroy(TesContext *ctx, TesiStokesLanes **lanes);
/* Sweeps one after the other. From x, from zero, or from what stands at tesi_stokes_lanes_order() in the order
 * of sweeps. */
typedef enum TesiLanesStart { TESI_LANES_FROM_X, TESI_LANES_FROM_ZERO, TESI_LANES_ORDERED } TesiLanesStart;
TesStatus tesi_stokes_lanes_apply(TesContext *ctx, TesiStokesLanes *lanes, const void *b, void *x,
                                  TesiColours colours, int sweeps, TesiLanesStart start);
/* The patches that are cells of a mesh half as fine, for a b that is zero but for the pressures: its other entries are
 * not read. */
TesStatus tesi_stokes_lanes_solve_cells(TesContext *ctx, TesiStokesLanes *lanes, const void *b, void *x,
                                        TesiLanesStart start);
/* One sweep with something between its colours. */
TesStatus tesi_stokes_lanes_apply_between(TesContext *ctx, TesiStokesLanes *lanes, const void *b, void *x,
                                          TesiColours colours, TesiLanesStart start,
                                          const TesiBetween *between);
/* The cells of layers first .. end - 1 in z, of a class of the order of sweeps: their numbers follow one another. */
enum { TESI_LANES_CLASSES = 8 };
void tesi_stokes_lanes_layers(const TesiStokesLanes *lanes, int of_class, int first, int end, int64_t *start,
                              int64_t *count);
TesiEntryOrder tesi_stokes_lanes_order(const TesiStokesLanes *lanes);
/* Lanes and threads of a block. */
void tesi_stokes_lanes_describe(const TesiStokesLanes *lanes, int *count, int *threads);

/* stokes_lanes_tables.c: the tables of a kind, as the kernel has them; how many numbers. */
typedef struct TesiLanesShape {
  int n, tile, plain; /* rows of a tile of S^+ where rows are swapped, and where they are not */
} TesiLanesShape;
int tesi_lanes_table_size(int n);
/* Modes sorted, even ones first, where the interval is symmetric (*split); vertex: one of the kind. */
TesStatus tesi_lanes_sort(TesContext *ctx, int n, const TesiStokesLocalAxis *from,
                          TesiStokesLocalAxis *sorted, bool *split);
void tesi_lanes_fill_table(const TesiStokes *s, int d, int vertex, TesiStokesFar far,
                           const TesiStokesLocalAxis *l, double *table);
/* M^-1 of the nodes inside: [2 n - 1][2 n - 1], rows padded to four numbers. */
void tesi_lanes_fill_mass(const TesiStokesLocalAxis *l, double *inverse);
/* Numbers of S^+ by parity blocks, tile by tile, and these from the blocks of stokes_local.h, one after the other. */
int64_t tesi_lanes_inverse_size(TesiLanesShape shape, const bool split[3]);
void tesi_lanes_fill_inverse(TesiLanesShape shape, const bool split[3], const double *S, double *to);
/* The same of a cube whose kinds are equal and split: sums and differences of what is swapped, in tiles as
 * stokes_lanes_inverse.h reads them; rows of a parity block; TeskLanes.places[8][rows]. */
int64_t tesi_lanes_swapped_size(TesiLanesShape shape);
int tesi_lanes_swapped_rows(int n);
void tesi_lanes_fill_swapped(TesiLanesShape shape, const double *S, double *to);
void tesi_lanes_fill_places(int n, int *places);

/* stokes_lanes_inverses.c: the kinds of all directions, with sorted modes. swapped: the combination that is stored as
 * sums and differences, -1: none. */
typedef struct TesiLanesKinds {
  int count[3], swapped[3];
  const TesiStokesLocalAxis *local[3];
  const bool *split[3];
  const int *image[3]; /* the kind of which one is the mirror image, or itself */
} TesiLanesKinds;
/* tiles[numbers]: S^+ of combinations, at[combination] where it begins; x counts fastest. Those of mirror images are
 * one. */
TesStatus tesi_lanes_make_inverses(TesContext *ctx, const TesiStokes *s, const TesiLanesKinds *kinds,
                                   TesiLanesShape shape, int64_t *at, double **tiles, int64_t *numbers);

#endif
