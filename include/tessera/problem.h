/** \file problem.h
 *  A problem, from data to solution in three calls, on a mesh of any kind. Poisson and its kin; steady without u_t,
 *  or (TES_TRANSPORT with TesProblemDesc.time) in time:
 *
 *      u_t - div(a grad u) + b . grad u + c u = f     in the domain (b: transport alone)
 *      u = g  or  a du/dn = g  or  a du/dn + alpha u = g   on each boundary (n: outward normal),
 *      or (transport) a du/dn - (b.n) u = g
 *
 *  discretised by continuous Q_k elements. And Stokes flow with exactly divergence-free velocities on boxes
 *  (stokes-multigrid-cui-2025; docs/stokes.md):
 *
 *      -div(nu grad u) + alpha u + grad p = f,   div u = 0
 *      u = g,   or u.n = 0 without tangential stress,   or nu du/dn - p n = g   on each boundary
 *
 *  or, where nu varies, with div(2 nu eps(u)) in the place of div(nu grad u) (TesFlowForm), with Raviart-Thomas
 *  elements (TES_ELEMENT_RT). Lists by component have the velocity first, and the pressure as component `dim`.
 *
 *  And linear elasticity, of a displacement u of dim components, on meshes of any kind (docs/elasticity.md):
 *
 *      density u_tt - div sigma = f,   sigma = lambda div u I + 2 mu eps(u)   in the domain; static without u_tt
 *      u = g,   or u.n = 0 without tangential stress,   or sigma n = g,   or sigma n + alpha u = g   on each boundary
 *
 *  by components: some of u may be given where others have a traction (TesBoundary.components). In 2D plane strain, or
 *  plane stress (TesPlane). u contains no rigid motion that nothing holds, and the loads must have no resultant in
 *  such a motion (else TES_INVALID_INPUT, with forces and moments). With a temperature T, eps(u) - expansion T I stands
 *  in the place of eps(u) in sigma; in plane strain - expansion T is the strain out of the plane.
 *
 *  In time a, b, c, f, g and `exact` may depend on t; alpha may not. M u' + K u = F(t) is solved by the methods of
 *  time.h; M and K act on boundary values too. A solve ends where |b - A x| is at most the tolerance times
 *  |b - A x0|, x0 being the old solution with the new boundary values.
 *
 *  Poisson: the solution is u = u_0 + u_D. u_D interpolates the Dirichlet values at boundary nodes and is zero
 *  inside; u_0 solves A u_0 = b - A u_D. If all boundaries are Neumann boundaries and c = 0, u is unique up to a
 *  constant. The data must then satisfy int f + int g = 0 (else TES_INVALID_INPUT, with the sum), and u gets mean
 *  zero, or the mean of the exact solution if it is given.
 *
 *  Printed from the rows of the library (t8_support):
 *
 *  Equations, elements, meshes and degrees (in brackets: on other meshes than open boxes):
 *
 *      poisson       q   boxes, periodic boxes, trees  1 to 20 (8); kernels: all
 *      poisson       dg  boxes, periodic boxes         1 to 15; kernels: all
 *      stokes        rt  boxes, periodic boxes         1 to 15; kernels: all
 *      stokes        q   boxes, periodic boxes, trees  2 to 8; kernels: all
 *      transport     q   boxes, periodic boxes, trees  1 to 20 (8); kernels: to 8 with a velocity
 *      transport     dg  boxes, periodic boxes         1 to 15; kernels: to 8 with a velocity
 *      elasticity    q   boxes, periodic boxes, trees  1 to 8; kernels: to 8
 *      navier_stokes q   boxes, periodic boxes, trees  2 to 8; kernels: all
 *      navier_stokes rt  boxes, periodic boxes         1 to 8; kernels: all in 2D, to 4 in 3D
 *      navier_stokes iso boxes                         1; kernels: all
 *
 *  Members of TesProblemDesc belong to
 *
 *      time            transport, elasticity and navier_stokes
 *      time.cfl        transport and navier_stokes
 *      time.tolerance  transport, elasticity, and navier_stokes with element q or rt
 *      data.b          transport
 *      material        poisson with element q, transport with element q, and elasticity
 *      balance         transport
 *      average         transport, elasticity and navier_stokes
 *      mean_velocity   navier_stokes with element q or rt
 *      grad_div        navier_stokes with element q
 *
 *  All of it, with conditions, methods and smoothers: docs/support.md, which `tessera info --support` prints.
 */
