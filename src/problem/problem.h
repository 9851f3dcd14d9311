/* Problems for the parts of the library: names are replaced by numbers, and an equation is a table of functions.
 *
 * problem.c makes spaces, operators and solver; problem_names.c numbers names and refuses; right_hand_side.c loads
 * and lifts; choice.c holds what is chosen by kind of mesh; solution.c solves and completes. None of them depends on
 * an equation: equations are in poisson.c and its siblings. */
#ifndef TESI_PROBLEM_H
#define TESI_PROBLEM_H

#include "base/base.h"
#include "functional/fields.h"
#include "problem/choice.h"
#include "space/given.h"
#include "tessera/problem.h"
#include "time/march.h"

enum { TESI_TERMS = 4, TESI_SHOWN = 8, TESI_AXES = 3 };

/* A function of the data that output can show. */
typedef struct TesiShown {
  const char *name;
  const TesFunction *function[TESI_AXES]; /* by component */
  const TesFunction *const *material;     /* [materials], of functions of one component */
} TesiShown;

struct TesiFieldRow;
typedef struct TesiEquation {
  const char *name;
  const struct TesiSupport *support; /* the features of the equation with its element (support.h); NULL: no row refuses
                                      * anything */
  double f;                          /* the default of the right-hand side; 0: NULL */
  /* Terms over cells, at most TESI_TERMS; returns how many. Robin terms of boundaries are added to any form. */
  int (*form)(const TesProblem *problem, TesTermDesc *term);
  /* b <- the right-hand side, boundary data included: tesi_problem_load(). Entries at Dirichlet nodes are zero. */
  TesStatus (*load)(const TesProblem *problem, TesVector *b);
  /* The same, also in the rows of given values; whole: the operator over all nodes. NULL: no steps in time and no
   * balance. */
  TesStatus (*load_all)(const TesProblem *problem, const TesOperator *whole, TesVector *b);
  /* b <- b + terms of u that steps take from old values, as TesiEvolution.carry. NULL: only transport. */
  TesStatus (*react)(const TesProblem *problem, const TesVector *u, TesVector *b);
  const struct TesiTimeMethod *method; /* method of its steps in time; NULL: the method of the description */
  /* At most TESI_SHOWN; returns how many. */
  int (*shown)(const TesProblem *problem, TesiShown *shown);
  const struct TesiFlowEquation *flow; /* NULL: a scalar field of element q, for which load is the whole right-hand
                                        * side */
  /* The values of a name: space and vector, or a function of the data. NULL: as for element q, or as for elements rt
   * and dg. */
  void (*place)(const TesProblem *problem, const struct TesiFieldRow *row, TesiField *field);
  /* By component, after the last step: the sum of all loads, and the force of supports on the body; NULL: not
   * available. */
  TesStatus (*totals)(const TesProblem *problem, double load[TESI_AXES], double reaction[TESI_AXES]);
  /* Component `direction` of the force on a boundary: of the fluid on the boundary, or of the support on the body;
   * NULL: not available. */
  TesStatus (*force)(const TesProblem *problem, int boundary, int direction, double *force);
  const struct TesiOwn *own; /* for flows in time, and flows with continuous elements; else NULL */
  /* Refuses data that the equation does not allow, and completes numbers and options; NULL: nothing to do. */
  TesStatus (*check)(TesProblem *problem, const TesProblemDesc *desc);
  /* Called when the right-hand side exists; NULL: nothing to do. */
  TesStatus (*balance)(TesProblem *problem);
  /* Called after the iteration of a steady problem; NULL: nothing to do. */
  TesStatus (*complete)(TesProblem *problem);
  /* Completes directions of the data, which replace the data in `varied`, in the way the problem's data were completed;
   * NULL: nothing to do. */
  TesStatus (*vary)(const TesProblem *problem, TesProblem *varied);
  const struct TesiAdjointOf *adjoint; /* variation.h; NULL: nothing of its own */
  bool vector;       /* the solution has one component per direction; false: one component */
  bool second_order; /* in time c is the density of u_tt */
  bool couples; /* all components are in one operator, on boxes too; smoother chebyshev, method conjugate gradients */
  bool in_time;  /* it may have steps in time */
  bool stressed; /* the solution is a displacement, whose stress is shown */
} TesiEquation;

