/** \file case.h
 *  Case files: a problem in YAML, read and checked into a plain struct. docs/case-file.md lists every key.
 *
 *  Everything is checked while it is read: types, ranges, expressions, unknown keys (with the nearest known one). Errors
 *  are told all at once, one a line, as "FILE:LINE:COLUMN: KEY: what is wrong"; those of overrides name the override.
 */
#ifndef TESSERA_CASE_H
#define TESSERA_CASE_H

#include <stdbool.h>
#include "context.h"
#include "mesh.h"
#include "function.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The equation. TES_CASE_POISSON: -div(a grad u) + c u = f. */
typedef enum TesCaseProblem { TES_CASE_POISSON } TesCaseProblem;

/** What holds on a face, n being the outer normal. TES_CASE_NO_CONDITION only on faces that a 2D box does not have. */
typedef enum TesCaseCondition {
  TES_CASE_NO_CONDITION,
  TES_CASE_DIRICHLET, /**< u = value */
  TES_CASE_NEUMANN,   /**< a du/dn = value */
  TES_CASE_ROBIN      /**< a du/dn + alpha u = value */
} TesCaseCondition;

/** The values of solver.method, solver.smoother, solver.local_solver, solver.order and solver.precision, in the order of
 *  docs/case-file.md. AUTO: chosen by the program. */
typedef enum TesCaseMethod {
  TES_CASE_METHOD_AUTO,
  TES_CASE_METHOD_VCYCLE, /**< V-cycles, as defect correction */
  TES_CASE_METHOD_FMG,    /**< full multigrid, then V-cycles */
  TES_CASE_METHOD_GMRES,  /**< right-preconditioned by a V-cycle */
  TES_CASE_METHOD_CG      /**< preconditioned by a symmetric V-cycle */
} TesCaseMethod;
typedef enum TesCaseSmoother {
  TES_CASE_SMOOTHER_AUTO,
  TES_CASE_SMOOTHER_PATCH,          /**< vertex patches, coloured multiplicative */
  TES_CASE_SMOOTHER_PATCH_ADDITIVE, /**< vertex patches, additive, damped */
  TES_CASE_SMOOTHER_JACOBI,
  TES_CASE_SMOOTHER_CHEBYSHEV,
  TES_CASE_SMOOTHER_GAUSS_SEIDEL,
  TES_CASE_SMOOTHER_CELL_PATCH
} TesCaseSmoother;
typedef enum TesCaseLocalSolver {
  TES_CASE_LOCAL_AUTO,
  TES_CASE_LOCAL_EXACT,  /**< fast diagonalization of the patch's own matrix; for constant a */
  TES_CASE_LOCAL_MEAN,   /**< a replaced by its mean on the patch */
  TES_CASE_LOCAL_SCALED, /**< the mean, scaled until the correction cannot overshoot */
  TES_CASE_LOCAL_RANK1   /**< a replaced by its best product of 1D functions on the patch */
} TesCaseLocalSolver;
typedef enum TesCaseOrder { TES_CASE_ORDER_AUTO, TES_CASE_ORDER_SAME, TES_CASE_ORDER_REVERSED } TesCaseOrder;
/** solver.coarse and solver.coarsening, for meshes of trees. */
typedef enum TesCaseCoarse {
  TES_CASE_COARSE_AUTO,
  TES_CASE_COARSE_DIRECT, /**< dense factorization */
  TES_CASE_COARSE_AMG,    /**< conjugate gradients with BoomerAMG of hypre */
  TES_CASE_COARSE_CG      /**< conjugate gradients with the diagonal */
} TesCaseCoarse;
typedef enum TesCaseCoarsening { TES_CASE_COARSEN_MESH, TES_CASE_COARSEN_DEGREE } TesCaseCoarsening;
typedef enum TesCasePrecision { TES_CASE_MIXED, TES_CASE_DOUBLE, TES_CASE_SINGLE } TesCasePrecision;

/** A box of dim directions. In 2D cells[2] is 1 and lower[2], upper[2] are 0. */
typedef struct TesCaseBox {
  int dim;
  int cells[3];
  double lower[3], upper[3];
  /** Vertex coordinates [cells[d] + 1] of graded directions, strictly ascending from lower[d] to upper[d]; NULL: equal
   *  cells. */
  double *coordinates[3];
  int periodic; /**< bit d: in direction d */
} TesCaseBox;

typedef struct TesCaseFace {
  TesCaseCondition condition;
  TesFunction *value; /**< Dirichlet value, or flux a du/dn, or right-hand side of the Robin condition */
  TesFunction *alpha; /**< Robin only, else NULL */
} TesCaseFace;

