/* Residuals of a discrete solution over a forest: inside cells and on faces, at quadrature points. */
#ifndef TESI_ESTIMATE_H
#define TESI_ESTIMATE_H

#include "functional/cell_rule.h"
#include "problem/adapt/face_pairs.h"
#include "problem/problem.h"
#include "tessera/adapt.h"

/* 1D tables of n nodes at the points of a face along one of its directions: table number 3 backwards + half (0: the
 * whole direction, 1: its lower, 2: its upper half). */
enum { TESI_SIDES = 6, TESI_SIDE_TABLE = TESI_FACE_POINTS * TESI_HANGING_NODES };
typedef struct TesiSideTables {
  int n;
  double B[TESI_SIDES][TESI_SIDE_TABLE], G[TESI_SIDES][TESI_SIDE_TABLE]; /* [q][n] */
  double ends[2 * TESI_HANGING_NODES];                                   /* derivatives at 0 and 1 */
} TesiSideTables;
void tesi_side_tables(int n, const TesiFaceRule *rule, TesiSideTables *tables);

/* Items, cells or pairs, in batches of equal items: item[batches][TESI_LANES]; -1 - item repeats an item in lanes that
 * are left over. */
typedef struct TesiItemBatches {
  int64_t batches;
  int32_t *item;
} TesiItemBatches;

/* Products of weights at the points of cells, and of faces; derivatives at the points of cells. */
typedef struct TesiResidualTables {
  double D[TESI_FACE_POINTS * TESI_FACE_POINTS]; /* derivatives at the points of the cell rule */
  double *w, face_w[TESI_FACE_MOST];             /* products of weights at the points of cells, of faces */
  double middle_B[TESI_GEOMETRY_DEGREE + 1], middle_G[TESI_GEOMETRY_DEGREE + 1]; /* of the geometry, at 0.5 */
  TesiSideTables side, pressure_side, geometry_side,
      across_side; /* across: of the geometry of other ranks' cells */
} TesiResidualTables;

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
  TesiResidualTables table;
  TesiFacePair *pair;
  int64_t pairs;
  TesiItemBatches cells, faces; /* cells of one material; pairs with the same tables, materials and boundary */
  TesiBatchLoops loops;
  const TesiLanes *lanes;
  /* Data of cells of other ranks. In pairs their numbers follow the numbers of this rank's cells
   * (residual_across.c). */
  TesiAcross across;
  double *u_across;             /* [cells][components][nodes] */
  TesiGeometry geometry_across; /* in the most general form that a cell of any rank needs */
  struct {
    int32_t material, face; /* number of the face's boundary; -1: none */
  } * names_across;
} TesiResidual;

/* Eight cells of one material at the points of the cell rule, or one face of each at the points of the face rule.
 * Arrays are [points][lane], n numbers each; lanes from `count` on repeat the last one with weight 0. Each thread has
 * its own. */
enum { TESI_SPARE = 14 };
typedef struct TesiResidualAt {
  const TesiResidual *s;
  int32_t item[TESI_LANES], cell[TESI_LANES], other[TESI_LANES]; /* item: cell or pair */
  int count, material;
  const TesiFacePair *pair; /* of the first lane; NULL: in cells */
  int64_t points, n;
  bool placed; /* x is known */
  TesiBatchInverse inverse;
  double *memory;
  /* x[3], J[dim*dim] (the inverse), det, weight; faces: normal[3], unit, outwards; u[components], gradient
   * G[components][dim], residual or jump r[components]; cells of flows: p, div u */
  double *x, *J, *det, *weight, *normal, *u, *G, *r, *p, *divergence;
  double *spare[TESI_SPARE]; /* the first four: of tesi_residual_flux() */
  double *local, *nodes;     /* nodal values of the solution, of the geometry */
} TesiResidualAt;

TesStatus tesi_residual_create(const TesProblem *problem, TesiResidual **residual);
void tesi_residual_destroy(TesContext *ctx, TesiResidual **residual);
TesStatus tesi_residual_at_create(const TesiResidual *s, int threads, TesiResidualAt **at);
void tesi_residual_at_free(TesContext *ctx, int threads, TesiResidualAt **at);
/* The last part of tesi_residual_create() on several ranks. */
TesStatus tesi_residual_take_across(TesiResidual *residual);
TesStatus tesi_residual_batches(TesiResidual *residual); /* cells and faces */
/* local[cells][components][nodes] (allocated here) <- values in the cells of other ranks, from
 * x[components][length]. */
