/* Lengths of steps in time: equal, or by the velocity through a cell, or by the local error. */
#ifndef TESI_STEP_CONTROL_H
#define TESI_STEP_CONTROL_H

#include "problem/in_time.h"

/* Refuses contradictory settings; finds the first length, for which the first operators are made. */
TesStatus tesi_steps_create(TesProblem *problem);
/* Node distances that the velocity crosses per unit of time. */
double tesi_steps_rate(const TesProblem *problem);
/* The same if the velocity crosses this number of cells per unit of time. */
double tesi_steps_rate_of(const TesProblem *problem, double crossed);
/* Cells that the velocity crosses per unit of time; 0: there is no velocity. */
double tesi_steps_crossed(const TesProblem *problem);

#endif