/** What holds on a boundary that the mesh names. */
typedef struct TesCaseNamed {
  char *name;
  char *where; /**< where it stands, for messages: "case.yaml:7:3" */
  TesCaseFace face;
} TesCaseNamed;

/** Functions of a material that the mesh names; NULL: those of the case. */
typedef struct TesCaseMaterial {
  char *name;
  char *where; /**< as that of a boundary */
  TesFunction *a, *c, *f;
} TesCaseMaterial;

/** A mesh of trees, which may be refined locally: every mesh but a box, and boxes with `refine` or `adapt`. */
typedef struct TesCaseForest {
  bool used;
  TesDomain domain;
  int dim; /**< 0: the domain's default */
  int refine, geometry_degree;
  double centre[3], radius, inner_radius;
  TesFunction *
      where; /**< cells in which it is positive at a vertex or the middle are refined `times` times more; NULL: none */
  int times;
  char *file;
} TesCaseForest;

typedef enum TesCaseEstimator { TES_CASE_RESIDUAL, TES_CASE_DWR } TesCaseEstimator;
typedef enum TesCaseMarking { TES_CASE_BULK, TES_CASE_FRACTION } TesCaseMarking;

/** Adaptive refinement. */
typedef struct TesCaseAdapt {
  bool used;
  TesCaseEstimator estimator;
  bool has_point; /**< the goal is the value at `point` */
  double point[3];
  char *boundary; /**< the goal is the mean on it; NULL: no such goal */
  TesCaseMarking marking;
  double fraction; /**< 0: the marking's default */
  int steps, max_dofs;
  double tolerance;
} TesCaseAdapt;

/** A checked case. All members are owned by it. */
typedef struct TesCase {
  TesContext *context;
  char *name; /**< path of the file */
  TesCaseProblem problem;
  TesCaseBox box;
  int degree;
  TesFunction *f, *a, *c;
  TesFunction *exact;       /**< exact solution; NULL: none is given */
  TesCaseFace boundary[6];  /**< left, right, bottom, top, back, front: x lower, x upper, y lower, ... */
  TesCaseFace boundary_all; /**< what faces without an entry of their own got */
  bool all_given; /**< `boundary.all` stands in the case, and so holds on faces without a name too */
  TesCaseForest forest;
  TesCaseNamed *named; /**< [named_count] boundaries of a forest by name */
  int named_count;
  TesCaseMaterial *materials; /**< [material_count] */
  int material_count;
  TesCaseAdapt adapt;
  TesCaseMethod method;
  TesCaseSmoother smoother;
  TesCaseCoarse coarse;
  TesCaseCoarsening coarsening;
  TesCaseLocalSolver local_solver;
  TesCaseOrder order;
  int pre_smoothing, post_smoothing; /**< -1: chosen by the program */
  double tolerance;                  /**< of the residual, relative to |b| */
  int max_iterations;
  TesCasePrecision precision;
  char *vtu, *json, *checkpoint; /**< output files, relative to the working folder; NULL: none */
  char *warnings[4];
  int warning_count;
} TesCase;

/** Reads and checks a case file; "-" is the standard input. overrides[override_count] are texts "key.path=value" that
 *  replace or add values before anything is checked. Errors: TES_IO (cannot be read), TES_INVALID_INPUT,
 *  TES_OUT_OF_MEMORY. */
TesStatus tes_case_read(TesContext *context, const char *path, int override_count,
                        const char *const *overrides, TesCase **result);
/** The same from a text in memory; `name` stands for the file in messages. */
TesStatus tes_case_parse(TesContext *context, const char *text, const char *name, int override_count,
                         const char *const *overrides, TesCase **result);
/** Destroys a case and its functions. */
void tes_case_destroy(TesCase **result);

/** The names that the values of a choice have in case files, e.g. tes_case_choice("solver.method",
 *  TES_CASE_METHOD_FMG) is "fmg"; NULL when there is no such key or value. */
const char *tes_case_choice(const char *key, int value);

typedef enum TesCaseHelp { TES_CASE_HELP_TEXT, TES_CASE_HELP_MARKDOWN } TesCaseHelp;

/** Writes a table of the keys at and below `path` ("" or NULL: all): key, type and range, default, meaning. Like
 *  snprintf: returns the length, which may be more than `size`; 0 when there is no such key. */
size_t tes_case_help(const char *path, TesCaseHelp format, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
