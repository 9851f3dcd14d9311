/* Residuals of a discrete solution over a forest: inside cells and on faces, at quadrature points. */
#ifndef TESI_ESTIMATE_H
#define TESI_ESTIMATE_H

#include "functional/cell_rule.h"
#include "problem/adapt/face_pairs.h"
#include "problem/problem.h"
#include "tessera/adapt.h"

/* 1D tables of a cell, or of the cell across, at the points of a face along one direction. For the cell, the face may
 * run backwards, or be its lower or upper half: table number 3 backwards + half (0: whole). */
enum { TESI_SIDES = 6, TESI_SIDE_TABLE = TESI_FACE_POINTS * TESI_HANGING_NODES };
typedef struct TesiSideTables {
  int n;
  double B[TESI_SIDES][TESI_SIDE_TABLE], G[TESI_SIDES][TESI_SIDE_TABLE]; /* [q][n] */
  double ends[2 * TESI_HANGING_NODES];                                   /* derivatives at 0 and 1 */
} TesiSideTables;

/* Residuals of -div(a grad u) + c u = f, with one component. Elasticity: -div sigma = f, dim components. Flows with
 * continuous elements: -nu div(grad u) + grad p = f, dim components; in time with u_t + (u . grad) u. */
typedef struct TesiResidual {
  const TesiNumbered *data; /* in time: the data at the time of the solution */
  TesiNumbered own;         /* in time: `data` points here */
  TesMesh *mesh;            /* of `own` */
  /* [components][length], host: approximates u_t, for equations of second order u_tt. NULL: the problem is steady, or
   * no step has been made. */
  double *rate;
  bool transports, conservative;
  bool dense;   /* c is the density of u_tt */
  double alpha; /* of flows: alpha of the mass term */
  int thermal; /* m of a displacement, 3 or in plane stress 2; the thermal stress is (m lambda + 2 mu) thermal
                * strain */
  bool l2;     /* the error is estimated in the L2 norm; false: in the energy norm */
  int components;
  const TesiCellView *space;           /* of the first component: all components have the same nodes */
  const TesiCellView *part[TESI_AXES]; /* of each component: where its values are given */
  const TesiGeometry *geometry;
  double *u;                    /* [components][length] the solution, host; the pressure of a flow follows */
  const TesiCellView *pressure; /* of the pressure; NULL: not a flow */
  TesiCellRule pressure_rule;
  bool carried;   /* a flow in time */
  bool symmetric; /* a flow whose viscous term is 2 nu eps(u) */
  TesiCellRule rule;
  TesiFaceRule face_rule;
  double D[TESI_FACE_POINTS * TESI_FACE_POINTS]; /* derivatives at the points of the cell rule */
  TesiSideTables side, geometry_side;            /* of the solution; of the geometry */
  TesiFacePair *pair;
  int64_t pairs;
  /* Data of cells of other ranks. In pairs their numbers follow the numbers of this rank's cells
   * (residual_across.c). */
  TesiAcross across;
  double *u_across;             /* [cells][components][nodes] */
  TesiGeometry geometry_across; /* in the most general form that a cell of any rank needs */
  TesiSideTables across_side;   /* of it */
  struct {
    int32_t material, face; /* number of the face's boundary; -1: none */
  } * names_across;
} TesiResidual;

TesStatus tesi_residual_create(const TesProblem *problem, TesiResidual **residual);
void tesi_residual_destroy(TesContext *ctx, TesiResidual **residual);
/* The last part of tesi_residual_create() on several ranks. */
TesStatus tesi_residual_take_across(TesiResidual *residual);
/* local[cells][components][nodes] (allocated here) <- values in the cells of other ranks, from
 * x[components][length]. */
TesStatus tesi_residual_read_across(const TesiResidual *residual, const TesiCellView *view, int components,
                                    const double *x, double **local);

/* r[components][points] <- the residual in a cell, at the points `at`:
 *   scalars      f + div(a grad u) - b . grad u - c u - u_t; conservative: with div(b u)
 *   elasticity   f + div sigma
 *   flows        f + nu div(grad u) - grad p - u_t - (u . grad) u */
void tesi_residual_cell(const TesiResidual *s, int64_t cell, TesiCellPoints *at, double *r);
/* On face pair i: j[components][points] and weight[points] = w |J_F|. Inside, j is the flux a du/dn, or sigma n, of
 * the cell minus the flux of the other cell, with n the cell's outward normal. On Neumann and Robin faces j is a
 * du/dn + alpha u - g, or sigma n + alpha u - g. In given components j is 0. Returns whether the face counts. */
