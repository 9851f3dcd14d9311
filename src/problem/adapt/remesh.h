/* Meshes that change between steps: the choice of cells, and the transfer of the state to the next mesh. */
#ifndef TESI_REMESH_H
#define TESI_REMESH_H

#include "problem/in_time.h"
#include "tessera/adapt.h"

/* adapted <- the mesh of a problem with its cells refined and coarsened by their squared indicators; NULL if no cell
 * changes. It uses the marks of tes_problem_remesh(). refine: false: nothing is refined. */
TesStatus tesi_regrid(const TesSpace *space, const TesAdaptDesc *desc, bool refine, const double *eta2,
                      TesMesh **adapted);
/* Common to adaptive loops and steps: the choice of marking, and a mesh that can be refined. */
TesStatus tesi_adapt_check(TesContext *context, const TesAdaptDesc *desc, const TesMesh *mesh);
/* next <- the state of a problem in time; `next` has just been made. beside: a mesh with the cells of `next`,
 * distributed over ranks as the cells of `from`; NULL: the mesh of `next` itself is distributed so. The velocities of
 * a flow (split_settle.c) get their boundary values and lose the divergence that the projection added. *removed is
 * the L2 norm of this divergence in the present velocity. */
TesStatus tesi_move_state(TesProblem *from, TesProblem *next, const TesMesh *beside, double *removed);
/* Continues the problem with its state on another mesh. Cells differ by at most one level from the present cells and
 * are on the same ranks; afterwards they are distributed equally. Before the first step the problem starts with the
 * initial function. Fills in the times of `remesh`. */
TesStatus tesi_change_mesh(TesProblem *problem, const TesMesh *mesh, TesRemesh *remesh);
/* v <- the L2 projection of u. mass: M over `to`, a space without given values. The tolerance is relative to the
 * difference between the projection and the interpolation of u. The mean of each component is kept to round-off. */
TesStatus tesi_move_projected(const TesSpace *from, const TesVector *u, const TesOperator *mass,
                              double tolerance, TesVector *v);

#endif
