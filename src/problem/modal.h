/* Common parts of equations with discontinuous elements (poisson_dg.c). */
#ifndef TESI_MODAL_H
#define TESI_MODAL_H

#include "functional/rt/rt_load_device.h"
#include "problem/problem.h"

/* Steady problems with a free constant: the balance of the data, and the constant of the solution. */
TesStatus tesi_modal_balance(TesProblem *problem);
TesStatus tesi_modal_complete(TesProblem *problem);
/* b <- the load of the boundaries on a level of diffusion without a velocity. */
TesStatus tesi_modal_load_faces(const TesProblem *problem, const TesOperator *op, TesVector *b);

/* ---- transport ---- */

/* Whether the multigrid uses the whole operator; false: its symmetric part. */
struct TesiTransport;
bool tesi_transport_dg_levels(const TesProblem *problem, const struct TesiTransport *transport);
/* Bytes of the multigrid's matrices, if it uses the whole operator, and of a velocity's numbers. */
double tesi_transport_dg_bytes(const TesProblem *problem);
/* Bytes of matrices and factors of cells in the order of the flow, if element q may take them. Whether it takes them
 * is known when there is an operator. */
double tesi_transport_ordered_bytes(const TesProblem *problem);
/* y <- the inflow through a boundary of transport (transport_dg.c): its linear dependence on u, entry by entry, and its
 * given part, as the sum with v = 1. op: with the transport term. */
TesStatus tesi_modal_enter(const TesProblem *problem, const TesOperator *op, int boundary, TesVector *y);
TesStatus tesi_modal_given_load(const TesProblem *problem, const TesOperator *op, int boundary,
                                const TesFunction *g, TesVector *y);
/* In time on devices with kernels, if a and c do not depend on time (transport_dg_device.c). Makes the load of
 * functions of time, or NULL if the host must make it; b <- the load at the time of a clock, with the present
 * velocity of the operators. */
TesStatus tesi_modal_timed_create(const TesProblem *problem, TesiModalLoad **plan);
TesStatus tesi_modal_timed_run(const TesProblem *problem, const TesiModalLoad *plan, const void *clock,
                               TesVector *b);
/* u <- the L2 projection of f. */
TesStatus tesi_modal_project(const TesSpace *space, const TesFunction *f, TesVector *u);

#endif
