#define TESI_REAL_SINGLE
#include "operator/quadrature/quadrature_kernels_body.h"