/* Functions for flows, whose unknowns are velocity and pressure, and for discontinuous elements. */
typedef struct TesiFlowEquation {
  bool scalar; /* element dg: not a flow, one unknown */
  /* Refuses data that a flow does not allow, and completes the options. */
  TesStatus (*check)(TesProblem *problem, const TesProblemDesc *desc);
  /* Called when the load exists: makes liftings, and checks the balance of fluxes. */
  TesStatus (*lift)(TesProblem *problem);
  /* For the levels of full multigrid: u <- u_D on the space of a level, NULL: u_D is 0. b <- the part of the load
   * that comes from boundary data, for the operator of a level. */
  TesStatus (*values)(const TesProblem *problem, const TesSpace *space, TesVector *u);
  TesStatus (*load_faces)(const TesProblem *problem, const TesOperator *op, TesVector *b);
  /* Number of cycles of full multigrid on the finest level; NULL: 1. */
  int (*start_cycles)(const TesProblem *problem);
  /* Called after the iteration of a steady problem; chooses the multiple of op->null in u. */
  TesStatus (*complete)(TesProblem *problem);
} TesiFlowEquation;

/* An equation with its own system, or with steps in time other than those of M u' + K u = F. */
typedef struct TesiOwn {
  /* Makes all objects after the problem's numbers: spaces, operators, the solution at the start. */
  TesStatus (*create)(TesProblem *problem, const TesProblemDesc *desc);
  TesStatus (*solve)(TesProblem *problem,
                     TesSolveResult *result); /* solves a steady problem; NULL: the problem is in
                                                                    * time */
  void (*destroy)(TesProblem *problem);
  const TesiScheme *scheme; /* scheme of its steps, with the problem as user; NULL: the problem is steady */
  /* Corrects a state that was moved from another mesh; *removed: the divergence that the correction removed. */
  TesStatus (*settle)(const TesProblem *from, TesProblem *problem, double *removed);
  /* For a problem on another mesh: its solution at the start, and the data of the description that only the equation
   * keeps. NULL: meshes do not change. */
  TesStatus (*begin)(TesProblem *problem);
  void (*describe)(const TesProblem *problem, TesProblemDesc *desc);
  /* The problem whose operator and multigrid are used for solves; NULL, or a result NULL: the problem itself. */
  const TesProblem *(*solved)(const TesProblem *problem);
  const TesMultigrid *(*multigrid)(const TesProblem *problem); /* NULL: the reaction of that problem */
  bool (*is_direct)(const TesProblem *problem);                /* it is solved by sparse factors; NULL: no */
  /* The uniform force that keeps a mean velocity, by direction; NaN: none. NULL: none in any direction. */
  void (*mean_force)(const TesProblem *problem, double force[TESI_AXES]);
  /* Errors of a steady problem against the exact solution: two norms for the report, and the error in the energy
   * norm. */
  TesStatus (*errors)(const TesProblem *problem, double *l2, double *h1, double *energy);
  /* alpha of the momentum equation, for residuals in error estimates; NULL: there is no estimate. */
  double (*reaction)(const TesProblem *problem);
} TesiOwn;

/* The equations of the library (equation/equations.c) and added equations, each with a row. */
enum { TESI_EQUATION_ROOM = 16 };
extern const TesiEquation *tesi_equations[TESI_EQUATION_ROOM];
extern int tesi_equation_count;
/* Adds, before problems are made, an equation that the library does not have. Its row has the number TESI_OWN_EQUATION,
 * or the next number for a further equation. Its name is then a word of `problem` in case files. False: the number is
 * not the next one, or there is no room. */
bool tesi_equation_add(const TesiEquation *equation);

/* Data and conditions by number; functions are referenced. */
typedef struct TesiNumbered {
  TesiGiven *given; /* [boundaries + 1], the last entry for faces without a name */
  TesData data;     /* a NULL: 1; f NULL: 0 */
  /* [materials + 1]; NULL inside: the function in data. When elasticity has completed them, `expansion` is expansion
   * times temperature, and there is no temperature. */
  const TesFunction **a, **c, **lambda, **expansion, **temperature, **f[TESI_AXES];
} TesiNumbered;

/* The description's data for the form. */
typedef struct TesiVariant {
  TesFlowForm flow; /* of flows: never auto */
  TesStreamline stabilization;
  bool conservative, balanced; /* transport: its form; whether inflow and outflow are reported */
  TesPlane plane;
} TesiVariant;

