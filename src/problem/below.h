/* Right-hand sides of the levels of full multigrid for boundary values that are not zero.
 *
 * u = u_0 + u_D, and u_D is zero except in one layer of cells at the boundary. No coarser space can represent such a
 * function, so with a restricted b full multigrid would start with a large error in a layer of cells. Moreover, the
 * face terms of elements rt and dg have their own penalty on each level, and weakly given values depend on it. So each
 * level has its own boundary values: on level l
 *
 *   u_l = v_l + w_l,   w_0 = u_D,0,   w_l = u_D,l at given nodes and E w_(l-1) elsewhere, E the embedding,
 *   b_l = E' .. E' F + N_l - A_l w_l,
 *
 * F the load without boundary data, N_l the terms of weakly given values. Then v_l = E v_(l-1) represents the same
 * function except at given nodes. On the finest level the unknown stays u_0, and v_l is added to start = w_l - u_D. */
#ifndef TESI_BELOW_H
#define TESI_BELOW_H

#include "multigrid/multigrid.h"
#include "problem/problem.h"

typedef struct TesiBelow {
  TesVector *b[TESI_MULTIGRID_LEVELS]; /* for the levels below the finest */
  TesVector *start;                    /* on the finest */
} TesiBelow;

/* Makes problem->below; NULL if all given values are zero, and for other methods. b must exist. */
TesStatus tesi_below_create(TesProblem *problem);
void tesi_below_destroy(TesProblem *problem);

#endif
