/* The automatic choices, by kind of mesh: one table. */
#include "problem/choice.h"
#include <math.h>
#include <stdio.h>
#include "device/kernel.h"
#include "multigrid/coarse/factorization.h"
#include "multigrid/multigrid.h"
#include "operator/operator_by_part.h"
#include "parallel/comm.h"
#include "operator/transport/transport_operator.h"
#include "problem/problem.h"
#include "problem/survey.h"
#include "smoother/smoother.h"

/* The first row that fits holds.
 *
 * Boxes with constant a. On isotropic cells the patch smoother leaves so little error that full multigrid and a few
 * defect corrections beat any Krylov method, and need no further vectors. With varying coefficients every level tries
 * which smoother is best (tes_smoother_create). Then GMRES is taken, which allows any smoother and makes up for a
 * weak one; or conjugate gradients if the smoother is symmetric anyway.
 *
 * Other meshes: chebyshev, or patches of cells or lines if cells are stretched. These cycles are symmetric, inside
 * cg, whose start full multigrid makes: the start costs a sixth of a cycle and saves one to three cycles.
 *
 * Full multigrid makes its own start. If there is a guess, V-cycles or cg alone replace it. */
enum { BOX = 1, OTHER = 2, NO = 1, YES = 2, ONE_WAY = 4, ANY = 7 };
enum { ASKED_ANY = -1, ASKED_SYMMETRIC = -2 };
static const struct {
  int mesh, constant, stretched, asked;
  TesSmootherKind smoother; /* auto in an ASKED_ row: the smoother that was asked for */
  TesMethod method;
  bool full_start;
} rows[] = {
    {BOX, YES, NO, TES_SMOOTHER_AUTO, TES_SMOOTHER_PATCH, TES_METHOD_FMG, false},
    {BOX, YES, NO, TES_SMOOTHER_PATCH, TES_SMOOTHER_PATCH, TES_METHOD_FMG, false},
    {BOX, YES, YES, TES_SMOOTHER_AUTO, TES_SMOOTHER_PATCH, TES_METHOD_GMRES, false},
    {BOX, NO, ANY, TES_SMOOTHER_AUTO, TES_SMOOTHER_AUTO, TES_METHOD_GMRES, false},
    {BOX, ANY, ANY, ASKED_SYMMETRIC, TES_SMOOTHER_AUTO, TES_METHOD_CG, false},
    {BOX, ANY, ANY, ASKED_ANY, TES_SMOOTHER_AUTO, TES_METHOD_GMRES, false},
    {OTHER, ANY, ONE_WAY, TES_SMOOTHER_AUTO, TES_SMOOTHER_LINE_PATCH, TES_METHOD_CG, true},
    {OTHER, ANY, YES, TES_SMOOTHER_AUTO, TES_SMOOTHER_CELL_PATCH, TES_METHOD_CG, true},
    {OTHER, ANY, ANY, TES_SMOOTHER_AUTO, TES_SMOOTHER_CHEBYSHEV, TES_METHOD_CG, true},
    {OTHER, ANY, ANY, ASKED_ANY, TES_SMOOTHER_AUTO, TES_METHOD_CG, true},
};

static bool is_asked(int row, TesSmootherKind asked) {
  if (row == ASKED_SYMMETRIC)
    return asked == TES_SMOOTHER_PATCH_ADDITIVE || asked == TES_SMOOTHER_JACOBI ||
           asked == TES_SMOOTHER_CHEBYSHEV;
  return row == ASKED_ANY || row == (int)asked;
}

TesiChoice tesi_choose(const TesiSituation *s) {
  const int mesh = s->mesh == TES_MESH_BOX ? BOX : OTHER, constant = s->constant ? YES : NO,
            stretched = 1 << s->stretch;
  size_t i = 0;
  while (!(rows[i].mesh & mesh && rows[i].constant & constant && rows[i].stretched & stretched &&
           is_asked(rows[i].asked, s->smoother)))
    i++;
  TesiChoice choice = {rows[i].asked < 0 ? s->smoother : rows[i].smoother, s->method, false};
  if (choice.method == TES_METHOD_AUTO) {
    choice.method = s->guess && rows[i].method == TES_METHOD_FMG ? TES_METHOD_VCYCLE : rows[i].method;
    choice.full_start = rows[i].full_start && !s->guess;
  }
  return choice;
}

