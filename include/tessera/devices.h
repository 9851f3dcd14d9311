/** \file devices.h
 *  What devices this machine has. Several GPUs are for as many ranks (communicator.h): each rank takes the one of its
 *  number among the ranks of its host. */
#ifndef TESSERA_DEVICES_H
#define TESSERA_DEVICES_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** GPUs that the NVIDIA driver tells of; 0: none, or no driver. CUDA_VISIBLE_DEVICES hides some. */
int tes_gpu_count(void);

/** Joules since some moment, of all that uses them: a difference is what a part of a program took, where nothing else
 *  ran. NaN: cannot be read. */
typedef struct TesEnergy {
  double gpu; /**< of the context's GPU, by NVML, whose library is opened at the first call; counted some 10 times a
                   second */
  double cpu; /**< of all processor packages, by RAPL: /sys/class/powercap/intel-rapl:N, which many systems let root
                   read alone; to be read at least once in some minutes, as counters start anew */
} TesEnergy;
/** The first call tells as a detail of the log what cannot be read. */
TesEnergy tes_context_energy(TesContext *context);

#ifdef __cplusplus
}
#endif
#endif
