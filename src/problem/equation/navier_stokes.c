/* u_t + (u . grad) u - nu Lap u + grad p = f, div u = 0, with continuous elements; nu is data.a. Steps: flow/split/.
 * Also the steady equation without u_t and (u . grad) u. */
#include <math.h>
#include "functional/functional.h"
#include "functional/rt/rt_functional.h"
#include "operator/operator.h"
#include "problem/equation/equations.h"
#include "problem/field_rows.h"
#include "problem/flow/split/split.h"

static int shown(const TesProblem *p, TesiShown *shown) {
  (void)p;
  (void)shown;
  return 0;
}

static void place(const TesProblem *p, const TesiFieldRow *row, TesiField *f) {
  const TesiSplit *pr = tesi_split_of(p);
  const bool pressure = row->from == TESI_FROM_P || row->part == TESI_AXES;
  f->space = pressure ? pr->taylor_hood->pressure : pr->full->part[row->part];
  f->vector = pressure ? &pr->p : p->component[row->part];
}

void tesi_navier_stokes_tell(const TesProblemDesc *desc, int dim, TesiTold *told) {
  tesi_told_add(told, "u_t + u . grad u - %s + grad p = f, div u = 0\ndata      nu = %s",
                desc->flow_form == TES_FLOW_SYMMETRIC ? "div(2 nu eps(u))" : "nu div(grad u)",
                tesi_told_text(desc->data.a, "1"));
  for (int d = 0; d < dim; d++)
    tesi_told_add(told, "\n          f%c = %.200s", "xyz"[d], tesi_told_text(desc->data.f[d], "0"));
}

static const TesiLack lacks[] = {TESI_LACKS_OF_NAVIER_STOKES, {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_NAVIER_STOKES,
    .element = TES_ELEMENT_Q,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .usual = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .degree = {.usual = 4, .least = 2, .most = 8},
    .has = TESI_HAS_ALWAYS | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_NU) | TESI_BIT(TESI_HAS_EXACT_VELOCITY) |
           TESI_BIT(TESI_HAS_EXACT_PRESSURE) | TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_MEAN_VELOCITY) |
           TESI_BIT(TESI_HAS_START_VELOCITY) | TESI_BIT(TESI_HAS_START_PRESSURE) | TESI_BIT(TESI_HAS_CFL) |
           TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_REMESH) |
           TESI_BIT(TESI_HAS_FIELD_AVERAGE) | TESI_BIT(TESI_HAS_GRAD_DIV),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_VELOCITY) | TESI_WORD(TESI_NAMED_SLIP) |
                                    TESI_WORD(TESI_NAMED_SYMMETRY) | TESI_WORD(TESI_NAMED_OUTFLOW) |
                                    TESI_WORD(TESI_NAMED_PRESSURE),
              [TESI_OF_FORM] = 1 | TESI_WORD(TES_FLOW_GRADIENT) | TESI_WORD(TES_FLOW_SYMMETRIC),
              [TESI_OF_STABILIZATION] = 1 | TESI_WORD(TES_STREAMLINE_NONE) | TESI_WORD(TESI_GRAD_DIV),
              [TESI_OF_TIME_METHOD] = 1 | TESI_WORD(TES_TIME_IMEX_BDF2),
              [TESI_OF_METHOD] = TESI_ALL_WORDS,
              [TESI_OF_LOCAL] = TESI_LOCALS_OF_SCALARS,
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = TESI_ALL_WORDS,
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_Q_SMOOTHERS(0),
    .lacks = lacks,
    .cfl = 0.3,
    .numbers = TESI_NUMBER_A | TESI_NUMBER_C,
    .only_in_time = true,
    .flow = true,
    .vector = true,
    .ranks = {.meshes = TESI_ON_TREES,
              .has = TESI_BIT(TESI_HAS_POINTS) | TESI_HAS_FILES | TESI_BIT(TESI_HAS_NU) |
                     TESI_BIT(TESI_HAS_EXACT_VELOCITY) | TESI_BIT(TESI_HAS_EXACT_PRESSURE) |
                     TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_TIME) | TESI_BIT(TESI_HAS_STEP) |
                     TESI_BIT(TESI_HAS_CFL) | TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_STEADY_END) |
                     TESI_BIT(TESI_HAS_SERIES) | TESI_BIT(TESI_HAS_AVERAGE) |
                     TESI_BIT(TESI_HAS_FIELD_AVERAGE) | TESI_BIT(TESI_HAS_MEAN_VELOCITY) |
                     TESI_BIT(TESI_HAS_GRAD_DIV) | TESI_BIT(TESI_HAS_START_VELOCITY) |
                     TESI_BIT(TESI_HAS_START_PRESSURE) | TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_REMESH) |
                     TESI_BIT(TESI_HAS_OTHER_RESTART) | TESI_BIT(TESI_HAS_RESTART)},
    .field = "u",
    .unknowns = "u, p",
    .tell = tesi_navier_stokes_tell};
