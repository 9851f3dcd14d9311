/* Transfers in float64. */
#include "transfer/transfer_march.h"
