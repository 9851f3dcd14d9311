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
/* next <- the state of a problem in time; next has just been made. beside: the mesh of next with its cells on the ranks
 * that have the cells of `from` there; NULL: the mesh itself. Of a flow (split_settle.c) velocities get their
 * boundary values and lose the divergence that the projection added, *removed is the L2 norm of this divergence in the
 * present velocity. */
TesStatus tesi_move_state(TesProblem *from, TesProblem *next, const TesMesh *beside, double *removed);
/* The problem continues with its state on a mesh whose cells differ by at most one level from its own, and are on the
 * same ranks; then cells are distributed equally. Before the first step it starts with the initial function. The times
 * of `remesh` are filled in. */
TesStatus tesi_change_mesh(TesProblem *problem, const TesMesh *mesh, TesRemesh *remesh);
/* v <- the L2 projection of u; mass: M over `to`, a space without given values. The tolerance is relative to the
 * difference between the projection and the interpolation of u. The mean of each component is kept to round-off. */
TesStatus tesi_move_projected(const TesSpace *from, const TesVector *u, const TesOperator *mass,
                              double tolerance, TesVector *v);

#endif
