/* Chebyshev: x <- x + p(B A) B (b - A x). With lambda the largest eigenvalue of B A, 1 - t p(t) is
 *   without ratio  the polynomial of the fourth kind, W_m(1 - 2 t / L) / (2 m + 1), with L = 1.05 lambda and
 *                  W_m(cos a) = sin((m + 1/2) a) / sin(a/2). Of all polynomials it has the least sqrt(t) |1 - t p(t)|
 *                  on [0, L], which bounds a V-cycle (Lottes, Optimal polynomial smoothers for multigrid V-cycles,
 *                  2023, algorithm 1). It needs no lower end of the interval.
 *   optimal        the polynomial of optimal_roots.h on the same interval
 *   with ratio     the polynomial of the first kind for [lambda/ratio, 1.2 lambda], scaled to 1 at t = 0 (Saad,
 *                  Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 12.1)
 * The optimal polynomial is a product of m Richardson steps in Leja's order. So is the polynomial of the fourth kind on
 * devices with kernels, up to degree 8. Such steps need no vector p, which is 8 of 28 bytes of a float32 pass. The host
 * keeps p for the polynomial of the fourth kind, so that its results keep their bits.
 * B: D^-1 (chebyshev), or cell patches (cell_patch), whose outer weights W take the place of D^-1 in the update.
 *
 * With D^-1 a step is one residual and one fused pass over r, D^-1, p, x: 4 reads, 2 writes; without p 3 and 1. From a
 * zero guess the first residual is b itself: degree m costs m - 1 applications then. If the operator subtracts its
 * product from the vector in place, the pass leaves b in the place of r for the next step. */
#include <math.h>
#include <stdio.h>
#include "device/kernel.h"
#include "smoother/chebyshev.h"
#include "smoother/line_patch/line_patch.h"
#include "smoother/optimal_roots.h"
#include "smoother/spectrum.h"

typedef struct Plan {
  double centre, radius;      /* of the interval */
  bool fourth;                /* the kind, whose interval begins at 0 */
  void *inverse_diagonal, *r; /* inverse_diagonal NULL: patches are used */
  void *p;                    /* NULL: the polynomial needs none, or the device keeps none */
  TesiCellPatches *patches;   /* NULL: none */
  void *z;                    /* of patches */
  double *root;               /* [degree] of a polynomial that is a product of steps; NULL: a recurrence */
  double lambda;              /* estimate */
} Plan;

/* *z, *d <- vectors with B r = (z_i d_i). */
static TesStatus precondition(const Plan *plan, const void *r, const void **z, const void **d) {
  *z = r, *d = plan->inverse_diagonal;
  if (!plan->patches) return TES_OK;
  *z = plan->z, *d = plan->patches->weight;
  return tesi_cell_patches_apply(plan->patches, r, plan->z);
}

/* Step i of the recurrence p <- c p + s B r; c and s are computed from those of the step before. */
typedef struct Step {
  double s, c, rho; /* rho: only for the polynomial of the first kind */
} Step;

static Step next_step(const Plan *plan, int i, Step last) {
  const double sigma = plan->centre / plan->radius;
  if (plan->root) return (Step){1 / plan->root[i], 0, 0};
  if (plan->fourth)
    return (Step){(8 * i + 4) / ((2 * i + 3) * 2 * plan->centre), i ? (2 * i - 1.) / (2 * i + 3) : 0, 0};
  if (i == 0) return (Step){1 / plan->centre, 0, 1 / sigma};
  const double rho = 1 / (2 * sigma - last.rho);
  return (Step){2 * rho / plan->radius, rho * last.rho, rho};
}

