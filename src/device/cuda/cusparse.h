/* y = A x with cuSPARSE, for assembled operators. libcusparse is opened at the first use; a message says if it is
 * missing.
 * TESSERA_LIBCUSPARSE names the file. */
#ifndef TESI_CUSPARSE_H
#define TESI_CUSPARSE_H

#include "base/base.h"

typedef struct TesiSpmv TesiSpmv;

/* Whether the library can be opened. */
bool tesi_spmv_available(void);

/* Device addresses: row [rows + 1] and column [entries] int32, value in `precision`; owned by the caller. */
typedef struct TesiSpmvDesc {
  int64_t rows, columns, entries;
  TesPrecision precision;
  void *row, *column, *value;
} TesiSpmvDesc;
/* The library's algorithms for compressed rows are timed on the matrix, and the fastest is used. */
TesStatus tesi_spmv_create(TesContext *ctx, const TesiSpmvDesc *desc, TesiSpmv **spmv);
/* Queued on the device's stream: x[columns], y[rows]. */
TesStatus tesi_spmv_run(TesContext *ctx, const TesiSpmv *spmv, const void *x, void *y);
void tesi_spmv_destroy(TesContext *ctx, TesiSpmv **spmv);

#endif
