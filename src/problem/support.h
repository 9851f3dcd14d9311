/* The features of each equation with each element, in rows beside the equations (equation/). Only these rows allow
 * and refuse. tesi_support_refuse() compares a row with a request, and returns keys of case files with reasons. A
 * program that makes a problem gets the first reason. The case reader puts file and line in front of each reason. The
 * tables of docs/support.md are printed from the rows. */
#ifndef TESI_SUPPORT_H
#define TESI_SUPPORT_H

#include "space/element.h"
#include "base/base.h"
#include "tessera/adapt.h"
#include "tessera/problem.h"

/* Kinds of meshes in rows: boxes, periodic boxes, all others. */
typedef enum TesiMeshRow { TESI_GRID, TESI_PERIODIC, TESI_TREES, TESI_MESH_ROWS } TesiMeshRow;
enum { TESI_ON_GRID = 1 << TESI_GRID, TESI_ON_RINGS = 1 << TESI_PERIODIC, TESI_ON_TREES = 1 << TESI_TREES };

/* The number of the first equation that is not in TesEquation: tesi_equation_add(). */
enum { TESI_OWN_EQUATION = 5 };

/* Conditions as case files name them. */
typedef enum TesiNamed {
  TESI_NAMED_NONE,
  TESI_NAMED_DIRICHLET,
  TESI_NAMED_NEUMANN,
  TESI_NAMED_ROBIN,
  TESI_NAMED_VELOCITY,
  TESI_NAMED_SLIP,
  TESI_NAMED_OUTFLOW,
  TESI_NAMED_PRESSURE,
  TESI_NAMED_FLUX,
  TESI_NAMED_DISPLACEMENT,
  TESI_NAMED_TRACTION,
  TESI_NAMED_ROLLER,
  TESI_NAMED_FORCE,
  TESI_NAMED_SYMMETRY,
  TESI_NAMED_RADIAL,
  TESI_NAMED_COUNT
} TesiNamed;
/* An outflow prescribes the stress; a pressure is a stress against the normal. */
extern const TesCondition tesi_named_condition[TESI_NAMED_COUNT];

/* Values of `form` in case files: the forms of flows, then the forms of transport. */
enum { TESI_FORM_CONVECTIVE = TES_FLOW_SYMMETRIC + 1, TESI_FORM_CONSERVATIVE };
/* Values of `stabilization`: a TesStreamline, or this. */
enum { TESI_GRAD_DIV = TES_STREAMLINE_ALWAYS + 1 };

/* Keys with words that a row may allow. */
typedef enum TesiWordsOf {
  TESI_OF_CONDITION, /* TesiNamed */
  TESI_OF_FORM,
  TESI_OF_STABILIZATION,
  TESI_OF_TIME_METHOD,
  TESI_OF_METHOD,
  TESI_OF_SMOOTHER,
  TESI_OF_LOCAL,
  TESI_OF_ORDER,
  TESI_OF_COARSENING,
  TESI_OF_COARSE,
  TESI_OF_COUNT
} TesiWordsOf;
/* A key, and its words in the order of the enum; NULL ends them. */
typedef struct TesiSupportWords {
  const char *key;
  const char *const *word;
} TesiSupportWords;
extern const TesiSupportWords tesi_support_words[TESI_OF_COUNT];
extern const char *tesi_equation_words[];
extern const char *const tesi_form_words[];
extern const char *const tesi_stabilization_words[];
extern const char *const tesi_time_method_words[];
extern const char *const tesi_method_words[];
extern const char *const tesi_smoother_words[];
extern const char *const tesi_local_words[];
extern const char *const tesi_order_words[];
extern const char *const tesi_coarsening_words[];
extern const char *const tesi_coarse_words[];

