/* Loads by kernels (src/kernels/box_load.cu, cells_load.cu), prepared once. A run consists of launches only, so that it
 * can be recorded; kernels read the time from a clock in device memory (device_text.h). */
#ifndef TESI_LOAD_PLAN_H
#define TESI_LOAD_PLAN_H

#include "functional/functional.h"

typedef struct TesiLoadPlan TesiLoadPlan;

/* Rows of given values are integrated if `given`, on boxes always. *plan stays NULL if the host must integrate: a
 * function without text, a high degree, a flux on a boundary with values, on forests a flux that depends on time. */
TesStatus tesi_load_plan_create(const TesiLoad *desc, bool given, TesiLoadPlan **plan);
void tesi_load_plan_destroy(TesiLoadPlan **plan);
/* b <- the load at the clock's time. */
TesStatus tesi_load_plan_run(const TesiLoadPlan *plan, const void *clock, TesVector *b);

#endif
