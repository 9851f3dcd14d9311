#include "operator/elasticity/elasticity_kernels_body.h"
