/* density u_tt - div(lambda div u I + 2 mu eps(u)) = f. mu is data.a; data.c is the density, in time multiplied by
 * sigma. */
#include "problem/equation/elastic.h"
#include <math.h>
#include <string.h>
#include "base/combined.h"
#include "geometry/normals.h"
#include "problem/equation/equations.h"
#include "problem/field_rows.h"
#include "problem/in_time.h"
#include "space/slip.h"

static int form(const TesProblem *p, TesTermDesc *term) {
  const TesiNumbered *n = &p->numbered;
  term[0] = (TesTermDesc){.term = TES_TERM_STRAIN, .a = {n->data.a, n->a}};
  term[1] = (TesTermDesc){.term = TES_TERM_GRAD_DIV, .a = {n->data.lambda, n->lambda}};
  term[2] = (TesTermDesc){.term = TES_TERM_MASS, .a = {n->data.c, n->c}};
  return p->in_time ? 3 : 2;
}

static TesStatus find_load(const TesProblem *p, bool all, TesVector *b) {
  TesStatus status = tesi_problem_load(p, p->numbered.data.f, p->numbered.f, all, b);
  for (int c = 0; c < p->mesh->dim && status == TES_OK; c++) {
    TesVector part = tesi_space_range(p->space, b, c);
    status = tesi_thermal_load(p, c, all, &part);
  }
  return status != TES_OK || all ? status : tesi_space_project(p->space, TES_DOUBLE, b->data);
}

static TesStatus load(const TesProblem *p, TesVector *b) {
  return find_load(p, false, b);
}

static TesStatus load_all(const TesProblem *p, const TesOperator *whole, TesVector *b) {
  (void)whole;
  return find_load(p, true, b);
}

static int shown(const TesProblem *p, TesiShown *shown) {
  const TesiNumbered *n = &p->numbered;
  const TesFunction *const *f = n->data.f;
  int count = 0;
  if (f[0] || f[1] || f[2])
    shown[count++] = (TesiShown){"f", {f[0], f[1], p->mesh->dim == 3 ? f[2] : NULL}, NULL};
  shown[count++] = (TesiShown){"mu", {n->data.a}, n->a};
  shown[count++] = (TesiShown){"lambda", {n->data.lambda}, n->lambda};
  return count;
}

static void place(const TesProblem *p, const TesiFieldRow *row, TesiField *f) {
  const TesiNumbered *n = &p->numbered;
  const bool data = row->from == TESI_FROM_DATA, materials = tes_mesh_materials(p->mesh) > 0;
  f->space = p->space->part[data ? 0 : row->part];
  if (row->from == TESI_FROM_RATE) f->vector = p->in_time->rate[row->part];
  if (row->from == TESI_FROM_U) f->vector = p->component[row->part];
  if (!data) return;
  const TesFunction *const all[] = {n->data.lambda, n->data.a, n->data.expansion},
                           **const list[] = {n->lambda, n->a, n->expansion};
  f->coefficient = all[row->part];
  if (materials) f->by_material = (const TesFunction *const *)list[row->part];
}

/* ---- checks and completion of data --------------------------------------------------------------------- */

/* 2 lambda mu / (lambda + 2 mu) */
static void find_plane_stress(double number, int64_t n, const double *const *value, double *out) {
  const double *lambda = value[0], *mu = value[1];
  (void)number;
  for (int64_t i = 0; i < n; i++) out[i] = lambda[i] * (2 * mu[i] / (lambda[i] + 2 * mu[i]));
}

/* *lambda <- the function of plane stress. */
static TesStatus flatten(TesContext *ctx, const TesFunction *mu, const TesFunction **lambda) {
  TesStatus status = TES_OK;
  double a, b;
  TesFunction *flat = NULL;
  if (tes_function_constant(*lambda, &a) && tes_function_constant(mu, &b)) {
    TES_TRY(tes_function_create_constant(ctx, 2 * a * b / (a + 2 * b), &flat));
  } else {
    TES_TRY(tesi_function_create_combined(ctx, find_plane_stress, 0, 2, (const TesFunction *[]){*lambda, mu},
                                          "callback", &flat));
    tesi_function_set_timed(flat, true);
  }
  TES_TRY(tesi_function_set_where(flat, tesi_function_where(*lambda)));
  tes_function_destroy((TesFunction **)lambda);
  *lambda = flat, flat = NULL;
done:
  tes_function_destroy(&flat);
  return status;
}

