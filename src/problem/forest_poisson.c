#include "problem/forest_poisson.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "device/kernel.h"
#include "functional/functional.h"
#include "krylov/solver.h"
#include "mesh/forest/forest.h"
#include "operator/operator.h"
#include "problem/disconnected.h"
#include "problem/form.h"
#include "smoother/smoother.h"
#include "space/space.h"

struct TesForestPoisson {
  TesContext *context;
  TesSpace *space;
  TesOperator *op; /* float64 */
  TesMultigrid *multigrid;
  TesSolver *solver;
  TesVector *b, *x, *u, *lifting; /* u: with its boundary values */
  TesVector *weights;             /* of integrals, where u is determined up to a constant */
  double *values;                 /* [length] those of u on the host */
  double *start;                  /* [length]; NULL: zero */
  TesFunction *exact;
  double tolerance, mean, volume;
  TesPoissonTimes times;
  char method_text[160], precision_text[96];
};

/* What differs from number to number: the desc's functions as the operator and the load want them. */
typedef struct Boundaries {
  uint8_t *given; /* NULL: everywhere */
  const TesFunction **alpha, **value, **flux;
} Boundaries;

static void free_boundaries(TesContext *ctx, Boundaries *b) {
  tesi_free(ctx, &b->given);
  tesi_free(ctx, &b->alpha);
  tesi_free(ctx, &b->value);
  tesi_free(ctx, &b->flux);
}

/* Every face needs a condition, and conditions go by name. */
static TesStatus refuse_unnamed(const TesMesh *forest) {
  TesContext *ctx = tes_mesh_context(forest);
  TesStatus status = TES_OK;
  int64_t tree;
  int face;
  double xi[3] = {0.5, 0.5, 0.5}, x[3] = {0};
  const int64_t unnamed = tes_mesh_unnamed(forest, &tree, &face);
  if (!unnamed) return TES_OK;
  xi[face / 2] = face % 2;
  tesi_trees_evaluate(forest->coarse, tree, 1, xi, x);
  TES_FAIL(TES_INVALID_INPUT,
           "%lld faces of the coarse mesh lie on the boundary and have no name, so there is no condition for "
           "them; the first is face %d of cell %lld (both from 0), round (%g, %g, %g). Name them in the mesh "
           "(Gmsh: Physical Curve, in 3D Surface), or say what holds on all of them: boundary.all in a case, "
           "TesMeshDesc.rest in a program",
           (long long)unnamed, face, (long long)tree, x[0], x[1], x[2]);
done:
  return status;
}

static TesStatus sort_boundaries(TesContext *ctx, const TesForestPoissonDesc *desc, Boundaries *b) {
  TesStatus status = TES_OK;
  const int names = tes_mesh_boundaries(desc->mesh);
  if (!desc->boundary) return TES_OK;
  TES_TRY(refuse_unnamed(desc->mesh));
  TES_TRY(tesi_forest_parts_check(desc));
  TES_ALLOC(&b->given, names + 1);
  TES_ALLOC(&b->alpha, names + 1);
  TES_ALLOC(&b->value, names + 1);
  TES_ALLOC(&b->flux, names + 1);
  for (int i = 0; i < names; i++) {
    const TesBoundary *boundary = &desc->boundary[i];
    if (boundary->condition == TES_DIRICHLET) {
      b->given[i] = 1;
      b->value[i] = boundary->g;
    } else {
      b->flux[i] = boundary->g;
      if (boundary->condition == TES_ROBIN) b->alpha[i] = boundary->alpha;
    }
  }
done:
  return status;
}

/* Roughly what operators, multigrid and vectors will take on the host: positions of cells, two operators with numbers of nodes (twice)
 * and factors, the one of the cycle with its coarser levels, some ten vectors. */
static TesStatus check_memory(TesForestPoisson *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiCellView *s = p->space->view;
  const double cells = (double)s->cells, nodes = cells * s->cell_nodes,
               levels = s->dim == 3 ? 8 / 7. : 4 / 3.;
  const double factors = s->dim == 3 ? 6 : 3, length = (double)s->length;
  const double operators = nodes * (8 + factors * 8) + levels * nodes * (8 + factors * 4);
  const double vectors = length * (6 * 8 + levels * 7 * 4);
  const double cell_positions = levels * cells * (s->dim == 3 ? 81 : 18) * 8;
  const double bytes = operators + vectors + cell_positions, available = (double)tesi_memory_available();
  tesi_log(ctx, TES_LOG_DETAIL, "operators, multigrid and vectors: about %.3g GiB", bytes / (1 << 30));
  if (bytes > available && !tesi_has_kernels(ctx))
    TES_FAIL(TES_OUT_OF_MEMORY,
             "%lld unknowns of degree %d on %lld cells need about %.3g GiB, %.3g GiB are free: refine less "
             "or lower "
             "the degree",
             (long long)s->length, s->degree, (long long)s->cells, bytes / (1 << 30), available / (1 << 30));
done:
  return status;
}

