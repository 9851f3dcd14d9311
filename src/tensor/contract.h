/* A matrix times a tensor in one direction: for set-up and references, without batches. */
#ifndef TESI_CONTRACT_H
#define TESI_CONTRACT_H

#include <stdbool.h>

/* y <- A x, or A' x, in direction d of x[extent[2]][extent[1]][extent[0]]; A[rows][columns]. extent <- the extent of y,
 * which does not overlap x. 2 rows flops per number of x. */
void tesi_contract(const double *A, int rows, int columns, bool transposed, int extent[3], int d,
                   const double *x, double *y);

#endif
