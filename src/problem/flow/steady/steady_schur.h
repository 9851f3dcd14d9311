/* The Schur complement S = B A^-1 B' of a steady flow on a coarse mesh, by dense matrices, as a correction to the mass
 * of the pressures. The mass alone is not enough: for pressures that vary along a channel of length L and height H,
 * eigenvalues of M^-1 S go down to (H / L)^2. With the embedding P of the coarse pressures, Q_1 with velocities Q_2,
 *
 *   S^-1 is about nu M^-1 + alpha L^-1 + P (S_c^-1 - nu M_c^-1 - alpha L_c^-1) P'
 *
 * The number of iterations then depends on the coarse mesh only. The coarse mesh is the finest of the multigrid's
 * meshes whose matrices take a small part of the solve's work. If no mesh is small enough, there is no correction. */
#ifndef TESI_STEADY_SCHUR_H
#define TESI_STEADY_SCHUR_H

#include "problem/problem.h"

typedef struct TesiSteadySchur TesiSteadySchur;
/* For a steady flow whose operators, cycle and pressure's Laplacian exist; NULL: no mesh is small enough. */
TesStatus tesi_steady_schur_create(const TesProblem *problem, TesiSteadySchur **schur);
void tesi_steady_schur_destroy(TesiSteadySchur **schur);
/* z <- z + factor P (S_c^-1 - nu M_c^-1 - alpha L_c^-1) P' r; on devices with kernels it is queued without waiting. */
TesStatus tesi_steady_schur_add(TesiSteadySchur *schur, double factor, const TesVector *r, TesVector *z);
/* C <- C - factor L_c^-1, L the problem's present Laplacian; nothing if there is none. */
TesStatus tesi_steady_schur_subtract(TesiSteadySchur *schur, const TesProblem *problem, double factor);
/* Number of cells of its mesh. */
int64_t tesi_steady_schur_cells(const TesiSteadySchur *schur);

/* At a pressure node on the edge of two walls, or in the corner of three, half or a quarter of the adjacent velocities
 * are missing, and eigenvalues of M^-1 S are lower by this factor. Let W be 1/2 and 1/4 at such nodes and 1 elsewhere;
 * then W^1/2 M W^1/2 replaces M. *factor <- W^-1/2; NULL: there are no such nodes. */
TesStatus tesi_steady_edges(const TesProblem *problem, TesVector **factor);

#endif
