/* The loops over coarse cells in both precisions. */
#include "transfer/forest_transfer.h"

#define Real double
#define NAME(x) x##_double
#include "transfer/forest_transfer_body.h"
#undef Real
#undef NAME

#define Real float
#define NAME(x) x##_float
#include "transfer/forest_transfer_body.h"
