/* The equations of the library, one table per equation and element. */
#ifndef TESI_EQUATIONS_H
#define TESI_EQUATIONS_H

#include "problem/problem.h"
#include "problem/support.h"

extern const TesiEquation tesi_poisson, tesi_poisson_dg, tesi_stokes, tesi_stokes_q, tesi_transport,
    tesi_transport_dg, tesi_elasticity, tesi_navier_stokes, tesi_navier_stokes_rt, tesi_navier_stokes_iso;
/* TesiSupport.tell of problems with diffusion and reaction. */
void tesi_diffusion_tell(const TesProblemDesc *desc, int dim, TesiTold *told);
/* TesiSupport.tell of flows. */
void tesi_stokes_tell(const TesProblemDesc *desc, int dim, TesiTold *told);
void tesi_navier_stokes_tell(const TesProblemDesc *desc, int dim, TesiTold *told);

#endif
