/* u_t - div(a grad u) + c u = f: in time numbered.c holds c + sigma (in_time.h), and the form is that of poisson. */
#include "problem/problem.h"

const TesiEquation tesi_transport = {.name = "transport",
                                     .in_time = true,
                                     .form = tesi_diffusion_form,
                                     .load = tesi_diffusion_load,
                                     .shown = tesi_diffusion_shown};
