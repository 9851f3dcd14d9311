/* Parts of the equation of elasticity. */
#ifndef TESI_ELASTIC_H
#define TESI_ELASTIC_H

#include "problem/problem.h"

/* To be called when the load exists. Components of the load along loose motions are removed if they are of the size
 * of round-off; else the load is refused. */
TesStatus tesi_elasticity_balance(TesProblem *problem);
/* size[length] <- sum of |int f phi| and of |int g phi| over all boundaries, on the host: the scale of the load's
 * round-off. */
TesStatus tesi_elasticity_load_size(const TesProblem *problem, double *size);
/* Called when the data of thermal strain exist: expansion becomes expansion times temperature (TesiNumbered). */
TesStatus tesi_thermal_complete(TesProblem *problem);
/* b <- b + int s d phi_i / d x_component, s = (3 lambda + 2 mu) thermal strain (plane stress: 2 lambda + 2 mu). The
 * sum is made at all nodes, or at all nodes without given values. */
TesStatus tesi_thermal_load(const TesProblem *problem, int component, bool all, TesVector *b);
/* u <- u with its loose motions removed, or replaced by those of the exact solution at the nodes. */
TesStatus tesi_elasticity_remove_motions(TesProblem *problem);
/* Component `direction` of int sigma n over a boundary, from the residual of the equation at its nodes. */
TesStatus tesi_elasticity_force(const TesProblem *problem, int boundary, int direction, double *force);
extern const struct TesiAdjointOf tesi_elasticity_adjoint;
/* By component: the sum of all loads, and the force of supports and springs on the body. */
TesStatus tesi_elasticity_totals(const TesProblem *problem, double load[TESI_AXES],
                                 double reaction[TESI_AXES]);

/* g <- g / area of a boundary with a total force. If the problem has moved to another mesh, g was divided by the
 * previous mesh's area, and this division is undone. */
TesStatus tesi_elasticity_spread_force(const TesProblem *problem, int degree, int boundary, TesiGiven *given);
/* TesiEquation.vary: total forces, and lambda of plane stress. */
TesStatus tesi_elasticity_vary(const TesProblem *problem, TesProblem *varied);

#endif