#ifndef TESSERA_PROBLEM_H
#define TESSERA_PROBLEM_H

#include "functional.h"
#include "solver.h"
#include "time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesProblem TesProblem;

typedef enum TesEquation {
  TES_POISSON,
  TES_STOKES,
  TES_TRANSPORT,
  TES_ELASTICITY,
  TES_NAVIER_STOKES
} TesEquation;

typedef enum TesCondition {
  TES_DIRICHLET,
  TES_NEUMANN,
  TES_ROBIN,
  /** u.n = 0, no tangential stress: elasticity and Stokes with element q on any faces, others on faces along axes */
  TES_SLIP,
  TES_FLUX /**< transport: a du/dn - (b.n) u = g, what enters */
} TesCondition;

/** What holds on a boundary of the mesh. Boundaries that no entry names have u = 0. */
typedef struct TesBoundary {
  /* Groups of curves and points (TesCellsDesc.part) are boundaries too, which `all` does not reach: there g is a force
   * per length, or at each point, and alpha the stiffness of springs per length, or at each point. */
  /** Of the mesh, each once (mesh.h; a box has left right bottom top back front); NULL: all others. */
  const char *name;
  TesCondition condition;
  /** Dirichlet, solutions of several components: bit c says that component c has the value g[c]; of any other one
   * g[c] is the flux. 0: all have. */
  unsigned components;
  /** Where two Dirichlet boundaries meet, the value of the larger priority holds; for equal priorities the value of
   *  the boundary with the larger number. */
  int priority;
  /** By component; NULL: 0; an expression may use nx, ny, nz, the outer normal. Flows: Dirichlet, the velocity;
   * Neumann, an outflow with nu du/dn - p n = (g[0], .., g[dim - 1]) - g[dim] n. Elasticity, slip: g[3] is the
   * displacement along the normal, away from the axis or the middle of a round face (a bore, a shaft); g[0] .. g[2]
   * are ignored. */
  const TesFunction *g[4];
  const TesFunction *alpha; /**< Robin, and flux, where alpha u is added too: not negative; NULL: 0 */
  const char *where; /**< stands before messages about this entry, e.g. "case.yaml:7:3"; NULL: nothing */
  /** Elasticity, Neumann: g is the total force on the boundary, in 2D per unit of thickness. It acts as the uniform
   *  traction g / area, with the area of the mesh, along curves as g / length, at points in equal parts. It may depend
   *  on t, not on x, y, z. */
  bool total;
} TesBoundary;

/** What stands for the friction of a flow: div(nu grad u), or div(2 nu eps(u)), eps(u) the symmetric part of grad u,
 *  as it must be where nu varies. Auto: gradient where nu is constant, else symmetric. An outflow has the stress of the
 *  same form: nu du/dn - p n or 2 nu eps(u) n - p n. */
typedef enum TesFlowForm { TES_FLOW_AUTO, TES_FLOW_GRADIENT, TES_FLOW_SYMMETRIC } TesFlowForm;

/** The velocity of transport: b . grad u, or div (b u), by whose weak form - int u b . grad v no u is lost but through
 *  boundaries. With a du/dn given it flows through a boundary with (b.n) u in both. */
typedef enum TesTransportForm { TES_TRANSPORT_CONVECTIVE, TES_TRANSPORT_CONSERVATIVE } TesTransportForm;

/** Elasticity in 2D: nothing moves in the third direction, or no stress acts there, so that
 *  2 lambda mu / (lambda + 2 mu) takes the place of lambda. */
typedef enum TesPlane { TES_PLANE_STRAIN, TES_PLANE_STRESS } TesPlane;