/* If a material gives one of the two constants, the body's value is taken for the other. */
static TesStatus flatten_all(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiNumbered *n = &p->numbered;
  for (int i = 0; i < tes_mesh_materials(p->mesh); i++) {
    if (!n->a[i] && !n->lambda[i]) continue;
    if (!n->lambda[i]) n->lambda[i] = tesi_function_retain(n->data.lambda);
    TES_TRY(flatten(ctx, n->a[i] ? n->a[i] : n->data.a, &n->lambda[i]));
  }
  TES_TRY(flatten(ctx, n->data.a, &n->data.lambda));
done:
  return status;
}

/* Defaults are mu = 1 and lambda = 0. Plane stress and thermal strain are completed afterwards. */
static TesStatus complete_data(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesData *d = &p->numbered.data;
  if (!d->a) TES_TRY(tes_function_create_constant(ctx, 1, (TesFunction **)&d->a));
  if (!d->lambda) TES_TRY(tes_function_create_constant(ctx, 0, (TesFunction **)&d->lambda));
  if (p->variant.plane == TES_PLANE_STRESS) TES_TRY(flatten_all(p));
  TES_TRY(tesi_thermal_complete(p));
done:
  return status;
}

/* Slip on faces whose normals are along the same axis: this component is 0, the others are free. Slip on other faces
 * is left to the space (space/slip.h). */
static TesStatus complete_boundaries(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int boundaries = tes_mesh_boundaries(p->mesh);
  TesiNormals *normals = NULL;
  bool slips = false;
  for (int i = 0; i < boundaries; i++) slips = slips || p->numbered.given[i].how[0] == TESI_NORMAL;
  if (!slips) return TES_OK;
  TES_ALLOC(&normals, boundaries);
  TES_TRY(tesi_mesh_normals(p->mesh, normals));
  for (int i = 0; i < boundaries; i++) {
    TesiHow *how = p->numbered.given[i].how;
    const unsigned axes = normals[i].axes;
    if (how[0] != TESI_NORMAL || !axes || axes & (axes - 1)) continue;
    if (p->numbered.given[i].g[TESI_AXES]) continue; /* a plane has no radius: see tesi_slip_push() */
    for (int c = 0; c < TESI_GIVEN_SCALARS; c++) how[c] = axes >> c & 1 ? TESI_STRONG : TESI_OPEN;
  }
done:
  tesi_free(ctx, &normals);
  return status;
}

/* ---- total forces -------------------------------------------------------------------------------------- */

/* The length of a group of curves, or the number of points of a group of points. */
static TesStatus find_area(const TesMesh *mesh, int degree, int boundary, double *area) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TesSpace *space = NULL;
  /* The quadrature of the load has this degree too, so the sum of the load is the force to round-off. */
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = degree}, &space));
  TES_TRY(tes_functional_value(
      space, NULL, &(TesValue){.kind = TES_VALUE_INTEGRAL, .where = TES_ON_BOUNDARY, .number = boundary},
      area));
done:
  tes_space_destroy(&space);
  return status;
}

static bool has_place(const TesFunction *force) {
  static const double x[2] = {0.13, 0.71}, y[2] = {0.37, -0.29}, z[2] = {0.59, 0.83};
  double value[2];
  if (!force) return false;
  tesi_function_values(force, 2, x, y, z, 0.41, value);
  return tesi_function_uses(force) || value[0] != value[1];
}

/* The reason why a boundary cannot have a total force; NULL: it can. */
static const char *refused_total(const TesProblem *p, int i) {
  const TesiGiven *on = &p->numbered.given[i];
  if (!tesi_given_open(on, p->mesh->dim) || on->alpha) return "a total force is a Neumann condition";
  for (int c = 0; c < p->mesh->dim && !p->before; c++)
    if (has_place(on->g[c])) return "a total force may depend on t alone; a traction may depend on the place";
  return NULL;
}

TesStatus tesi_elasticity_spread_force(const TesProblem *p, int degree, int i, TesiGiven *given) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double area, before = 1;
  TES_TRY(find_area(p->mesh, degree, i, &area));
  if (p->before) TES_TRY(find_area(p->before->mesh, degree, i, &before));
  for (int c = 0; c < p->mesh->dim; c++) {
    TesFunction *spread = NULL;
    if (!given->g[c]) continue;
    TES_TRY(tesi_function_affine(given->g[c], before / area, 0, &spread));
    tes_function_destroy((TesFunction **)&given->g[c]);
    given->g[c] = spread;
  }
done:
  return status;
}

