#define TESI_REAL_SINGLE
#include "operator/elasticity/elasticity_kernels_body.h"
