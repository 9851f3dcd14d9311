/* The coarsest level of a Stokes problem by kernels with many blocks (src/kernels/stokes_box.cu): where that is one of
 * some dozen to some hundred cells, it takes less than the colours of one level. */
#ifndef TESI_COARSE_STOKES_BOX_H
#define TESI_COARSE_STOKES_BOX_H

#include "operator/stokes/stokes_operator.h"

typedef struct TesiCoarseStokesBox TesiCoarseStokesBox;
/* Whether S^+ of such a box, of all ranks, and its tables are small enough. All ranks call it. */
bool tesi_coarse_stokes_box_serves(const TesSpace *space);
/* About what it takes as the coarsest level below a box of `rt`, in both precisions: bytes of S^+. */
double tesi_coarse_stokes_box_bytes(const TesSpace *space);
/* For float64 vectors and vectors of `precision`. *box is NULL after a failure. */
TesStatus tesi_coarse_stokes_box_create(TesContext *ctx, const TesOperator *op, TesPrecision precision,
                                        TesiCoarseStokesBox **box);
void tesi_coarse_stokes_box_destroy(TesiCoarseStokesBox **box);
TesStatus tesi_coarse_stokes_box_solve(TesiCoarseStokesBox *box, TesPrecision precision, const void *b,
                                       void *x);

#endif
