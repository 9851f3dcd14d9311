#include "operator/op_quadrature_kernels_body.h"
