/* What a solve of steady flow takes once it is slow. Solves that are fast pay nothing.
 *
 * 1. The mobility (steady_mobility.h), where there is a coarse C: C represents pressures of a coarse mesh alone. Cells
 *    that are long and flat have pressures within them that C does not know, and the mobility does.
 * 2. Polynomials of a higher degree in the cycle, if a step with it leaves much of the velocity's error: they cost
 *    less than the iterations that they save, since an iteration does much beside smoothing.
 * 3. Sparse factors, if the solve would not end all the same, and they are cheap enough. */
#ifndef TESI_STEADY_SLOW_H
#define TESI_STEADY_SLOW_H

#include "problem/flow/steady/steady_mobility.h"

/* To be called before each iteration of a solve. most: iterations of a solve at most. r: the residual's velocities. Of
 * the problem's scratch it overwrites r, d and pb alone. */
TesStatus tesi_steady_help(TesProblem *problem, TesiSteadyCycle cycle, int most, const TesVector *r);

#endif
