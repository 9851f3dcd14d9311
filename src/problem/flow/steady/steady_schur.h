/* The Schur complement S = B A^-1 B' of a steady flow on a coarse mesh, by dense matrices, beside the mass of the
 * pressures, which knows nothing of the domain: pressures that change along a channel of length L and height H have
 * eigenvalues of M^-1 S down to (H / L)^2. With the embedding P of the coarse pressures, Q_1 with velocities Q_2,
 *
 *   S^-1 is about nu M^-1 + alpha L^-1 + P (S_c^-1 - nu M_c^-1 - alpha L_c^-1) P'
 *
 * Iterations then depend on the coarse mesh alone. It is the finest of the multigrid's meshes for which the matrices
 * take a small part of the solve's work. Where no mesh is small enough there is none. */
#ifndef TESI_STEADY_SCHUR_H
#define TESI_STEADY_SCHUR_H

#include "problem/problem.h"

typedef struct TesiSteadySchur TesiSteadySchur;
/* Of a steady flow whose operators, cycle and pressure's Laplacian are there; NULL: no mesh is small enough. */
TesStatus tesi_steady_schur_create(const TesProblem *problem, TesiSteadySchur **schur);
void tesi_steady_schur_destroy(TesiSteadySchur **schur);
/* z <- z + factor P (S_c^-1 - nu M_c^-1 - alpha L_c^-1) P' r; queued on devices with kernels, nothing waits. */
TesStatus tesi_steady_schur_add(TesiSteadySchur *schur, double factor, const TesVector *r, TesVector *z);
/* The cells of its mesh. */
int64_t tesi_steady_schur_cells(const TesiSteadySchur *schur);

/* A pressure at an edge of two walls, or a corner of three, has half, or a quarter, of the velocities round it, and
 * M^-1 S eigenvalues so much lower. With W of 1/2 and 1/4 there and 1 elsewhere, M W^1/2 stands for S from both sides:
 * W^1/2 M W^1/2. *factor <- W^-1/2; NULL: there are no such nodes. */
TesStatus tesi_steady_edges(const TesProblem *problem, TesVector **factor);

#endif