/* Features beside words that a row may have: each is a key of a case file, or a member of TesProblemDesc. */
typedef enum TesiHas {
  TESI_HAS_A,
  TESI_HAS_C,
  TESI_HAS_B,
  TESI_HAS_LAMBDA,
  TESI_HAS_MU,
  TESI_HAS_YOUNG,
  TESI_HAS_POISSON,
  TESI_HAS_PLANE,
  TESI_HAS_DENSITY,
  TESI_HAS_EXPANSION,
  TESI_HAS_TEMPERATURE,
  TESI_HAS_GRAVITY,
  TESI_HAS_ROTATION,
  TESI_HAS_NU,
  TESI_HAS_ALPHA,
  TESI_HAS_MATERIALS,
  TESI_HAS_NAME,
  TESI_HAS_MEAN_VELOCITY,
  TESI_HAS_START_DISPLACEMENT,
  TESI_HAS_START_VELOCITY,
  TESI_HAS_START_PRESSURE,
  TESI_HAS_EXACT_VELOCITY,
  TESI_HAS_EXACT_PRESSURE,
  TESI_HAS_COLOURS,
  TESI_HAS_PENALTY,
  TESI_HAS_TIME,
  TESI_HAS_STEP,
  TESI_HAS_CFL,
  TESI_HAS_TOLERANCE,
  TESI_HAS_RHO_INF,
  TESI_HAS_STEADY_END,
  TESI_HAS_ADAPT,
  TESI_HAS_REMESH,
  TESI_HAS_DWR,
  TESI_HAS_FORCE_GOAL,
  TESI_HAS_POINTS,
  TESI_HAS_FORCE,
  TESI_HAS_BALANCE,
  TESI_HAS_SERIES,
  TESI_HAS_AVERAGE,
  TESI_HAS_FIELD_AVERAGE,
  TESI_HAS_GRAD_DIV,
  TESI_HAS_CHECKPOINT, /* of steady solutions */
  TESI_HAS_RESTART,
  TESI_HAS_OTHER_RESTART,
  TESI_HAS_ADDED_LOAD,
  TESI_HAS_VTU,
  TESI_HAS_VTKHDF,
  TESI_HAS_PNG,
  TESI_HAS_COUNT
} TesiHas;
#define TESI_BIT(what) (UINT64_C(1) << (what))
/* Bits of words. */
#define TESI_WORD(word) (1u << (word))
#define TESI_ALL_WORDS (~0u)
/* Features of all problems in time, and of all steady problems. */
#define TESI_HAS_IN_TIME                                                                                     \
  (TESI_BIT(TESI_HAS_TIME) | TESI_BIT(TESI_HAS_STEP) | TESI_BIT(TESI_HAS_STEADY_END) |                       \
   TESI_BIT(TESI_HAS_SERIES) | TESI_BIT(TESI_HAS_AVERAGE) | TESI_BIT(TESI_HAS_RESTART) |                     \
   TESI_BIT(TESI_HAS_OTHER_RESTART))
#define TESI_HAS_FILES (TESI_BIT(TESI_HAS_VTU) | TESI_BIT(TESI_HAS_VTKHDF) | TESI_BIT(TESI_HAS_PNG))
#define TESI_HAS_ALWAYS (TESI_BIT(TESI_HAS_POINTS) | TESI_BIT(TESI_HAS_ADDED_LOAD) | TESI_HAS_FILES)
/* Smoothers of continuous elements, with `more` on all meshes. Boxes have cell patches if a is a matrix. */
#define TESI_Q_SMOOTHERS(more)                                                                               \
  {                                                                                                          \
    [TESI_GRID] = (TESI_ALL_WORDS & ~TESI_WORD(TES_SMOOTHER_ORDERED_CELLS)) | (more),                        \
    [TESI_PERIODIC] = 1 | TESI_WORD(TES_SMOOTHER_PATCH) | TESI_WORD(TES_SMOOTHER_JACOBI) |                   \
                      TESI_WORD(TES_SMOOTHER_CHEBYSHEV) | (more),                                            \
    [TESI_TREES] = 1 | TESI_WORD(TES_SMOOTHER_JACOBI) | TESI_WORD(TES_SMOOTHER_CHEBYSHEV) |                  \
                   TESI_WORD(TES_SMOOTHER_CELL_PATCH) | TESI_WORD(TES_SMOOTHER_LINE_PATCH) | (more)          \
  }
/* Local solvers of all equations but Stokes. */
#define TESI_LOCALS_OF_SCALARS (TESI_ALL_WORDS & ~(TESI_WORD(TES_LOCAL_CG) | TESI_WORD(TES_LOCAL_DENSE)))
/* The same smoothers on all meshes. */
#define TESI_SMOOTHERS(words)                                                                                \
  { words, words, words }

/* Which of the first two functions of the data must be numbers. */
enum { TESI_NUMBER_A = 1, TESI_NUMBER_C = 2 };