/** The functions of the equation. */
typedef struct TesData {
  /** NULL: 1, 0; poisson, transport: a is a number or a matrix (function.h); flows: nu > 0, and alpha, a constant;
   *  elasticity: mu > 0, and the density, NULL: 1 */
  const TesFunction *a, *c;
  const TesFunction *lambda; /**< elasticity: dim lambda + 2 mu > 0; NULL: 0 */
  /** Elasticity: the coefficient of thermal expansion, and the temperature above that of the body without stress; NULL:
   *  no temperature, no expansion. Where there is a temperature every material needs an expansion. */
  const TesFunction *expansion, *temperature;
  const TesFunction *b[3]; /**< transport: velocity; NULL: 0; of the whole problem, not of a material */
  const TesFunction *f[3]; /**< by component; NULL: 1, flows, transport and elasticity: 0 */
} TesData;

/** Functions of one material of the mesh. */
typedef struct TesMaterial {
  const char *name;
  TesData data;      /**< NULL inside: the problem's own */
  const char *where; /**< as that of a boundary */
} TesMaterial;

/** Double: all in float64. Mixed (default): the cycle in float32 inside a float64 iteration; in float64 too where a
 *  cell is smaller than 1e-9 or larger than
 *  1e9, whose |J| float32 does not hold. Single: the same, but only to float32
 *  accuracy: the tolerance is raised to 1e-6 at least. */
typedef enum TesSolvePrecision { TES_SOLVE_MIXED, TES_SOLVE_DOUBLE, TES_SOLVE_SINGLE } TesSolvePrecision;

/** Order of the patches after the coarse correction, compared with before; auto: chosen with the method. */
typedef enum TesOrder { TES_ORDER_AUTO, TES_ORDER_SAME, TES_ORDER_REVERSED } TesOrder;

/** How the system is solved; zero means chosen, which tes_problem_info() tells. */
typedef struct TesSolveOptions {
  TesMethod method;
  /** Which equation has which, on which meshes: docs/support.md. */
  TesSmootherKind smoother;
  /** In place of `smoother`, which is auto then; it must outlive the problem. The default method is conjugate gradients
   *  where the smoother is symmetric, else GMRES. */
  const TesSmootherOwn *own_smoother;
  TesLocalSolver local; /**< of patch smoothers */
  TesOrder order;       /**< boxes */
  int smoother_degree;  /**< chebyshev, cell_patch, line_patch; 0: the default of the smoother */
  TesCoarseKind coarse; /**< other meshes than boxes, as the next one */
  TesCoarsening coarsening;
  TesPenalty penalty; /**< of discontinuous components */
  TesColours colours; /**< of the patches of flows */
  int pre, post;      /**< smoothing steps; 0 means 1 (flows of degree 2 and more: none before), -1 none */
  double tolerance;   /**< on the relative residual; 0 means 1e-9, in time 1e-3 */
  TesToleranceOf tolerance_of; /**< in time */
  /** In time: the number of old solutions, 1..4, from which solves begin; 0 means 3, -1 none: from zero. Starts are
   *  extrapolated; with tolerances below 1e-3, transport starts from the combination with the least residual. */
  int guess;
  int max_iterations; /**< 0 means 100 */
  TesSolvePrecision precision;
  /** Called with the residual before the first and after every iteration; may be NULL. */
  void (*monitor)(void *user, int iteration, double residual);
  void *monitor_user;
} TesSolveOptions;

/** Adds to the right-hand side b: point loads, functionals of dual problems. Entries at Dirichlet nodes are cleared
 * after it. */
typedef TesStatus (*TesLoadCallback)(void *user, const TesSpace *space, TesVector *b);

