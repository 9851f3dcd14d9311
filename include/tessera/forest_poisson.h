/** \file forest_poisson.h
 *  The Poisson problem of poisson.h over a forest: materials and boundaries by number, hanging nodes, curved cells.
 */
#ifndef TESSERA_FOREST_POISSON_H
#define TESSERA_FOREST_POISSON_H

#include "poisson.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesForestPoisson TesForestPoisson;

/** Arrays over materials and boundaries as in forest_operator.h. */
typedef struct TesForestPoissonDesc {
  const TesMesh *mesh;                                                          /**< a reference is kept */
  int degree;                                                                   /**< 1..8; 0 means 4 */
  const TesFunction *a, *c, *f;                                                 /**< NULL: 1, 0, 1 */
  const TesFunction *const *material_a, *const *material_c, *const *material_f; /**< [materials] */
  const TesBoundary *boundary; /**< [boundaries]; NULL: u = 0 everywhere. Then every face must have a name */
  const TesFunction *exact;    /**< NULL: unknown */
  const double *guess;         /**< [length] start of the iteration; NULL: 0 */
  /** Adds to the right-hand side b[length] (NULL: nothing is added): point loads, functionals of dual problems. */
  TesStatus (*add_load)(void *user, const TesSpace *space, double *b);
  void *add_load_user;
  TesMethod method;         /**< auto: cg */
  TesSmootherKind smoother; /**< auto: chebyshev; jacobi, cell_patch */
  int smoother_degree;      /**< chebyshev; 0 means 5 */
  bool degree_first;        /**< as in TesForestMultigridDesc */
  TesCoarseKind coarse;
  int pre, post;      /**< smoothing steps; 0 means 1, -1 none */
  double tolerance;   /**< on the relative residual; 0 means 1e-9 */
  int max_iterations; /**< 0 means 100 */
  TesSolvePrecision precision;
  void (*monitor)(void *user, int iteration, double residual);
  void *monitor_user;
} TesForestPoissonDesc;

/** Sets everything up. Functions are referenced as long as needed. Errors: TES_INVALID_INPUT (a face without a name; one of several parts that share no
 *  vertex, in which neither a boundary nor c determines u; a coefficient with the wrong sign: the point is named), TES_OUT_OF_MEMORY (told before), TES_NAN. */
TesStatus tes_forest_poisson_create(TesContext *context, const TesForestPoissonDesc *desc,
                                    TesForestPoisson **poisson);
void tes_forest_poisson_destroy(TesForestPoisson **poisson);
/** Statuses as tes_solver_solve(); the last iterate is kept in any case. */
TesStatus tes_forest_poisson_solve(TesForestPoisson *poisson, TesSolveResult *result);

/** Owned by the problem. */
const TesSpace *tes_forest_poisson_space(const TesForestPoisson *poisson);
const TesMultigrid *tes_forest_poisson_multigrid(const TesForestPoisson *poisson);
/** The solution at all nodes, boundary values included: [length], host memory. */
const double *tes_forest_poisson_solution(const TesForestPoisson *poisson);
/** L2 norm and H1 seminorm of the error against `exact`; TES_INVALID_INPUT when there is none. */
TesStatus tes_forest_poisson_errors(const TesForestPoisson *poisson, double *l2, double *h1);
TesPoissonTimes tes_forest_poisson_times(const TesForestPoisson *poisson);
double tes_forest_poisson_tolerance(const TesForestPoisson *poisson);
TesPoissonChoice tes_forest_poisson_choice(const TesForestPoisson *poisson);

#ifdef __cplusplus
}
#endif
#endif
