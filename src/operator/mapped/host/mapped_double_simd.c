#include "operator/mapped/host/mapped_kernels_body.h"
