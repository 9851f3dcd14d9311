/* Residuals of a discrete solution over a forest: inside cells and on faces, at quadrature points. */
#ifndef TESI_ESTIMATE_H
#define TESI_ESTIMATE_H

#include "functional/cell_rule.h"
#include "problem/adapt/face_pairs.h"
#include "problem/problem.h"
#include "tessera/adapt.h"

/* 1D tables at the points that a face has in a direction of a cell's own or of the cell across, whose face runs
 * backwards or has it as its lower or upper half: number 3 backwards + half (0: whole). */
enum { TESI_SIDES = 6, TESI_SIDE_TABLE = TESI_FACE_POINTS * TESI_HANGING_NODES };
typedef struct TesiSideTables {
  int n;
  double B[TESI_SIDES][TESI_SIDE_TABLE], G[TESI_SIDES][TESI_SIDE_TABLE]; /* [q][n] */
  double ends[2 * TESI_HANGING_NODES];                                   /* derivatives at 0 and 1 */
} TesiSideTables;

/* Of -div(a grad u) + c u = f, one component; of elasticity, -div sigma = f in dim components; of flows with continuous
 * elements, -nu div(grad u) + grad p = f in dim components, in time with u_t + (u . grad) u. */
typedef struct TesiResidual {
  const TesiNumbered *data; /* in time: those of the solution's time */
  TesiNumbered own;         /* in time: `data` is this */
  TesMesh *mesh;            /* of `own` */
  /* [components][length], host: about u_t, of second order u_tt; NULL: a steady problem, or no step is made. */
  double *rate;
  bool transports, conservative;
  bool dense;   /* c is the density of u_tt */
  double alpha; /* of flows: that of the mass term */
  int thermal; /* of a displacement: 3, in plane stress 2: the thermal stress is (this lambda + 2 mu) thermal strain */
  bool l2; /* the error is estimated in the L2 norm, else in that of the energy */
  int components;
  const TesiCellView *space;           /* of the first component: all have the same nodes */
  const TesiCellView *part[TESI_AXES]; /* of each: where it is given */
  const TesiGeometry *geometry;
  double *u;                    /* [components][length] the solution, host; of flows the pressure behind it */
  const TesiCellView *pressure; /* of flows; NULL: no flow */
  TesiCellRule pressure_rule;
  bool carried;   /* a flow in time */
  bool symmetric; /* a flow by 2 nu eps(u) */
  TesiCellRule rule;
  TesiFaceRule face_rule;
  double D[TESI_FACE_POINTS * TESI_FACE_POINTS]; /* differentiates at the cell rule's points */
  TesiSideTables side, geometry_side;            /* of the solution, of the geometry */
  TesiFacePair *pair;
  int64_t pairs;
  /* Of cells of other ranks, whose numbers follow this rank's in pairs (residual_across.c). */
  TesiAcross across;
  double *u_across;             /* [cells][components][nodes] */
  TesiGeometry geometry_across; /* as general as the cells of any rank are */
  TesiSideTables across_side;   /* of it */
  struct {
    int32_t material, face; /* the boundary's number of the face between; -1: none */
  } * names_across;
} TesiResidual;

TesStatus tesi_residual_create(const TesProblem *problem, TesiResidual **residual);
void tesi_residual_destroy(TesContext *ctx, TesiResidual **residual);
/* The last step of its creation on several ranks. */
TesStatus tesi_residual_take_across(TesiResidual *residual);
/* local[cells][components][nodes], allocated <- values of cells of other ranks from x[components][length]. */
TesStatus tesi_residual_read_across(const TesiResidual *residual, const TesiCellView *view, int components,
                                    const double *x, double **local);

/* r[components][points] <- f + div(a grad u) - b . grad u - c u - u_t in a cell, or with div(b u) as the form has it;
 * f + div sigma; f + nu div(grad u) - grad p - u_t - (u . grad) u; at: its points. */
