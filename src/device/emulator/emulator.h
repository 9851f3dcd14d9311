/* The emulator device: kernels compiled as C by the system's compiler and run on the processor, for tests. */
#ifndef TESI_EMULATOR_H
#define TESI_EMULATOR_H

#include "device/device.h"

extern const TesiDevice tesi_device_emulator;
TesStatus tesi_emulator_open(TesContext *ctx);

#endif
