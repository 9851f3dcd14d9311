/* Algebraic multigrid for a large coarsest level: one BoomerAMG V-cycle of hypre, an optional part of a build
 * (TESSERA_HYPRE). */
#ifndef TESI_AMG_H
#define TESI_AMG_H

#include "operator/assembled/matrix.h"
#include "operator/mapped/mapped_desc.h"

typedef struct TesiAmg TesiAmg;
/* Whether this build has it. */
bool tesi_amg_available(void);
/* A: symmetric positive definite, no empty row; copied. TES_MISSING in a build without hypre. */
TesStatus tesi_amg_create(TesContext *ctx, const TesiMatrix *A, TesiAmg **amg);
void tesi_amg_destroy(TesiAmg **amg);
/* z <- one symmetric cycle from zero for A z = r; host vectors. */
TesStatus tesi_amg_apply(TesiAmg *amg, const double *r, double *z);

#endif
