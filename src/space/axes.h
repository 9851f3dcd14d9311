/* 1D axes: a space over a box is scalars on axes.
 *
 * An axis is a basis along one direction:
 *   NODES: Gauss-Lobatto nodes of all cells, continuous; cells * degree + 1 nodes, or one less in a periodic
 *   direction, where the last node is the first;
 *   MODES: Legendre polynomials, orthonormal on the cell of width h, mode j of cell c has the number c (degree + 1)
 *   + j:
 *          l_j(x) = sqrt((2 j + 1) / h) P_j, so that their mass matrix is 1.
 * Element q has nodes of degree k on all axes. Component i of element rt has nodes of degree k + 1 in direction i and
 * modes of degree k in the others. The pressure of rt and element dg have modes of degree k on all axes. */
#ifndef TESI_AXES_H
#define TESI_AXES_H

#include <stdbool.h>
#include <stdint.h>
#include "space/given.h"

typedef enum TesiBasis { TESI_NODES, TESI_MODES } TesiBasis;

typedef struct TesiAxis {
  TesiBasis basis;
  int degree, cells; /* 0, 1 in directions that do not exist */
  int step;          /* entries from one cell to the next: `degree` for nodes, degree + 1 for modes */
  int nodes;         /* number of entries: all nodes, or all modes */
  bool periodic;     /* open at both ends */
  TesiHow end[2];    /* lower and upper end: open, strong or weak; cuts between ranks are open */
  bool uniform;      /* all cells have the same width, up to round-off of the coordinates */
  bool odd_end; /* element q: all cells but the last have the same width: the coarse mesh of an odd number of equal
                 * cells */
  double *h; /* [cells] widths; equal cells have the same to the last bit */
  double *x; /* NODES: coordinates [cells * degree + 1], in a periodic direction both coordinates of the first node;
              * else NULL */
  const double *vertices; /* [cells + 1] vertices of the mesh */
} TesiAxis;

/* First and one-past-last entry of an axis that is an unknown. */
static inline int tesi_axis_first(const TesiAxis *axis) {
  return axis->end[0] == TESI_STRONG;
}
static inline int tesi_axis_end(const TesiAxis *axis) {
  return axis->nodes - (axis->end[1] == TESI_STRONG);
}
/* Entry i of cell c. */
static inline int tesi_axis_node(const TesiAxis *axis, int c, int i) {
  const int node = c * axis->step + i;
  return axis->periodic && node == axis->nodes ? 0 : node;
}

/* Entries of one scalar along its axes, [3]. */
#define TESI_EXTENT(scalar)                                                                                  \
  { (scalar)->axis[0].nodes, (scalar)->axis[1].nodes, (scalar)->axis[2].nodes }

/* Values out[n] of the modes of a cell of width h at t in [0, 1], and derivatives (may be NULL). */
void tesi_rt_legendre(int n, double h, double t, double *out, double *derivative);

#endif