/* The form with its terms. */
typedef struct TesiFormTerms {
  TesForm all;
  TesTermDesc *term;
  signed char *through; /* [boundaries + 1] for the transport term */
} TesiFormTerms;

/* Choices that the options leave open, and their inputs beside the options. */
typedef struct TesiChosen {
  double tolerance, floor;
  TesMethod method;
  TesPrecision cycle;
  bool full_start;          /* of the method */
  bool thin;                /* cells: TesMultigridDesc.thin */
  TesCoarsening coarsening; /* what is coarsened first */
  bool sheared;             /* survey.h */
  bool loose;          /* almost nothing fixes the constant of the solution: tesi_problem_doubt_precision() */
  int polynomial;      /* degree of chebyshev; 0: its own choice */
  bool tuned;          /* the cycle is adjusted to its measured convergence (tune.c) */
  bool smooths_rough;  /* GMRES: smooths before the first coarse correction of a rough residual */
  int full_steps;      /* of the start of full multigrid: TesMultigridDesc.full_steps */
  int post_below;      /* smoothing steps below the finest level; 0: as on the finest */
  double factor_flops; /* survey.h */
  bool factors_serve;  /* sparse factors can take over where cycles would not reach the tolerance */
} TesiChosen;

/* Given values, as vectors. */
typedef struct TesiLifting {
  TesVector *shift; /* added after the solve: u_D, or 1 in components whose constant is free; NULL: nothing */
  TesVector *free;  /* 0 at given nodes, else 1; NULL: on the host, and for boxes */
  bool some_given;  /* some boundary has values */
  bool lifted;      /* u_D is not zero */
  double level; /* a uniform pressure in units of `unit`, added after the solve (stokes with element rt) */
} TesiLifting;

/* For components whose constant is free. */
typedef struct TesiConstants {
  TesVector *weights;                        /* of integrals */
  double mean[TESI_AXES], volume[TESI_AXES]; /* int u and int 1 */
} TesiConstants;

struct TesProblem {
  TesContext *context;
  struct TesiInTime *in_time; /* NULL: a steady problem */
  const TesProblem *before;   /* during creation: the problem on the previous mesh, whose steps continue */
  void *own;                  /* data of equation->own, which alone knows their type; else NULL */
  const TesiEquation *equation;
  const void *user; /* row of an added equation; NULL for equations of the library */
  TesMesh *mesh;
  TesiNumbered numbered;
  TesFunction *exact[TESI_AXES + 1]; /* by component; NULL: unknown */
  TesSolveOptions options;
  TesiVariant variant;
  TesiChosen chosen;
  TesiFieldNames names;        /* of a scalar */
  struct TesiBalance *balance; /* NULL: not counted, or not known before a solve */
  struct {
    double load[TESI_AXES], reaction[TESI_AXES];
  } totals;       /* NaN: not known */
  int motions;    /* loose motions */
  double *motion; /* [motions][length], orthonormal */
  TesiFormTerms form;
  TesSpace *space;
  TesOperator *op;           /* float64, finest */
  const TesOperator *levels; /* operator of the multigrid: op, or the symmetric part of an op with transport */
  TesMultigrid *multigrid;
  TesSolver *solver;
  TesOperator *assembled;          /* used for the solver's products in the place of op; NULL: op */
  TesVector *component[TESI_AXES]; /* views of u, for vector equations */
  TesVector *b, *u;                /* right-hand side of u_0; u_0 while solving, u_0 + u_D after */
  TesiLifting lifting;
  TesiConstants constants;
  TesVector *start;        /* initial guess of the iteration; NULL: zero */
  struct TesiBelow *below; /* right-hand sides of full multigrid's levels; NULL: b is restricted */
  double unit;             /* unit of pressures in the systems of flows with element rt (pressure_unit.h) */
  TesProblemTimes times;
  struct {
    char method[160], precision[96], advice[160]; /* advice for solves that do not converge */
  } text;
};

/* tes_problem_create() for any equation. */
TesStatus tesi_problem_create(TesContext *context, const TesiEquation *equation, const void *user,
                              const TesProblemDesc *desc, TesProblem **problem);
/* The same equation on the same mesh with other data, the data of `desc`. Names, materials and boundaries of `desc`
 * are ignored; `numbered` is copied in their place. */
