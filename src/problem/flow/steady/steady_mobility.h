/* The Laplacian of the pressure in a domain that is narrow in places. Along a gap of width H slow pressures drive
 * Poiseuille flow: S is the matrix of -div(m grad p), m = H^2 / (12 nu), which is Reynolds' equation. In a wedge of
 * angle omega the continuous spectrum of M^-1 S begins at omega^2 / (12 nu), as that of -div(m grad p) with the local
 * width does. S^-1 is about nu M^-1 + L_m^-1, L_m the matrix of -div(m grad p).
 *
 * The mobility m of a point needs no search for walls: let w be the velocity of a uniform force 1,
 * alpha w - nu Lap w = 1. In a gap
 *
 *   P = nu^2 |grad w|^2 + 2 nu w - nu alpha w^2
 *
 * is the same from wall to wall (Payne, Sperb): H^2 / 4 if alpha is 0, nu / alpha far from walls if alpha is large.
 * m = P / (nu (3 - 2 alpha P / nu)) is then H^2 / (12 nu) and 1 / alpha. With the second m L_m^-1 is the term
 * alpha L^-1 of Cahouet and Chabard. One cycle gives w, with a force in all directions at once; P is the mean of the
 * components. */
#ifndef TESI_STEADY_MOBILITY_H
#define TESI_STEADY_MOBILITY_H

#include "problem/problem.h"

/* x <- V b, velocities */
typedef TesStatus (*TesiSteadyCycle)(TesProblem *problem, const TesVector *b, TesVector *x);

/* Makes the problem's Laplacian that of beta m, and resistance beta, 1 / beta the mean velocity of the force. If the
 * cycle finds no such velocity, nothing changes. Of the problem's scratch it overwrites r, d and pb. */
TesStatus tesi_steady_take_mobility(TesProblem *problem, TesiSteadyCycle cycle);

#endif