static TesStatus create_operators(TesForestPoisson *p, const TesForestPoissonDesc *desc,
                                  const Boundaries *boundaries) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesTermDesc terms[TESI_FORM_TERMS];
  TesFunction *zero = NULL;
  if (desc->material_c && !desc->c) TES_TRY(tes_function_create_constant(ctx, 0, &zero));
  const TesForm form = tesi_poisson_form(&(TesCoefficient){desc->a, desc->material_a},
                                         &(TesCoefficient){desc->c ? desc->c : zero, desc->material_c},
                                         tes_mesh_boundaries(desc->mesh), boundaries->alpha, terms);
  TesMultigridDesc mg = {.precision = desc->precision == TES_SOLVE_DOUBLE ? TES_DOUBLE : TES_SINGLE,
                         .coarsening = desc->degree_first ? TES_COARSEN_DEGREE : TES_COARSEN_MESH,
                         .coarse = desc->coarse,
                         .smoother = {.kind = desc->smoother, .degree = desc->smoother_degree},
                         .pre = desc->pre,
                         .post = desc->post};
  TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = p->space, .form = form}, &p->op));
  mg.op = p->op;
  TES_TRY(tes_multigrid_create(ctx, &mg, &p->multigrid));
done:
  tes_function_destroy(&zero);
  return status;
}

/* A singular problem has a solution only if the data are in balance: the sum of b is int f + int g. */
static TesStatus check_balance(TesForestPoisson *p, const TesForestPoissonDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double size = 0, sum = 0, *b = NULL;
  TES_ALLOC(&b, p->space->length);
  TES_TRY(tes_vector_get(p->b, b));
  for (int64_t i = 0; i < p->space->length; i++) size += fabs(b[i]), sum += b[i];
  TES_CHECK(fabs(sum) <= 1e-8 * size || size == 0,
            "only fluxes are given on the boundary and c = 0, so a solution exists only if int f + int g = "
            "0; here it is %.6g. "
            "Change f or g, or give a Dirichlet value on a boundary",
            sum);
  TES_TRY(tes_vector_fill(p->lifting, 1));
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &p->weights));
  TES_TRY(tesi_functional_weights(p->space, &(TesValue){.kind = TES_VALUE_INTEGRAL}, p->weights));
  TES_TRY(tes_vector_dot(p->weights, p->lifting, &p->volume));
  if (desc->exact) {
    TES_TRY(tes_functional_load(&(TesLoadDesc){.space = p->space, .f = desc->exact}, p->u));
    TES_TRY(tes_vector_dot(p->u, p->lifting, &p->mean)); /* int exact */
  }
done:
  tesi_free(ctx, &b);
  return status;
}

static void clear_dirichlet(const TesSpace *space, double *u) {
  const TesiCellView *s = space->view;
  for (int64_t i = 0; i < s->cells * s->cell_nodes; i++)
    if (s->index[i] < 0) u[~s->index[i]] = 0;
}

/* Host memory, as those who add want it. */
static TesStatus add_load(TesForestPoisson *p, const TesForestPoissonDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double *b = NULL;
  if (!desc->add_load) return TES_OK;
  TES_ALLOC(&b, p->space->length);
  TES_TRY(tes_vector_get(p->b, b));
  TES_TRY(desc->add_load(desc->add_load_user, p->space, b));
  clear_dirichlet(p->space, b);
  TES_TRY(tes_vector_set(p->b, b));
done:
  tesi_free(ctx, &b);
  return status;
}

static TesStatus create_right_hand_side(TesForestPoisson *p, const TesForestPoissonDesc *desc,
                                        const Boundaries *boundaries) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double start = tesi_now();
  TesFunction *one = NULL;
  TesVector **all[] = {&p->b, &p->x, &p->u, &p->lifting};
  if (!desc->f) TES_TRY(tes_function_create_constant(ctx, 1, &one));
  for (int i = 0; i < 4; i++) TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, all[i]));
  TES_TRY(tes_functional_load(
      &(TesLoadDesc){
          .space = p->space, .f = one ? one : desc->f, .material_f = desc->material_f, .g = boundaries->flux},
      p->b));
  TES_TRY(add_load(p, desc));
  TES_TRY(tes_functional_lifting(p->space, boundaries->value, p->lifting));
  TES_TRY(tes_operator_lift(p->op, p->lifting, p->b));
  if (p->op->singular) TES_TRY(check_balance(p, desc));
  p->times.right_hand_side = tesi_now() - start;