/* The text by which the program prints a problem. The first line is the equation; the last line has no line end. */
typedef struct TesiTold {
  char text[8000];
  int length;
  char constants[200]; /* of elasticity: the constants given instead of lambda and mu; "": these two were given */
  char loads[600];     /* of elasticity: the loads of which f is the sum, in lines; "": f is told */
} TesiTold;
void tesi_told_add(TesiTold *told, const char *format, ...) TESI_PRINTF(2, 3);
const char *tesi_told_text(const TesFunction *function, const char *otherwise);

/* The reason why a row lacks a key that other rows have. Messages print it after "belongs to ...", and so does the
 * manual. */
typedef struct TesiLack {
  TesiHas what;
  const char *reason; /* NULL ends the list */
} TesiLack;

typedef struct TesiSupport {
  TesEquation equation;
  TesElement element;
  unsigned meshes; /* TESI_ON_... */
  unsigned usual;  /* TESI_ON_...: where element auto means this row's element */
  struct {
    int usual, least, most, on_cells; /* on_cells: the largest on meshes other than open boxes; 0: most */
    int carrying;                     /* the largest with a velocity; 0: most */
    int kernels, kernels_in_space;    /* the largest degree on devices with kernels; 0: as on the processor */
  } degree;
  uint64_t has;                       /* TESI_BIT(TesiHas) */
  unsigned words[TESI_OF_COUNT];      /* bits of words; 0: the row does not have the key */
  unsigned smoother[TESI_MESH_ROWS];  /* instead of words[TESI_OF_SMOOTHER], by mesh */
  const char *because[TESI_OF_COUNT]; /* why there are no other words; NULL: no reason is given */
  const TesiLack *lacks;              /* NULL: no reasons */
  struct {
    unsigned meshes;         /* TESI_ON_...: meshes on which several ranks work; 0: none */
    uint64_t has;            /* the features of `has` on several ranks */
    unsigned methods_of_one; /* words of solver.method that they have not */
    bool gridded;            /* they may cut a box in any direction; false: in the last one */
  } ranks;
  double cfl;           /* default for steps by the flow; 0: a length must be given */
  unsigned judged;      /* words of time.method with an error estimate; 0: all */
  unsigned numbers;     /* TESI_NUMBER_...: coefficients that must be numbers */
  double f;             /* default of the right-hand side */
  bool only_in_time;    /* no steady problems */
  bool flow;            /* the unknowns are velocity and pressure */
  bool vector;          /* one component per direction */
  bool modes;           /* some unknowns of its space are not nodal values */
  bool halved;          /* its solution is over halved cells */
  bool groups;          /* values can be given at curves and points of a mesh file */
  const char *field;    /* name of the solution in checkpoints of steady problems */
  const char *unknowns; /* the unknowns, in the manual */
  void (*tell)(const TesProblemDesc *desc, int dim, TesiTold *told);
} TesiSupport;

/* Reasons that several rows have. */
#define TESI_LACKS_OF_SCALARS                                                                                \
  {TESI_HAS_FORCE, "u is a scalar"}, {TESI_HAS_MEAN_VELOCITY, "u is no velocity"}, {                         \
    TESI_HAS_GRAD_DIV, "there is no pressure"                                                                \
  }
#define TESI_LACKS_OF_FLOWS                                                                                  \
  {TESI_HAS_DWR, "flows have residual"}, {TESI_HAS_MATERIALS, "one fluid is everywhere"}, {                  \
    TESI_HAS_BALANCE, "what enters leaves; reports have the flux through each boundary"                      \
  }
#define TESI_LACKS_OF_STOKES                                                                                 \
  TESI_LACKS_OF_FLOWS, {TESI_HAS_TIME, "stokes is steady"},                                                  \
      {TESI_HAS_MEAN_VELOCITY, "it is kept from step to step"}, {                                            \
    TESI_HAS_GRAD_DIV, "it is for what steps leave of the divergence"                                        \
  }
#define TESI_LACKS_OF_NAVIER_STOKES                                                                          \
  TESI_LACKS_OF_FLOWS, {                                                                                     \
    TESI_HAS_CHECKPOINT, "it is solved in time: its files are those of restarts"                             \
  }

/* A request: the features that a description uses. */
typedef struct TesiAsked {
  TesiMeshRow mesh;
  int dim, degree;         /* 0: not given */
  bool kernels;            /* on a device with kernels */
  bool ranks;              /* on several ranks */
  bool whole;              /* a complete problem: then a feature that is missing is refused too */
  uint64_t has;            /* TESI_BIT(TesiHas) */
  int word[TESI_OF_COUNT]; /* 0: not given */
} TesiAsked;