TesStatus tesi_problem_create_like(const TesProblem *problem, const TesProblemDesc *desc,
                                   const TesiNumbered *numbered, TesProblem **other);
/* The same problem in time on another mesh over the same trees, with the operators of its next step; its solution and
 * history are zero. */
TesStatus tesi_problem_create_next(const TesProblem *problem, const TesMesh *mesh, TesProblem **next);
/* b <- int f phi + sum over boundaries int g phi with the problem's fluxes, by component. f[components], NULL inside:
 * 0. material_f[components], each [materials], NULL inside: f. all: rows of given values get the sum too; false: they
 * are zero. */
TesStatus tesi_problem_load(const TesProblem *problem, const TesFunction *const *f,
                            const TesFunction **const *material_f, bool all, TesVector *b);
/* A space of a problem or a level without given values. */
TesStatus tesi_problem_create_whole(const TesSpace *space, TesSpace **whole);
/* The problem's space, but without given values. */
TesStatus tesi_problem_create_full(const TesProblem *problem, TesSpace **full);
/* The names for expressions in the solution. */
int tesi_problem_fields(const TesProblem *problem, TesiField *field);
/* To be called after each solve: records the floor, and warns at the first such solve. */
void tesi_problem_take_floor(TesProblem *problem, const TesSolveResult *result);
/* u_t for a problem in time that is not of second order; zero before the first step. */
TesiRate tesi_problem_rate(const TesProblem *problem);
/* Whether values of a component are given on a boundary. */
bool tesi_problem_given(const TesProblem *problem, int boundary, int component);
/* Whether no condition names a boundary: values are then 0 on all faces, also on faces without a name. */
bool tesi_problem_given_everywhere(const TesProblem *problem);
/* The conditions of a problem's spaces: desc->given and ->slips, written to arrays [boundaries + 1] of zeros. True:
 * there are conditions. */
bool tesi_problem_describe_given(const TesProblem *problem, uint8_t *given, bool *slips, TesSpaceDesc *desc);
/* v <- v with zeros at Dirichlet nodes. */
TesStatus tesi_problem_clear(const TesProblem *problem, TesVector *v);
/* The problem whose operator and multigrid are used for solves: the problem itself, or the result of TesiOwn.solved. */
const TesProblem *tesi_problem_solved(const TesProblem *problem);
/* Whether the unknowns are velocity and pressure. */
bool tesi_problem_is_flow(const TesProblem *problem);
/* The uniform force that keeps a mean velocity; NaN in a direction without such a force. */
void tesi_problem_mean_force(const TesProblem *problem, double force[TESI_AXES]);
/* tes_problem_flow() for flows with continuous elements. */
TesStatus tesi_navier_stokes_flow(const TesProblem *problem, TesFlowResult *result);
/* From now on solver, cycle and, in time, residuals and masses multiply by assembled matrices, as long as steps and
 * coefficients do not change: for comparisons. Smoothers must be jacobi or chebyshev. */
TesStatus tesi_problem_assemble(TesProblem *problem);
/* Bytes that it took on the device only because there was room: tesi_solver_spare(). */
size_t tesi_problem_spare(const TesProblem *problem);

/* ---- steps of the above ---- */

/* Whether any member of TesProblemDesc.time is given. */
bool tesi_problem_is_timed(const TesTimeDesc *time);
/* The equation with the element of a description. Errors: TES_INVALID_INPUT (there is none, with those that are). */
TesStatus tesi_problem_find_equation(TesContext *ctx, const TesProblemDesc *desc,
                                     const TesiEquation **equation);
/* nu and alpha of a flow; both must be numbers. */
TesStatus tesi_problem_flow_numbers(const TesProblem *problem, double *nu, double *alpha);
/* Refuses varying coefficients if the row allows numbers only. */
TesStatus tesi_problem_allow_numbers(const TesProblem *problem);
/* Refuses data and conditions that the row of an equation does not have. more: features (bits of TesiHas) besides
 * those of the description. */
TesStatus tesi_problem_allow(TesContext *ctx, const struct TesiSupport *row, const TesProblemDesc *desc,
                             uint64_t more);

/* f: the default of the right-hand side. */
TesStatus tesi_numbered_create(TesContext *ctx, const TesiEquation *equation, const TesProblemDesc *desc,
                               double f, TesiNumbered *numbered);