typedef struct TesProblemDesc {
  TesEquation equation;
  const TesMesh *mesh; /**< a reference is kept */
  int degree;          /**< 0 means 4, rt 2; limits: TesSpaceDesc */
  /** Auto: q; stokes rt on boxes, else q. Flows of element q are Q_k/Q_(k-1); dg: discontinuous Q_k, interior
   * penalties, upwind traces of a velocity; rt: divergence-free. The head of this file has meshes and degrees. */
  TesElement element;
  TesData data;
  TesFlowForm flow_form;
  TesTransportForm transport_form;
  bool balance; /**< transport: what goes in and out is counted, a residual more a solve: TesProblemInfo.balance */
  TesPlane plane; /**< elasticity */
  int materials;
  const TesMaterial *material; /**< [materials] */
  int boundaries;
  /** [boundaries]. None: u = 0 on the whole boundary. Else every face of it must have a name (TesMeshDesc.rest). */
  const TesBoundary *boundary;
  const TesFunction *exact[4]; /**< by component, of all or of none; NULL: unknown. A pressure may be left out */
  /** Float64, over the problem's space: start of the iteration, copied; NULL: 0. Full multigrid makes its own. */
  const TesVector *guess;
  TesLoadCallback add_load; /**< NULL: nothing is added */
  void *add_load_user;
  /** In time: the solution at its start, by component; NULL: `exact`, where that is unknown 0. Flows: the pressure is
   * component dim, and 0 where it is not given beside a velocity. */
  const TesFunction *initial[4];
  /** Elasticity in time: u_t at the start. NULL: u_t of `exact` if u is taken from `exact` too, else 0. */
  const TesFunction *initial_velocity[3];
  TesTimeDesc time; /**< all zero: a steady problem */
  /** Flows in time: bit d says that a uniform force keeps the mean of component d of the velocity at
   *  mean_velocity[d]; the domain must be periodic in that direction. */
  unsigned mean_components;
  double mean_velocity[3];
  /** Means in time of the solution and of the squares of its components since average_from, by the trapezoidal rule:
   *  mean_u, .., mean_p, mean_uu, .., mean_pp in expressions, in VTU files and checkpoints. Squares are exact at nodes;
   *  of element rt they are interpolated as velocities are, of element dg projected. */
  bool average;
  double average_from;
  /** gamma (div u, div v) in the momentum equation of a flow in time, gamma = 0.1 |u| h in each cell. */
  bool grad_div;
  /** Scalar fields: what u is called in TesProblemInfo.field, files and expressions, beside u; a word of letters,
   *  digits and _ of at most 30 bytes that no expression knows. NULL: u. It must outlive the problem. */
  const char *name;
  TesStreamline stabilization; /**< transport, element q; steady ones without it need a small cell Peclet number */
  TesSolveOptions solver;
} TesProblemDesc;

/** Where set-up time went, in seconds. */
typedef struct TesProblemTimes {
  double operators, right_hand_side, total;
  double load; /**< in time: right-hand sides of the steps so far */
} TesProblemTimes;

/** Sets everything up: spaces, operators, multigrid, right-hand side. Of the description nothing has to live on;
 *  functions are referenced as long as needed. Names become numbers here and nowhere else. Errors:
 *  TES_INVALID_INPUT (a name that the mesh does not have, with those it has; a face without a name; one of several
 *  parts that share no vertex, in which neither a boundary nor c determines u; a coefficient with the wrong sign:
 *  the point is named), TES_OUT_OF_MEMORY (told before), TES_NAN. */
TesStatus tes_problem_create(TesContext *context, const TesProblemDesc *desc, TesProblem **problem);

/** About what a problem and its solve will take at most beside its mesh, in bytes: within a factor of two for some 10^4
 *  unknowns and more; trees whose cells are all cubes take less. tes_problem_create() compares it with the memory that
 *  is free, with few vectors of GMRES. */
typedef struct TesProblemMemory {
  size_t processor;     /**< host memory, where the processor solves */
  size_t gpu, gpu_host; /**< memory of a GPU that solves, and of its host */
} TesProblemMemory;
/** The same for a description, of which nothing is made but its space: the mesh, numbers of nodes. On contexts of any
 *  device. Errors: as tes_problem_create(), of what is checked before coefficients are evaluated. */