/* Largest ratio of cell widths in different directions of a box: the vertex patch suffers from anisotropy. */
static double aspect_ratio(const TesSpace *space) {
  const TesiAxis *axis = tesi_space_axes(space->scalar[0]);
  double ratio = 1;
  for (int d = 0; axis && d < space->dim; d++)
    for (int e = 0; e < space->dim; e++)
      for (int i = 0; i < axis[d].cells; i++)
        for (int j = 0; j < axis[e].cells && d != e; j += tesi_max(1, axis[e].cells - 1))
          ratio = fmax(ratio, axis[d].h[i] / axis[e].h[j]);
  tesi_reduce(space->context, TESI_MAXIMUM, 1, &ratio);
  return ratio;
}

static void choose_tolerance(TesProblem *p) {
  static const char *const names[] = {"mixed: float32 cycle in a float64 iteration", "double: float64",
                                      "single: float32 cycle, residuals in float64, tolerance at least 1e-6"};
  p->chosen.tolerance = p->options.tolerance > 0 ? p->options.tolerance : p->in_time ? 1e-3 : 1e-9;
  if (p->options.precision == TES_SOLVE_SINGLE && !p->in_time)
    p->chosen.tolerance = fmax(p->chosen.tolerance, 1e-6);
  snprintf(p->text.precision, sizeof p->text.precision, "%s",
           p->options.method == TES_METHOD_DIRECT ? "float64"
           : tesi_is_upwind(p->levels)            ? "float64, as cells are solved in the order of the flow"
           : p->chosen.loose
               ? "float64 (chosen: next to nothing holds the solution, which float32 would round off)"
           : p->chosen.cycle == TES_DOUBLE && p->options.precision != TES_SOLVE_DOUBLE
               ? "float64 (chosen: float32 does not hold numbers of this size)"
               : names[p->options.precision]);
}

/* Cell patches use the nodes of a scalar element, up to this degree. */
static bool has_cell_patches(const TesSpace *space) {
  enum { DEGREE = 8 };
  return space->element->nodal && space->degree <= DEGREE;
}

/* Where cells are sheared, the points of coarse meshes see another metric than the fine mesh. The error that remains
 * grows with the degree: from degree 5 on Kershaw's meshes take 1.6 to 3 times the iterations. For lower degrees, and
 * on other meshes, coarse meshes are cheaper. */
static TesCoarsening choose_coarsening(const TesProblem *p, const TesiSurvey *survey) {
  enum { DEGREE = 5 };
  const bool sheared = survey->sheared && p->space->element->nodal && p->space->degree >= DEGREE &&
                       !p->equation->couples && p->mesh->kind != TES_MESH_BOX;
  if (p->options.coarsening != TES_COARSEN_AUTO) return p->options.coarsening;
  return sheared && !p->in_time ? TES_COARSEN_DEGREE : TES_COARSEN_MESH;
}

/* Data for which no choice is good. */
static void warn(const TesProblem *p, const TesiSurvey *survey) {
  enum { JUMP = 300 };
  if (survey->jump > JUMP)
    tesi_log(p->context, TES_LOG_WARNING,
             "warning: a varies by a factor of %.1e within a cell, as where it jumps inside of cells: that "
             "takes many "
             "iterations; put faces of cells where it jumps (mesh.box.cells, mesh.box.spacing, materials of "
             "a mesh "
             "file), or let it change over several cells",
             survey->jump);
  if ((p->mesh->kind == TES_MESH_BOX && !survey->matrices) || p->options.smoother != TES_SMOOTHER_AUTO ||
      survey->stretch == TESI_EVEN)
    return;
  if (!has_cell_patches(p->space))
    tesi_log(p->context, TES_LOG_WARNING,
             "warning: cells are stretched, and smoothers for such cells end at degree 8: this takes many "
             "iterations");
}

static void tell_unused(const TesProblem *p, bool given, const char *key, const char *smoother) {
  if (given)
    tesi_log(p->context, TES_LOG_WARNING, "warning: %s has no effect: %s%s", key,
             smoother ? "the smoother is " : "nothing is smoothed, the system is solved directly",
             smoother ? smoother : "");
}

/* Options of smoothers that the smoother does not have which was chosen. The case reader knows these if the case
 * chooses. */
void tesi_problem_tell_unused(const TesProblem *p) {
  const TesSolveOptions *o = &p->options;
  const TesMultigrid *mg = p->multigrid;
  if (!mg || o->own_smoother) return;
  const TesSmoother *s = tes_multigrid_level(mg, tes_multigrid_levels(mg) - 1).smoother;
  const char *name = s ? tes_smoother_describe(s) : NULL;
  const bool chosen = o->smoother == TES_SMOOTHER_AUTO,
             patches = s && (s->kind == TES_SMOOTHER_PATCH || s->kind == TES_SMOOTHER_PATCH_ADDITIVE ||
                             !p->space->element->nodal),
             polynomial = s && p->space->element->nodal &&
                          (s->kind == TES_SMOOTHER_CHEBYSHEV || s->kind == TES_SMOOTHER_CELL_PATCH ||
                           s->kind == TES_SMOOTHER_LINE_PATCH);
  tell_unused(p, !s && !chosen, "solver.smoother", name);
  tell_unused(p, !s && o->pre, "solver.pre_smoothing", name);
  tell_unused(p, !s && o->post, "solver.post_smoothing", name);
  tell_unused(p, !polynomial && o->smoother_degree, "solver.smoother_degree", name);
  tell_unused(p, !patches && chosen && p->mesh->kind == TES_MESH_BOX && o->local != TES_LOCAL_AUTO,
              "solver.local_solver", name);
}

