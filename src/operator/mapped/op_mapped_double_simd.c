#include "operator/mapped/op_mapped_kernels_body.h"
