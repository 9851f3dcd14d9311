/* Smoothers as the other folders see them. */
#ifndef TESI_SMOOTHER_H
#define TESI_SMOOTHER_H

#include "operator/operator.h"
#include "space/order.h"
#include "tessera/smoother.h"

/* A step of a cycle on several ranks. */
typedef struct TesiStep {
  TesSweep sweep;
  bool zero_guess;
  bool same;  /* b is that of the call before */
  bool agree; /* copies of x agree afterwards; else the owners' are right, and are read by the next step */
} TesiStep;

/* Colours of a sweep, the first, and the step to the next. */
typedef struct TesiColours {
  int first, step, count;
} TesiColours;
static inline TesiColours tesi_all_colours(int colours, TesSweep sweep) {
  return sweep == TES_FORWARD ? (TesiColours){0, 1, colours} : (TesiColours){colours - 1, -1, colours};
}

/* What is done with the iterate between two colours, where it stands. */
typedef struct TesiBetween {
  TesStatus (*call)(void *user, void *x);
  void *user;
} TesiBetween;

/* Addresses are device memory of the operator's precision. */
typedef struct TesiSmootherTable {
  TesStatus (*apply)(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess);
  TesStatus (*apply_ref)(const TesSmoother *smoother, const double *b, double *x,
                         TesSweep sweep); /* float64 host arrays */
  TesCost (*cost)(const TesSmoother *smoother);
  void (*destroy)(TesSmoother *smoother); /* releases the plan */
  /* The patches that are the cells of a mesh half as fine, each once, for a b that is zero but for the pressures.
   * ordered: the iterate stands in the smoother's order, and x is only written. NULL: no patches are such cells
   * (tesi_smoother_has_cells). */
  TesStatus (*solve_cells)(const TesSmoother *smoother, const void *b, bool ordered, void *x);
  /* Whether sweeps hold their iterate in an order of their own, and that order; NULL: they do not. */
  bool (*order)(const TesSmoother *smoother, TesiEntryOrder *order);
  /* Some sweeps that begin with what stands in that order; x is only written. */
  TesStatus (*apply_ordered)(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, int sweeps);
  /* NULL, or where b and x stand best, and `apply` among other steps of a cycle. */
  void (*home)(const TesSmoother *smoother, void **b, void **x);
  TesStatus (*apply_within)(const TesSmoother *smoother, const void *b, void *x, const TesiStep *step);
  /* NULL, or how many colours a sweep has, and `apply` of some of them, or of all with something between them. */
  int (*colours)(const TesSmoother *smoother);
  TesStatus (*apply_colours)(const TesSmoother *smoother, const void *b, void *x, TesiColours colours,
                             bool zero_guess);
  TesStatus (*apply_between)(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep,
                             bool zero_guess, const TesiBetween *between);
  /* Of sweeps with an order of their own: how many blocks the numbers of some layers of cells are there, and block
   * `number` of layers first .. end - 1 of the last direction. 0 blocks: they have none. */
  int (*layer_blocks)(const TesSmoother *smoother);
  void (*layer_block)(const void *smoother, int number, int first, int end, int64_t *start, int64_t *count);
  /* NULL, or: sweeps change the cells of layers first .. end - 1 of the last direction alone, and read the others. */
  TesStatus (*hold)(TesSmoother *smoother, int first, int end);
} TesiSmootherTable;

struct TesSmoother {
  const TesiSmootherTable *table;
  TesContext *context;
  TesOperator *op;
  const TesSmootherOwn *own; /* NULL: one of the library's */
  TesSmootherKind kind;
  TesLocalSolver local; /* never auto */
  double omega;
  int degree;   /* chebyshev */
  double ratio; /* chebyshev; 0: the fourth kind */
  bool optimal; /* chebyshev of the fourth kind */
  bool red_black, lexicographic,
      unfused; /* patches of stokes operators: more colours; residuals of the whole mesh, for tests */
  bool symmetric;
  const TesSmoother *below; /* while this one is made: the smoother of the next coarser level, or NULL */
  double lambda[2]; /* chebyshev with D^-1: the estimates for this level and the level below; 0: none */
  void *plan;
  char description[160];
};

