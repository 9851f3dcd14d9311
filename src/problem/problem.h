/* Problems as their parts see them: what was a name is a number, and an equation is a table of functions.
 *
 * problem.c makes spaces, operators and solver; problem_names.c numbers names and refuses; right_hand_side.c loads
 * and lifts; choice.c holds what is chosen by kind of mesh; solution.c solves and completes. None of them knows an
 * equation: those are poisson.c and its siblings. */
#ifndef TESI_PROBLEM_H
#define TESI_PROBLEM_H

#include "base/base.h"
#include "functional/fields.h"
#include "problem/choice.h"
#include "space/given.h"
#include "tessera/problem.h"
#include "time/march.h"

enum { TESI_TERMS = 4, TESI_SHOWN = 8, TESI_AXES = 3 };

/* A function of the data that is worth showing. */
typedef struct TesiShown {
  const char *name;
  const TesFunction *function[TESI_AXES]; /* by component */
  const TesFunction *const *material;     /* [materials], of functions of one component */
} TesiShown;

struct TesiFieldRow;
typedef struct TesiEquation {
  const char *name;
  const struct TesiSupport *support; /* what it has with its element (support.h); NULL: nothing is refused by a row */
  double f;                          /* the right-hand side where none is given; 0: NULL */
  /* Terms over cells, at most TESI_TERMS; returns how many. Robin terms of boundaries are added to any form. */
  int (*form)(const TesProblem *problem, TesTermDesc *term);
  /* b <- the right-hand side, boundary data included: tesi_problem_load(). Entries at Dirichlet nodes are zero. */
  TesStatus (*load)(const TesProblem *problem, TesVector *b);
  /* The same in the rows of given values too; whole: the operator over all nodes. NULL: no steps in time and no
   * balance. */
  TesStatus (*load_all)(const TesProblem *problem, const TesOperator *whole, TesVector *b);
  /* b <- b + terms of u that steps take from old values: as TesiEvolution.carry. NULL: none beside transport. */
  TesStatus (*react)(const TesProblem *problem, const TesVector *u, TesVector *b);
  const struct TesiTimeMethod *method; /* of its steps in time; NULL: the method of the description */
  /* At most TESI_SHOWN; returns how many. */
  int (*shown)(const TesProblem *problem, TesiShown *shown);
  const struct TesiFlowEquation *flow; /* NULL: a scalar field of element q, and load is the whole right-hand side */
  /* Where the values of a name are: space and vector, or a function of the data; NULL: as those of element q, or of
   * elements rt and dg. */
  void (*place)(const TesProblem *problem, const struct TesiFieldRow *row, TesiField *field);
  /* By component, after the last step: all loads, and what supports do to the body; NULL: not known. */
  TesStatus (*totals)(const TesProblem *problem, double load[TESI_AXES], double reaction[TESI_AXES]);
  /* Component `direction` of the force on a boundary: of the fluid on it, or of the support; NULL: there is none. */
  TesStatus (*force)(const TesProblem *problem, int boundary, int direction, double *force);
  const struct TesiOwn *own; /* of flows in time, and of those with continuous elements; NULL: others */
  /* Refuses what the equation cannot have, and completes numbers and options; NULL: nothing. */
  TesStatus (*check)(TesProblem *problem, const TesProblemDesc *desc);
  /* The right-hand side is there; NULL: nothing. */
  TesStatus (*balance)(TesProblem *problem);
  /* After the iteration of a steady problem; NULL: nothing. */
  TesStatus (*complete)(TesProblem *problem);
  /* Completes directions of the data, in the place of the data in `varied`, as the problem's data were completed; NULL:
   * nothing. */
  TesStatus (*vary)(const TesProblem *problem, TesProblem *varied);
  bool vector;       /* the solution has a component a direction; else one */
  bool second_order; /* in time c is the density of u_tt */
  bool couples;  /* components, in one operator: smoothed by chebyshev in conjugate gradients, on boxes too */
  bool in_time;  /* it may have steps in time */
  bool stressed; /* the solution is a displacement, whose stress is shown */
} TesiEquation;

