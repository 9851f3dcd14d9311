/* Right-hand sides over discontinuous elements by kernels (src/kernels/modal_load.cu), prepared once. A run
 * consists of launches alone, so that it can be recorded; kernels read the time from a clock in device memory
 * (device_text.h). */
#ifndef TESI_RT_LOAD_DEVICE_H
#define TESI_RT_LOAD_DEVICE_H

#include "functional/rt/rt_functional.h"

typedef struct TesiModalLoad TesiModalLoad;

/* Speeds (b.n) and their weights at faces, device memory: [cells, or 1 (step 0)][2 dim][points of a face]. */
typedef struct TesiInflow {
  const void *speed;
  int64_t step;
} TesiInflow;

/* f, nu and face: as tesi_rt_load(). inflow_points (0: none): points a direction of the speeds with which values
 * enter where they are given. *plan stays NULL where the host must do it: a function without text, or one that asks for
 * the normal. Up to degree 8. */
TesStatus tesi_modal_load_create(const TesSpace *space, const TesFunction *f, double nu,
                                 const TesiGiven *given, TesPenalty penalty, int inflow_points,
                                 TesiModalLoad **plan);
void tesi_modal_load_destroy(TesiModalLoad **plan);
/* b <- the load at the clock's time, less int (b.n)- g v over ends with given values; inflow NULL: without that. */
TesStatus tesi_modal_load_run(const TesiModalLoad *plan, const void *clock, const TesiInflow *inflow,
                              TesVector *b);

#endif
