/* What exists for vectors of elements rt and dg alone, whose entries are nodes and modes of a box (space/axes.h):
 * loads, boundary values, interpolants, norms and forces, by k + 5 Gauss points per direction. */
#ifndef TESI_RT_FUNCTIONAL_H
#define TESI_RT_FUNCTIONAL_H

#include "device/vector.h"
#include "space/rt_cells.h"
#include "tessera/operator.h"

/* Added to a penalty: twice as much, as the symmetric gradient has it. */
enum { TESI_PENALTY_DOUBLED = 4 };
/* What a penalty multiplies jumps with, times a length; gamma of weak values, at an end whose cell is h wide. */
double tesi_rt_penalty(TesPenalty penalty, int k);
double tesi_rt_boundary_penalty(TesPenalty penalty, int k, double h);

/* b <- int f v + faces: of weak values nu (gamma (g_i, v) - (g_i, dv/dn)), of stresses nu du/dn - p n (g, v). Known
 * nodes: 0. f[dim] or, element dg, f[1]; NULL inside: 0. given[2 * dim], NULL: nothing; periodic ones are not read. */
TesStatus tesi_rt_load(const TesSpace *space, const TesFunction *const *f, double nu, const TesiGiven *given,
                       TesPenalty penalty, TesVector *b);
/* Whether a velocity through a face is given that is not 0. */
bool tesi_rt_lifts(const TesSpace *space, const TesiGiven *given);
/* u <- the known nodes: the L2 projection of the normal component on each face; 0 elsewhere. *flux: the integral
 * of |g|, all components, which rounding of g.n is measured with. */
TesStatus tesi_rt_lifting(const TesSpace *space, const TesiGiven *given, TesVector *u, double *flux);
/* u <- the interpolant of a velocity f[dim] and a pressure f[dim] (NULL: 0): component i has the integrals of f_i over
 * faces with normal i, and inside cells its moments with polynomials of degree k - 1 in direction i, in the others of
 * degree k, so that the divergence of the interpolant is the projection of that of f (Raviart and Thomas 1977); of the
 * pressure the L2 projection. By k + 5 Gauss points a direction. Errors: TES_NAN with the point. */
TesStatus tesi_rt_interpolate(const TesSpace *space, const TesFunction *const *f, TesVector *u);
/* u <- the same of the squares of the components and the pressure of v, or of the unknown of element dg; on the
 * host. */
TesStatus tesi_rt_square(const TesSpace *space, const TesVector *v, TesVector *u);
/* flux[2 d + end]: the integral of u.n over each face of the box, 0 where there is none. */
TesStatus tesi_rt_fluxes(const TesSpace *space, const TesVector *u, double flux[6]);

/* What the stress of a flow is made of: sigma = nu grad u - p, symmetric: 2 nu eps(u) - p. */
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
/* *force <- component i of the force of the fluid on a face of the box, - int sigma n, by the residual of the
 * equation: for the normal component tested with the function of the face's nodes, which is 1 on the face and 0
 * beyond the first layer of cells; for tangential ones by the stress with its penalty, which the form has there.
 * Both are in balance with f, and on walls without corners converge twice as fast as stresses do. */
TesStatus tesi_rt_force(const TesSpace *space, const TesVector *u, const TesiRtStress *stress, int face,
                        int i, double *force);

typedef struct TesiRtErrors {
  double velocity, pressure, divergence, gradient; /* L2: u - exact, p - exact, div u, grad u (cell by cell) */
} TesiRtErrors;
/* exact[dim + 1] or NULL, then only divergence and gradient; exact[dim] NULL: no pressure is known. free: the mean
 * of p - exact is taken away. */
TesStatus tesi_rt_errors(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                         bool free, TesiRtErrors *errors);

/* Element dg: the L2 norms of u - exact and of its gradient, cell by cell (NaN where exact has no formula of its
 * derivatives). */
TesStatus tesi_rt_scalar_errors(const TesSpace *space, const TesVector *u, const TesFunction *exact,
                                double *l2, double *h1);

#endif
