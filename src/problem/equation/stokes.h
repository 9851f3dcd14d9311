/* What flows of element rt have in common, steady (stokes.c) and in time (flow/coupled/). */
#ifndef TESI_STOKES_H
#define TESI_STOKES_H

#include "functional/rt/rt_functional.h"
#include "problem/problem.h"

/* TesiEquation.form and .shown, TesiFlowEquation.check. V(0,1) is less work from degree 2 on where local
 * solves are exact, and is chosen then; full multigrid does not work with it. */
int tesi_stokes_form(const TesProblem *problem, TesTermDesc *term);
int tesi_stokes_shown(const TesProblem *problem, TesiShown *shown);
TesStatus tesi_stokes_check(TesProblem *problem, const TesProblemDesc *desc);
/* problem->unit <- the pressure's unit s (pressure_unit.h) of the problem's numbers. The operators to be made are those
 * of nu / s and alpha / s: K (u, p / s) = (f / s, 0). */
TesStatus tesi_stokes_choose_unit(TesProblem *problem);
/* The longest edge of the box. */
double tesi_stokes_extent(const TesProblem *problem);
/* The pressures of a vector over its space. */
TesVector tesi_stokes_pressure(const TesProblem *problem, const TesVector *v);
TesStatus tesi_stokes_scale_pressure(const TesProblem *problem, double factor, TesVector *v);
/* Of weak values, for loads: with TESI_PENALTY_DOUBLED. */
TesPenalty tesi_stokes_penalty(const TesProblem *problem);
/* Where no face is open the net flux of boundary velocities must vanish, of `flux` = int |g| in all
 * (TES_INVALID_INPUT tells it); what rounding leaves in b is taken away. */
TesStatus tesi_stokes_balance(const TesProblem *problem, double flux, TesVector *b);
/* u <- u + the cycle applied to the divergence, the pressures in r = b - K u of norm `divergence`, and no forces: the
 * correction is then as small as the divergence, and so is the round-off of a float32 cycle. work: two vectors of the
 * cycle's precision. unit: that of the system's pressures in that of u, 1 or problem->unit. */
TesStatus tesi_stokes_correct(TesProblem *problem, const TesVector *r, double divergence,
                              TesVector *const work[2], double unit, TesVector *u);

#endif
