/** \file devices.h
 *  The devices of this machine. Several GPUs serve as many ranks (communicator.h): rank i of the ranks on a host takes
 *  GPU i. */
#ifndef TESSERA_DEVICES_H
#define TESSERA_DEVICES_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of GPUs that the NVIDIA driver reports; 0: none, or no driver. CUDA_VISIBLE_DEVICES hides some. */
int tes_gpu_count(void);

/** Energy counters, in joules since some moment, of everything that runs on the device. A difference of two readings is
 *  the energy of a part of a program if nothing else ran. NaN: cannot be read. */
typedef struct TesEnergy {
  double gpu; /**< the context's GPU, by NVML, which is loaded at the first call; updated about 10 times per second */
  double cpu; /**< all processor packages, by RAPL: /sys/class/powercap/intel-rapl:N, which on many systems only root
               *   can read; read it every few minutes, because the counters overflow */
} TesEnergy;
/** The first call writes to the log, as a detail, which counters cannot be read. */
TesEnergy tes_context_energy(TesContext *context);

#ifdef __cplusplus
}
#endif
#endif