static TesStatus apply(const TesSmoother *smoother, const void *b, void *x, TesSweep sweep, bool zero_guess) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const TesOperator *op = smoother->op;
  const bool within = tesi_has_kernels(ctx) && !op->table->subtract && !plan->patches; /* the pass subtracts */
  Step step = {0};
  TesiDiagonalStep pass = {.p = plan->root && tesi_has_kernels(ctx) ? NULL : plan->p, .x = x, .next = plan->r};
  (void)sweep;
  for (int i = 0; i < smoother->degree; i++) {
    const bool zero = i == 0 && zero_guess, again = op->table->subtract && i + 1 < smoother->degree,
               product = within && !zero;
    if (pass.b)
      TES_TRY(op->table->subtract(op, x, plan->r));
    else if (product)
      TES_TRY(op->table->apply(op, x, plan->r));
    else if (!zero)
      TES_TRY(op->table->residual(op, b, x, plan->r));
    TES_TRY(precondition(plan, zero || product ? b : plan->r, &pass.r, &pass.d));
    pass.q = product ? plan->r : NULL;
    step = next_step(plan, i, step);
    pass.s = step.s, pass.c = step.c, pass.keep = zero ? 0 : 1, pass.b = again ? b : NULL;
    TES_TRY(tesi_device_diagonal_step(ctx, op->precision, op->length, &pass));
  }
done:
  return status;
}

/* r <- B r, plain; d, z [length]: diagonal, workspace. */
static TesStatus precondition_ref(const TesSmoother *smoother, const double *d, double *r, double *z) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const int64_t n = smoother->op->length;
  if (!plan->patches) {
    for (int64_t i = 0; i < n; i++) r[i] /= d[i];
    return TES_OK;
  }
  TES_TRY(tesi_cell_patches_apply_ref(plan->patches, r, z));
  TES_TRY(tesi_operator_get(smoother->op, plan->patches->weight, r));
  for (int64_t i = 0; i < n; i++) r[i] *= z[i];
done:
  return status;
}

/* Number m of the roots of 1 - t p(t). */
static double root_of(const Plan *plan, int degree, int m) {
  const double pi = 3.14159265358979323846;
  if (plan->root) return plan->root[m];
  const double angle = plan->fourth ? (2 * m + 2) * pi / (2 * degree + 1) : (2 * m + 1) * pi / (2 * degree);
  return plan->centre - plan->radius * cos(angle);
}

/* The same polynomial as a product of Richardson steps, one for each of its roots. */
static TesStatus apply_ref(const TesSmoother *smoother, const double *b, double *x, TesSweep sweep) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  const Plan *plan = smoother->plan;
  const int64_t n = smoother->op->length;
  double *Ax = NULL, *d = NULL, *z = NULL;
  (void)sweep;
  TES_ALLOC(&Ax, n);
  TES_ALLOC(&z, n);
  TES_ALLOC(&d, n);
  TES_TRY(tesi_diagonal_ref(smoother->op, d));
  for (int m = 0; m < smoother->degree; m++) {
    const double root = root_of(plan, smoother->degree, m);
    TES_TRY(smoother->op->table->apply_ref(smoother->op, x, Ax));
    for (int64_t i = 0; i < n; i++) Ax[i] = b[i] - Ax[i];
    TES_TRY(precondition_ref(smoother, d, Ax, z));
    for (int64_t i = 0; i < n; i++) x[i] += Ax[i] / root;
  }
done:
  tesi_free(ctx, &z);
  tesi_free(ctx, &Ax);
  tesi_free(ctx, &d);
  return status;
}

static TesCost cost(const TesSmoother *smoother) {
  const TesOperator *op = smoother->op;
  const double n = (double)op->length;
  const Plan *plan = smoother->plan;
  const TesCost residual = op->table->cost(op);
  const TesCost patches = plan->patches ? tesi_cell_patches_cost(plan->patches) : (TesCost){0};
  return (TesCost){.flops = smoother->degree * (residual.flops + patches.flops + 6 * n),
                   .bytes = smoother->degree * (residual.bytes + patches.bytes +
                                                7 * n * (double)tesi_precision_size(op->precision))};
}

static void destroy(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  const TesiDevice *device = tesi_context_device(ctx);
  Plan *plan = smoother->plan;
  if (plan) {
    device->release(ctx, &plan->inverse_diagonal);
    device->release(ctx, &plan->r);
    device->release(ctx, &plan->p);
    device->release(ctx, &plan->z);
    tesi_cell_patches_destroy(&plan->patches);
    tesi_free(ctx, &plan->root);
  }
  tesi_free(ctx, &plan);
}

static const TesiSmootherTable table = {
    .apply = apply, .apply_ref = apply_ref, .cost = cost, .destroy = destroy};

