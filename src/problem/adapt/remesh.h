/* Meshes that change while steps are made: which cells, and what goes from one mesh to the next. */
#ifndef TESI_REMESH_H
#define TESI_REMESH_H

#include "problem/in_time.h"
#include "tessera/adapt.h"

/* adapted <- the mesh of a problem with its cells refined and coarsened by their squared indicators; NULL where no
 * cell changes. The marks of tes_problem_remesh(). refine: else nothing is refined. */
TesStatus tesi_regrid(const TesSpace *space, const TesAdaptDesc *desc, bool refine, const double *eta2,
                      TesMesh **adapted);
/* What loops and steps have alike: their marking, and a mesh that can be refined. */
TesStatus tesi_adapt_check(TesContext *context, const TesAdaptDesc *desc, const TesMesh *mesh);
/* next <- the state of a problem in time; next has just been made. beside: the mesh of next with its cells on the ranks
 * that have the cells of `from` there; NULL: the mesh itself. Of a flow (split_settle.c) velocities get their
 * boundary values and lose the divergence that the projection added, *removed its L2 norm in the velocity of now. */
TesStatus tesi_move_state(TesProblem *from, TesProblem *next, const TesMesh *beside, double *removed);
/* The problem goes on on a mesh whose cells are at most a level from its own, and on the same ranks, with its state;
 * ranks then get equally many cells. Before the first step
 * with the initial function. The times of `remesh` are filled in. */
TesStatus tesi_change_mesh(TesProblem *problem, const TesMesh *mesh, TesRemesh *remesh);
/* v <- the L2 projection of u; mass: M over `to`, a space without given values. Solved to `tolerance` of what the
 * interpolation of u misses; the mean of each component is that of u in any case. */
TesStatus tesi_move_projected(const TesSpace *from, const TesVector *u, const TesOperator *mass,
                              double tolerance, TesVector *v);

#endif
