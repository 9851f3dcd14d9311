/* MUMPS, an optional part of a build (TESSERA_MUMPS). Its library is opened at the first use. It is not thread-safe, so
 * the contexts call it one at a time. A call cannot be interrupted. */
#ifndef TESI_MUMPS_H
#define TESI_MUMPS_H

#include "multigrid/coarse/factorization.h"

typedef struct TesiMumps TesiMumps;

/* Opens the library. NULL: it is there. Else the reason why not. */
const char *tesi_mumps_missing(void);
/* Orders the unknowns. row, column (from 1 on), value [entries] are the caller's and must stay until the factors are
 * made. */
TesStatus tesi_mumps_create(TesContext *ctx, int64_t n, TesiSymmetry kind, int64_t entries, int *row,
                            int *column, double *value, TesiMumps **factors);
void tesi_mumps_destroy(TesiMumps **factors);
TesiFactorizationCost tesi_mumps_cost(const TesiMumps *factors);
TesStatus tesi_mumps_compute(TesiMumps *factors);
/* x <- A^-1 x. */
TesStatus tesi_mumps_solve(TesiMumps *factors, double *x);

#endif
