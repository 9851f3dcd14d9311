#define TESI_REAL_SINGLE
#include "operator/op_quadrature_kernels_body.h"
