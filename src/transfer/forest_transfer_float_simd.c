/* The loops over coarse cells in float32. */
#include "transfer/forest_transfer.h"
#include "tensor/simd.h"

#define Real float
#define NAME(x) x##_float
#define LANES TESI_FLOATS
#include "transfer/forest_transfer_body.h"
