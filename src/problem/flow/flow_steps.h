/* What all flows in time share whose convection is explicit: when steps are stable, and whether one was. */
#ifndef TESI_FLOW_STEPS_H
#define TESI_FLOW_STEPS_H

#include "problem/in_time.h"

/* Distances of neighbouring nodes that the flow may cross in a step, so that it is stable. */
#define TESI_FLOW_STEPS_STABLE 0.6

/* Whether the values after a step are finite and have grown as those of a flow may; before NULL: one that starts.
 * *most: the largest velocity before, NaN where it is not known; becomes that after the step. */
TesStatus tesi_flow_steps_check(const TesProblem *problem, double dt, const TesVector *velocity,
                                const TesVector *pressure, const TesVector *before, double *most);
/* The message of a solve inside a step that found no finite numbers, where it left none. */
TesStatus tesi_flow_steps_tell(const TesProblem *problem, double dt, TesStatus status);

#endif
