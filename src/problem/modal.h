/* Common parts of equations with discontinuous elements (poisson_dg.c). */
#ifndef TESI_MODAL_H
#define TESI_MODAL_H

#include "functional/rt/rt_load_device.h"
#include "problem/problem.h"

/* Steady problems with a free constant: the balance of the data, and the constant of the solution. */
TesStatus tesi_modal_balance(TesProblem *problem);
TesStatus tesi_modal_complete(TesProblem *problem);

/* ---- transport ---- */

/* Whether the multigrid is that of the whole operator; false: of its symmetric part. */
struct TesiTransport;
bool tesi_transport_dg_levels(const TesProblem *problem, const struct TesiTransport *transport);
/* The bytes of its matrices, where it is of the whole operator, and of a velocity's numbers. */
double tesi_transport_dg_bytes(const TesProblem *problem);
/* Bytes of matrices and factors of cells in the order of the flow, where element q may take them: whether it does is
 * known when there is an operator. */
double tesi_transport_ordered_bytes(const TesProblem *problem);
/* y <- the inflow through a boundary of transport (transport_dg.c): its linear dependence on u, entry by entry, and its
 * given part, as the sum with v = 1. op: with the transport term. */
TesStatus tesi_modal_enter(const TesProblem *problem, const TesOperator *op, int boundary, TesVector *y);
TesStatus tesi_modal_given_load(const TesProblem *problem, const TesOperator *op, int boundary,
                                const TesFunction *g, TesVector *y);
/* In time on devices with kernels, a and c being the same at all times (transport_dg_device.c): the load of functions
 * of time, NULL where the host must do it; b <- that at a clock's time, with the velocity that the operators have
 * now. */
TesStatus tesi_modal_timed_create(const TesProblem *problem, TesiModalLoad **plan);
TesStatus tesi_modal_timed_run(const TesProblem *problem, const TesiModalLoad *plan, const void *clock,
                               TesVector *b);
/* u <- the L2 projection of f. */
TesStatus tesi_modal_project(const TesSpace *space, const TesFunction *f, TesVector *u);

#endif