/* tes_smoother_create() for a level of a hierarchy; below: the smoother of the next coarser one, or NULL. */
TesStatus tesi_smoother_create_above(TesContext *ctx, const TesSmootherDesc *desc, const TesSmoother *below,
                                     TesSmoother **smoother);

/* An implementation of one kind of smoother or of several. smoother.c has a list, and the first implementation that
 * does not refuse makes the plan: it sets table, plan, omega (given: 0 for the default), symmetric and description of a
 * smoother whose other fields are complete. What it leaves in plan on failure is released by table->destroy, if it has
 * set the table. */
typedef struct TesiSmootherKind {
  unsigned kinds; /* bits TESI_SMOOTHES() */
  /* Why it does not smooth for this operator, kind and local solver; NULL: it does. A message has the reason of the
   * last implementation of a kind; the others answer TESI_ELSEWHERE where another one may serve. */
  const char *(*refuses)(const TesSmoother *smoother);
  TesStatus (*init)(TesSmoother *smoother);
} TesiSmootherKind;
#define TESI_SMOOTHES(kind) (1U << (kind))
#define TESI_ELSEWHERE ""

extern const TesiSmootherKind tesi_smoother_own, /* of the calling program */
    tesi_smoother_by_part,                       /* a smoother per part */
    tesi_smoother_trial, /* auto over a box whose coefficients vary: patch or chebyshev */
    tesi_smoother_ranks, /* patches of boxes on several ranks */
    tesi_smoother_dg, tesi_smoother_stokes_varying, tesi_smoother_stokes, tesi_smoother_flow,
    tesi_smoother_periodic,    /* exact patches of boxes with periodic directions */
    tesi_smoother_local_trial, /* patches whose local solver is auto */
    tesi_smoother_nodal, tesi_smoother_exact,
    tesi_smoother_surrogate, /* mean, scaled, rank1; exact with additive patches */
    tesi_smoother_jacobi, tesi_smoother_gauss_seidel, tesi_smoother_ordered_cells, tesi_smoother_chebyshev;

/* ---- reasons that implementations share ---- */

/* Operators over discontinuous functions: Stokes and elements dg. */
bool tesi_smoother_is_modal(const TesOperator *op);
/* Patches or points of a box; points need one without periodic directions. */
const char *tesi_smoother_wants_open_box(const TesOperator *op);
const char *tesi_smoother_wants_patches(const TesSmoother *smoother);
const char *tesi_smoother_wants_diagonal(const TesOperator *op);
const char *tesi_smoother_wants_mapped(const TesOperator *op);

/* Whether the smoother is vertex patches of a stokes operator, some of which are the cells of a mesh half as fine. */
static inline bool tesi_smoother_has_cells(const TesSmoother *smoother) {
  return smoother->table->solve_cells && smoother->kind == TES_SMOOTHER_PATCH && !smoother->red_black;
}

/* Sweeps over colours of patches in residual form. `solve` adds to x the corrections of the patches of a colour, from
 * the residual r. */
typedef struct TesiResidualSweep {
  TesStatus (*solve)(const TesSmoother *smoother, int colour, const void *r, void *x);
  bool (*empty)(const TesSmoother *smoother, int colour); /* NULL, or whether a colour has no patches */
} TesiResidualSweep;
/* With a new residual before each colour, or, of additive patches, one for all. work: a vector. */
TesStatus tesi_sweep_residuals(const TesSmoother *smoother, const TesiResidualSweep *sweep, void *work,
                               TesiColours colours, const void *b, void *x, bool zero_guess);
/* `apply` of tables that have apply_colours. */
TesStatus tesi_sweep_all_colours(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep,
                                 bool zero_guess);

/* The plain version of the same step, patch by patch with dense local inverses. For tests; slow. */
TesStatus tesi_smoother_apply_ref(const TesSmoother *smoother, const TesVector *b, TesVector *x,
                                  TesSweep sweep, bool zero_guess);

#endif
