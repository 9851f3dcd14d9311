/* Geometry of eight cells at a time, side by side in memory whatever the width of the registers: arrays [..][8],
 * aligned to 64 bytes, where lane l belongs to cell[l]; cells may be equal. Sums have the order of evaluate.c and no
 * product is fused with a sum, so all widths give the same numbers. */
#ifndef TESI_LANES_H
#define TESI_LANES_H

#include "geometry/geometry.h"

enum { TESI_LANES = 8 };

typedef struct TesiLanes {
  /* x[3][q^dim][8] (2D: x[2] is left alone) and J[dim*dim][q^dim][8] from nodes[n^dim][dim][8]; tables B, G [q][n]. */
  void (*tensor)(int dim, int n, int q, const double *B, const double *G, const double *nodes, double *x,
                 double *J);
  void (*determinant)(int dim, int64_t points, const double *J, double *det);
  /* Bits of the lanes in which some of v[count][8] is not finite, or negative, or (above) zero. */
  unsigned (*faulty)(int64_t count, bool above, const double *v);
} TesiLanes;

const TesiLanes *tesi_lanes(int bits);
/* nodes[cell_nodes][dim][8] */
void tesi_lanes_nodes(const TesiGeometry *g, const int32_t cell[TESI_LANES], double *nodes);
/* All of it, the map of an analytic geometry too; nodes: work of that size. */
void tesi_lanes_points(const TesiGeometry *g, const TesiLanes *lanes, const int32_t cell[TESI_LANES], int q,
                       const double *B, const double *G, double *nodes, double *x, double *J);
/* in[count][8] to each of the first `cells` lanes' own row: out[lane * stride + i]. */
void tesi_lanes_spread(int64_t count, const double *in, int cells, int64_t stride, double *out);

#endif
