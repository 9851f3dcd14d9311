/* Transfers in float32. */
#define TESI_REAL_SINGLE
#include "transfer/box/transfer_box_planes.h"
