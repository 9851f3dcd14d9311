/* Vertex patches of a box: intervals of nodes per direction, and their tensor products. */
#ifndef TESI_PATCH_H
#define TESI_PATCH_H

#include "smoother/smoother.h"

/* The nodes inside the cells around a vertex. Its neighbours first - 1 and end, if they exist, bound the patch. */
typedef struct TesiPatchInterval {
  int first, end; /* nodes first <= i < end; in a periodic direction numbers continue at the beginning */
  int colour; /* parity of (vertex - 1); in a periodic direction with an odd number of vertices, vertex 0 has colour
               * 2 */
} TesiPatchInterval;

/* The patches of one axis, ascending; returns their number, at most cells + 1. Vertex v = 0..cells has a patch if it is
 * an unknown; an end vertex has one cell. If the axis is one cell between Dirichlet ends, its inner nodes are a patch
 * of colour 0. Vertices of a periodic direction are 0..cells - 1, and the patch of vertex 0 is the last. Intervals of
 * one colour share at most bounding nodes; together they cover every unknown. */
int tesi_patch_intervals(const TesiAxis *axis, TesiPatchInterval *intervals);

/* The sweep patch by patch, in residual form, from the assembled 1D matrices. float64 host arrays. */
TesStatus tesi_smoother_patch_apply_ref(const TesSmoother *smoother, const double *b, double *x,
                                        TesSweep sweep);

#endif
