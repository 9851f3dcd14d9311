/* Division of the work of the separable operator's kernels into blocks (cuts), and the macros of a cut. */
#ifndef TESI_SEPARABLE_CUT_H
#define TESI_SEPARABLE_CUT_H

#include "device/kernel.h"
#include "device/tuning.h"
#include "operator/operator.h"

/* The cut of a box: cells per block in x and y, node columns per thread, least number of resident blocks, largest
 * number of cell layers per block. Zero columns: separable_tiles.cu, which uses x, y, blocks and pad; pad tells
 * whether the first cell in x is a halo. */
typedef struct TesiSeparableCut {
  int x, y, nodes, blocks, layers;
  int joint, pad, in_place, task_y; /* variants of the kernel, see separable.cu; task_y 0: 2 if y is
                                     * even */
} TesiSeparableCut;

/* The kernel's macros for a cut, and its launch. */
typedef struct TesiSeparableText {
  TesiProgramDesc desc;
  int residual; /* number of the macro RESIDUAL, which is 0 */
  unsigned threads;
  size_t shared;
} TesiSeparableText;

TesiSeparableCut tesi_separable_default_cut(int dim, int degree, TesPrecision precision);
/* Reads "x,y,nodes,blocks,layers,joint,pad,in_place,task_y" from TESSERA_SEPARABLE_CUT, for measurements; false if it
 * is not set. */
bool tesi_separable_given_cut(TesiSeparableCut *cut);
/* The candidates for timing, the default first; returns their number. */
int tesi_separable_list_cuts(int degree, TesPrecision precision,
                             TesiSeparableCut cuts[TESI_TUNING_CANDIDATES]);

/* Whether blocks leave results on their upper faces to other blocks (tile_faces.h). */
bool tesi_separable_is_tiled(const TesiSeparableCut *cut);
/* Equal cells, Dirichlet faces, 3D: the condition for such blocks. */
bool tesi_separable_is_plain(const TesOperator *op);

/* Whether cells have widths of their own in the kernel: they differ, or there is no diffusion by which the kernel would
 * scale its sums. */
bool tesi_separable_is_graded(const TesOperator *op);

/* tables: for the degree, by tesi_kernel_tables. */
void tesi_separable_describe(const TesOperator *op, TesiSeparableCut cut, const char *tables,
                             TesiSeparableText *t);

#endif
