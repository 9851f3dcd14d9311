/* Assembled operators for benches. */
#ifndef TESI_ASSEMBLED_H
#define TESI_ASSEMBLED_H

#include "operator/operator.h"

/* Bytes of the matrices of an assembled operator and of the vectors between them. */
double tesi_assembled_bytes(const TesOperator *op);
/* The code that multiplies: as tesi_sparse_how(). */
const char *tesi_assembled_how(const TesOperator *op);

#endif
