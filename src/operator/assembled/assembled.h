/* Assembled operators for benches. */
#ifndef TESI_ASSEMBLED_H
#define TESI_ASSEMBLED_H

#include "operator/operator.h"

/* Bytes of the matrices of an assembled operator, and of its work vectors. */
double tesi_assembled_bytes(const TesOperator *op);
/* What computes the products: see tesi_sparse_how(). */
const char *tesi_assembled_how(const TesOperator *op);

#endif
