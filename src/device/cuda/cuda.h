/* The CUDA device: NVIDIA GPUs through the driver, kernels through the run-time compiler. */
#ifndef TESI_CUDA_H
#define TESI_CUDA_H

#include "device/device.h"

extern const TesiDevice tesi_device_cuda;
/* Makes GPU `number` the device of ctx. Errors: TES_MISSING (driver, GPU or compiler), TES_OUT_OF_MEMORY. */
TesStatus tesi_cuda_open(TesContext *ctx, int number);
/* Number of GPUs of this machine. Errors: TES_MISSING (no driver). */
TesStatus tesi_cuda_count(TesContext *ctx, int *count);
/* "cuda:0", ... */
const char *tesi_cuda_name(const TesContext *ctx);
/* "NVIDIA H200", ... */
const char *tesi_cuda_model(const TesContext *ctx);
/* The GPU's address on the PCI bus, in NVML's format. */
bool tesi_cuda_bus(const TesContext *ctx, int size, char *bus);
/* The stream of all queued work, for libraries. */
void *tesi_cuda_stream(const TesContext *ctx);

#endif
