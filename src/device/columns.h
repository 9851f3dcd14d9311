/* A vector and the columns of a basis, in float64 on devices with kernels: products of all columns in a quarter of the
 * passes, and one wait for the host. */
#ifndef TESI_COLUMNS_H
#define TESI_COLUMNS_H

#include "device/kernel.h"
#include "device/vector.h"

typedef struct TesiColumns {
  TesContext *context;
  TesiKernel kernel[3];
  unsigned parts; /* blocks of a pass */
  int most;
  void *partial, *result; /* device */
  TesVector **v,
      **z; /* [most + 1] the columns, [most] what the method keeps beside each; NULL: not there yet */
} TesiColumns;

/* Up to `most` columns of a layout. Those that take a quarter of the free memory, 20 at most, are there at once, the
 * others when the method makes them. */
TesStatus tesi_columns_create(TesContext *ctx, const TesiLayout *layout, int most, TesiColumns **columns);
void tesi_columns_destroy(TesiColumns **columns);

/* product[2 k], [2 k + 1] <- x[k] . w, x[k] . v, k < count */
TesStatus tesi_columns_products(TesiColumns *columns, int count, TesVector *const *x, const TesVector *w,
                                const TesVector *v, double *product);
/* y <- y - sum of a[k] x[k]; *square (unless NULL) <- y . y */
TesStatus tesi_columns_subtract(TesiColumns *columns, int count, const double *a, TesVector *const *x,
                                TesVector *y, double *square);

#endif
