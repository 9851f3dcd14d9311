/* What each equation has with each element, in rows beside the equations (equation/): the only place that allows and
 * refuses. tesi_support_refuse() compares a row with what is asked for, and returns keys of case files with reasons. A
 * program that makes a problem gets the first reason; the case reader puts file and line before each; the tables of
 * docs/support.md are printed from the rows. */
#ifndef TESI_SUPPORT_H
#define TESI_SUPPORT_H

#include "space/element.h"
#include "base/base.h"
#include "tessera/adapt.h"
#include "tessera/problem.h"

/* Meshes as rows tell them apart: boxes, periodic boxes, all others. */
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
/* An outflow gives the stress, and a pressure is one against the normal. */
extern const TesCondition tesi_named_condition[TESI_NAMED_COUNT];

/* Values of `form` in case files: the forms of flows, then the forms of transport. */
enum { TESI_FORM_CONVECTIVE = TES_FLOW_SYMMETRIC + 1, TESI_FORM_CONSERVATIVE };
/* Of `stabilization`: a TesStreamline, or this. */
enum { TESI_GRAD_DIV = TES_STREAMLINE_ALWAYS + 1 };

/* Keys whose words a row allows or not. */
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
/* The key, and its words in the order of the enum, NULL behind the last. */
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

/* What a row has or has not, beside words: a key of a case file each, or a member of TesProblemDesc. */
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
/* What all problems in time have, and all steady ones. */
#define TESI_HAS_IN_TIME                                                                                     \
  (TESI_BIT(TESI_HAS_TIME) | TESI_BIT(TESI_HAS_STEP) | TESI_BIT(TESI_HAS_STEADY_END) |                       \
   TESI_BIT(TESI_HAS_SERIES) | TESI_BIT(TESI_HAS_AVERAGE) | TESI_BIT(TESI_HAS_RESTART) |                     \
   TESI_BIT(TESI_HAS_OTHER_RESTART))
#define TESI_HAS_FILES (TESI_BIT(TESI_HAS_VTU) | TESI_BIT(TESI_HAS_VTKHDF) | TESI_BIT(TESI_HAS_PNG))
#define TESI_HAS_ALWAYS (TESI_BIT(TESI_HAS_POINTS) | TESI_BIT(TESI_HAS_ADDED_LOAD) | TESI_HAS_FILES)
/* Of continuous elements, `more` on all meshes. Boxes have patches of cells where a is a matrix. */
#define TESI_Q_SMOOTHERS(more)                                                                               \
  {                                                                                                          \
    [TESI_GRID] = (TESI_ALL_WORDS & ~TESI_WORD(TES_SMOOTHER_ORDERED_CELLS)) | (more),                        \
    [TESI_PERIODIC] = 1 | TESI_WORD(TES_SMOOTHER_PATCH) | TESI_WORD(TES_SMOOTHER_JACOBI) |                   \
                      TESI_WORD(TES_SMOOTHER_CHEBYSHEV) | (more),                                            \
    [TESI_TREES] = 1 | TESI_WORD(TES_SMOOTHER_JACOBI) | TESI_WORD(TES_SMOOTHER_CHEBYSHEV) |                  \
                   TESI_WORD(TES_SMOOTHER_CELL_PATCH) | TESI_WORD(TES_SMOOTHER_LINE_PATCH) | (more)          \
  }
/* The local solvers that are not of Stokes. */
#define TESI_LOCALS_OF_SCALARS (TESI_ALL_WORDS & ~(TESI_WORD(TES_LOCAL_CG) | TESI_WORD(TES_LOCAL_DENSE)))
/* The same on all meshes. */
#define TESI_SMOOTHERS(words)                                                                                \
  { words, words, words }

/* Numbers that a row wants of the first two functions of the data. */
enum { TESI_NUMBER_A = 1, TESI_NUMBER_C = 2 };

/* How the program prints a problem: lines, the last without its end. The first line is the equation. */
typedef struct TesiTold {
  char text[8000];
  int length;
  char constants[200]; /* of elasticity, as they were given in the place of lambda and mu; "": these */
} TesiTold;
void tesi_told_add(TesiTold *told, const char *format, ...) TESI_PRINTF(2, 3);
const char *tesi_told_text(const TesFunction *function, const char *otherwise);

/* Why a row lacks a key that other rows have: printed in messages behind "belongs to ...", and in the manual. */
typedef struct TesiLack {
  TesiHas what;
  const char *reason; /* NULL behind the last */
} TesiLack;

