#include "operator/quadrature/op_quadrature_kernels_body.h"
