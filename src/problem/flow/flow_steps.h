/* Common to all flows in time with explicit convection: stable step lengths, and a check whether a step was stable. */
#ifndef TESI_FLOW_STEPS_H
#define TESI_FLOW_STEPS_H

#include "problem/in_time.h"

/* Node distances that the flow may cross per step so that the step is stable. */
#define TESI_FLOW_STEPS_STABLE 0.6

/* Whether the values after a step are finite and have not grown too much. before NULL: the first step. *most: on
 * entry the largest velocity before the step, NaN if not known; on return the largest velocity after it. */
TesStatus tesi_flow_steps_check(const TesProblem *problem, double dt, const TesVector *velocity,
                                const TesVector *pressure, const TesVector *before, double *most);
/* Boundary velocities of an enclosed flow let `net` out, of `through`, the integral of |u.n|. More than 1e-4 of what
 * flows in is refused (TES_INVALID_INPUT), unless it is rounding. Less, which tables and measured profiles have,
 * becomes a uniform source: the user is warned once. */
TesStatus tesi_flow_check_defect(TesContext *ctx, double net, double through, bool rounding, bool *told);
/* The message for a step in which a solve met values that are not finite and left no message. */
TesStatus tesi_flow_steps_tell(const TesProblem *problem, double dt, TesStatus status);

#endif
