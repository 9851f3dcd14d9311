/* Sparse matrices in compressed rows on the device of a context, and their products with vectors. The host uses
 * threads. Devices with kernels use cuSPARSE if it is installed, else src/kernels/sparse.cu. */
#ifndef TESI_SPARSE_H
#define TESI_SPARSE_H

#include "operator/assembled/matrix.h"
#include "device/device.h"
#include "operator/mapped/mapped_desc.h"

typedef struct TesiSparse TesiSparse;

/* Takes ownership of the arrays of `matrix`, which becomes {0}; `columns`: length of the vectors x. Values are rounded
 * to `precision`. */
TesStatus tesi_sparse_create(TesContext *ctx, TesiMatrix *matrix, int64_t columns, TesPrecision precision,
                             TesiSparse **sparse);
/* The same for a matrix made by kernels. */
TesStatus tesi_sparse_create_device(TesContext *ctx, TesiDeviceMatrix *matrix, int64_t columns,
                                    TesPrecision precision, TesiSparse **sparse);
void tesi_sparse_destroy(TesContext *ctx, TesiSparse **sparse);

/* y[rows] <- A x[columns], arrays of the device in the matrix's precision. */
TesStatus tesi_sparse_apply(TesContext *ctx, const TesiSparse *sparse, const void *x, void *y);
/* Plain version, row by row, on host arrays in float64. */
TesStatus tesi_sparse_apply_ref(TesContext *ctx, const TesiSparse *sparse, const double *x, double *y);

int64_t tesi_sparse_rows(const TesiSparse *sparse);
int64_t tesi_sparse_entries(const TesiSparse *sparse);
/* Of the matrix. */
double tesi_sparse_bytes(const TesiSparse *sparse);
/* What computes the products: "threads", "cuSPARSE", "kernel". */
const char *tesi_sparse_how(const TesiSparse *sparse);

#endif
