/* The separable operator in float64. */
#include "operator/separable/separable_planes.h"
