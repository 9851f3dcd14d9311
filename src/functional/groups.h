/* Integrals over groups of curves and points of a mesh: a line integral along edges, the value at points. */
#ifndef TESI_GROUPS_H
#define TESI_GROUPS_H

#include "functional/batch.h"

/* Points x[3][n] of an edge or a corner of a cell, TesTreePart.at, and their weights. An edge has q points of a rule on
 * [0, 1], with the length of the tangent; a corner has one point of weight 1. Returns n. */
int tesi_group_points(const TesiGeometry *geometry, int64_t cell, int at, int q, const double *point,
                      const double *weight, double *x, double *w);
/* values += int g phi over the groups of curves and points that have a g[boundary], at all nodes. *any: whether there
 * is a g. */
TesStatus tesi_groups_add(const TesiBatches *b, const TesFunction *const *g, bool *any, double *values);

#endif
