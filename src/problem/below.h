/* The right-hand sides of the levels of full multigrid where boundary values are not zero.
 *
 * u = u_0 + u_D, and u_D, zero inside, reaches one cell into the mesh: no coarser space has anything like it, so that
 * b restricted makes full multigrid begin with a layer of cells where all is wrong. The terms at faces of elements rt
 * and dg, too, have on each level a penalty of its own, and values that are given weakly belong to that. So each level
 * takes boundary values of its own: on level l
 *   u_l = v_l + w_l, w_0 = u_D,0, w_l = u_D,l at given nodes and E w_(l-1) elsewhere, E the embedding,
 *   b_l = E' .. E' F + N_l - A_l w_l,
 * F the load without boundary data, N_l the terms of weakly given values. Then v_l = E v_(l-1) goes on with the same
 * function but at given nodes. On the finest level the unknown stays u_0, and v_l is added to start = w_l - u_D. */
#ifndef TESI_BELOW_H
#define TESI_BELOW_H

#include "multigrid/multigrid.h"
#include "problem/problem.h"

typedef struct TesiBelow {
  TesVector *b[TESI_MULTIGRID_LEVELS]; /* of the levels below the finest */
  TesVector *start;                    /* on the finest */
} TesiBelow;

/* problem->below: NULL where nothing is given but zero, and for other methods. b is there. */
TesStatus tesi_below_create(TesProblem *problem);
void tesi_below_destroy(TesProblem *problem);

#endif
