/* MUMPS, an optional part of a build (TESSERA_MUMPS), whose library is opened when factors are first asked for. It is
 * not made for several threads: its calls come one at a time, whatever their contexts. Nothing interrupts a call. */
#ifndef TESI_MUMPS_H
#define TESI_MUMPS_H

#include "multigrid/coarse/factorization.h"

typedef struct TesiMumps TesiMumps;

/* NULL: it is there. Else why not. Opens the library. */
const char *tesi_mumps_missing(void);
/* Orders the unknowns. row, column (from 1 on), value [entries] stay the caller's until the factors are there. */
TesStatus tesi_mumps_create(TesContext *ctx, int64_t n, TesiSymmetry kind, int64_t entries, int *row,
                            int *column, double *value, TesiMumps **factors);
void tesi_mumps_destroy(TesiMumps **factors);
TesiFactorizationCost tesi_mumps_cost(const TesiMumps *factors);
TesStatus tesi_mumps_compute(TesiMumps *factors);
/* x <- A^-1 x. */
TesStatus tesi_mumps_solve(TesiMumps *factors, double *x);

#endif
