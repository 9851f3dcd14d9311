/* The loops over coarse cells in float64. */
#include "transfer/cells/transfer_cells.h"
#include "tensor/simd.h"

#define Real double
#define NAME(x) x##_double
#define LANES TESI_DOUBLES
#include "transfer/cells/transfer_cells_body.h"
