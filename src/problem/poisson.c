#include "tessera/poisson.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "functional/functional.h"
#include "multigrid/multigrid.h"
#include "operator/operator.h"
#include "problem/form.h"
#include "smoother/smoother.h"

struct TesPoisson {
  TesContext *context;
  TesSpace *space;
  TesOperator *op; /* float64, finest */
  TesMultigrid *multigrid;
  TesSolver *solver;
  TesVector *b, *u;   /* right-hand side of u_0; u_0 while solving, u_0 + u_D after */
  TesVector *shift;   /* what is added after: u_D, or 1 where a constant is free; NULL: nothing */
  TesVector *weights; /* of integrals, where a constant is free */
  TesFunction *exact, *dirichlet[6];
  bool lifted; /* u_D is not zero */
  TesMethod method;
  double tolerance, floor, mean, volume; /* int u and int 1, where a constant is free */
  TesPoissonTimes times;
  char method_text[160], precision_text[96];
};

/* ---- choices ------------------------------------------------------------------------------------------------------- */

/* Largest ratio of cell widths in different directions: the vertex patch suffers from anisotropy. */
static double aspect_ratio(const TesSpace *space) {
  double ratio = 1;
  for (int d = 0; d < space->dim; d++)
    for (int e = 0; e < space->dim; e++)
      for (int i = 0; i < space->axis[d].cells; i++)
        for (int j = 0; j < space->axis[e].cells && d != e; j += tesi_max(1, space->axis[e].cells - 1))
          ratio = fmax(ratio, space->axis[d].h[i] / space->axis[e].h[j]);
  return ratio;
}

/* The default solver. Isotropic cells and constant coefficients: the patch smoother leaves so little that full multigrid and a
 * few defect corrections beat any Krylov method, and need no further vectors. Varying coefficients: every level tries which smoother
 * serves it (tes_smoother_create), so GMRES, which takes any and makes up for what it does not reach. Conjugate
 * gradients where the smoother is symmetric anyway. */
static void choose(TesPoisson *p, const TesPoissonDesc *desc, TesMultigridDesc *mg) {
  const bool separable = tesi_is_separable(p->op);
  const double aspect = aspect_ratio(p->space);
  if (mg->smoother.kind == TES_SMOOTHER_AUTO && separable) mg->smoother.kind = TES_SMOOTHER_PATCH;
  const TesSmootherKind kind = mg->smoother.kind;
  const bool symmetric =
      kind == TES_SMOOTHER_PATCH_ADDITIVE || kind == TES_SMOOTHER_JACOBI || kind == TES_SMOOTHER_CHEBYSHEV;
  p->method = desc->method;
  if (p->method == TES_METHOD_AUTO)
    p->method = kind == TES_SMOOTHER_PATCH && separable && aspect <= 1.5 ? TES_METHOD_FMG
                : symmetric                                              ? TES_METHOD_CG
                                                                         : TES_METHOD_GMRES;
  mg->symmetric = desc->post_sweep_given ? desc->post_sweep == TES_BACKWARD : p->method == TES_METHOD_CG;
  static const char *const names[] = {"", "V-cycles", "full multigrid, then V-cycles",
                                      "GMRES, right-preconditioned by a V-cycle",
                                      "conjugate gradients, preconditioned by a symmetric V-cycle"};
  snprintf(p->method_text, sizeof p->method_text, "%s%s", names[p->method],
           desc->method != TES_METHOD_AUTO ? ""
           : aspect > 1.5 && separable     ? " (chosen: cells are anisotropic)"
                                           : " (chosen)");
}

/* Tolerance and round-off floor: c_k eps n^2, c_k from 0.04 (Q1) to 16 (Q10), grown geometrically between. */
static void choose_tolerance(TesPoisson *p, const TesPoissonDesc *desc) {
  double n = 1;
  for (int d = 0; d < p->space->dim; d++) n = fmax(n, p->space->axis[d].cells);
  p->floor = 0.04 * pow(400, (p->space->degree - 1) / 9.0) * DBL_EPSILON * n * n;
  p->tolerance = desc->tolerance > 0 ? desc->tolerance : 1e-9;
  if (desc->precision == TES_SOLVE_SINGLE) p->tolerance = fmax(p->tolerance, 1e-6);
  if (p->tolerance < p->floor)
    tesi_log(p->context, TES_LOG_WARNING,
             "warning: tolerance %.1e is below the round-off floor of the residual, about %.1e", p->tolerance,
             p->floor);
  static const char *const names[] = {"mixed: float32 cycle in a float64 iteration", "double: float64",
                                      "single: float32 cycle, residuals in float64, tolerance at least 1e-6"};
  snprintf(p->precision_text, sizeof p->precision_text, "%s", names[desc->precision]);
}

/* ---- set-up -------------------------------------------------------------------------------------------------------- */

static TesStatus create_space(TesPoisson *p, const TesPoissonDesc *desc) {
  uint8_t given[6];
  const TesSpaceDesc space = {.mesh = desc->mesh, .degree = desc->degree, .given = given};
  for (int face = 0; face < 6; face++) given[face] = desc->boundary[face].condition == TES_DIRICHLET;
  return tes_space_create(p->context, &space, &p->space);
}