/* What flows do otherwise, whose unknowns are velocity and pressure, and discontinuous elements. */
typedef struct TesiFlowEquation {
  bool scalar; /* of element dg: no flow, but one unknown */
  /* Refuses what a flow cannot have, and completes the options. */
  TesStatus (*check)(TesProblem *problem, const TesProblemDesc *desc);
  /* The load is there: liftings, and the balance of fluxes. */
  TesStatus (*lift)(TesProblem *problem);
  /* For the levels of full multigrid: u <- u_D on a level's space, NULL: it is 0; b <- what the load has of boundary
   * data, for a level's operator. */
  TesStatus (*values)(const TesProblem *problem, const TesSpace *space, TesVector *u);
  TesStatus (*load_faces)(const TesProblem *problem, const TesOperator *op, TesVector *b);
  /* Cycles of full multigrid on the finest level; NULL: 1. */
  int (*start_cycles)(const TesProblem *problem);
  /* After the iteration of a steady problem; a multiple of op->null that is in u is for it to choose. */
  TesStatus (*complete)(TesProblem *problem);
} TesiFlowEquation;

/* An equation that makes its own system, or in time steps that are not those of M u' + K u = F. */
typedef struct TesiOwn {
  /* All that is made after the problem's numbers: spaces, operators, the solution at the start. */
  TesStatus (*create)(TesProblem *problem, const TesProblemDesc *desc);
  TesStatus (*solve)(TesProblem *problem, TesSolveResult *result); /* of a steady one; NULL: it is in time */
  void (*destroy)(TesProblem *problem);
  const TesiScheme *scheme; /* of its steps, with the problem for a user; NULL: it is steady */
  /* The state came from another mesh: what it must fulfil is put right; *removed: what divergence that took away. */
  TesStatus (*settle)(const TesProblem *from, TesProblem *problem, double *removed);
  /* Of a problem on another mesh: its solution at the start; what of a description is kept here alone. NULL: meshes do
   * not change. */
  TesStatus (*begin)(TesProblem *problem);
  void (*describe)(const TesProblem *problem, TesProblemDesc *desc);
  /* The problem whose operator and multigrid are solved with; NULL, or it returns NULL: the problem itself. */
  const TesProblem *(*solved)(const TesProblem *problem);
  const TesMultigrid *(*multigrid)(const TesProblem *problem); /* NULL: of that problem */
  bool (*is_direct)(const TesProblem *problem); /* it is solved by sparse factors; NULL: it is not */
  /* The uniform force that keeps a mean velocity, by direction; NaN: there is none. NULL: in no direction. */
  void (*mean_force)(const TesProblem *problem, double force[TESI_AXES]);
  /* Against the exact solution, of a steady problem: two norms for the report, and one of the energy. */
  TesStatus (*errors)(const TesProblem *problem, double *l2, double *h1, double *energy);
  /* alpha of the momentum equation, for residuals of estimates; NULL: its error is not estimated. */
  double (*reaction)(const TesProblem *problem);
} TesiOwn;

/* The equations of the library (equation/equations.c) and those that were added, each with a row. */
enum { TESI_EQUATION_ROOM = 16 };
extern const TesiEquation *tesi_equations[TESI_EQUATION_ROOM];
extern int tesi_equation_count;
/* Before problems are made: an equation that the library does not have, whose row says TESI_OWN_EQUATION or, for the
 * next such equation, the number behind. Its name is then a word of `problem` in case files. False: the number is not
 * the next one, or there is no room. */
bool tesi_equation_add(const TesiEquation *equation);

/* Data and conditions by number; functions are referenced. */
typedef struct TesiNumbered {
  TesiGiven *given; /* [boundaries + 1], the last of faces without a name */
  TesData data;     /* a NULL: 1; f NULL: 0 */
  /* [materials + 1]; NULL inside: that of data. Once elasticity has completed them, `expansion` is expansion times
   * temperature, and there is no temperature. */
  const TesFunction **a, **c, **lambda, **expansion, **temperature, **f[TESI_AXES];
} TesiNumbered;

