/** \file vector.h
 *  Vectors on the context's device, in float64 or float32. */
#ifndef TESSERA_VECTOR_H
#define TESSERA_VECTOR_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesVector TesVector;

/** A vector of `length` zeros. Errors: TES_OUT_OF_MEMORY. */
TesStatus tes_vector_create(TesContext *context, int64_t length, TesPrecision precision, TesVector **vector);
/** A vector over `length` numbers of the caller, without a copy, for operators, smoothers and cycles. `data` is an
 *  address on the context's device (on devices cpu and emulator in host memory) and a multiple of the size of a number.
 *  The caller owns the numbers; destroy the vector before them. Errors: TES_INVALID_INPUT (NULL or a misaligned
 *  address, a negative length), TES_OUT_OF_MEMORY. */
TesStatus tes_vector_wrap(TesContext *context, void *data, int64_t length, TesPrecision precision,
                          TesVector **vector);
void tes_vector_destroy(TesVector **vector);

/** The arguments of its creation. */
int64_t tes_vector_length(const TesVector *vector);
TesPrecision tes_vector_precision(const TesVector *vector);
/** Device address of the values, double or float. */
void *tes_vector_data(TesVector *vector);
const void *tes_vector_data_const(const TesVector *vector);

/** Copies from or to host memory in float64, whatever precision and device the vector has. */
TesStatus tes_vector_set(TesVector *vector, const double *values);
TesStatus tes_vector_get(const TesVector *vector, double *values);

/* The operations below need equal lengths; precisions may differ in tes_vector_copy and tes_vector_axpy only. */
TesStatus tes_vector_fill(TesVector *y, double a);                     /**< y <- a */
TesStatus tes_vector_copy(const TesVector *x, double a, TesVector *y); /**< y <- a x, converts the precision */
TesStatus tes_vector_axpy(double a, const TesVector *x, TesVector *y); /**< y <- y + a x */
TesStatus tes_vector_xpay(const TesVector *x, double a, TesVector *y); /**< y <- x + a y */
/** Sum of x_i y_i, accumulated in float64; the same for every number of threads. */
TesStatus tes_vector_dot(const TesVector *x, const TesVector *y, double *dot);
TesStatus tes_vector_norm(const TesVector *x, double *norm);       /**< Euclidean norm */
TesStatus tes_vector_maximum(const TesVector *x, double *maximum); /**< largest |x_i|; NaN when an x_i is NaN */

#ifdef __cplusplus
}
#endif
#endif
