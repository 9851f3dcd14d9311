#include "operator/quadrature/quadrature_kernels_body.h"
