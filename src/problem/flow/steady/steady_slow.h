/* What a solve of steady flow takes once it is slow. Solves that are fast pay nothing.
 *
 * 1. The resistance beta of the walls. Along a gap of width H, pressures that vary slowly drive Poiseuille flow: S is
 *    H^2 / (12 nu) L there, L the matrix of the Laplacian, not M / nu. With beta = 12 nu / H^2 this is the Schur
 *    complement of a fluid with the mass term beta u, and by Cahouet and Chabard S^-1 is about nu M^-1 + beta L^-1 for
 *    short waves and long ones. In any domain 1 / beta is the mean velocity of a uniform force of 1, which one cycle
 *    finds.
 * 2. Polynomials of a higher degree in the cycle, if a step with it leaves much of the velocity's error: they cost
 *    less than the iterations that they save, since an iteration does much beside smoothing.
 * 3. Sparse factors, if the solve would not end all the same, and they are cheap enough. */
#ifndef TESI_STEADY_SLOW_H
#define TESI_STEADY_SLOW_H

#include "problem/problem.h"

/* x <- V b, velocities */
typedef TesStatus (*TesiSteadyCycle)(TesProblem *problem, const TesVector *b, TesVector *x);

/* To be called before each iteration of a solve. most: iterations of a solve at most. r: the residual's velocities. Of
 * the problem's scratch it overwrites r, d and pb alone. */
TesStatus tesi_steady_help(TesProblem *problem, TesiSteadyCycle cycle, int most, const TesVector *r);

#endif