/* What a description says of the form. */
typedef struct TesiVariant {
  TesFlowForm flow; /* of flows: never auto */
  TesStreamline stabilization;
  bool conservative, balanced; /* of transport: the form; whether what goes in and out is counted */
  TesPlane plane;
} TesiVariant;

/* The form with its terms. */
typedef struct TesiFormTerms {
  TesForm all;
  TesTermDesc *term;
  signed char *through; /* [boundaries + 1] of the transport term */
} TesiFormTerms;

/* What the options leave open, and what a solve depends on beside them. */
typedef struct TesiChosen {
  double tolerance, floor;
  TesMethod method;
  TesPrecision cycle;
  bool full_start;          /* of the method */
  bool thin;                /* cells: TesMultigridDesc.thin */
  TesCoarsening coarsening; /* what is coarsened first */
  bool sheared;             /* survey.h */
  bool loose;               /* next to nothing holds the solution: tesi_problem_doubt_precision() */
  int polynomial;           /* degree of chebyshev; 0: its own choice */
  bool tuned;               /* the cycle is fitted to what it reaches (tune.c) */
  bool smooths_rough;       /* of GMRES: before the first coarse correction of a rough residual */
  int full_steps;           /* of the start of full multigrid: TesMultigridDesc.full_steps */
  int post_below;           /* smoothing steps below the finest level; 0: as there */
} TesiChosen;

/* Values that are given, in vectors. */
typedef struct TesiLifting {
  TesVector *shift; /* what is added after: u_D, or 1 where the constant of a component is free; NULL: nothing */
  TesVector *free; /* 0 at given nodes, else 1; NULL: on the host, and of boxes */
  bool some_given; /* some boundary has values */
  bool lifted;     /* u_D is not zero */
} TesiLifting;

/* Of components whose constant is free. */
typedef struct TesiConstants {
  TesVector *weights;                        /* of integrals */
  double mean[TESI_AXES], volume[TESI_AXES]; /* int u and int 1 */
} TesiConstants;

struct TesProblem {
  TesContext *context;
  struct TesiInTime *in_time; /* NULL: a steady problem */
  const TesProblem *before;   /* while it is made: the problem on the mesh before, whose steps go on */
  void *own;                  /* of equation->own, which alone knows what it is; NULL: others */
  const TesiEquation *equation;
  const void *user; /* of the equation; NULL for those of the library */
  TesMesh *mesh;
  TesiNumbered numbered;
  TesFunction *exact[TESI_AXES + 1]; /* by component; NULL: unknown */
  TesSolveOptions options;
  TesiVariant variant;
  TesiChosen chosen;
  TesiFieldNames names;        /* of a scalar */
  struct TesiBalance *balance; /* NULL: it is not counted, or is not known before a solve */
  struct {
    double load[TESI_AXES], reaction[TESI_AXES];
  } totals;       /* NaN: not known */
  int motions;    /* rigid motions that nothing holds */
  double *motion; /* [motions][length], orthonormal */
  TesiFormTerms form;
  TesSpace *space;
  TesOperator *op;           /* float64, finest */
  const TesOperator *levels; /* what the multigrid is of: op, or the symmetric part of one with transport */
  TesMultigrid *multigrid;
  TesSolver *solver;
  TesOperator *assembled;          /* what the solver multiplies with in the place of op; NULL: op */
  TesVector *component[TESI_AXES]; /* views of u, of vector equations */
  TesVector *b, *u;                /* right-hand side of u_0; u_0 while solving, u_0 + u_D after */
  TesiLifting lifting;
  TesiConstants constants;
  TesVector *start;        /* of the iteration; NULL: zero */
  struct TesiBelow *below; /* of full multigrid; NULL: it restricts b */
  double unit;             /* of pressures, in the systems of flows with element rt (pressure_unit.h) */
  TesProblemTimes times;
  struct {
    char method[160], precision[96], advice[160]; /* advice: where a solve does not converge */
  } text;
};

/* tes_problem_create() for any equation. */
TesStatus tesi_problem_create(TesContext *context, const TesiEquation *equation, const void *user,
                              const TesProblemDesc *desc, TesProblem **problem);
/* The same equation on the same mesh with other data: of `desc`, whose names, materials and boundaries are ignored,
 * in favour of `numbered`, of which copies are made. */
