/* Bands in float64. */
#include "tensor/band_body.h"
