/* Transfers in float64. */
#include "transfer/box/transfer_box_planes.h"