done:
  tes_function_destroy(&one);
  return status;
}

static TesStatus take_guess(TesForestPoisson *p, const double *guess) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (!guess) return TES_OK;
  TES_ALLOC(&p->start, p->space->length);
  memcpy(p->start, guess, (size_t)p->space->length * sizeof *guess);
  clear_dirichlet(p->space, p->start);
done:
  return status;
}

static TesStatus create_solver(TesForestPoisson *p, const TesForestPoissonDesc *desc) {
  static const char *const methods[] = {"", "V-cycles", "full multigrid, then V-cycles",
                                        "GMRES, right-preconditioned by a V-cycle",
                                        "conjugate gradients, preconditioned by a symmetric V-cycle"};
  static const char *const precisions[] = {
      "mixed: float32 cycle in a float64 iteration", "double: float64",
      "single: float32 cycle, residuals in float64, tolerance at least 1e-6"};
  const TesMethod method = desc->method == TES_METHOD_AUTO ? TES_METHOD_CG : desc->method;
  p->tolerance = desc->tolerance > 0 ? desc->tolerance : 1e-9;
  if (desc->precision == TES_SOLVE_SINGLE) p->tolerance = fmax(p->tolerance, 1e-6);
  snprintf(p->method_text, sizeof p->method_text, "%s%s", methods[method],
           desc->method == TES_METHOD_AUTO ? " (chosen)" : "");
  snprintf(p->precision_text, sizeof p->precision_text, "%s", precisions[desc->precision]);
  return tes_solver_create(p->context,
                           &(TesSolverDesc){.op = p->op,
                                            .multigrid = p->multigrid,
                                            .method = method,
                                            .tolerance = p->tolerance,
                                            .max_iterations = desc->max_iterations,
                                            .monitor = desc->monitor,
                                            .monitor_user = desc->monitor_user},
                           &p->solver);
}

TesStatus tes_forest_poisson_create(TesContext *context, const TesForestPoissonDesc *desc,
                                    TesForestPoisson **poisson) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesForestPoisson *p = NULL;
  Boundaries boundaries = {0};
  const TesGeometry *geometry;
  const double start = tesi_now();
  *poisson = NULL;
  TES_CHECK(desc->mesh, "a problem needs a mesh");
  TES_CHECK(desc->tolerance >= 0 && desc->tolerance < INFINITY,
            "tolerance is %g: expected a positive number, or 0 for 1e-9", desc->tolerance);
  TES_NEW(&p);
  p->context = tesi_context_retain(ctx);
  p->exact = tesi_function_retain(desc->exact);
  TES_TRY(sort_boundaries(ctx, desc, &boundaries));
  TES_TRY(tes_space_create(
      ctx, &(TesSpaceDesc){.mesh = desc->mesh, .degree = desc->degree, .given = boundaries.given},
      &p->space));
  TES_TRY(check_memory(p));
  TES_TRY(tesi_mesh_geometry(desc->mesh, &geometry));
  TES_TRY(create_operators(p, desc, &boundaries));
  p->times.operators = tesi_now() - start;
  TES_ALLOC(&p->values, p->space->length);
  TES_TRY(create_right_hand_side(p, desc, &boundaries));
  TES_TRY(take_guess(p, desc->guess));
  TES_TRY(create_solver(p, desc));
  p->times.total = tesi_now() - start;
  *poisson = p;
  p = NULL;
done:
  free_boundaries(ctx, &boundaries);
  tes_forest_poisson_destroy(&p);
  return status;
}

void tes_forest_poisson_destroy(TesForestPoisson **poisson) {
  if (!poisson || !*poisson) return;
  TesForestPoisson *p = *poisson;
  TesContext *ctx = p->context;
  *poisson = NULL;
  tes_solver_destroy(&p->solver);
  tes_multigrid_destroy(&p->multigrid);
  tes_operator_destroy(&p->op);
  tes_vector_destroy(&p->b);
  tes_vector_destroy(&p->x);
  tes_vector_destroy(&p->u);
  tes_vector_destroy(&p->lifting);
  tes_vector_destroy(&p->weights);
  tesi_free(ctx, &p->values);
  tesi_free(ctx, &p->start);
  tes_function_destroy(&p->exact);
  tes_space_destroy(&p->space);
  tesi_free(ctx, &p);
  tes_context_destroy(&ctx);
}

