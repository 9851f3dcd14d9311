/* How supports share a residual at nodes of faces with slip. A face holds the directions of a projector N: n n' with
 * slip, else the components that are given. With F = sum of N over the faces at a node, G = sum over groups of points
 * and curves, F+ the inverse of F on its range and C = 1 - F F+:
 *
 *   groups             get what no face holds, N (C G C)+ C r each
 *   faces              share the rest r', N F+ r' each
 *   their stresses     F F+ - N F+ over own faces, - N F+ over others, of N sigma n
 *
 * The sum of all is r, which lies in the range of F + G. Directions that a node does not hold, as along kinks
 * (space/slip_motions.h), are left out of N. For N along the axes these are the numbers of forces.h. */
#ifndef TESI_FORCE_SHARES_H
#define TESI_FORCE_SHARES_H

#include "problem/forces.h"

/* on[length]: the number of faces of a boundary at a node; of a group: 1. */
typedef TesStatus (*TesiForceMark)(void *user, int boundary, int32_t *on);
/* Replaces rows `direction` at the nodes of faces with slip; arrays of all components exist. */
TesStatus tesi_force_share(const TesProblem *problem, const TesSpace *whole, int boundary, int direction,
                           TesiForceMark mark, void *user, TesiForceWeights *weights);

#endif
