/* Hanging faces and edges of one cell: plain versions of steps 1 and 2 of include/tessera/space.h. */
#ifndef TESI_HANGING_H
#define TESI_HANGING_H

#include "mesh/forest/forest.h"
#include "tessera/space.h"

enum { TESI_HANGING_NODES = 9 };

/* W[2][n][n] for n Gauss-Lobatto points. */
void tesi_hanging_halves(int n, double *W);
/* Bits of the directions in which the node at (i[0], i[1], i[2]), of n per direction, is on an interpolated line. */
unsigned tesi_hanging_directions(int dim, int n, unsigned mask, const int i[3]);
/* In place on u[n^dim]: replaces the values of the coarse side by the values at the cell's own nodes; and the
 * transpose. */
void tesi_hanging_read(int dim, int n, const double *W, unsigned mask, double *u);
void tesi_hanging_write(int dim, int n, const double *W, unsigned mask, double *u);
/* Positions x[n^dim][dim] of the cell's nodes as geometries use them (forest.h): on hanging faces and edges they are
 * values of the coarse side's polynomial. node[n], W as above. */
void tesi_hanging_positions(const TesMesh *f, int64_t cell, unsigned mask, int n, const double *node,
                            const double *W, double *x);

#endif
