/* Vertex patches of a box: intervals of nodes a direction, and their tensor products. */
#ifndef TESI_PATCH_H
#define TESI_PATCH_H

#include "smoother/smoother.h"

/* The nodes inside the cells around one vertex. Its neighbours first-1 and end, where they exist, bound the patch. */
typedef struct TesiPatchInterval {
  int first, end; /* nodes first <= i < end; in a periodic direction numbers go on at the beginning */
  int colour; /* parity of (vertex - 1); of a periodic direction with an odd number of vertices that of vertex 0 is 2 */
} TesiPatchInterval;

/* The patches of one axis, ascending; returns their number, at most cells + 1. Vertex v = 0..cells has a patch
 * where it is an unknown; an end vertex has one cell. One cell between Dirichlet ends has no such vertex: its inner
 * nodes are a patch of colour 0. Vertices of a periodic direction are 0..cells - 1, the patch of vertex 0 the last
 * one. Intervals of one colour share at most bounding nodes; together they cover every unknown. */
int tesi_patch_intervals(const TesiAxis *axis, TesiPatchInterval *intervals);

/* The sweep patch by patch, in residual form, from the assembled 1D matrices. float64 host arrays. */
TesStatus tesi_smoother_patch_apply_ref(const TesSmoother *smoother, const double *b, double *x,
                                        TesSweep sweep);

#endif
