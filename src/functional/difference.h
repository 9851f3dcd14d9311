/* The difference of two functions over forests, for L2 projections from mesh to mesh. */
#ifndef TESI_DIFFERENCE_H
#define TESI_DIFFERENCE_H

#include "space/space.h"

/* b_i <- int (u - v) phi_i over the mesh of `to`, phi_i its functions: u[length of from] a function over `from`,
 * v[length of to] one over `to`; host arrays, spaces of one component and of one degree k <= 8 over forests that
 * tes_mesh_relate() knows to be related. The integral uses the geometry of `to`, with k + 2 points per direction in the
 * finer of two cells; it is exact if the cells are affine. Rows of given nodes are integrated too. Nodes of several
 * ranks get the contributions of all ranks. Cost: about 6 (k + 2)^(dim + 1) operations per cell, on one thread, in one
 * order. Errors: TES_INVALID_INPUT (not related), TES_OUT_OF_MEMORY. */
TesStatus tesi_functional_difference(const TesSpace *from, const double *u, const TesSpace *to,
                                     const double *v, double *b);

#endif
