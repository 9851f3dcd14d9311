/* The loops over coarse cells in float32. */
#include "transfer/cells/transfer_cells.h"
#include "tensor/simd.h"

#define Real float
#define NAME(x) x##_float
#define LANES TESI_FLOATS
#include "transfer/cells/transfer_cells_body.h"
