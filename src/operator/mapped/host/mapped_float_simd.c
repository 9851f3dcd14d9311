#define TESI_REAL_SINGLE
#include "operator/mapped/host/mapped_kernels_body.h"