static TesStatus apply_patches(void *user, const void *r, void *z) {
  const TesSmoother *smoother = user;
  const Plan *plan = smoother->plan;
  const TesStatus status = tesi_cell_patches_apply(plan->patches, r, z);
  if (status != TES_OK) return status;
  return tesi_device_multiply(smoother->context, smoother->op->precision, smoother->op->length, 1, z,
                              plan->patches->weight, z);
}

static bool has_patches(const TesSmoother *smoother) {
  return smoother->kind == TES_SMOOTHER_CELL_PATCH || smoother->kind == TES_SMOOTHER_LINE_PATCH;
}

static bool has_constants(const TesOperator *op) {
  const TesiMapped *m = tesi_mapped_of(op);
  double value;
  return m && !m->part && m->scalar && (!m->desc.a || tes_function_constant(m->desc.a, &value)) &&
         (!m->desc.c || tes_function_constant(m->desc.c, &value));
}

/* Whether all cells of a mesh of trees are cells of the level below, halved, and coefficients are constant. */
static bool is_halved(const TesOperator *op, const TesOperator *below) {
  const TesSpace *fine = op->space, *coarse = below->space;
  return fine && coarse && fine->scalars == 1 && coarse->scalars == 1 && fine->degree == coarse->degree &&
         fine->mesh->kind == TES_MESH_FOREST && coarse->mesh->kind == TES_MESH_FOREST && has_constants(op) &&
         fine->mesh->cells == coarse->mesh->cells << fine->dim;
}

/* The estimate of a large level from the estimates of two levels below, if these are nearly alike; else 0. When cells
 * are halved, the growth of the estimate does not increase from level to level (cube, degree 4: 2.21, 2.23, 2.26,
 * 2.27). So the last growth is added once more, and the result is not below the estimate by twelve applications of the
 * operator. */
static double continued_estimate(const TesSmoother *smoother) {
  enum { LARGE = 1 << 18 };
  const TesSmoother *below = smoother->below;
  if (!below || below->kind != smoother->kind || below->lambda[1] == 0 || smoother->lambda[1] == 0 ||
      smoother->op->length < LARGE || tesi_ranks(smoother->context) > 1)
    return 0;
  const double step = below->lambda[0] - below->lambda[1];
  return fabs(step) < 0.02 * below->lambda[0] ? below->lambda[0] + fmax(step, 0) : 0;
}

/* B, and lambda. */
static TesStatus make_preconditioner(TesSmoother *smoother, Plan *plan, double *lambda) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  if (has_patches(smoother)) {
    TES_TRY((smoother->kind == TES_SMOOTHER_LINE_PATCH
                 ? tesi_cell_patches_create_lines
                 : tesi_cell_patches_create)(smoother->op, &plan->patches));
    TES_TRY(tesi_operator_vector(smoother->op, &plan->z));
    TES_TRY(tesi_largest_eigenvalue(smoother->op, apply_patches, smoother, TESI_EIGENVALUE_STEPS, lambda));
  } else {
    const TesSmoother *below = smoother->below;
    TES_TRY(tesi_inverse_diagonal(smoother->op, &plan->inverse_diagonal));
    if (below && is_halved(smoother->op, below->op)) smoother->lambda[1] = below->lambda[0];
    *lambda = continued_estimate(smoother);
    if (*lambda == 0) TES_TRY(tesi_largest_jacobi_eigenvalue(smoother->op, plan->inverse_diagonal, lambda));
    smoother->lambda[0] = *lambda;
  }
done:
  return status;
}

/* Whether nodes of different patches are coupled more strongly than nodes of a patch: hanging nodes cut a line, or
 * cells that are in no line are strongly stretched (ratio of their strongest coupling to the weakest). */
static bool leaves_strong_couplings(const TesiCellPatches *p) {
  enum { STRETCHED = 9 };
  if (p->lines && p->lines->lines.cut) return true;
  for (int64_t c = 0; c < p->m->cells; c++) {
    const double *g = p->g[c], gz = p->m->dim == 3 ? g[2] : g[0];
    if (p->lines && tesi_is_in_line(p, c)) continue;
    if (fmax(fmax(g[0], g[1]), gz) > STRETCHED * fmin(fmin(g[0], g[1]), gz)) return true;
  }
  return false;
}

/* The degree, among 2 to 6, that needs the fewest applications of the operator, as measured on balls and cubes. If
 * strong couplings between patches remain, degrees 2 to 5 take the same time, and degree 4 needs half of the iterations
 * of degree 2. */