TesStatus tesi_numbered_copy(const TesMesh *mesh, const TesiNumbered *from, TesiNumbered *to);
/* All functions are taken at a time, and c becomes factor times c, plus offset. */
TesStatus tesi_numbered_at(const TesMesh *mesh, double time, double factor, double offset,
                           TesiNumbered *numbered);
void tesi_numbered_free(const TesMesh *mesh, TesiNumbered *numbered);
/* Whether strongly given values, or boundary terms of loads, depend on time. */
bool tesi_numbered_timed(const TesMesh *mesh, const TesiNumbered *numbered, bool strong);
/* Whether a thermal strain, of numbers that are complete, is not zero. */
bool tesi_numbered_heated(const TesMesh *mesh, const TesiNumbered *numbered);
/* If the mesh consists of several parts that share no vertex, the solution must be determined in each part: by a
 * Dirichlet or Robin boundary or a mass term. TES_INVALID_INPUT names a cell of the first part in which it is not. A
 * mesh of one part is always accepted, since the mean fixes its constant. */
TesStatus tesi_problem_check_parts(const TesProblem *problem);
TesStatus tesi_problem_create_right_hand_side(TesProblem *problem, const TesProblemDesc *desc);
/* v <- v with zeros at given values, on a space with the problem's conditions, such as that of a level. */
TesStatus tesi_problem_clear_on(const TesProblem *problem, const TesSpace *space, TesVector *v);
/* u <- the boundary values of element q on such a space, interpolated; zeros inside. */
TesStatus tesi_problem_values(const TesProblem *problem, const TesSpace *space, TesVector *u);
/* lifted and shift <- the boundary values; u_D is their interpolation. */
TesStatus tesi_problem_lift(TesProblem *problem);
/* g on boundaries with fluxes, NULL: g is 0; [boundaries + 1], which the caller frees. */
TesStatus tesi_problem_fluxes(const TesProblem *problem, const TesiNumbered *numbered, int component,
                              const TesFunction ***flux);
/* mark[length of the part]: for a node of a component, 1 + the boundary that gives its value; 0: none. */
TesStatus tesi_problem_mark_given(const TesProblem *problem, int component, double *mark);
/* Makes form, operator, multigrid and solver from the problem's numbers, if they do not exist. */
TesStatus tesi_problem_create_system(TesProblem *problem);
/* start <- a copy of the guess, if there is one. */
TesStatus tesi_problem_take_guess(TesProblem *problem, const TesVector *guess);
/* Makes the space, with conditions on the problem's boundaries. */
TesStatus tesi_problem_create_space(TesProblem *problem, int degree);
/* Makes form, operator, multigrid and solver from the problem's numbers, and replaces the present ones. */
TesStatus tesi_problem_create_solver(TesProblem *problem);
/* Common to equations without a flow: diffusion and reaction, f. */
int tesi_diffusion_form(const TesProblem *problem, TesTermDesc *term);
TesStatus tesi_diffusion_load(const TesProblem *problem, TesVector *b);
int tesi_diffusion_shown(const TesProblem *problem, TesiShown *shown);
/* The form with its transport term, even if steps take transport from old values; terms as TesiEquation.form. */
int tesi_transport_form(const TesProblem *problem, TesTermDesc *term);
/* The form of the equation without this transport term, and the fields that it shows. */
int tesi_transport_form_of_steps(const TesProblem *problem, TesTermDesc *term);
/* Whether the multigrid of transport uses the whole operator, smoothed cell by cell in the order of the flow. */
struct TesiTransport;
bool tesi_transport_whole(const TesProblem *problem, const struct TesiTransport *transport);
/* *dofs <- the number of unknowns below which no level is made; 0: coarsening goes on as far as meshes allow. */
TesStatus tesi_transport_enough(const TesProblem *problem, int64_t *dofs);
/* Where incomplete factors of the multigrid made from `desc` have broken down: levels end there if sparse factors are
 * cheap; else advice is put down for solves that fail. */
TesStatus tesi_transport_mend(TesProblem *problem, const TesMultigridDesc *desc);
int tesi_transport_shown(const TesProblem *problem, TesiShown *shown);
/* Whether there is a velocity. */
bool tesi_problem_transports(const TesProblem *problem);

#endif
