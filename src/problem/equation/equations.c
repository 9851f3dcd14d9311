#include "problem/equation/equations.h"

/* In the order in which messages and tables name them. */
const TesiEquation *const tesi_equations[] = {
    &tesi_poisson,          &tesi_poisson_dg,       &tesi_stokes,     &tesi_stokes_q,
    &tesi_transport,        &tesi_transport_dg,     &tesi_elasticity, &tesi_navier_stokes,
    &tesi_navier_stokes_rt, &tesi_navier_stokes_iso};
const int tesi_equation_count = sizeof tesi_equations / sizeof *tesi_equations;