TesStatus tesi_problem_create_like(const TesProblem *problem, const TesProblemDesc *desc,
                                   const TesiNumbered *numbered, TesProblem **other);
/* The same problem in time on another mesh over the same trees, with the operators of its next step; its solution and
 * history are zero. */
TesStatus tesi_problem_create_next(const TesProblem *problem, const TesMesh *mesh, TesProblem **next);
/* b <- int f phi + sum over boundaries int g phi with the problem's fluxes, by component: f[components], NULL
 * inside: 0; material_f[components], each
 * [materials], NULL inside: f. all: in rows of given values too, else they are zero. */
TesStatus tesi_problem_load(const TesProblem *problem, const TesFunction *const *f,
                            const TesFunction **const *material_f, bool all, TesVector *b);
/* A space of a problem or a level without given values. */
TesStatus tesi_problem_create_whole(const TesSpace *space, TesSpace **whole);
/* The problem's space without given values. */
TesStatus tesi_problem_create_full(const TesProblem *problem, TesSpace **full);
/* The names that expressions over the solution know. */
int tesi_problem_fields(const TesProblem *problem, TesiField *field);
/* Of each solve: floor of the problem, and a warning of the first one. */
void tesi_problem_take_floor(TesProblem *problem, const TesSolveResult *result);
/* u_t, all zeros before the first step; of a problem in time, not of second order. */
TesiRate tesi_problem_rate(const TesProblem *problem);
/* Whether a component of the solution has values on a boundary. */
bool tesi_problem_given(const TesProblem *problem, int boundary, int component);
/* Whether no condition names a boundary: values are 0 on all faces, those without a name too. */
bool tesi_problem_given_everywhere(const TesProblem *problem);
/* What is given of the spaces of a problem: desc->given and ->slips, in arrays [boundaries + 1] of zeros. True:
 * something is. */
bool tesi_problem_describe_given(const TesProblem *problem, uint8_t *given, bool *slips, TesSpaceDesc *desc);
/* v <- v with zeros at Dirichlet nodes. */
TesStatus tesi_problem_clear(const TesProblem *problem, TesVector *v);
/* The problem whose operator and multigrid are solved with: itself, or as TesiOwn.solved tells. */
const TesProblem *tesi_problem_solved(const TesProblem *problem);
/* Whether the unknowns are velocity and pressure. */
bool tesi_problem_is_flow(const TesProblem *problem);
/* The uniform force that keeps a mean velocity; NaN in a direction: none. */
void tesi_problem_mean_force(const TesProblem *problem, double force[TESI_AXES]);
/* What tes_problem_flow() tells of flows with continuous elements. */
TesStatus tesi_navier_stokes_flow(const TesProblem *problem, TesFlowResult *result);
/* Solver, cycle and, in time, residuals and masses multiply with assembled matrices from now on, as long as steps and
 * coefficients stay as they are: to compare with. Smoothers must be jacobi or chebyshev. */
TesStatus tesi_problem_assemble(TesProblem *problem);
/* Bytes that it took on the device only because there was room: tesi_solver_spare(). */
size_t tesi_problem_spare(const TesProblem *problem);

/* ---- steps of the above ---- */

/* Of TesProblemDesc.time: whether any of it is given. */
bool tesi_problem_is_timed(const TesTimeDesc *time);
/* The equation with the element of a description. Errors: TES_INVALID_INPUT (there is none, with those that are). */
TesStatus tesi_problem_find_equation(TesContext *ctx, const TesProblemDesc *desc,
                                     const TesiEquation **equation);
/* Of flows whose nu and alpha are numbers: these. */
TesStatus tesi_problem_flow_numbers(const TesProblem *problem, double *nu, double *alpha);
/* Refuses coefficients that vary where the row has numbers alone. */
TesStatus tesi_problem_allow_numbers(const TesProblem *problem);
/* Refuses what the row of an equation has not; conditions by their entries. more: bits of TesiHas beside those of the
 * description. */
TesStatus tesi_problem_allow(TesContext *ctx, const struct TesiSupport *row, const TesProblemDesc *desc,
                             uint64_t more);