static int usual_degree(const TesSmoother *smoother, const TesiCellPatches *patches) {
  const TesSpace *space = smoother->op->space;
  if (patches) return tesi_reduce_any(smoother->context, leaves_strong_couplings(patches)) ? 4 : 2;
  return space && space->degree >= 5 ? 5 : 4;
}

static void describe(TesSmoother *smoother) {
  const Plan *plan = smoother->plan;
  snprintf(smoother->description, sizeof smoother->description, "chebyshev-%s%s, degree %d on [%.3g, %.3g]",
           !plan->patches         ? "jacobi"
           : plan->patches->lines ? "lines of cells"
                                  : "cell patches",
           !plan->fourth       ? ""
           : smoother->optimal ? ", optimal"
                               : ", fourth kind",
           smoother->degree, plan->centre - plan->radius, plan->centre + plan->radius);
}

/* plan->root, for a product of steps, and p, for other polynomials. */
static TesStatus find_roots(TesSmoother *smoother) {
  enum { MOST = 8 }; /* partial products of float32 stay within a factor of ten */
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  Plan *plan = smoother->plan;
  const double high = plan->centre + plan->radius;
  const bool optimal = plan->fourth && smoother->optimal, kernels = tesi_has_kernels(ctx),
             product = optimal || (plan->fourth && kernels && smoother->degree <= MOST);
  double *root = NULL;
  tesi_free(ctx, &plan->root);
  if (!plan->p && !(product && kernels)) TES_TRY(tesi_operator_vector(smoother->op, &plan->p));
  if (!product) return TES_OK;
  TES_ALLOC(&root, smoother->degree);
  if (optimal) TES_TRY(tesi_optimal_roots(ctx, smoother->degree, root));
  for (int i = 0; i < smoother->degree; i++)
    root[i] = optimal ? high * root[i] : root_of(plan, smoother->degree, i);
  tesi_leja_order(smoother->degree, root);
  plan->root = root;
  root = NULL;
done:
  tesi_free(ctx, &root);
  return status;
}

/* The polynomial of smoother->degree. */
static TesStatus set_polynomial(TesSmoother *smoother) {
  Plan *plan = smoother->plan;
  plan->fourth = smoother->ratio == 0;
  const double low = plan->fourth ? 0 : plan->lambda / smoother->ratio,
               high = (plan->fourth ? 1.05 : 1.2) * plan->lambda;
  plan->centre = (high + low) / 2;
  plan->radius = (high - low) / 2;
  describe(smoother);
  return find_roots(smoother);
}

bool tesi_is_chebyshev(const TesSmoother *smoother) {
  return smoother->table == &table;
}

TesStatus tesi_chebyshev_change(TesSmoother *smoother, int degree, bool optimal) {
  smoother->degree = degree;
  smoother->optimal = optimal;
  return set_polynomial(smoother);
}

static TesStatus init(TesSmoother *smoother) {
  TesContext *ctx = smoother->context;
  TesStatus status = TES_OK;
  Plan *plan;
  smoother->table = &table;
  TES_NEW(&plan);
  smoother->plan = plan;
  TES_CHECK(smoother->omega == 0, "omega is %g: a chebyshev polynomial has no damping", smoother->omega);
  TES_TRY(tesi_operator_vector(smoother->op, &plan->r));
  TES_TRY(make_preconditioner(smoother, plan, &plan->lambda));
  if (smoother->degree == 0) smoother->degree = usual_degree(smoother, plan->patches);
  TES_TRY(set_polynomial(smoother));
  smoother->omega = 1;
  smoother->symmetric = true;
done:
  return status;
}

static const char *refuses(const TesSmoother *smoother) {
  return smoother->kind == TES_SMOOTHER_CHEBYSHEV ? tesi_smoother_wants_diagonal(smoother->op)
                                                  : tesi_smoother_wants_mapped(smoother->op);
}

const TesiSmootherKind tesi_smoother_chebyshev = {TESI_SMOOTHES(TES_SMOOTHER_CHEBYSHEV) |
                                                      TESI_SMOOTHES(TES_SMOOTHER_CELL_PATCH) |
                                                      TESI_SMOOTHES(TES_SMOOTHER_LINE_PATCH),
                                                  refuses, init};
