/* The meshes of adaptive-matrix-free-ljungkvist-2017, Table 2: a ball, refined on spherical shells round centres that are not the ball's ("a
 * series of non-aligned spherical shells"). The paper does not say which; these have its numbers of cells, degrees of freedom and hanging nodes
 * within a few per cent.
 *
 * Pass i refines the cells of the finest level whose centre x has frac(shells |x - c_i|) < fraction, c_1 = (0.1, 0.2, 0.3), c_2 = (-0.3, 0.1, -0.2).
 */
#ifndef TESI_SHELLS_H
#define TESI_SHELLS_H

#include "mesh/forest/forest.h"

enum { TESI_SHELL_PASSES = 2 };

typedef struct TesiShells {
  int dim, level; /* uniform refinements first */
  struct {
    double shells, fraction; /* 0: no pass */
  } pass[TESI_SHELL_PASSES];
} TesiShells;

/* The recipe of the paper's largest mesh for a degree 1..4; `coarser` takes so many levels away: about 2^dim times fewer cells each. */
TesiShells tesi_shells_of_paper(int dim, int degree, bool adaptive, int coarser);
TesStatus tesi_shells_create(TesContext *ctx, const TesiShells *recipe, TesForest **forest);

#endif