/* The reason why an operator cannot have sparse factors; NULL: it can, if the library is available. */
static const char *refuses_factors(const TesOperator *op) {
  return tesi_operator_refuses(&tesi_operator_assembled, &op->desc);
}

/* One level: the operator is a sum of products of 1D matrices, or its matrix is factorized. */
static TesStatus choose_direct(TesProblem *p, TesSmootherKind *smoother) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool separable = tesi_is_separable(p->op);
  const char *const reason = separable ? NULL : refuses_factors(p->op);
  TES_CHECK(
      !reason,
      "solver.method: direct is fast diagonalization of boxes with element q and constant a and c, else "
      "sparse factors, and here %s",
      reason);
  p->chosen.method = TES_METHOD_VCYCLE;
  p->options.coarse = separable ? TES_COARSE_AUTO : TES_COARSE_SPARSE;
  *smoother = TES_SMOOTHER_AUTO;
  choose_tolerance(p);
  snprintf(p->text.method, sizeof p->text.method, "direct: %s",
           separable ? "fast diagonalization of the box" : "sparse factors, refined to the tolerance");
done:
  return status;
}

/* Flops of factors that end a solve (100 s on one core, as was measured), and that are advised. */
static const double MOST_SERVING = 2e12, MOST_ADVISED = 1e13;

/* Whether factors, of which each rank has all, take at most so many flops. */
static bool can_factorize(const TesProblem *p, const TesiSurvey *survey, double most) {
  const bool cheap = survey->factor_flops < most &&
                     tesi_ranks(p->context) * survey->factor_bytes < 0.5 * (double)tes_memory_available();
  const bool can = cheap && !p->in_time && !p->equation->own && p->levels == p->op &&
                   !refuses_factors(p->op) && !tesi_factorization_missing(p->context);
  return !tesi_reduce_any(p->context, !can);
}

/* The same where nothing asks for cycles. */
static bool may_factorize(const TesProblem *p, const TesiSurvey *survey, double most) {
  const TesSolveOptions *o = &p->options;
  const bool free = o->method == TES_METHOD_AUTO && o->smoother == TES_SMOOTHER_AUTO && !o->own_smoother &&
                    o->coarse == TES_COARSE_AUTO && o->coarsening == TES_COARSEN_AUTO;
  return free && can_factorize(p, survey, most);
}

/* Advice for an iteration that does not converge. The test t9_advice has a case for each advice that is printed. */
static void advise(TesProblem *p, const TesiSurvey *survey) {
  const bool asked = p->options.smoother != TES_SMOOTHER_AUTO,
             factors = !p->chosen.factors_serve && survey->factor_flops > 0 &&
                       can_factorize(p, survey, MOST_ADVISED);
  snprintf(p->text.advice, sizeof p->text.advice, "%s",
           asked     ? "leave out solver.smoother, so that one is chosen"
           : factors ? "use solver.method: direct"
                     : "");
}

/* Systems for which cycles are slow and factors are cheap: thin bodies, whose bending coarse levels do not represent,
 * and coefficients that jump at random from cell to cell. */
static bool wants_factors(const TesProblem *p, const TesiSurvey *survey) {
  static const double most = 4e10; /* flops: 5 s on one core, as 100 iterations of 1e5 unknowns take */
  return may_factorize(p, survey, most) && ((p->equation->couples && survey->slender) || survey->rough);
}

static const char *const method_names[] = {"", "V-cycles", "full multigrid, then V-cycles",
                                           "GMRES, right-preconditioned by a V-cycle",
                                           "conjugate gradients, preconditioned by a symmetric V-cycle"};

/* A smoother of the calling program. */
static TesStatus choose_own(TesProblem *p, TesSmootherKind *smoother) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesSolveOptions *o = &p->options;
  const bool cg = o->own_smoother->symmetric && p->levels == p->op && !tesi_transport_of(p->op);
  TES_CHECK(o->smoother == TES_SMOOTHER_AUTO,
            "solver has own_smoother and the smoother %d: leave one of them out", (int)o->smoother);
  p->chosen.method = o->method != TES_METHOD_AUTO ? o->method : cg ? TES_METHOD_CG : TES_METHOD_GMRES;
  p->chosen.polynomial = o->smoother_degree;
  *smoother = TES_SMOOTHER_AUTO;
  choose_tolerance(p);
  snprintf(p->text.method, sizeof p->text.method, "%s, smoothed by the calling program",
           method_names[p->chosen.method]);