typedef struct TesiSupport {
  TesEquation equation;
  TesElement element;
  unsigned meshes; /* TESI_ON_... */
  unsigned usual;  /* the same: where element auto means this one */
  struct {
    int usual, least, most, on_cells; /* on_cells: the largest on meshes other than open boxes; 0: most */
    int kernels, kernels_in_space;    /* the largest on devices with kernels; 0: as on the processor */
  } degree;
  uint64_t has;                       /* TESI_BIT(TesiHas) */
  unsigned words[TESI_OF_COUNT];      /* bits of words; 0: the key is not for this row */
  unsigned smoother[TESI_MESH_ROWS];  /* in the place of words, by mesh */
  const char *because[TESI_OF_COUNT]; /* why there are no other words; NULL: not told */
  const TesiLack *lacks;              /* NULL: no reasons */
  struct {
    unsigned meshes;     /* TESI_ON_...: where several ranks work; 0: nowhere */
    uint64_t has;        /* what they have of `has` */
    const char *because; /* why nowhere */
  } ranks;
  double cfl;        /* of steps that the flow chooses where nothing is asked for; 0: a length is asked for */
  unsigned judged;   /* words of time.method that tell their error; 0: all */
  unsigned numbers;  /* TESI_NUMBER_...: coefficients that are numbers */
  double f;          /* the right-hand side where none is given */
  bool only_in_time; /* no steady problems */
  bool flow;         /* the unknowns are velocity and pressure */
  bool vector;       /* a component a direction */
  bool modes;        /* its space is not made of nodes alone */
  bool halved;       /* its solution is over halved cells */
  bool groups;       /* values can be given at curves and points of a mesh file */
  const char *field; /* of the solution in checkpoints of steady problems */
  const char *unknowns; /* what it solves for, in the manual */
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

/* What is asked for. */
typedef struct TesiAsked {
  TesiMeshRow mesh;
  int dim, degree;         /* 0: not given */
  bool kernels;            /* on a device with kernels */
  bool ranks;              /* on several ranks */
  bool cut_is_periodic;    /* the last direction of a box, which ranks cut */
  bool whole;              /* a whole problem: what is missing is refused too */
  uint64_t has;            /* TESI_BIT(TesiHas) */
  int word[TESI_OF_COUNT]; /* 0: not given */
} TesiAsked;

enum { TESI_REASON = 480 };
typedef struct TesiRefusal {
  const char *key; /* of a case file */
  bool missing;    /* a part of this build or device, not of the description */
  char reason[TESI_REASON];
} TesiRefusal;

/* Whether the row of a problem has it; a problem without a row has nothing. */
bool tesi_problem_has(const TesProblem *problem, TesiHas what);
/* Refuses what is asked for of a problem that is there: bits of TesiHas. */
TesStatus tesi_problem_allow_more(const TesProblem *problem, uint64_t has);
/* Refuses what several ranks lack of a description, on a mesh of this row, on GPUs or on processors. */
TesStatus tesi_problem_allow_ranks(TesContext *ctx, const TesiSupport *row, const TesProblemDesc *desc,
                                   TesiMeshRow mesh, bool gpus);
TesiMeshRow tesi_mesh_row(const TesMesh *mesh);
/* The row of a number; NULL behind the last. */
const TesiSupport *tesi_support_row(int number);
/* The row of an equation and an element, auto too; NULL, and the reason: there is none. */
const TesiSupport *tesi_support_find(TesEquation equation, TesElement element, TesiMeshRow mesh,
                                     TesiRefusal *refusal);
/* The first `most` things that a row refuses of those asked for; returns how many. */
int tesi_support_refuse(const TesiSupport *row, const TesiAsked *asked, int most, TesiRefusal *refusal);
/* Whether it refuses a word of a key. */
bool tesi_support_refuses_word(const TesiSupport *row, TesiMeshRow mesh, TesiWordsOf of, int word,
                               TesiRefusal *refusal);
/* Whether it refuses an entry's condition, or functions that no such condition has. */
bool tesi_support_refuses_condition(const TesiSupport *row, const TesBoundary *entry, int dim,
                                    TesiRefusal *refusal);

/* ---- ranges (support_range.c) ---- */

/* What a number of a description may be. */
typedef struct TesiRange {
  const char *name;                               /* as messages call it */
  enum { TESI_WHOLE, TESI_LONG, TESI_REAL } kind; /* int and enum, int64_t, double */
  size_t at;                                      /* in the description */
  double least, most;
  const char *expected; /* in words; NULL: least..most */
  double also;          /* one more number; 0: none */
} TesiRange;
/* Refuses the first number of a description that is none of its range. */
TesStatus tesi_support_check(TesContext *ctx, const void *desc, int ranges, const TesiRange *range);
TesStatus tesi_support_check_problem(TesContext *ctx, const TesProblemDesc *desc);
TesStatus tesi_support_check_adaptation(TesContext *ctx, const TesAdaptDesc *desc);
/* The words of a key that a row has, with this before the last. */
void tesi_support_list(const TesiSupport *row, TesiWordsOf of, const char *last, char text[TESI_REASON]);
/* Words of solvers that several ranks do not have, on any row. */
bool tesi_support_is_for_one(TesiWordsOf of, int word);
/* The key of what a row has. */
const char *tesi_has_key(TesiHas what);
/* "poisson and transport": the equations that have it, with their elements where not all of them have. */
void tesi_support_who(TesiHas what, char text[TESI_REASON]);
/* "stokes with element q" */
void tesi_support_name(const TesiSupport *row, char text[80]);
/* Why a row lacks what other rows have: its own reason, or the reason of what that needs; NULL: none is given. */
const char *tesi_support_why(const TesiSupport *row, TesiHas what);
/* A line of the matrix of docs/support.md; false behind the last. */
bool tesi_support_feature(int number, TesiHas *what);
/* The tables of docs/support.md, and those at the head of problem.h. Like snprintf. */
size_t tesi_support_table(char *buffer, size_t size);
size_t tesi_support_head(char *buffer, size_t size);

#endif
