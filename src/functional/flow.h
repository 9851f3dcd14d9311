/* Right-hand sides, boundary values and errors of velocity and pressure over Raviart-Thomas spaces, by k + 5 Gauss
 * points a direction. */
#ifndef TESI_FLOW_H
#define TESI_FLOW_H

#include "device/vector.h"
#include "space/space.h"

typedef enum TesiFlowKind { TESI_FLOW_VELOCITY, TESI_FLOW_SLIP, TESI_FLOW_OUTFLOW } TesiFlowKind;

/* What holds on a face of the box. */
typedef struct TesiFlowFace {
  TesiFlowKind kind;
  const TesFunction *g[4]; /* velocity, or stress nu du/dn - p n of an outflow, to which -g[dim] n is added; NULL: 0 */
  double penalty;          /* of velocities: gamma of the tangential components */
} TesiFlowFace;

/* b <- int f v + faces: of velocities nu (gamma (g_i, v) - (g_i, dv/dn)) for the tangential components, of outflows
 * (g, v). Known nodes: 0.
 * f[dim], NULL inside: 0. face[2 * dim]; periodic ones are not read. Element dg: f[0] and g[dim] are those of the
 * unknown, values as of tangential components. */
TesStatus tesi_flow_load(const TesSpace *space, const TesFunction *const *f, double nu,
                         const TesiFlowFace *face, TesVector *b);
/* Whether a velocity through a face is given that is not 0. */
bool tesi_flow_lifts(const TesSpace *space, const TesiFlowFace *face);
/* u <- the known nodes: the L2 projection of the normal component on each face; 0 elsewhere. *flux: the integral
 * of |g|, all components, which rounding of g.n is measured with. */
TesStatus tesi_flow_lifting(const TesSpace *space, const TesiFlowFace *face, TesVector *u, double *flux);
/* u <- the interpolant of a velocity f[dim] and a pressure f[dim] (NULL: 0): component i has the integrals of f_i over
 * faces with normal i, and inside cells its moments with polynomials of degree k - 1 in direction i, in the others of
 * degree k, so that the divergence of the interpolant is the projection of that of f (Raviart and Thomas 1977); of the
 * pressure the L2 projection. By k + 5 Gauss points a direction. Errors: TES_NAN with the point. */
TesStatus tesi_flow_interpolate(const TesSpace *space, const TesFunction *const *f, TesVector *u);
/* u <- the same of the squares of the components and the pressure of v, or of the unknown of element dg; on the
 * host. */
TesStatus tesi_flow_square(const TesSpace *space, const TesVector *v, TesVector *u);
/* flux[2 d + end]: the integral of u.n over each face of the box, 0 where there is none. */
TesStatus tesi_flow_fluxes(const TesSpace *space, const TesVector *u, double flux[6]);

/* What the stress of a flow is made of: sigma = nu grad u - p, symmetric: 2 nu eps(u) - p. */
typedef struct TesiFlowStress {
  const TesFunction *nu;       /* NULL: 1 */
  const TesFunction *const *f; /* [dim], NULL inside: 0 */
  double alpha;
  bool symmetric;
  const TesiFlowFace *face; /* [2 * dim] */
  /* In time: u_t, and convection tested with all velocities, known nodes included; NULL: none. */
  const TesVector *rate, *carried;
} TesiFlowStress;
/* *force <- component i of the force of the fluid on a face of the box, - int sigma n, by the residual of the
 * equation: for the normal component tested with the function of the face's nodes, which is 1 on the face and 0
 * beyond the first layer of cells; for tangential ones by the stress with its penalty, which the form has there.
 * Both are in balance with f, and on walls without corners converge twice as fast as stresses do. */
TesStatus tesi_flow_force(const TesSpace *space, const TesVector *u, const TesiFlowStress *stress, int face,
                          int i, double *force);

typedef struct TesiFlowErrors {
  double velocity, pressure, divergence, gradient; /* L2: u - exact, p - exact, div u, grad u (cell by cell) */
} TesiFlowErrors;
/* exact[dim + 1] or NULL, then only divergence and gradient; exact[dim] NULL: no pressure is known. free: the mean
 * of p - exact is taken away. */
TesStatus tesi_flow_errors(const TesSpace *space, const TesVector *u, const TesFunction *const *exact,
                           bool free, TesiFlowErrors *errors);

/* Element dg: the L2 norms of u - exact and of its gradient, cell by cell (NaN where exact has no formula of its
 * derivatives). */
TesStatus tesi_dg_errors(const TesSpace *space, const TesVector *u, const TesFunction *exact, double *l2,
                         double *h1);

/* ---- cells --------------------------------------------------------------------------------------------- */

enum { TESI_FLOW_POINTS = 20, TESI_FLOW_LOCAL = 17 };

/* 1D tables on the cell [0, 1]: values and derivatives of nodal polynomials [points][n + 1] and of Legendre
 * polynomials [points][n], which are those of a cell of width h times sqrt(h). */
typedef struct TesiFlowTables {
  int n, points;
  double x[TESI_FLOW_POINTS], w[TESI_FLOW_POINTS];
  double nodal[2][TESI_FLOW_POINTS * TESI_FLOW_LOCAL], modal[2][TESI_FLOW_POINTS * TESI_FLOW_LOCAL];
} TesiFlowTables;
void tesi_flow_tables(int n, int points, TesiFlowTables *t);
/* The same at given points of [0, 1]. */
void tesi_flow_tables_at(int n, int points, const double *x, TesiFlowTables *t);
/* Numbers of part p of a cell: local [z][y][x] of extents tesi_flow_extent(); their numbers in the part. */
static inline int tesi_flow_extent(const TesiRt *rt, int part, int d) {
  return d >= rt->dim ? 1 : d == part ? rt->n + 1 : rt->n;
}
/* local <- values of part p of u in a cell, scaled so that the tables of the unit cell hold. Returns how many. */
int tesi_flow_read(const TesiRt *rt, int part, const int cell[3], const double *u, double *local);
/* u <- u + local, scaled in the same way. */
void tesi_flow_add(const TesiRt *rt, int part, const int cell[3], const double *local, double *u);
/* u <- 0 at the entries of a part that a cell has. */
void tesi_flow_clear(const TesiRt *rt, int part, const int cell[3], double *u);
/* values[points^dim] <- tables in all directions of local; derivative: direction of the derivative (on the unit
 * cell), -1: none. */
void tesi_flow_values(const TesiRt *rt, const TesiFlowTables *t, int part, int derivative,
                      const double *local, double *values);
/* Tables at the n + 1 Gauss-Lobatto points; nodes[(n + 1)^dim] <- the values of a part there in cell number `cell`,
 * x fastest: with them it is a polynomial of degree n = k + 1 in each direction, as a cell of Q_(k+1). */
void tesi_flow_node_tables(int n, TesiFlowTables *t);
void tesi_flow_nodes(const TesiRt *rt, const TesiFlowTables *t, int part, int64_t cell, const double *u,
                     double *nodes);
/* local <- the transpose of tesi_flow_values(). */
void tesi_flow_moments(const TesiRt *rt, const TesiFlowTables *t, int part, const double *values,
                       double *local);
/* x[3][points^dim] of a cell; weights (may be NULL) include the volume. Returns how many. */
int tesi_flow_points(const TesiRt *rt, const TesiFlowTables *t, const int cell[3], double *x, double *weights);

#endif
