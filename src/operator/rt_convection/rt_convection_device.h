/* Convection by kernels (src/kernels/rt_convection.cu). */
#ifndef TESI_RT_CONVECTION_DEVICE_H
#define TESI_RT_CONVECTION_DEVICE_H

#include "operator/rt_convection/rt_convection.h"

TesStatus tesi_rt_convection_device_create(const TesiRtConvection *convection,
                                           TesiRtConvectionDevice **device);
void tesi_rt_convection_device_destroy(TesContext *ctx, TesiRtConvectionDevice **device);
/* The data of the sides on the host. */
TesStatus tesi_rt_convection_device_sides(TesiRtConvection *convection);
TesStatus tesi_rt_convection_device_apply(TesiRtConvection *convection, const TesVector *u, TesVector *b,
                                          double *rate);

#endif
