/* The loops over coarse cells in float64. */
#include "transfer/forest_transfer.h"
#include "tensor/simd.h"

#define Real double
#define NAME(x) x##_double
#define LANES TESI_DOUBLES
#include "transfer/forest_transfer_body.h"