TesStatus tes_problem_memory(TesContext *context, const TesProblemDesc *desc, TesProblemMemory *memory);

/** What a number of ranks would make of a problem, by a model (docs/parallel.md, "Prediction"). Ranks are on GPUs of
 *  hosts that have eight, by figures of an NVIDIA H200, or on hosts with the context's threads each. */
typedef struct TesProblemScaling {
  int ranks;       /**< in; 1 where it is less */
  double unknowns; /**< per rank */
  size_t bytes;    /**< per rank, as tes_problem_memory() without the mesh */
  double seconds;  /**< of an iteration of multigrid, about; infinity: the mesh cannot be cut into so many */
  double speed_up; /**< time of one rank over this time */
  const char *bound; /**< what costs most beside the work: "launches", "exchanges", .. ; static */
} TesProblemScaling;
/** scaling[count]: for each .ranks, the other members. Nothing is made but the space, on one rank. Errors:
 *  TES_INVALID_INPUT (one rank alone has the problem: key and reason), and those of tes_problem_memory(). */
TesStatus tes_problem_scaling(TesContext *context, const TesProblemDesc *desc, bool gpus, int count,
                              TesProblemScaling *scaling);
void tes_problem_destroy(TesProblem **problem);
/** In time: makes one step. `result`: iterations of all solves of the step, and the residuals of the last solve,
 *  relative to its first residual. Solution, errors and values then belong to the new time. Errors:
 *  TES_INVALID_INPUT (a steady problem, the end of time), and the errors of tes_solver_solve(). */
TesStatus tes_problem_step(TesProblem *problem, TesSolveResult *result);
/** In time: makes all steps that are left. Else: solves; a second call starts anew. Statuses as tes_solver_solve(); the
 *  last iterate is kept in any case. */
TesStatus tes_problem_solve(TesProblem *problem, TesSolveResult *result);

/** The finest space, its float64 operator, and the multigrid of the solver; owned by the problem. Of flows with element
 *  rt the operator is that of nu / s and alpha / s, over velocities and pressures divided by s, the system's own unit
 *  of pressures (docs/stokes.md). The multigrid is NULL where velocity and pressure are factorized together. It is
 *  also NULL after a failed step that had to make a new multigrid, as when a coefficient in time is refused. */
const TesSpace *tes_problem_space(const TesProblem *problem);
const TesOperator *tes_problem_operator(const TesProblem *problem);
const TesMultigrid *tes_problem_multigrid(const TesProblem *problem);
/** The solution at all nodes, boundary values included; owned by the problem. */
const TesVector *tes_problem_solution(const TesProblem *problem);
/** L2 norm and H1 seminorm of the error against `exact`; TES_INVALID_INPUT when there is none. */
TesStatus tes_problem_errors(const TesProblem *problem, double *l2, double *h1);
/** values[n][count] <- the expressions of[count] (as TesValue.of; NULL inside: the first field) at points
 *  x[n][dim]; those with derivatives or fields that jump are means over all cells that have the point. moved[n] <- 0
 *  for points of the mesh. A point that misses it by less than a hundredth of a cell's length, as beside a curved
 *  boundary, is moved to it, and moved is that fraction. Errors: TES_INVALID_INPUT (a point outside; moved NULL: also
 *  one that would be moved; an expression that is none), TES_NAN. Cost: tes_mesh_locate(), one copy of the solution,
 *  (degree + 1)^dim operations per point.
 *  count 0, moved given: the mesh keeps the points and the cells that have them, some 80 bytes per point, and later
 *  calls with exactly these points do not look for them again, with the same values. A mesh keeps the last eight sets
 *  of points until it is destroyed; tes_problem_remesh() makes another mesh.
 *  x NULL: n is p^dim, p > 1, times the cells of this rank. The points are a lattice with p points per direction from
 *  side to side of each cell, x fastest, and values are taken in this cell. No cell is looked for. */
TesStatus tes_problem_sample(const TesProblem *problem, int64_t n, const double *x, int count,
                             const char *const *of, double *values, double *moved);