done:
  return status;
}

/* On trees, with degree 8. A bracket of split tetrahedra at degree 2 takes 16 iterations, and 20 with degree 5: the
 * same time on the processor, and 7 percent less on a GPU, whose coarse levels are latency. At degree 3 it takes 22
 * (27): the same time on a GPU and up to a tenth more on the processor. Steps in time start close to their solution. */
static int polynomial_of_couples(const TesProblem *p, const TesiSurvey *survey) {
  if (p->chosen.thin) return 12;
  return p->mesh->kind == TES_MESH_BOX || p->in_time ? survey->slim ? 7 : 5 : 8;
}

/* Discontinuous elements without a velocity have constant coefficients. The rounding of a float32 correction leaves a
 * residual of a few epsilon k^4 / h^2: from zero to 1e-6 GMRES takes three iterations, while it takes one in float64.
 * If there is no guess, full multigrid adds the float64 corrections of coarse levels. */
static bool starts_full(const TesProblem *p) {
  const TesiElement *e = p->space->element;
  return !e->nodal && !e->with_pressure && !p->in_time && !p->start && !tesi_transport_of(p->op);
}

TesStatus tesi_problem_choose(TesProblem *p, TesSmootherKind *smoother) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiSurvey survey;
  if (p->options.method == TES_METHOD_DIRECT) return choose_direct(p, smoother);
  if (p->options.own_smoother) return choose_own(p, smoother);
  TES_TRY(tesi_survey(p, &survey));
  if (wants_factors(p, &survey)) {
    p->options.method = TES_METHOD_DIRECT;
    p->chosen.cycle = TES_DOUBLE;
    return choose_direct(p, smoother);
  }
  p->chosen.factor_flops = survey.factor_flops;
  p->chosen.factors_serve = may_factorize(p, &survey, MOST_SERVING);
  p->chosen.thin = p->equation->couples && survey.thin;
  p->chosen.polynomial = p->options.smoother_degree;
  if (p->equation->couples && !p->chosen.polynomial) p->chosen.polynomial = polynomial_of_couples(p, &survey);
  if (p->mesh->kind == TES_MESH_BOX && !survey.matrices && aspect_ratio(p->space) > 1.5)
    survey.stretch = TESI_STRETCHED;
  if (p->equation->couples)
    survey.stretch = TESI_EVEN; /* no smoother of lines or cells serves several components */
  warn(p, &survey);
  p->chosen.coarsening = choose_coarsening(p, &survey);
  p->chosen.sheared = survey.sheared;
  const bool constant = tesi_operator_constant(p->levels) || starts_full(p),
             periodic = tesi_space_is_periodic(p->space->scalar[0]) && !constant; /* no patches of any kind */
  if (periodic && !survey.matrices) survey.stretch = TESI_EVEN;
  const TesiSituation situation = {
      .mesh = p->equation->couples || survey.matrices || periodic ? TES_MESH_CELLS : p->mesh->kind,
      .constant = constant,
      .stretch = (p->mesh->kind == TES_MESH_BOX && !survey.matrices) || has_cell_patches(p->space)
                     ? survey.stretch
                     : TESI_EVEN,
      .guess = p->start || p->in_time,
      .smoother = p->options.smoother,
      .method = p->options.method};
  const TesiChoice choice = tesi_choose(&situation);
  const TesiTransport *carried = tesi_transport_of(p->op);
  const bool ordered = carried && !carried->modal && p->levels == p->op;
  p->chosen.method = p->levels == p->op && !ordered ? choice.method : TES_METHOD_GMRES;
  p->chosen.full_start = choice.full_start && p->levels == p->op && !ordered;
  *smoother = ordered ? TES_SMOOTHER_ORDERED_CELLS : choice.smoother;
  TES_TRY(tesi_problem_doubt_precision(p));
  choose_tolerance(p);
  advise(p, &survey);
  snprintf(p->text.method, sizeof p->text.method, "%s%s%s",
           p->chosen.full_start ? "full multigrid, then " : "", method_names[p->chosen.method],
           p->options.method != TES_METHOD_AUTO ? ""
           : situation.stretch && (situation.constant || situation.mesh != TES_MESH_BOX)
               ? " (chosen: cells are anisotropic)"
               : " (chosen)");
done:
  return status;
}