TesStatus tesi_residual_read_across(const TesiResidual *residual, const TesiCellView *view, int components,
                                    const double *x, double **local);
/* Batches of the items, ordered by key and, for equal keys, by number. */
TesStatus tesi_item_batches(TesContext *ctx, int64_t items, const uint64_t *key, TesiItemBatches *batches);

/* Begins a batch of cells: their points, weights and Jacobians; then u and G. */
void tesi_residual_begin(TesiResidualAt *at, int64_t batch);
void tesi_residual_gradients(TesiResidualAt *at);
/* Begins a batch of cells and fills in r, u, and for flows p and div u. G is overwritten. r is
 *   scalars      f + div(a grad u) - b . grad u - c u - u_t; conservative: with div(b u)
 *   elasticity   f + div sigma
 *   flows        f + nu div(grad u) - grad p - u_t - (u . grad) u */
void tesi_residual_cells(TesiResidualAt *at, int64_t batch);
/* Begins a batch of pairs and fills in r and weight = w |J_F|. Inside, r is the flux a du/dn, or sigma n, of the cell
 * minus the flux of the other cell, with n the cell's outward normal. On Neumann and Robin faces r is a du/dn + alpha u
 * - g, or sigma n + alpha u - g. In given components r is 0. Returns whether the faces count. */
bool tesi_residual_faces(TesiResidualAt *at, int64_t batch);
/* error2[cells] <- the energy of u - exact in each cell of elasticity, int sigma(e) : eps(e). */
TesStatus tesi_elastic_error(const TesProblem *problem, double *error2);
/* Diffusion, or mu, at the middle of a cell; of the cells of a batch. */
double tesi_residual_diffusion(const TesiResidual *s, int64_t cell);
void tesi_residual_diffusions(TesiResidualAt *at, double a[TESI_LANES]);
/* The largest |b|, or |u| of a flow in time, at the points of each cell; else 0. */
void tesi_residual_speeds(TesiResidualAt *at, double speed[TESI_LANES]);
/* Values at n points; `constant` if there is no function. more: further variables; may be NULL. */
void tesi_residual_values(TesiResidualAt *at, const TesFunction *f, double constant,
                          const double *const *more, double *value);
/* Turns G in space into the flux a grad u, or sigma, without the thermal stress; then takes off that. */
void tesi_residual_flux(TesiResidualAt *at, double *G);
void tesi_residual_take_off_thermal(TesiResidualAt *at, double *G);
/* values[n] <- a function at the points of cells, by its nodes local[n^dim] and table B; in space[dim][n] its
 * gradient, by these values. */
void tesi_residual_evaluate(TesiResidualAt *at, int nodes, const double *B, const double *local,
                            double *values);
void tesi_residual_differentiate(TesiResidualAt *at, const double *values, double *gradient);
/* Nodal values of a batch's cells, or of the cells on the other side: of x[fields][length], or for cells of other ranks
 * of across[cells][fields][nodes]. */
void tesi_residual_read(const TesiResidualAt *at, const TesiCellView *view, bool other, int fields,
                        const double *x, const double *across, double *local);
/* Parts of the residual of a flow (flow_residual.c). of_flow: r -= grad p + alpha u, in time (u . grad) u too, with the
 * gradient in G; p, div u. open_face: r holds nu du/dn on a boundary; r -= p n + g - P n + min(u.n, 0) u / 2 in free
 * components, and r <- 0 in given components. It returns whether any component is free. */
void tesi_residual_of_flow(TesiResidualAt *at);
bool tesi_residual_open_face(TesiResidualAt *at, int name);
/* r <- r - (r.n) n at the points of a face with slip: no motion along n is free. */
void tesi_residual_leave_tangential(TesiResidualAt *at);
/* value[n] <- a function at the points of the faces, from its nodes on the own side, local. */
void tesi_residual_face_values(const TesiResidualAt *at, const TesiSideTables *side, const double *local,
                               double *value);
/* along[n] <- tau b . grad v as in streamline terms, with the values v[n]. Uses G and spare memory. */
void tesi_residual_streamline(TesiResidualAt *at, const double *v, double *along);
const TesFunction *tesi_residual_of_material(const TesFunction *const *by_material, int material,
                                             const TesFunction *otherwise);
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