static TesStatus spread_forces(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiGiven *given = p->numbered.given;
  const int degree = desc->degree ? desc->degree : p->equation->support->degree.usual;
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    if (given[i].total) {
      const char *reason = refused_total(p, i);
      if (reason) TES_FAIL(TES_INVALID_INPUT, "boundary.%s: %s", tes_mesh_boundary_name(p->mesh, i), reason);
      TES_TRY(tesi_elasticity_spread_force(p, degree, i, &given[i]));
    }
done:
  return status;
}

static TesStatus check(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_CHECK(p->variant.plane == TES_PLANE_STRAIN || p->mesh->dim == 2,
            "plane stress is for two dimensions, the mesh has three");
  TES_TRY(spread_forces(p, desc));
  if (p->before) return complete_boundaries(p); /* its numbers are complete */
  if (!desc->data.c) {
    tes_function_destroy((TesFunction **)&p->numbered.data.c);
    TES_TRY(tes_function_create_constant(ctx, 1, (TesFunction **)&p->numbered.data.c));
  }
  TES_TRY(complete_data(p));
  TES_TRY(complete_boundaries(p));
done:
  return status;
}

/* ---- -------------------------------------------------------------------------------------------------- */

static TesStatus complete(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_space_project(p->space, TES_DOUBLE, p->u->data)); /* of a cycle in float32 */
  if (p->lifting.lifted) TES_TRY(tes_vector_axpy(1, p->lifting.shift, p->u));
  TES_TRY(tesi_elasticity_remove_motions(p));
  TES_TRY(tesi_elasticity_totals(p, p->totals.load, p->totals.reaction));
done:
  return status;
}

static void tell(const TesProblemDesc *desc, int dim, TesiTold *told) {
  tesi_told_add(told, "%s-div(lambda div u I + 2 mu eps(u)) = f%s", desc->time.step > 0 ? "density u_tt " : "",
                dim == 3                          ? ""
                : desc->plane == TES_PLANE_STRESS ? ", plane stress"
                                                  : ", plane strain");
  if (*told->constants)
    tesi_told_add(told, "\ndata      %s", told->constants);
  else
    tesi_told_add(told, "\ndata      lambda = %s   mu = %s", tesi_told_text(desc->data.lambda, "0"),
                  tesi_told_text(desc->data.a, "1"));
  if (desc->data.temperature)
    tesi_told_add(told, "\n          expansion = %s   temperature = %s",
                  tesi_told_text(desc->data.expansion, "0"), tesi_told_text(desc->data.temperature, "0"));
  tesi_told_add(told, "%s", told->loads);
  for (int d = 0; d < dim && !*told->loads; d++)
    if (desc->data.f[d])
      tesi_told_add(told, "\n          f%c = %.200s", "xyz"[d], tes_function_text(desc->data.f[d]));
}

static const TesiLack lacks[] = {
    {TESI_HAS_CFL, "nothing flows through a body: take time.step or time.tolerance"},
    {TESI_HAS_BALANCE, "reports have all loads and reactions"},
    {TESI_HAS_MEAN_VELOCITY, "u is a displacement"},
    {TESI_HAS_GRAD_DIV, "there is no pressure"},
    {TESI_HAS_TIME, NULL}};