enum { TESI_REASON = 480 };
typedef struct TesiRefusal {
  const char *key; /* of a case file */
  bool missing;    /* a part of this build or device is missing; false: the description is at fault */
  char reason[TESI_REASON];
} TesiRefusal;

/* Whether the row of a problem has a feature; a problem without a row has none. */
bool tesi_problem_has(const TesProblem *problem, TesiHas what);
/* Refuses features (bits of TesiHas) for an existing problem. */
TesStatus tesi_problem_allow_more(const TesProblem *problem, uint64_t has);
/* Refuses what several ranks lack of a description, on a mesh of this row, on GPUs or on processors. */
TesStatus tesi_problem_allow_ranks(TesContext *ctx, const TesiSupport *row, const TesProblemDesc *desc,
                                   TesiMeshRow mesh, bool gpus);
/* along[3] <- how many ranks there are along each direction of a box of these cells, for problems of the row. */
void tesi_problem_choose_grid(TesContext *ctx, const TesiSupport *row, int dim, int degree,
                              const int cells[3], int along[3]);
TesiMeshRow tesi_mesh_row(const TesMesh *mesh);
/* The row with this number; NULL after the last. */
const TesiSupport *tesi_support_row(int number);
/* The row of an equation and an element, which may be auto. NULL: there is none, and `refusal` has the reason. */
const TesiSupport *tesi_support_find(TesEquation equation, TesElement element, TesiMeshRow mesh,
                                     TesiRefusal *refusal);
/* Finds the first `most` requests that a row refuses; returns their number. */
int tesi_support_refuse(const TesiSupport *row, const TesiAsked *asked, int most, TesiRefusal *refusal);
/* Whether the row refuses a word of a key. */
bool tesi_support_refuses_word(const TesiSupport *row, TesiMeshRow mesh, TesiWordsOf of, int word,
                               TesiRefusal *refusal);
/* Whether the row refuses the condition of an entry, or functions that do not belong to the condition. */
bool tesi_support_refuses_condition(const TesiSupport *row, const TesBoundary *entry, int dim,
                                    TesiRefusal *refusal);

/* ---- ranges (support_range.c) ---- */

/* The allowed values of a number in a description. */
typedef struct TesiRange {
  const char *name;                               /* as messages call it */
  enum { TESI_WHOLE, TESI_LONG, TESI_REAL } kind; /* int and enum, int64_t, double */
  size_t at;                                      /* in the description */
  double least, most;
  const char *expected; /* in words; NULL: least..most */
  double also;          /* one more number; 0: none */
} TesiRange;
/* Refuses the first number of a description that is out of its range. */
TesStatus tesi_support_check(TesContext *ctx, const void *desc, int ranges, const TesiRange *range);
TesStatus tesi_support_check_problem(TesContext *ctx, const TesProblemDesc *desc);
TesStatus tesi_support_check_adaptation(TesContext *ctx, const TesAdaptDesc *desc);
/* The words of a key that a row allows, with `last` in front of the last word. */
void tesi_support_list(const TesiSupport *row, TesiWordsOf of, const char *last, char text[TESI_REASON]);
/* Words of solvers that no row has on several ranks. */
bool tesi_support_is_for_one(TesiWordsOf of, int word);
/* The key of a feature. */
const char *tesi_has_key(TesiHas what);
/* "poisson and transport": the equations that have a feature. An equation is listed with elements if not all of its
 * elements have it. */
void tesi_support_who(TesiHas what, char text[TESI_REASON]);
/* "stokes with element q" */
void tesi_support_name(const TesiSupport *row, char text[80]);
/* Why a row lacks a feature that other rows have: its own reason, or the reason for a feature that this one needs;
 * NULL: none is given. */
const char *tesi_support_why(const TesiSupport *row, TesiHas what);
/* A line of the matrix of docs/support.md; false after the last. */
bool tesi_support_feature(int number, TesiHas *what);
/* The tables of docs/support.md, and the tables at the head of problem.h. Arguments and result as in snprintf. */
size_t tesi_support_table(char *buffer, size_t size);
size_t tesi_support_head(char *buffer, size_t size);

#endif
