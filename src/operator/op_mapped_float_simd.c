#define TESI_REAL_SINGLE
#include "operator/op_mapped_kernels_body.h"
