/** \file devices.h
 *  What devices this machine has. Several GPUs are for as many ranks (communicator.h): each rank takes the one of its
 *  number among the ranks of its host. */
#ifndef TESSERA_DEVICES_H
#define TESSERA_DEVICES_H

#ifdef __cplusplus
extern "C" {
#endif

/** GPUs that the NVIDIA driver tells of; 0: none, or no driver. CUDA_VISIBLE_DEVICES hides some. */
int tes_gpu_count(void);

#ifdef __cplusplus
}
#endif
#endif