static TesStatus create_operator(TesPoisson *p, const TesPoissonDesc *desc) {
  const TesFunction *alpha[6] = {NULL};
  TesTermDesc terms[TESI_FORM_TERMS];
  for (int face = 0; face < 2 * p->space->dim; face++)
    if (desc->boundary[face].condition == TES_ROBIN) alpha[face] = desc->boundary[face].alpha;
  const TesForm form = tesi_poisson_form(&(TesCoefficient){.all = desc->a}, &(TesCoefficient){.all = desc->c},
                                         2 * p->space->dim, alpha, terms);
  return tes_operator_create(p->context, &(TesOperatorDesc){.space = p->space, .form = form}, &p->op);
}

/* Told before anything large is allocated: float64 vectors of the outer iteration, and the multigrid. */
static TesStatus check_memory(TesPoisson *p, const TesPoissonDesc *desc, const TesMultigridDesc *mg) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool varies = desc->a && !tes_function_constant(desc->a, NULL);
  const size_t needed = tesi_multigrid_memory(p->space, varies, mg->precision, mg->smoother.kind);
  const double total = (double)needed + 48.0 * (double)p->space->length,
               available = (double)tesi_context_device(ctx)->available(ctx);
  if (total > available)
    TES_FAIL(TES_OUT_OF_MEMORY,
             "%lld unknowns need about %.3g GiB, %.3g GiB are free: use a coarser mesh or a lower degree",
             (long long)p->space->dofs, total / (1 << 30), available / (1 << 30));
  tesi_log(ctx, TES_LOG_DETAIL, "memory needed: about %.3g GiB of %.3g GiB", total / (1 << 30),
           available / (1 << 30));
done:
  return status;
}

/* A singular problem has a solution only if the data are in balance: the sum of b is int f + int g. */
static TesStatus check_balance(TesPoisson *p, const TesPoissonDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double sum, size;
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &p->shift));
  TES_TRY(tes_vector_fill(p->shift, 1));
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &p->weights));
  TES_TRY(tesi_functional_weights(p->space, &(TesValue){.kind = TES_VALUE_INTEGRAL}, p->weights));
  TES_TRY(tes_vector_dot(p->weights, p->shift, &p->volume));
  TES_TRY(tes_vector_dot(p->b, p->shift, &sum));
  TES_TRY(tes_vector_norm(p->b, &size));
  size *= sqrt((double)p->space->length);
  TES_CHECK(fabs(sum) <= 1e-8 * size || size == 0,
            "only fluxes are given on the boundary and c = 0, so a solution exists only if int f + int g = "
            "0; here it is %.6g. "
            "Change f or g, or give a Dirichlet value on a face",
            sum);
  if (desc->exact) {
    TES_TRY(tes_functional_load(&(TesLoadDesc){.space = p->space, .f = desc->exact}, p->u));
    TES_TRY(tes_vector_dot(p->u, p->shift, &p->mean)); /* int exact */
  }
done:
  return status;
}

/* Zero is a value too: where faces meet the later one's holds. */
static TesStatus fill_zeros(TesPoisson *p, const TesPoissonDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  for (int face = 0; face < 2 * p->space->dim; face++)
    if (desc->boundary[face].condition == TES_DIRICHLET && !p->dirichlet[face])
      TES_TRY(tes_function_create_constant(ctx, 0, &p->dirichlet[face]));
done:
  return status;
}

static TesStatus create_right_hand_side(TesPoisson *p, const TesPoissonDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesFunction *flux[6] = {NULL};
  TesFunction *one = NULL;
  const double start = tesi_now();
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &p->b));
  TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &p->u));
  if (!desc->f) TES_TRY(tes_function_create_constant(ctx, 1, &one));
  for (int face = 0; face < 2 * p->space->dim; face++) {
    const TesBoundary *boundary = &desc->boundary[face];
    double value;
    if (!boundary->g || (tes_function_constant(boundary->g, &value) && value == 0)) continue;
    if (boundary->condition != TES_DIRICHLET) {
      flux[face] = boundary->g;
    } else {
      p->dirichlet[face] = tesi_function_retain(boundary->g);
      p->lifted = true;
    }
  }
  TES_TRY(tes_functional_load(&(TesLoadDesc){.space = p->space, .f = one ? one : desc->f, .g = flux}, p->b));
  if (p->lifted) {
    TES_TRY(tes_vector_create(ctx, p->space->length, TES_DOUBLE, &p->shift));
    TES_TRY(fill_zeros(p, desc));
    TES_TRY(tes_functional_lifting(p->space, (const TesFunction *const *)p->dirichlet, p->shift));
    TES_TRY(tes_operator_lift(p->op, p->shift, p->b));
  }
  if (p->op->singular) TES_TRY(check_balance(p, desc));
  p->times.right_hand_side = tesi_now() - start;
done:
  tes_function_destroy(&one);
  return status;
}

