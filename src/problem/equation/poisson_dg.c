/* -div(a grad u) + c u = f with discontinuous Q_k: interior penalties, and weakly given values on boundaries. */
#include <math.h>
#include "operator/dg/dg.h"
#include "problem/modal.h"
#include "problem/equation/equations.h"

static TesStatus load(const TesProblem *p, TesVector *b) {
  return tesi_rt_load(p->space, p->numbered.data.f, tesi_stokes_of(p->op)->nu, p->numbered.given,
                      p->options.penalty, b);
}

TesStatus tesi_modal_load_faces(const TesProblem *p, const TesOperator *op, TesVector *b) {
  const TesFunction *none[1] = {NULL};
  return tesi_rt_load(op->space, none, tesi_stokes_of(op)->nu, p->numbered.given, p->options.penalty, b);
}

static TesStatus check(TesProblem *p, const TesProblemDesc *desc) {
  (void)desc;
  TesSolveOptions *o = &p->options;
  if (o->pre == 0 && o->post >= 0 && (o->method == TES_METHOD_AUTO || o->method == TES_METHOD_GMRES) &&
      (o->smoother == TES_SMOOTHER_AUTO || o->smoother == TES_SMOOTHER_PATCH))
    o->pre = -1; /* takes less time than a cycle that smooths before and after */
  return TES_OK;
}

/* There is no lifting. If only fluxes are given, the data must be in balance: int f + int g = 0. */
TesStatus tesi_modal_balance(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesVector *one = p->op->null;
  double net, size, volume;
  if (!one) return TES_OK;
  TES_TRY(tes_vector_dot(p->b, one, &net));
  TES_TRY(tes_vector_dot(one, one, &volume));
  TES_TRY(tes_vector_norm(p->b, &size));
  TES_CHECK(fabs(net) <= 1e-8 * size * sqrt(volume),
            "boundary: only fluxes are given and c is 0: int f + int g must be 0, it is %.6g", net);
  TES_TRY(tes_vector_axpy(-net / volume, one, p->b));
done:
  return status;
}

/* If the constant is free, the mean of the solution becomes 0, or the mean of the exact solution. */
TesStatus tesi_modal_complete(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesVector *one = p->op->null;
  TesVector *exact = NULL;
  double sum, mean = 0, volume;
  if (!one) return TES_OK;
  TES_TRY(tes_vector_dot(p->u, one, &sum));
  TES_TRY(tes_vector_dot(one, one, &volume));
  if (p->exact[0]) {
    const TesFunction *f[3] = {p->exact[0]};
    TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &exact));
    TES_TRY(tesi_rt_load(p->space, f, 0, NULL, TES_PENALTY_AUTO, exact));
    TES_TRY(tes_vector_dot(exact, one, &mean));
  }
  TES_TRY(tes_vector_axpy((mean - sum) / volume, one, p->u));
done:
  tes_vector_destroy(&exact);
  return status;
}

static const TesiFlowEquation modal = {.scalar = true,
                                       .check = check,
                                       .lift = tesi_modal_balance,
                                       .load_faces = tesi_modal_load_faces,
                                       .complete = tesi_modal_complete};
static const TesiLack lacks[] = {TESI_LACKS_OF_SCALARS,
                                 {TESI_HAS_TIME, "poisson is steady"},
                                 {TESI_HAS_BALANCE, "transport without a velocity has it"},
                                 {TESI_HAS_MATERIALS, "a box has no materials"},
                                 {TESI_HAS_ADAPT, "boxes are not refined in places"},
                                 {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_POISSON,
    .element = TES_ELEMENT_DG,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS,
    .degree = {.usual = 4, .least = 1, .most = 15},
    .has = TESI_HAS_ALWAYS | TESI_BIT(TESI_HAS_NAME) | TESI_BIT(TESI_HAS_A) | TESI_BIT(TESI_HAS_C) |
           TESI_BIT(TESI_HAS_PENALTY) | TESI_BIT(TESI_HAS_CHECKPOINT),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_DIRICHLET) | TESI_WORD(TESI_NAMED_NEUMANN),
              [TESI_OF_METHOD] = TESI_ALL_WORDS,
              [TESI_OF_LOCAL] = 1 | TESI_WORD(TES_LOCAL_EXACT),
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = 1 | TESI_WORD(TES_COARSEN_MESH),
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_SMOOTHERS(1 | TESI_WORD(TES_SMOOTHER_PATCH) | TESI_WORD(TES_SMOOTHER_JACOBI) |
                               TESI_WORD(TES_SMOOTHER_CHEBYSHEV)),
    .lacks = lacks,
    .f = 1,
    .numbers = TESI_NUMBER_A | TESI_NUMBER_C,
    .modes = true,
    .field = "u",
    .unknowns = "u",
    .ranks = {.meshes = TESI_ON_GRID | TESI_ON_RINGS, .has = ~UINT64_C(0)},
    .tell = tesi_diffusion_tell};
const TesiEquation tesi_poisson_dg = {.name = "poisson",
                                      .support = &support,
                                      .f = 1,
                                      .form = tesi_diffusion_form,
                                      .load = load,
                                      .shown = tesi_diffusion_shown,
                                      .flow = &modal};
