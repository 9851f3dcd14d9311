/* Bands in float32. */
#define TESI_REAL_SINGLE
#include "tensor/band_body.h"