const TesiEquation tesi_navier_stokes = {.name = "navier_stokes",
                                         .support = &support,
                                         .in_time = true,
                                         .shown = shown,
                                         .place = place,
                                         .force = tesi_split_force,
                                         .own = &tesi_split_own};

static const TesiLack lacks_of_stokes[] = {TESI_LACKS_OF_STOKES, {TESI_HAS_TIME, NULL}};
static const TesiSupport support_of_stokes = {
    .equation = TES_STOKES,
    .element = TES_ELEMENT_Q,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .usual = TESI_ON_TREES,
    .degree = {.usual = 4, .least = 2, .most = 8},
    .has = TESI_BIT(TESI_HAS_POINTS) | TESI_HAS_FILES | TESI_BIT(TESI_HAS_NU) |
           TESI_BIT(TESI_HAS_EXACT_VELOCITY) | TESI_BIT(TESI_HAS_EXACT_PRESSURE) | TESI_BIT(TESI_HAS_FORCE) |
           TESI_BIT(TESI_HAS_ALPHA) | TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_CHECKPOINT),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_VELOCITY) | TESI_WORD(TESI_NAMED_SLIP) |
                                    TESI_WORD(TESI_NAMED_SYMMETRY) | TESI_WORD(TESI_NAMED_OUTFLOW) |
                                    TESI_WORD(TESI_NAMED_PRESSURE),
              [TESI_OF_FORM] = 1 | TESI_WORD(TES_FLOW_GRADIENT) | TESI_WORD(TES_FLOW_SYMMETRIC),
              [TESI_OF_METHOD] = 1 | TESI_WORD(TES_METHOD_GMRES) | TESI_WORD(TES_METHOD_DIRECT),
              [TESI_OF_LOCAL] = TESI_LOCALS_OF_SCALARS,
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = TESI_ALL_WORDS,
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_Q_SMOOTHERS(0),
    .because = {[TESI_OF_METHOD] = "because the operator is indefinite"},
    .lacks = lacks_of_stokes,
    .numbers = TESI_NUMBER_A | TESI_NUMBER_C,
    .flow = true,
    .vector = true,
    .ranks = {.meshes = TESI_ON_TREES,
              .methods_of_one = TESI_WORD(TES_METHOD_DIRECT),
              .has = TESI_BIT(TESI_HAS_POINTS) | TESI_HAS_FILES | TESI_BIT(TESI_HAS_NU) |
                     TESI_BIT(TESI_HAS_EXACT_VELOCITY) | TESI_BIT(TESI_HAS_EXACT_PRESSURE) |
                     TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_ALPHA) | TESI_BIT(TESI_HAS_ADAPT) |
                     TESI_BIT(TESI_HAS_CHECKPOINT)},
    .field = "velocity, pressure",
    .unknowns = "u, p",
    .tell = tesi_stokes_tell};
/* The operator of the velocity, for gradients; the system is made by `own`. */
static int velocity_form(const TesProblem *p, TesTermDesc *term) {
  term[0] = (TesTermDesc){.term = p->variant.flow == TES_FLOW_SYMMETRIC ? TES_TERM_STRAIN : TES_TERM_DIFFUSION,
                          .a = {p->numbered.data.a, NULL}};
  term[1] = (TesTermDesc){.term = TES_TERM_MASS, .a = {p->numbered.data.c, NULL}};
  return 2;
}

const TesiEquation tesi_stokes_q = {.name = "stokes",
                                    .support = &support_of_stokes,
                                    .form = velocity_form,
                                    .adjoint = &tesi_steady_adjoint,
                                    .shown = shown,
                                    .place = place,
                                    .force = tesi_split_force,
                                    .own = &tesi_steady_own};

/* By Algorithm 4. */
static const TesiLack lacks_of_iso[] = {
    TESI_LACKS_OF_NAVIER_STOKES,
    {TESI_HAS_TOLERANCE, "its pressure is what divergence a step left, over the length of the step, and "
                         "jumps where steps become shorter"},
    {TESI_HAS_ADAPT, "boxes are not refined in places"},
    {TESI_HAS_REMESH, "boxes are not refined in places"},
    {TESI_HAS_MEAN_VELOCITY, "it needs boundaries in all directions"},
    {TESI_HAS_GRAD_DIV, "its steps are explicit"},
    {TESI_HAS_TIME, NULL}};
