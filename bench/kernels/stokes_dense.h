/* Vertex patches of Stokes by dense inverses, one per kind of patches, for comparison: stokes-multigrid-cui-2025
 * calls them "direct" (figure 10). The sweep is the sweep of unfused exact patches. On the host. */
#ifndef BENCH_STOKES_DENSE_H
#define BENCH_STOKES_DENSE_H

#include "operator/stokes/stokes_local.h"
#include "smoother/smoother.h"

/* op: a stokes operator with a constant viscosity. Errors: TES_OUT_OF_MEMORY. */
TesStatus bench_stokes_dense_create(TesContext *ctx, const TesOperator *op, TesSmoother **smoother);

/* The inverse [size][size] for all unknowns of a patch, part by part, in this precision; host memory. */
TesStatus bench_stokes_dense_inverse(TesContext *ctx, const TesiStokesLocal *local, TesPrecision precision,
                                     int *size, void **inverse);

#endif
