/* How long the steps of a flow are whose convection is explicit, what ends them, and the force that keeps mean
 * velocities: for all flows in time. */
#ifndef TESI_FLOW_STEPS_H
#define TESI_FLOW_STEPS_H

#include "problem/in_time.h"

/* Distances of neighbouring nodes that the flow may cross in a step, so that it is stable. */
#define TESI_FLOW_STEPS_STABLE 0.6

/* The longest step of time.cfl, from which the ladder goes down. */
void tesi_flow_steps_begin(TesProblem *problem);
/* The length of the next step, for a flow that crosses so many distances of nodes a unit of time: that of time.step,
 * or by time.cfl, on the ladder, down at once, up by a rung after ten steps; the last two are alike. By
 * time.tolerance that of tesi_flow_steps_judge(), no longer than a stable one. */
double tesi_flow_steps_choose(TesProblem *problem, double crossed);
/* By time.tolerance: the length after a step dt whose local error was so many times what is allowed. */
void tesi_flow_steps_judge(TesProblem *problem, double dt, double error);
/* Warns once of a step that is too long, where time.step says it; refuses one below time.min_step. */
TesStatus tesi_flow_steps_watch(const TesProblem *problem, double dt, double crossed, bool *warned);
/* Whether the values after a step are finite and have grown as those of a flow may; before NULL: one that starts.
 * *most: the largest velocity before, NaN where it is not known; becomes that after the step. */
TesStatus tesi_flow_steps_check(const TesProblem *problem, double dt, const TesVector *velocity,
                                const TesVector *pressure, const TesVector *before, double *most);
/* The message of a solve inside a step that found no finite numbers, where it left none. */
TesStatus tesi_flow_steps_tell(const TesProblem *problem, double dt, TesStatus status);
/* The step is done. */
void tesi_flow_steps_go_on(TesProblem *problem, double dt);
/* The uniform force that keeps a mean velocity; NaN in a direction: none. */
void tesi_flow_mean_force(const TesProblem *problem, double force[TESI_AXES]);

#endif
