#define TESI_REAL_SINGLE
#include "operator/mapped/op_mapped_kernels_body.h"
