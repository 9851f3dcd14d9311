/* The separable operator as kernels (GPU, emulator). */
#ifndef TESI_SEPARABLE_DEVICE_H
#define TESI_SEPARABLE_DEVICE_H

#include "operator/operator.h"

/* Sets table, plan and description. Any box, degree at most 8 in 3D, 10 in 2D. Errors: TES_MISSING beyond. */
TesStatus tesi_operator_separable_device_init(TesOperator *op);

#endif