/* f: the right-hand side where the description has none. */
TesStatus tesi_numbered_create(TesContext *ctx, const TesiEquation *equation, const TesProblemDesc *desc,
                               double f, TesiNumbered *numbered);
TesStatus tesi_numbered_copy(const TesMesh *mesh, const TesiNumbered *from, TesiNumbered *to);
/* All functions become those at a time, and c becomes factor c + offset. */
TesStatus tesi_numbered_at(const TesMesh *mesh, double time, double factor, double offset,
                           TesiNumbered *numbered);
void tesi_numbered_free(const TesMesh *mesh, TesiNumbered *numbered);
/* Whether what is given strongly, or what loads have of boundaries, depends on time. */
bool tesi_numbered_timed(const TesMesh *mesh, const TesiNumbered *numbered, bool strong);
/* Whether a thermal strain, of numbers that are complete, is not zero. */
bool tesi_numbered_heated(const TesMesh *mesh, const TesiNumbered *numbered);
/* In each of several parts of the mesh that share no vertex the solution must be determined by itself: by a
 * Dirichlet or Robin boundary or a mass term. TES_INVALID_INPUT names a cell of the first part where it is not. A
 * mesh of one part is always accepted: its constant is fixed by the mean. */
TesStatus tesi_problem_check_parts(const TesProblem *problem);
TesStatus tesi_problem_create_right_hand_side(TesProblem *problem, const TesProblemDesc *desc);
/* v <- v with zeros where a space of the problem's conditions, as of a level, has given values. */
TesStatus tesi_problem_clear_on(const TesProblem *problem, const TesSpace *space, TesVector *v);
/* u <- the boundary values of element q on such a space, interpolated; zeros inside. */
TesStatus tesi_problem_values(const TesProblem *problem, const TesSpace *space, TesVector *u);
/* lifted and shift <- the boundary values, whose interpolation u_D is. */
TesStatus tesi_problem_lift(TesProblem *problem);
/* g on boundaries with fluxes, NULL where it is 0; [boundaries + 1], the caller's to free. */
TesStatus tesi_problem_fluxes(const TesProblem *problem, const TesiNumbered *numbered, int component,
                              const TesFunction ***flux);
/* mark[length of the part]: 1 + the boundary whose value a node of a component has, 0: none. */
TesStatus tesi_problem_mark_given(const TesProblem *problem, int component, double *mark);
/* Form, operator, multigrid and solver of the problem's numbers, where there are none. */
TesStatus tesi_problem_create_system(TesProblem *problem);
/* start <- a copy of the guess, if there is one. */
TesStatus tesi_problem_take_guess(TesProblem *problem, const TesVector *guess);
/* The space, of the problem's boundaries. */
TesStatus tesi_problem_create_space(TesProblem *problem, int degree);
/* Form, operator, multigrid and solver of the problem's numbers, instead of those that are there. */
TesStatus tesi_problem_create_solver(TesProblem *problem);
/* What equations without a flow share: diffusion and reaction, f. */
int tesi_diffusion_form(const TesProblem *problem, TesTermDesc *term);
TesStatus tesi_diffusion_load(const TesProblem *problem, TesVector *b);
int tesi_diffusion_shown(const TesProblem *problem, TesiShown *shown);
/* The form with its transport term, also where steps take that from old values; terms as TesiEquation.form. */
int tesi_transport_form(const TesProblem *problem, TesTermDesc *term);
/* That of the equation, and what it shows. */
int tesi_transport_form_of_steps(const TesProblem *problem, TesTermDesc *term);
/* Whether the multigrid of transport is of the whole operator, smoothed by cells in the order of the flow. */
struct TesiTransport;
bool tesi_transport_whole(const TesProblem *problem, const struct TesiTransport *transport);
/* *dofs <- the unknowns at which its levels end; 0: as far as meshes go. */
TesStatus tesi_transport_enough(const TesProblem *problem, int64_t *dofs);
int tesi_transport_shown(const TesProblem *problem, TesiShown *shown);
/* Whether there is a velocity. */
bool tesi_problem_transports(const TesProblem *problem);

#endif
