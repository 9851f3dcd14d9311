/* Smoothers as the other folders see them. */
#ifndef TESI_SMOOTHER_H
#define TESI_SMOOTHER_H

#include "operator/operator.h"
#include "tessera/smoother.h"

struct TeskLanes; /* kernels/saddle_arguments.h */

/* Addresses are device memory of the operator's precision. */
typedef struct TesiSmootherTable {
  TesStatus (*apply)(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess);
  TesStatus (*apply_ref)(const TesSmoother *smoother, const double *b, double *x,
                         TesSweep sweep); /* float64 host arrays */
  TesCost (*cost)(const TesSmoother *smoother);
  void (*destroy)(TesSmoother *smoother); /* releases the plan */
  /* The first colour of a forward sweep alone, whose patches are the cells of a mesh half as fine, for a b that is
   * zero but for the pressures; NULL: there is no such colour (tesi_smoother_has_cells). */
  TesStatus (*first_colour)(const TesSmoother *smoother, const void *b, void *x);
  /* NULL, or the order in which a sweep has x, and where; NULL: that of all vectors. After x was written there, a sweep
   * or a first colour that begins with it: x is then only written. */
  const struct TeskLanes *(*start)(const TesSmoother *smoother, void **start);
  TesStatus (*apply_begun)(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep);
  TesStatus (*first_colour_begun)(const TesSmoother *smoother, const void *b, void *x);
} TesiSmootherTable;

struct TesSmoother {
  const TesiSmootherTable *table;
  TesContext *context;
  TesOperator *op;
  TesSmootherKind kind;
  TesLocalSolver local; /* never auto */
  double omega;
  int degree;   /* chebyshev */
  double ratio; /* chebyshev; 0: the fourth kind */
  bool red_black, lexicographic,
      unfused; /* patches of saddle operators: more colours; residuals of all the mesh, for tests */
  bool symmetric;
  const TesSmoother *below; /* while it is made: that of the next coarser level, or NULL */
  double lambda[2];         /* chebyshev with D^-1: its estimate, and that of the level below; 0: none */
  void *plan;
  char description[160];
};

/* tes_smoother_create() for a level of a hierarchy; below: the smoother of the next coarser one, or NULL. */
TesStatus tesi_smoother_create_above(TesContext *ctx, const TesSmootherDesc *desc, const TesSmoother *below,
                                     TesSmoother **smoother);

/* The implementations. Each sets table, plan, omega (given: 0 for the default), symmetric and description of a
 * smoother whose other fields are complete; on failure what it leaves in plan is released by table->destroy if it
 * has set the table. */
TesStatus tesi_smoother_patch_init(TesSmoother *smoother); /* separable operators, exact local solver */
TesStatus tesi_smoother_parts_init(TesSmoother *smoother); /* a smoother a part */
TesStatus
tesi_smoother_rings_init(TesSmoother *smoother); /* exact patches of boxes with periodic directions */
TesStatus
tesi_smoother_ranks_init(TesSmoother *smoother); /* both patch smoothers on several ranks, of boxes */
/* The choices for varying coefficients, by trial: the local solver of a patch smoother; patch or chebyshev. */
TesStatus tesi_smoother_choose_local(TesSmoother *smoother);
TesStatus tesi_smoother_choose_kind(TesSmoother *smoother);
TesStatus tesi_smoother_nodal_init(TesSmoother *smoother); /* both patch smoothers, any operator */
TesStatus tesi_smoother_surrogate_init(
    TesSmoother *smoother); /* both patch smoothers: mean, scaled, rank1; exact for constants */
TesStatus tesi_smoother_jacobi_init(TesSmoother *smoother);
TesStatus tesi_smoother_chebyshev_init(TesSmoother *smoother);
TesStatus tesi_smoother_gauss_seidel_init(TesSmoother *smoother); /* both orders */

/* Whether the smoother is vertex patches of a saddle operator, with a first colour. */
static inline bool tesi_smoother_has_cells(const TesSmoother *smoother) {
  return smoother->table->first_colour && smoother->kind == TES_SMOOTHER_PATCH && !smoother->red_black;
}

/* The plain version of the same step, patch by patch with dense local inverses. For tests; slow. */
TesStatus tesi_smoother_apply_ref(const TesSmoother *smoother, const TesVector *b, TesVector *x,
                                  TesSweep sweep, bool zero_guess);

#endif
