/* Convection of a divergence-free velocity u of element rt by itself (stokes-multigrid-cui-2025's space; upwind as of
 * Guzman, Shu and Sequeira 2017):
 *
 *   N(u)(v) = int (u . grad u) . v  over the cells
 *           + sum over faces of cells where u enters: int |u.n| (u - u_out) . v     u_out: beyond the face
 *           + sum over outflows: int -1/2 min(u.n, 0) u . v
 *
 * u_out is the neighbour's velocity, or the given velocity where the flow enters through a boundary; only tangential
 * components jump. That is (w . grad u, v) - sum over inner faces <(w.n) [u], {v}> + 1/2 <|w.n| [u], [v]> with w = u:
 * N(u)(u) = 1/2 sum over faces <|u.n| [u], [u]> + the flux through boundaries, so that energy does not grow. The last
 * term takes from a flow that turns back into an outflow the energy that it would gain.
 *
 * (3 k + 4) / 2 Gauss points per direction, k the degree: exact inside of cells, and at faces where u.n does not
 * change its sign.
 *
 * The processor works on eight cells at a time, one per lane: values at the points by sum factorisation, derivatives
 * by the 1D matrix of polynomials through the points. Each cell reads its neighbours and adds to none: its
 * contributions to the nodes at its upper faces are put aside, and the cell above adds them. Flops per cell in 3D, n
 * = k + 1, q points: about 2 (18 q^4 + 12 q^3 n + 72 q^2 n). Bytes: the velocity read, N written, 2 n^(dim - 1)
 * numbers per component and cell put aside. Devices with kernels do the same with a few cells per block
 * (src/kernels/rt_convection.cu). */
#ifndef TESI_RT_CONVECTION_H
#define TESI_RT_CONVECTION_H

#include "functional/rt/rt_functional.h"

enum { TESI_RT_CONVECTION_DEGREE = 8, TESI_RT_CONVECTION_SPACE = 4, TESI_RT_CONVECTION_LANES = 8 };

typedef struct TesiRtConvectionDevice TesiRtConvectionDevice;
typedef struct TesiRtConvection {
  TesContext *context;
  const TesSpace *space;
  int n, q;
  TesiRtTables table;                                 /* at the points */
  double derivative[TESI_RT_POINTS * TESI_RT_POINTS]; /* [q][q] of polynomials through the points */
  double end[2][TESI_RT_LOCAL];                       /* Legendre modes at 0 and 1 */
  int64_t cells, batches, share;                      /* share: doubles of work per thread */
  int threads;
  /* how many numbers a cell puts aside per component; where the numbers of a component begin */
  int64_t aside_size[3], aside_at[3];
  double *u, *y, *aside, *work, *rates; /* work: [threads][share]; rates: [batches] */
  /* At the sides of the box, per component: which condition holds, and weak values at the points, [cells of the
   * side][points], x fastest; NULL: 0. */
  TesiHow how[6][3];
  double *given[6][3];
  TesiRtConvectionDevice *device;      /* instead of u to rates; NULL on the host */
  struct TesiRtConvectionRanks *ranks; /* instead of all of these; NULL on one rank */
} TesiRtConvection;

/* Degrees 1 to TESI_RT_CONVECTION_DEGREE, with kernels in 3D to TESI_RT_CONVECTION_SPACE. The space outlives it. */
TesStatus tesi_rt_convection_create(const TesSpace *space, TesiRtConvection **convection);
void tesi_rt_convection_destroy(TesiRtConvection **convection);
/* Sets the boundary conditions from now on: given[2 dim], with functions at one time. Errors: TES_NAN with the
 * point. */
TesStatus tesi_rt_convection_give(TesiRtConvection *convection, const TesiGiven *given);
/* b <- N(u), tested with the velocities of known nodes too; 0 at pressures. *rate <- the largest |u_d| / h_d at a
 * point, in cells per unit of time. The same bits for any number of threads. */
TesStatus tesi_rt_convection_apply(TesiRtConvection *convection, const TesVector *u, TesVector *b,
                                   double *rate);
/* Plain version from the definition, basis function by basis function, with `points` Gauss points per direction; host
 * arrays. */
void tesi_rt_convection_ref(const TesiRtConvection *convection, int points, const double *u, double *b,
                            double *rate);

/* ---- inside ---- */

/* For several ranks: the same on a wide box with one more layer of cells at each cut (rt_convection_ranks.c). */
typedef struct TesiRtConvectionRanks TesiRtConvectionRanks;
TesStatus tesi_rt_convection_ranks_create(const TesSpace *space, TesiRtConvectionRanks **ranks);
void tesi_rt_convection_ranks_destroy(TesiRtConvectionRanks **ranks);
TesStatus tesi_rt_convection_ranks_give(TesiRtConvectionRanks *ranks, const TesiGiven *given);
TesStatus tesi_rt_convection_ranks_apply(TesiRtConvectionRanks *ranks, const TesVector *u, TesVector *b,
                                         double *rate);

/* Batches first .. end - 1: y, aside and rates. */
typedef void TesiRtConvectionCells(const TesiRtConvection *c, int64_t first, int64_t end, double *work);
void tesi_rt_convection_cells_128(const TesiRtConvection *c, int64_t first, int64_t end, double *work);
void tesi_rt_convection_cells_256(const TesiRtConvection *c, int64_t first, int64_t end, double *work);
void tesi_rt_convection_cells_512(const TesiRtConvection *c, int64_t first, int64_t end, double *work);

static inline int64_t tesi_rt_convection_side_cells(const TesiRtConvection *c, int side) {
  return c->cells / tesi_modal(c->space, side / 2)->cells;
}

#endif
