/* How the kernels of the separable operator are cut, and what text a cut makes. */
#ifndef TESI_OP_SEPARABLE_CUT_H
#define TESI_OP_SEPARABLE_CUT_H

#include "device/kernel.h"
#include "device/tuning.h"
#include "operator/operator.h"

/* How the box is cut: cells of a block in x and y, node columns a thread, least resident blocks, most cell layers of a block. No columns (0):
 * laplace_tiles.cu, of which x, y and blocks count, and pad: whether the first cell in x is a halo. */
typedef struct TesiLaplaceCut {
  int x, y, nodes, blocks, layers;
  int joint, pad, in_place, task_y; /* variants of the kernel, see laplace.cu; task_y 0: 2 where even */
} TesiLaplaceCut;

/* The kernel's macros for one cut, and how it is launched. */
typedef struct TesiLaplaceText {
  TesiProgramDesc desc; /* points into `option` */
  char option[15][32];
  int last; /* the option RESIDUAL=0 */
  unsigned threads;
  size_t shared;
} TesiLaplaceText;

TesiLaplaceCut tesi_laplace_default_cut(int dim, int degree, TesPrecision precision);
/* "x,y,nodes,blocks,layers,joint,pad,in_place,task_y" in TESSERA_LAPLACE_CUT, for measurements: false where it is not set. */
bool tesi_laplace_given_cut(TesiLaplaceCut *cut);
/* What timing chooses from, the default first; their number. */
int tesi_laplace_list_cuts(int degree, TesPrecision precision, TesiLaplaceCut cuts[TESI_TUNING_CANDIDATES]);

/* Blocks that leave their upper faces to others (tile_faces.h). */
bool tesi_laplace_is_tiled(const TesiLaplaceCut *cut);
/* Equal cells, Dirichlet faces, 3D: what blocks of that kind can do. */
bool tesi_laplace_is_plain(const TesOperator *op);

/* tables: of the degree, by tesi_kernel_tables. */
void tesi_laplace_describe(const TesOperator *op, TesiLaplaceCut cut, const char *tables, TesiLaplaceText *t);

#endif
