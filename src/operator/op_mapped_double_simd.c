#include "operator/op_mapped_kernels_body.h"
