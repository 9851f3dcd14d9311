/* The separable operator in float64. */
#include "operator/separable/op_separable_march.h"
