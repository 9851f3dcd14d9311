/* Operations for vectors of elements rt and dg, whose entries are nodes and modes of a box (space/axes.h): loads,
 * boundary values, interpolants, norms and forces, with k + 5 Gauss points per direction. */
#ifndef TESI_RT_FUNCTIONAL_H
#define TESI_RT_FUNCTIONAL_H

#include "device/vector.h"
#include "space/rt_cells.h"
#include "tessera/operator.h"

/* Added to a penalty: the penalty is doubled, as the symmetric gradient needs it. */
enum { TESI_PENALTY_DOUBLED = 4 };
/* The factor of jumps in a penalty, times a length; gamma of weak values at an end whose cell has width h. */
double tesi_rt_penalty(TesPenalty penalty, int k);
double tesi_rt_boundary_penalty(TesPenalty penalty, int k, double h);

/* b <- int f v + faces: of weak values nu (gamma (g_i, v) - (g_i, dv/dn)), of stresses nu du/dn - p n (g, v). Known
 * nodes: 0. f[dim] or, element dg, f[1]; NULL inside: 0. given[2 * dim], NULL: nothing; entries of periodic faces are
 * not read. */
TesStatus tesi_rt_load(const TesSpace *space, const TesFunction *const *f, double nu, const TesiGiven *given,
                       TesPenalty penalty, TesVector *b);
/* Whether a non-zero velocity through a face is given. */
bool tesi_rt_lifts(const TesSpace *space, const TesiGiven *given);
/* u <- values at the known nodes: the L2 projection of the normal component on each face; 0 elsewhere. flux[0]:
 * the integral of |g| over all components, as a scale for the round-off of g.n; flux[1]: that of |g.n|. */
TesStatus tesi_rt_lifting(const TesSpace *space, const TesiGiven *given, TesVector *u, double flux[2]);
/* u <- the interpolant of a velocity f[dim] and a pressure f[dim] (NULL: 0): component i has the same moments as f_i on
 * faces with normal i, and inside cells with polynomials of degree k - 1 in direction i and k in the other directions.
 * So the divergence of the interpolant is the projection of the divergence of f (Raviart and Thomas 1977). The pressure
 * is the L2 projection. With k + 5 Gauss points per direction. Errors: TES_NAN with the point. */
TesStatus tesi_rt_interpolate(const TesSpace *space, const TesFunction *const *f, TesVector *u);
/* u <- the interpolant of the squares of the components and the pressure of v, or of the unknown of element dg; on the
 * host. */
TesStatus tesi_rt_square(const TesSpace *space, const TesVector *v, TesVector *u);
/* flux[2 d + end]: the integral of u.n over each face of the box; 0 for periodic directions. */
TesStatus tesi_rt_fluxes(const TesSpace *space, const TesVector *u, double flux[6]);

/* The terms of the stress of a flow: sigma = nu grad u - p, symmetric: 2 nu eps(u) - p. */
typedef struct TesiRtStress {
  const TesFunction *nu;       /* NULL: 1 */
  const TesFunction *const *f; /* [dim], NULL inside: 0 */
  double alpha;
  bool symmetric;
  const TesiGiven *given; /* [2 * dim] */
  TesPenalty penalty;
  /* In time: u_t, and convection tested with all velocities, known nodes included; NULL: none. */
  const TesVector *rate, *carried;
} TesiRtStress;
/* *force <- component i of the force of the fluid on a face of the box, - int sigma n, For the normal component it is
 * the residual of the equation tested with the function that is 1 on the face and 0 beyond the first layer of cells.
 * For tangential components it is the stress with its penalty, as in the form. Both balance with f, and on walls
 * without corners they converge twice as fast as stresses. */
TesStatus tesi_rt_force(const TesSpace *space, const TesVector *u, const TesiRtStress *stress, int face,
                        int i, double *force);

typedef struct TesiRtErrors {
  double velocity, pressure, divergence, gradient; /* L2: u - exact, p - exact, div u, grad u (cell by cell) */
} TesiRtErrors;
/* exact[dim + 1], or NULL: only divergence and gradient; exact[dim] NULL: the pressure is not known. free: the mean of
 * p - exact is subtracted. */
TesStatus tesi_rt_errors(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                         bool free, TesiRtErrors *errors);

/* Element dg: the L2 norms of u - exact and of its gradient, cell by cell (NaN if the derivatives of `exact` have no
 * formula). */
TesStatus tesi_rt_scalar_errors(const TesSpace *space, const TesVector *u, const TesFunction *exact,
                                double *l2, double *h1);

#endif
