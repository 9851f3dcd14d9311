/* Transfers in float32. */
#define TESI_REAL_SINGLE
#include "transfer/transfer_march.h"
