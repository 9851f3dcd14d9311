/* How the kernels of the separable operator are cut, and what text a cut makes. */
#ifndef TESI_SEPARABLE_CUT_H
#define TESI_SEPARABLE_CUT_H

#include "device/kernel.h"
#include "device/tuning.h"
#include "operator/operator.h"

/* How the box is cut: cells of a block in x and y, node columns a thread, least resident blocks, most cell layers
 * of a block. No columns (0):
 * separable_tiles.cu, of which x, y and blocks count, and pad: whether the first cell in x is a halo. */
typedef struct TesiSeparableCut {
  int x, y, nodes, blocks, layers;
  int joint, pad, in_place, task_y; /* variants of the kernel, see separable.cu; task_y 0: 2 where even */
} TesiSeparableCut;

/* The kernel's macros for one cut, and how it is launched. */
typedef struct TesiSeparableText {
  TesiProgramDesc desc; /* points into `option` */
  char option[15][32];
  int last; /* the option RESIDUAL=0 */
  unsigned threads;
  size_t shared;
} TesiSeparableText;

TesiSeparableCut tesi_separable_default_cut(int dim, int degree, TesPrecision precision);
/* "x,y,nodes,blocks,layers,joint,pad,in_place,task_y" in TESSERA_SEPARABLE_CUT, for measurements: false where it is
 * not set. */
bool tesi_separable_given_cut(TesiSeparableCut *cut);
/* What timing chooses from, the default first; their number. */
int tesi_separable_list_cuts(int degree, TesPrecision precision,
                             TesiSeparableCut cuts[TESI_TUNING_CANDIDATES]);

/* Blocks that leave their upper faces to others (tile_faces.h). */
bool tesi_separable_is_tiled(const TesiSeparableCut *cut);
/* Equal cells, Dirichlet faces, 3D: what blocks of that kind can do. */
bool tesi_separable_is_plain(const TesOperator *op);

/* tables: of the degree, by tesi_kernel_tables. */
void tesi_separable_describe(const TesOperator *op, TesiSeparableCut cut, const char *tables,
                             TesiSeparableText *t);

#endif
