/* Cells in the order of the velocity by kernels (src/kernels/flow_patch.cu). */
#ifndef TESI_FLOW_PATCH_DEVICE_H
#define TESI_FLOW_PATCH_DEVICE_H

#include "smoother/flow_patch/flow_patch.h"

/* After matrices and order are there; the host's matrices go. */
TesStatus tesi_flow_device_create(const TesOperator *op, TesiFlowPatch *patch);
/* Another order, of fewer cells. */
TesStatus tesi_flow_device_order(TesContext *ctx, TesiFlowPatch *patch);
void tesi_flow_device_destroy(TesContext *ctx, TesiFlowDevice **device);
TesStatus tesi_flow_device_layer(TesContext *ctx, const TesiFlowPatch *patch, int layer, const void *b,
                                 void *x);

#endif