void tesi_residual_cell(const TesiResidual *s, int64_t cell, TesiCellPoints *at, double *r);
/* On face pair i: j[components][points] (inside: a du/dn, or sigma n, of the cell minus that of the other, along the
 * cell's outward normal n; Neumann and Robin: a du/dn, or sigma n, + alpha u - g; given components: 0), weight[points]
 * = w |J_F|. Returns whether the face counts. */
bool tesi_residual_face(const TesiResidual *s, int64_t i, double *j, double *weight);
/* error2[cells] <- the energy of u - exact in each cell of elasticity, int sigma(e) : eps(e). */
TesStatus tesi_elastic_error(const TesProblem *problem, double *error2);
/* Diffusion, or mu, at the middle of a cell; the largest |b|, of flows |u|, at its points. */
double tesi_residual_diffusion(const TesiResidual *s, int64_t cell);
double tesi_residual_speed(const TesiResidual *s, int64_t cell, const TesiCellPoints *at);
/* gradient[components][dim][n] in space, at n points x[3][n] of a cell, becomes a grad u, or sigma. */
void tesi_residual_flux(const TesiResidual *s, int64_t cell, int64_t n, const double *x, double *gradient);
/* gradient[components][dim][points] <- that of the solution in space at the points of a cell. */
void tesi_residual_gradient(const TesiResidual *s, int64_t cell, const TesiCellPoints *at, double *gradient);
/* Of flows (flow_residual.c): r -= grad p, in time r -= (u . grad) u too, gradient[dim][dim][points] that of u;
 * velocity[dim][points]; div u; j[dim][points], nu du/dn on a boundary, -= p n + g - P n + min(u.n, 0) u / 2 in the
 * free components, 0 in those given; whether there are any. */
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
/* j <- j - (j.n) n at points of a face with slip, along whose normals n[3][points] nothing moves. */
void tesi_residual_leave_tangential(int dim, int points, const double *normal, double *j);
/* Reference points of the face rule in the cell of a pair, or in the other one: xi[points][dim]. */
void tesi_pair_points(const TesiResidual *s, const TesiFacePair *pair, bool other, double *xi);
/* r[points] <- tau b . grad v of a function by its nodes local[n^dim] in a cell, as streamline terms have it. */
void tesi_residual_streamline(const TesiResidual *s, int64_t cell, const TesiCellPoints *at,
                              const double *local, double *r);
/* What a goal asks for, by numbers, `of` a known name: of all meshes over the same trees. components: of the solution;
 * more than one: elasticity. */
TesStatus tesi_goal_number(const TesMesh *mesh, int components, const TesGoal *goal, TesValue *value);
/* A point's value that is none of a component but an expression (goal_expression.c): refuses one that is not linear in
 * the solution; b += J(phi_i) over a space of its components; J of the exact solution. */
bool tesi_goal_is_expression(const TesValue *goal);
/* *cell: of the lowest rank that has the point; -1 on the others. */
TesStatus tesi_goal_find_cell(const TesSpace *space, const double *x, int64_t *cell, double *xi);
TesStatus tesi_goal_check_expression(const TesProblem *problem, const TesValue *goal);
/* Warns of kinks between cells next to the point of a goal, on one rank (goal_kinks.c). */
TesStatus tesi_goal_tell_kinks(const TesProblem *problem, const TesValue *goal);
TesStatus tesi_goal_add_expression(const TesProblem *problem, const TesSpace *space, const TesValue *goal,
                                   TesVector *b);
TesStatus tesi_goal_exact_expression(const TesProblem *problem, const TesValue *goal, double *exact);
/* The component of the solution, or the direction of a force. */
int tesi_goal_component(const TesValue *goal);
/* b += J(phi_i), of a force nothing. */
TesStatus tesi_goal_load(const TesSpace *space, const TesValue *goal, TesVector *b);
/* What of a goal, and of a problem for it, is refused before anything is solved. */
TesStatus tesi_estimate_check(const TesProblem *problem, const TesValue *goal);
/* tes_estimate_dwr() of a goal by number. */
TesStatus tesi_estimate_dwr(const TesProblem *problem, const TesValue *goal, double *eta);

#endif
