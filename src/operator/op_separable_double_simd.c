/* The separable operator in float64. */
#include "operator/op_separable_march.h"
