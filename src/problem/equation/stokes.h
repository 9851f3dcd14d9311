/* Common parts of flows of element rt, steady (stokes.c) and in time (flow/coupled/). */
#ifndef TESI_STOKES_H
#define TESI_STOKES_H

#include "functional/rt/rt_functional.h"
#include "problem/problem.h"

/* TesiEquation.form and .shown, TesiFlowEquation.check. If local solves are exact, V(0,1) takes less work from degree
 * 2 on, and is chosen; full multigrid does not work with it. */
int tesi_stokes_form(const TesProblem *problem, TesTermDesc *term);
int tesi_stokes_shown(const TesProblem *problem, TesiShown *shown);
TesStatus tesi_stokes_check(TesProblem *problem, const TesProblemDesc *desc);
/* problem->unit <- the pressure's unit s (pressure_unit.h) for the problem's numbers. Operators are then made with nu /
 * s and alpha / s: K (u, p / s) = (f / s, 0). */
TesStatus tesi_stokes_choose_unit(TesProblem *problem);
/* The longest edge of the box. */
double tesi_stokes_extent(const TesProblem *problem);
/* The pressures in a vector over the problem's space, as a view. */
TesVector tesi_stokes_pressure(const TesProblem *problem, const TesVector *v);
TesStatus tesi_stokes_scale_pressure(const TesProblem *problem, double factor, TesVector *v);
/* *v <- the pressure 1, whatever the unit; *forces <- K times it, NULL: not wanted. */
TesStatus tesi_stokes_uniform(const TesProblem *problem, TesVector **v, TesVector **forces);
/* The penalty of weak values, for loads: with TESI_PENALTY_DOUBLED. */
TesPenalty tesi_stokes_penalty(const TesProblem *problem);
/* If no face is open, boundary velocities have no net flux, or a small one (else TES_INVALID_INPUT); it is removed from
 * b, and so becomes a uniform source. flux[2]: of tesi_rt_lifting(). *told: the user has been warned. */
TesStatus tesi_stokes_balance(const TesProblem *problem, const double flux[2], bool *told, TesVector *b);
/* Reduces the divergence: u <- u + the cycle applied to the pressure rows of r = b - K u, whose norm is `divergence`,
 * with zero in the velocity rows. The correction is as small as the divergence, and so is the round-off of a float32
 * cycle. work: two vectors of the cycle's precision. unit: the unit of pressures in u, 1 or problem->unit. */
TesStatus tesi_stokes_correct(TesProblem *problem, const TesVector *r, double divergence,
                              TesVector *const work[2], double unit, TesVector *u);

#endif
