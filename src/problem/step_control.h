/* Lengths of steps in time: equal steps, or by the flow through a cell, or by the local error. */
#ifndef TESI_STEP_CONTROL_H
#define TESI_STEP_CONTROL_H

#include "problem/in_time.h"

/* Refuses contradictory settings; the first length, with which the first operators are made. */
TesStatus tesi_steps_create(TesProblem *problem);
/* Node distances that the velocity crosses per unit of time. */
double tesi_steps_rate(const TesProblem *problem);
/* Where it crosses so many cells. */
double tesi_steps_rate_of(const TesProblem *problem, double crossed);
/* The same in cells; 0: there is no velocity. */
double tesi_steps_crossed(const TesProblem *problem);

#endif