/** A value of the solution (functional.h): means, integrals, at points of any expression in its fields; the error,
 *  if the problem knows `exact` (flows: "l2" or "velocity_l2", or "pressure_l2"); the force on a boundary, which is
 *  int sigma n of elasticity and - int sigma n of flows. A boundary with a given traction gets the integral of the
 *  traction, a boundary with given values the residual at its nodes. The forces of all boundaries sum up to minus the
 *  load (flows: to int f - alpha u). Cost of a force: a residual over all cells. */
TesStatus tes_problem_value(const TesProblem *problem, const TesValue *what, double *value);
/** The same of a largest or smallest value (TES_VALUE_MAXIMUM, TES_VALUE_MINIMUM), with its place: the first of equal
 *  ones in the order of the mesh's cells. place[2] is 0 in 2D. */
TesStatus tes_problem_extreme(const TesProblem *problem, const TesValue *what, double *value, double place[3]);
/** What the solution of a flow is like. NaN: not known, for want of an exact solution. */
typedef struct TesFlowResult {
  double velocity_l2, pressure_l2; /**< errors; of the pressure without its mean where that is undetermined */
  double divergence_l2;            /**< of div u */
  double divergence_relative;      /**< divided by the norm of grad u, cell by cell */
  double flux[6]; /**< int u.n over each face of the box, by its number; of other meshes over the first boundaries */
} TesFlowResult;
TesStatus tes_problem_flow(const TesProblem *problem, TesFlowResult *result);
enum { TES_PROBLEM_FIELDS = 16 };

/** Transport: what goes in and out, of the whole run, in steady problems a unit of time. in + sources = out + stored +
 *  defect, where the defect is what solves have left of their residuals. A boundary counts as in or as out by its
 *  sum; sources: int f - int c u, in the convective form + int u div b. Sums in time are made by the method's own
 *  formula, as u is. */
typedef struct TesBalance {
  double in, out, sources, stored, defect; /**< NaN: not asked for, not known */
  /** Elasticity, after the last solve: all loads, and what supports do to the body, by direction; NaN: not known. */
  double load[3], reaction[3];
  const double *flux; /**< [boundaries] int (b.n) u - a du/dn, at the end; NULL: not known */
} TesBalance;

/** What became of a description; texts are owned by the problem. */
typedef struct TesProblemInfo {
  const char *op, *smoother, *method, *precision,
      *coarse;      /**< what was chosen; coarse: for the coarsest level */
  double tolerance; /**< in use */
  /** TesSolveResult.floor of solves so far, the largest one; 0: all reached their tolerance, or failed */
  double floor;
  TesProblemTimes times;
  double time, dt; /**< in time: the time of the solution, and the length of the step */
  double before;   /**< where the flow chooses steps: the time of the solution before; else 0 */
  bool varies; /**< the flow chooses the steps; `steps` is then an estimate by the length of the last step */
  int step, steps; /**< done; in all, fewer than `end` asks for where a steady state was reached */
  /** With TesTimeDesc.steady: the change of the last step, per unit of time and of the largest solution so far, both in
   *  L2; 0: not known. */
  double change;
  TesBalance balance;
  double mean_force[3]; /**< the uniform force that keeps TesProblemDesc.mean_velocity; NaN: there is none */
  double l2_space_time; /**< sqrt(dt sum over steps of |error|^2 in L2); NaN: not known */
  int fields;
  /** Names of the solution's fields: "u" of poisson; "u", "v" (, "w") and "p" of flows; of elasticity "u", "v" (, "w"),
   *  stresses "sxx", "syy" (, "szz"), "sxy" (, "syz", "sxz") and "von_mises". Expressions over them also know their
   *  derivatives, ux, uy, uz (flows and elasticity: also vx .., none of p); of elasticity in 2D also szz, and lambda,
   *  mu and strain_energy. */
  const char *field[TES_PROBLEM_FIELDS];
} TesProblemInfo;
TesProblemInfo tes_problem_info(const TesProblem *problem);

#ifdef __cplusplus
}
#endif
#endif
