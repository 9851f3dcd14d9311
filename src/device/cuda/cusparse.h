/* y = A x with cuSPARSE, for comparison with assembled matrices. libcusparse is opened when asked for; where it is missing that is a
 * clear message. TESSERA_LIBCUSPARSE names the file. */
#ifndef TESI_CUSPARSE_H
#define TESI_CUSPARSE_H

#include "base/base.h"

typedef struct TesiSpmv TesiSpmv;

/* Device addresses: row [rows + 1] and column [entries] int32, value, x, y float64; square. They stay the caller's. The library's algorithms
 * for compressed rows are timed on them (y is overwritten), and the fastest is used. */
TesStatus tesi_spmv_create(TesContext *ctx, int64_t rows, int64_t entries, void *row, void *column,
                           void *value, void *x, void *y, TesiSpmv **spmv);
/* Queued on the default stream of the device: synchronize what went before on the context. */
TesStatus tesi_spmv_run(TesContext *ctx, const TesiSpmv *spmv);
/* Until the default stream is done. */
TesStatus tesi_spmv_wait(TesContext *ctx);
void tesi_spmv_destroy(TesContext *ctx, TesiSpmv **spmv);

#endif