static const TesiSupport support_of_iso = {
    .equation = TES_NAVIER_STOKES,
    .element = TES_ELEMENT_ISO,
    .meshes = TESI_ON_GRID,
    .degree = {.usual = 1, .least = 1, .most = 1},
    .has = TESI_HAS_ALWAYS | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_NU) | TESI_BIT(TESI_HAS_EXACT_VELOCITY) |
           TESI_BIT(TESI_HAS_EXACT_PRESSURE) | TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_START_VELOCITY) |
           TESI_BIT(TESI_HAS_START_PRESSURE) | TESI_BIT(TESI_HAS_FIELD_AVERAGE) | TESI_BIT(TESI_HAS_CFL),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_VELOCITY) | TESI_WORD(TESI_NAMED_SLIP) |
                                    TESI_WORD(TESI_NAMED_SYMMETRY) | TESI_WORD(TESI_NAMED_OUTFLOW) |
                                    TESI_WORD(TESI_NAMED_PRESSURE),
              [TESI_OF_FORM] = 1 | TESI_WORD(TES_FLOW_GRADIENT),
              [TESI_OF_TIME_METHOD] = 1 | TESI_WORD(TES_TIME_EXPLICIT),
              [TESI_OF_METHOD] = 1 | TESI_WORD(TES_METHOD_CG) | TESI_WORD(TES_METHOD_DIRECT),
              [TESI_OF_LOCAL] = 1,
              [TESI_OF_ORDER] = 1,
              [TESI_OF_COARSENING] = 1,
              [TESI_OF_COARSE] = 1},
    .smoother = TESI_SMOOTHERS(1),
    .because = {[TESI_OF_FORM] = "because nu is a number",
                [TESI_OF_METHOD] = "because its steps solve for the pressure alone"},
    .lacks = lacks_of_iso,
    .cfl = 0.5,
    .numbers = TESI_NUMBER_A | TESI_NUMBER_C,
    .only_in_time = true,
    .flow = true,
    .vector = true,
    .halved = true,
    .field = "u",
    .unknowns = "u, p",
    .ranks = {.meshes = TESI_ON_GRID, .has = ~UINT64_C(0)},
    .tell = tesi_navier_stokes_tell};
const TesiEquation tesi_navier_stokes_iso = {.name = "navier_stokes",
                                             .support = &support_of_iso,
                                             .in_time = true,
                                             .shown = shown,
                                             .place = place,
                                             .force = tesi_split_force,
                                             .own = &tesi_explicit_own};

/* The norm of the pressure's error. If the pressure is undetermined, it is shifted to the mean of the exact
 * pressure. */
static TesStatus pressure_error(const TesProblem *p, const TesFunction *exact, double *l2) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const TesSpace *space = pr->taylor_hood->pressure;
  double mean, volume, integral;
  if (pr->walls.any_open) return tes_functional_error(space, &pr->p, &exact, l2, NULL, NULL, NULL);
  TES_TRY(tes_functional_load(&(TesLoadDesc){.space = space, .f = {exact}}, pr->work.ps));
  TES_TRY(tes_vector_dot(pr->mean.ones, pr->work.ps, &integral));
  TES_TRY(tes_functional_value(space, &pr->p, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &mean));
  TES_TRY(tes_functional_value(space, NULL, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &volume));
  TES_TRY(tes_vector_copy(&pr->p, 1, pr->work.ps));
  TES_TRY(tes_vector_axpy((integral - mean) / volume, pr->mean.ones, pr->work.ps));
  TES_TRY(tes_functional_error(space, pr->work.ps, &exact, l2, NULL, NULL, NULL));
done:
  return status;
}

static TesStatus norm_of(const TesProblem *p, int fields, const TesiField *field, const char *of,
                         double *norm) {
  const TesStatus status = tesi_functional_expression(
      p->space->scalar[0], fields, field, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = of}, norm);
  *norm = sqrt(fmax(*norm, 0));
  return status;
}

TesStatus tesi_navier_stokes_flow(const TesProblem *p, TesFlowResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSplit *pr = tesi_split_of(p);
  const int dim = p->mesh->dim;
  const TesFunction *const *exact = (const TesFunction *const *)p->exact;
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(p, field);
  double gradient;
  if (exact[0])
    TES_TRY(tes_functional_error(pr->full, &pr->u, exact, &result->velocity_l2, NULL, NULL, NULL));
  if (exact[0] && exact[dim]) TES_TRY(pressure_error(p, exact[dim], &result->pressure_l2));
  TES_TRY(norm_of(p, fields, field, dim == 2 ? "(ux + vy)*(ux + vy)" : "(ux + vy + wz)*(ux + vy + wz)",
                  &result->divergence_l2));
  TES_TRY(norm_of(p, fields, field,
                  dim == 2 ? "ux*ux + uy*uy + vx*vx + vy*vy"
                           : "ux*ux + uy*uy + uz*uz + vx*vx + vy*vy + vz*vz + wx*wx + wy*wy + wz*wz",
                  &gradient));
  result->divergence_relative = gradient > 0 ? result->divergence_l2 / gradient : 0;
  TES_TRY(tesi_functional_over_boundaries(p->space->scalar[0], fields, field,
                                          dim == 2 ? "u*nx + v*ny" : "u*nx + v*ny + w*nz",
                                          tesi_min(6, tes_mesh_boundaries(p->mesh)), result->flux));
done:
  return status;
}
