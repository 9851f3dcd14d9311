#define TESI_REAL_SINGLE
#include "operator/quadrature/op_quadrature_kernels_body.h"
