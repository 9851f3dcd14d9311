/* The Schur complement S of a steady flow on smooth pressures, where no coarse mesh is small enough for
 * steady_schur.h: files of many cells. Eigenvalues of nu M^-1 S far below 1 belong to pressures that vary slowly
 * through the domain. Let T be the polynomials of the coordinates up to a total degree, and m_i the M-orthonormal
 * vectors of their span with m_i' B V B' m_j = sigma_i if i = j, else 0, V a cycle for A^-1. Then
 *
 *   S^-1 is about nu M^-1 + sum of (1 / sigma_i - nu) m_i m_i'
 *
 * over those i for which nu sigma_i is small. Its creation costs a cycle per polynomial. */
#ifndef TESI_STEADY_MODES_H
#define TESI_STEADY_MODES_H

#include "problem/problem.h"

typedef struct TesiSteadyModes TesiSteadyModes;
/* x <- V b, velocities */
typedef TesStatus (*TesiSteadyCycle)(TesProblem *problem, const TesVector *b, TesVector *x);

/* For a steady flow with alpha = 0 whose operators and cycle exist. It may be called within a solve: of the problem's
 * scratch it overwrites r, pb and ps alone. */
TesStatus tesi_steady_modes_create(TesProblem *problem, TesiSteadyCycle cycle, TesiSteadyModes **modes);
void tesi_steady_modes_destroy(TesiSteadyModes **modes);
/* z <- z + factor sum of (1 / sigma_i - nu) m_i m_i' r */
TesStatus tesi_steady_modes_add(const TesiSteadyModes *modes, double factor, const TesVector *r, TesVector *z);
int tesi_steady_modes_count(const TesiSteadyModes *modes);

#endif