/* u <- x + u_D, or x + a constant where that is free: then `lifting` is 1. */
static TesStatus complete(TesForestPoisson *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double integral, factor = 1;
  if (p->op->singular) {
    TES_TRY(tes_vector_dot(p->weights, p->x, &integral));
    factor = (p->mean - integral) / p->volume;
  }
  TES_TRY(tes_vector_copy(p->x, 1, p->u));
  TES_TRY(tes_vector_axpy(factor, p->lifting, p->u));
  TES_TRY(tes_vector_get(p->u, p->values));
done:
  return status;
}

/* A solve that ends above a tolerance which float64 cannot reach says so: b - A x, computed, is never below about eps |D x|, D the diagonal. */
static TesStatus tell_floor(TesForestPoisson *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *d = NULL;
  double *diagonal = NULL, sum = 0, norm;
  const double *x = p->values; /* before it is completed */
  TES_ALLOC(&diagonal, p->space->length);
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &d));
  TES_TRY(tes_operator_diagonal(p->op, d));
  TES_TRY(tes_vector_get(d, diagonal));
  TES_TRY(tes_vector_get(p->x, p->values));
  TES_TRY(tes_vector_norm(p->b, &norm));
  for (int64_t i = 0; i < p->space->length; i++) sum += diagonal[i] * x[i] * diagonal[i] * x[i];
  const double floor = DBL_EPSILON * sqrt(sum) / norm;
  if (p->tolerance < floor)
    tesi_log(ctx, TES_LOG_WARNING,
             "warning: tolerance %.1e is below the round-off floor of the residual, about %.1e", p->tolerance,
             floor);
done:
  tes_vector_destroy(&d);
  tesi_free(ctx, &diagonal);
  return status;
}

TesStatus tes_forest_poisson_solve(TesForestPoisson *poisson, TesSolveResult *result) {
  TesStatus status =
      poisson->start ? tes_vector_set(poisson->x, poisson->start) : tes_vector_fill(poisson->x, 0);
  if (status != TES_OK) return status;
  const TesStatus outcome = tes_solver_solve(poisson->solver, poisson->b, poisson->x, result);
  status = outcome == TES_NOT_CONVERGED ? tell_floor(poisson) : TES_OK;
  if (status == TES_OK) status = complete(poisson);
  return outcome != TES_OK ? outcome : status;
}

const TesSpace *tes_forest_poisson_space(const TesForestPoisson *poisson) {
  return poisson->space;
}

const TesMultigrid *tes_forest_poisson_multigrid(const TesForestPoisson *poisson) {
  return poisson->multigrid;
}

const double *tes_forest_poisson_solution(const TesForestPoisson *poisson) {
  return poisson->values;
}

const TesVector *tesi_forest_poisson_vector(const TesForestPoisson *poisson) {
  return poisson->u;
}

TesStatus tes_forest_poisson_errors(const TesForestPoisson *poisson, double *l2, double *h1) {
  TesContext *ctx = poisson->context;
  TesStatus status = TES_OK;
  TES_CHECK(poisson->exact, "there is no exact solution to compare with");
  TES_TRY(tes_functional_error(poisson->space, poisson->u, poisson->exact, l2, h1, NULL, NULL));
done:
  return status;
}

TesPoissonTimes tes_forest_poisson_times(const TesForestPoisson *poisson) {
  return poisson->times;
}

size_t tesi_forest_poisson_spare(const TesForestPoisson *poisson) {
  return tesi_solver_spare(poisson->solver);
}

double tes_forest_poisson_tolerance(const TesForestPoisson *poisson) {
  return poisson->tolerance;
}

TesPoissonChoice tes_forest_poisson_choice(const TesForestPoisson *poisson) {
  const int top = tes_multigrid_levels(poisson->multigrid) - 1;
  const TesSmoother *smoother = tes_multigrid_smoother(poisson->multigrid, top);
  return (TesPoissonChoice){.op = tes_operator_describe(poisson->op),
                            .smoother =
                                smoother ? tes_smoother_describe(smoother) : "none: there is one level alone",
                            .method = poisson->method_text,
                            .precision = poisson->precision_text};
}