bool tesi_residual_face(const TesiResidual *s, int64_t i, double *j, double *weight);
/* error2[cells] <- the energy of u - exact in each cell of elasticity, int sigma(e) : eps(e). */
TesStatus tesi_elastic_error(const TesProblem *problem, double *error2);
/* Data of a cell: diffusion, or mu, at its middle; the largest |b|, or |u| of a flow, at its points. */
double tesi_residual_diffusion(const TesiResidual *s, int64_t cell);
double tesi_residual_speed(const TesiResidual *s, int64_t cell, const TesiCellPoints *at);
/* Turns gradient[components][dim][n] in space, at n points x[3][n] of a cell, into the flux a grad u, or sigma. */
void tesi_residual_flux(const TesiResidual *s, int64_t cell, int64_t n, const double *x, double *gradient);
/* gradient[components][dim][points] <- the gradient in space of the solution, at the points of a cell. */
void tesi_residual_gradient(const TesiResidual *s, int64_t cell, const TesiCellPoints *at, double *gradient);
/* Parts of the residual of a flow (flow_residual.c). r -= grad p, in time r -= (u . grad) u too, with
 * gradient[dim][dim][points] of u. velocity[dim][points]. divergence: div u. open_face: j[dim][points] holds nu du/dn
 * on a boundary; j -= p n + g - P n + min(u.n, 0) u / 2 in free components, and j <- 0 in given components. It
 * returns whether any component is free. */
void tesi_residual_of_flow(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                           const double *gradient, double *r);
void tesi_residual_velocity(const TesiResidual *s, int64_t cell, double *velocity);
void tesi_residual_divergence(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                              double *divergence);
typedef struct TesiOpenFace {
  const TesiFacePair *pair;
  int name;                     /* of the boundary */
  const double *x, *u, *normal; /* [3][points], [dim][points], [points][dim] */
} TesiOpenFace;
bool tesi_residual_open_face(const TesiResidual *s, const TesiOpenFace *face, double *j);
/* j <- j - (j.n) n at the points of a face with slip, n = normal[3][points]: no motion along n is free. */
void tesi_residual_leave_tangential(int dim, int points, const double *normal, double *j);
/* xi[points][dim] <- reference coordinates of the points of the face rule in the cell of a pair, or in the other
 * cell. */
void tesi_pair_points(const TesiResidual *s, const TesiFacePair *pair, bool other, double *xi);
/* r[points] <- tau b . grad v as in streamline terms, for a function v with nodal values local[n^dim] in a cell. */
void tesi_residual_streamline(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                              const double *local, double *r);
/* *value <- a goal by numbers, with `of` a known name. The numbers hold for all meshes over the same trees.
 * components: of the solution; more than one means elasticity. */
TesStatus tesi_goal_number(const TesMesh *mesh, int components, const TesGoal *goal, TesValue *value);
/* Goals that are an expression at a point, not a component (goal_expression.c). `check` refuses expressions that are
 * not linear in the solution; `add`: b += J(phi_i) over a space of all components; `exact`: J of the exact solution. */
bool tesi_goal_is_expression(const TesValue *goal);
/* *cell <- a cell that has the point, on the lowest rank that has one; -1 on other ranks. */
TesStatus tesi_goal_find_cell(const TesSpace *space, const double *x, int64_t *cell, double *xi);
TesStatus tesi_goal_check_expression(const TesProblem *problem, const TesValue *goal);
/* Warns if faces between cells form an angle next to the point of a goal; on one rank (goal_kinks.c). */
TesStatus tesi_goal_tell_kinks(const TesProblem *problem, const TesValue *goal);
TesStatus tesi_goal_add_expression(const TesProblem *problem, const TesSpace *space, const TesValue *goal,
                                   TesVector *b);
TesStatus tesi_goal_exact_expression(const TesProblem *problem, const TesValue *goal, double *exact);
/* The component of the solution, or the direction of a force. */
int tesi_goal_component(const TesValue *goal);
/* b += J(phi_i); for a force nothing is added. */
TesStatus tesi_goal_load(const TesSpace *space, const TesValue *goal, TesVector *b);
/* Refuses goals, and problems for a goal, before any solve. */
TesStatus tesi_estimate_check(const TesProblem *problem, const TesValue *goal);
/* tes_estimate_dwr() for a goal by number. */
TesStatus tesi_estimate_dwr(const TesProblem *problem, const TesValue *goal, double *eta);

#endif