static const TesiSupport support = {
    .equation = TES_ELASTICITY,
    .element = TES_ELEMENT_Q,
    .meshes = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .usual = TESI_ON_GRID | TESI_ON_RINGS | TESI_ON_TREES,
    .degree = {.usual = 4, .least = 1, .most = 8, .kernels = 8},
    .has = TESI_HAS_ALWAYS | TESI_HAS_IN_TIME | TESI_BIT(TESI_HAS_LAMBDA) | TESI_BIT(TESI_HAS_MU) |
           TESI_BIT(TESI_HAS_YOUNG) | TESI_BIT(TESI_HAS_POISSON) | TESI_BIT(TESI_HAS_PLANE) |
           TESI_BIT(TESI_HAS_DENSITY) | TESI_BIT(TESI_HAS_EXPANSION) | TESI_BIT(TESI_HAS_TEMPERATURE) |
           TESI_BIT(TESI_HAS_GRAVITY) | TESI_BIT(TESI_HAS_ROTATION) | TESI_BIT(TESI_HAS_MATERIALS) |
           TESI_BIT(TESI_HAS_START_DISPLACEMENT) | TESI_BIT(TESI_HAS_START_VELOCITY) |
           TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_RHO_INF) | TESI_BIT(TESI_HAS_ADAPT) |
           TESI_BIT(TESI_HAS_REMESH) | TESI_BIT(TESI_HAS_DWR) | TESI_BIT(TESI_HAS_FIELD_AVERAGE) |
           TESI_BIT(TESI_HAS_FORCE_GOAL) | TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_CHECKPOINT),
    .words = {[TESI_OF_CONDITION] = TESI_WORD(TESI_NAMED_DISPLACEMENT) | TESI_WORD(TESI_NAMED_TRACTION) |
                                    TESI_WORD(TESI_NAMED_PRESSURE) | TESI_WORD(TESI_NAMED_ROLLER) |
                                    TESI_WORD(TESI_NAMED_SYMMETRY) | TESI_WORD(TESI_NAMED_RADIAL) |
                                    TESI_WORD(TESI_NAMED_FORCE) | TESI_WORD(TESI_NAMED_ROBIN),
              [TESI_OF_TIME_METHOD] = 1 | TESI_WORD(TES_TIME_BACKWARD_EULER) | TESI_WORD(TES_TIME_NEWMARK) |
                                      TESI_WORD(TES_TIME_GENERALIZED_ALPHA),
              [TESI_OF_METHOD] =
                  1 | TESI_WORD(TES_METHOD_GMRES) | TESI_WORD(TES_METHOD_CG) | TESI_WORD(TES_METHOD_DIRECT),
              [TESI_OF_LOCAL] = 1,
              [TESI_OF_ORDER] = TESI_ALL_WORDS,
              [TESI_OF_COARSENING] = TESI_ALL_WORDS,
              [TESI_OF_COARSE] = TESI_ALL_WORDS},
    .smoother = TESI_SMOOTHERS(1 | TESI_WORD(TES_SMOOTHER_CHEBYSHEV) | TESI_WORD(TES_SMOOTHER_JACOBI)),
    .because = {[TESI_OF_METHOD] =
                    "because V-cycles alone are smoothed by chebyshev or jacobi, which is too little"},
    .lacks = lacks,
    .judged = TESI_WORD(TES_TIME_NEWMARK) | TESI_WORD(TES_TIME_GENERALIZED_ALPHA),
    .vector = true,
    .groups = true,
    .ranks = {.meshes = TESI_ON_TREES,
              .has =
                  TESI_HAS_ALWAYS | TESI_BIT(TESI_HAS_LAMBDA) | TESI_BIT(TESI_HAS_MU) |
                  TESI_BIT(TESI_HAS_YOUNG) | TESI_BIT(TESI_HAS_POISSON) | TESI_BIT(TESI_HAS_PLANE) |
                  TESI_BIT(TESI_HAS_DENSITY) | TESI_BIT(TESI_HAS_MATERIALS) | TESI_BIT(TESI_HAS_EXPANSION) |
                  TESI_BIT(TESI_HAS_TEMPERATURE) | TESI_BIT(TESI_HAS_GRAVITY) | TESI_BIT(TESI_HAS_ROTATION) |
                  TESI_BIT(TESI_HAS_FORCE) | TESI_BIT(TESI_HAS_ADAPT) | TESI_BIT(TESI_HAS_DWR) |
                  TESI_BIT(TESI_HAS_FORCE_GOAL) | TESI_BIT(TESI_HAS_TIME) | TESI_BIT(TESI_HAS_STEP) |
                  TESI_BIT(TESI_HAS_STEADY_END) | TESI_BIT(TESI_HAS_SERIES) | TESI_BIT(TESI_HAS_AVERAGE) |
                  TESI_BIT(TESI_HAS_START_DISPLACEMENT) | TESI_BIT(TESI_HAS_START_VELOCITY) |
                  TESI_BIT(TESI_HAS_TOLERANCE) | TESI_BIT(TESI_HAS_RHO_INF) |
                  TESI_BIT(TESI_HAS_FIELD_AVERAGE) | TESI_BIT(TESI_HAS_CHECKPOINT) |
                  TESI_BIT(TESI_HAS_RESTART) | TESI_BIT(TESI_HAS_OTHER_RESTART) | TESI_BIT(TESI_HAS_REMESH)},
    .field = "displacement",
    .unknowns = "u",
    .tell = tell};
const TesiEquation tesi_elasticity = {.name = "elasticity",
                                      .support = &support,
                                      .form = form,
                                      .load = load,
                                      .load_all = load_all,
                                      .in_time = true,
                                      .second_order = true,
                                      .shown = shown,
                                      .place = place,
                                      .totals = tesi_elasticity_totals,
                                      .check = check,
                                      .balance = tesi_elasticity_balance,
                                      .complete = complete,
                                      .vary = tesi_elasticity_vary,
                                      .force = tesi_elasticity_force,
                                      .adjoint = &tesi_elasticity_adjoint,
                                      .vector = true,
                                      .stressed = true,
                                      .couples = true};
