/* Parts of the equation of elasticity. */
#ifndef TESI_ELASTIC_H
#define TESI_ELASTIC_H

#include "problem/problem.h"

/* The load is there: what it has of rigid motions that nothing holds is taken away where that is rounding, else
 * refused. */
TesStatus tesi_elasticity_balance(TesProblem *problem);
/* size[length] <- sum of |int f phi| and of |int g phi| of each boundary, host: what rounding of the load is measured
 * with. */
TesStatus tesi_elasticity_load_size(const TesProblem *problem, double *size);
/* The data of thermal strain are there: expansion becomes expansion times temperature (TesiNumbered). */
TesStatus tesi_thermal_complete(TesProblem *problem);
/* b <- b + int s d phi_i / d x_component, s = (3 lambda + 2 mu) thermal strain (plane stress: 2 lambda + 2 mu), at all
 * nodes or without the given ones. */
TesStatus tesi_thermal_load(const TesProblem *problem, int component, bool all, TesVector *b);
/* u <- u without free motions, or with those of the exact solution at the nodes. */
TesStatus tesi_elasticity_remove_motions(TesProblem *problem);
/* Component `direction` of int sigma n over a boundary, by the residual of the equation at its nodes. */
TesStatus tesi_elasticity_force(const TesProblem *problem, int boundary, int direction, double *force);
/* By component: the sum of all loads, and that of what supports and springs do to the body. */
TesStatus tesi_elasticity_totals(const TesProblem *problem, double load[TESI_AXES],
                                 double reaction[TESI_AXES]);

/* g <- g / area of a boundary with a total force. On another mesh of the same problem g is divided by the area before
 * already. */
TesStatus tesi_elasticity_spread_force(const TesProblem *problem, int degree, int boundary, TesiGiven *given);
/* TesiEquation.vary: total forces, and lambda of plane stress. */
TesStatus tesi_elasticity_vary(const TesProblem *problem, TesProblem *varied);

#endif