TesStatus tes_poisson_create(TesContext *context, const TesPoissonDesc *desc, TesPoisson **poisson) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesPoisson *p = NULL;
  const double start = tesi_now();
  *poisson = NULL;
  TES_CHECK(desc->mesh, "a problem needs a mesh");
  TES_CHECK(desc->tolerance >= 0 && desc->tolerance < INFINITY,
            "tolerance is %g: expected a positive number, or 0 for 1e-9", desc->tolerance);
  TES_NEW(&p);
  p->context = tesi_context_retain(ctx);
  p->exact = tesi_function_retain(desc->exact);
  TES_TRY(create_space(p, desc));
  choose_tolerance(p, desc);
  TesMultigridDesc mg = {.precision = desc->precision == TES_SOLVE_DOUBLE ? TES_DOUBLE : TES_SINGLE,
                         .smoother = {.kind = desc->smoother, .local = desc->local},
                         .pre = desc->pre,
                         .post = desc->post};
  TES_TRY(check_memory(p, desc, &mg));
  TES_TRY(create_operator(p, desc));
  mg.op = p->op;
  choose(p, desc, &mg);
  TES_TRY(tes_multigrid_create(ctx, &mg, &p->multigrid));
  p->times.operators = tesi_now() - start;
  TES_TRY(create_right_hand_side(p, desc));
  const TesSolverDesc solver = {.op = p->op,
                                .multigrid = p->multigrid,
                                .method = p->method,
                                .tolerance = p->tolerance,
                                .max_iterations = desc->max_iterations,
                                .monitor = desc->monitor,
                                .monitor_user = desc->monitor_user};
  TES_TRY(tes_solver_create(ctx, &solver, &p->solver));
  p->times.total = tesi_now() - start;
  *poisson = p;
  p = NULL;
done:
  tes_poisson_destroy(&p);
  return status;
}

void tes_poisson_destroy(TesPoisson **poisson) {
  if (!poisson || !*poisson) return;
  TesPoisson *p = *poisson;
  TesContext *ctx = p->context;
  *poisson = NULL;
  tes_solver_destroy(&p->solver);
  tes_multigrid_destroy(&p->multigrid);
  tes_operator_destroy(&p->op);
  tes_vector_destroy(&p->b);
  tes_vector_destroy(&p->u);
  tes_vector_destroy(&p->shift);
  tes_vector_destroy(&p->weights);
  for (int face = 0; face < 6; face++) tes_function_destroy(&p->dirichlet[face]);
  tes_function_destroy(&p->exact);
  tes_space_destroy(&p->space);
  tesi_free(ctx, &p);
  tes_context_destroy(&ctx);
}

/* ---- solution ------------------------------------------------------------------------------------------------------ */

/* u <- u_0 + u_D, or u_0 + a constant where that is free. */
static TesStatus complete(TesPoisson *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double integral;
  if (p->lifted) return tes_vector_axpy(1, p->shift, p->u);
  if (!p->op->singular) return TES_OK;
  TES_TRY(tes_vector_dot(p->weights, p->u, &integral));
  TES_TRY(tes_vector_axpy((p->mean - integral) / p->volume, p->shift, p->u));
done:
  return status;
}

TesStatus tes_poisson_solve(TesPoisson *poisson, TesSolveResult *result) {
  TesStatus status = tes_vector_fill(poisson->u, 0);
  if (status != TES_OK) return status;
  const TesStatus outcome = tes_solver_solve(poisson->solver, poisson->b, poisson->u, result);
  status = complete(poisson);
  return outcome != TES_OK ? outcome : status;
}

const TesSpace *tes_poisson_space(const TesPoisson *poisson) {
  return poisson->space;
}

const TesMultigrid *tes_poisson_multigrid(const TesPoisson *poisson) {
  return poisson->multigrid;
}

const TesVector *tes_poisson_solution(const TesPoisson *poisson) {
  return poisson->u;
}

TesStatus tes_poisson_errors(const TesPoisson *poisson, double *l2, double *h1) {
  TesContext *ctx = poisson->context;
  TesStatus status = TES_OK;
  TES_CHECK(poisson->exact, "there is no exact solution to compare with");
  TES_TRY(tes_functional_error(poisson->space, poisson->u, poisson->exact, l2, h1, NULL, NULL));
done:
  return status;
}

TesPoissonTimes tes_poisson_times(const TesPoisson *poisson) {
  return poisson->times;
}

double tes_poisson_tolerance(const TesPoisson *poisson) {
  return poisson->tolerance;
}

double tes_poisson_floor(const TesPoisson *poisson) {
  return poisson->floor;
}

TesPoissonChoice tes_poisson_choice(const TesPoisson *poisson) {
  const int top = tes_multigrid_levels(poisson->multigrid) - 1;
  const TesSmoother *smoother = tes_multigrid_smoother(poisson->multigrid, top);
  return (TesPoissonChoice){.op = tes_operator_describe(poisson->op),
                            .smoother = smoother ? tes_smoother_describe(smoother)
                                                 : "none: solved directly on the only level",
                            .method = poisson->method_text,
                            .precision = poisson->precision_text};
}
