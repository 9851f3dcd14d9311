/* The separable operator in float32. */
#define TESI_REAL_SINGLE
#include "operator/separable/op_separable_march.h"
