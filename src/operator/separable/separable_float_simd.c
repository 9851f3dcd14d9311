/* The separable operator in float32. */
#define TESI_REAL_SINGLE
#include "operator/separable/separable_planes.h"
