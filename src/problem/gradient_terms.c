/* Contributions of directions of the data to the derivative of a value: densities in the solution and the adjoint
 * solution. They are integrated with the quadrature of the problem's operator and loads. */
#include <stdio.h>
#include <string.h>
#include "functional/functional.h"
#include "operator/form.h"
#include "mesh/inner_faces.h"
#include "problem/field_rows.h"
#include "problem/variation.h"

enum { TEXT = 900, ENTRIES = 6 };

/* A density: a text in the adjoint's fields and d0, d1, .., which are directions. */
typedef struct Density {
  char text[TEXT];
  int directions;
  struct {
    const TesFunction *all, *const *by_material;
  } direction[ENTRIES];
  TesWhere where;
  int number, points;
  const TesiAdjointPart *part; /* whose name the text has; NULL: none */
} Density;

static bool is_zero(const TesFunction *f) {
  double value;
  return f && tes_function_constant(f, &value) && value == 0;
}

static bool vanishes(const TesProblem *p, const TesFunction *all, const TesFunction *const *by_material) {
  bool zero = is_zero(all);
  for (int i = 0; by_material && i < tes_mesh_materials(p->mesh); i++)
    zero = zero && (!by_material[i] || is_zero(by_material[i]));
  return zero;
}

static TesStatus integrate(const TesiAdjoint *s, const Density *d, double *cells, double *sum) {
  static const char *const names[ENTRIES] = {"d0", "d1", "d2", "d3", "d4", "d5"};
  TesContext *ctx = s->problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  const TesSpace *space = s->problem->space->scalar[0];
  double *own = NULL, value = 0;
  int fields = s->fields;
  const TesValue what = {.kind = TES_VALUE_INTEGRAL, .where = d->where, .number = d->number, .of = d->text};
  memcpy(field, s->field, sizeof s->field);
  if (d->part) fields = tesi_adjoint_part_fields(s, d->part, fields, field);
  for (int i = 0; i < d->directions; i++)
    field[fields++] = (TesiField){.name = names[i],
                                  .space = space,
                                  .derivative = TESI_FIELD_VALUE,
                                  .coefficient = d->direction[i].all,
                                  .by_material = d->direction[i].by_material};
  if (cells) TES_ALLOC(&own, s->problem->mesh->cells);
  const TesiSumOf of = {.by = TESI_SLOPE_NONE, .points = d->points, .cells = own};
  TES_TRY(tesi_functional_sum(space, fields, field, &what, &of, &value));
  *sum += value;
  for (int64_t c = 0; cells && c < s->problem->mesh->cells; c++) cells[c] += own[c];
done:
  tesi_free(ctx, &own);
  return status;
}

/* Adds "+ factor" and two names to the text. */
static void add_product(Density *d, const char *sign, const char *factor, const char *one, const char *other) {
  const size_t at = strlen(d->text);
  snprintf(d->text + at, TEXT - at, " %s %s%s*%s", sign, factor, one, other);
}

static const char *const u_name[3] = {"u", "v", "w"}, *const z_name[3] = {"zu", "zv", "zw"};
static const char *const u_slope[3][3] = {{"ux", "uy", "uz"}, {"vx", "vy", "vz"}, {"wx", "wy", "wz"}};
static const char *const z_slope[3][3] = {{"zux", "zuy", "zuz"}, {"zvx", "zvy", "zvz"}, {"zwx", "zwy", "zwz"}};

static int components(const TesProblem *p) {
  return tesi_adjoint_components(p);
}

/* ---- forms --------------------------------------------------------------------------------------------- */

/* - d grad u . grad z, of each component. */
static void write_diffusion(const TesProblem *p, Density *d) {
  for (int c = 0; c < components(p); c++)
    for (int e = 0; e < p->mesh->dim; e++) add_product(d, "-", "d0*", u_slope[c][e], z_slope[c][e]);
}

static void write_mass(const TesProblem *p, Density *d) {
  for (int c = 0; c < components(p); c++) add_product(d, "-", "d0*", u_name[c], z_name[c]);
}

/* - 2 d eps(u) : eps(z) = - d sum over r, c of (u_r,c + u_c,r) z_r,c */
static void write_strain(const TesProblem *p, Density *d) {
  for (int r = 0; r < p->mesh->dim; r++)
    for (int c = 0; c < p->mesh->dim; c++) {
      add_product(d, "-", "d0*", u_slope[r][c], z_slope[r][c]);
      add_product(d, "-", "d0*", u_slope[c][r], z_slope[r][c]);
    }
}

static void write_grad_div(const TesProblem *p, Density *d) {
  for (int r = 0; r < p->mesh->dim; r++)
    for (int c = 0; c < p->mesh->dim; c++) add_product(d, "-", "d0*", u_slope[r][r], z_slope[c][c]);
}

/* - d . grad u z, of the conservative form + u d . grad z */
static void write_transport(const TesProblem *p, const TesTermDesc *term, Density *d) {
  static const char *const factor[3] = {"d0*", "d1*", "d2*"};
  for (int e = 0; e < p->mesh->dim; e++)
    if (term->conservative)
      add_product(d, "+", factor[e], "u", z_slope[0][e]);
    else
      add_product(d, "-", factor[e], u_slope[0][e], "zu");
}

/* A matrix: entry r, c for all materials in `row`; the density points to them. */
static TesStatus integrate_matrix(const TesiAdjoint *s, const TesiVaried *v, const TesTermDesc *term,
                                  double *cells, double *sum) {
  TesContext *ctx = s->problem->context;
  TesStatus status = TES_OK;
  const TesProblem *p = s->problem;
  const int materials = tes_mesh_materials(p->mesh);
  const TesFunction **row = NULL;
  double otherwise;
  TES_ALLOC(&row, materials + 1);
  for (int r = 0; r < p->mesh->dim; r++)
    for (int c = 0; c < p->mesh->dim; c++) {
      Density d = {.points = p->space->degree + 1, .directions = 1};
      const TesFunction *all = tesi_function_entry(term->a.all, r, c, &otherwise);
      for (int i = 0; i < materials; i++) {
        const TesFunction *of = term->a.material ? term->a.material[i] : NULL, *entry = NULL;
        if (of) entry = tesi_function_entry(of, r, c, &otherwise);
        row[i] = of ? entry ? entry : v->zero : NULL;
      }
      d.direction[0].all = all ? all : v->zero, d.direction[0].by_material = row;
      if (vanishes(p, d.direction[0].all, row)) continue;
      add_product(&d, "-", "d0*", u_slope[0][c], z_slope[0][r]);
      TES_TRY(integrate(s, &d, cells, sum));
    }
done:
  tesi_free(ctx, &row);
  return status;
}

/* Through boundaries: -+ (d . n) u z */
static TesStatus integrate_through(const TesiAdjoint *s, const TesTermDesc *term, const Density *like,
                                   double *sum) {
  TesStatus status = TES_OK;
  for (int i = 0; term->through && i < tes_mesh_boundaries(s->problem->mesh) && status == TES_OK; i++) {
    Density d = *like;
    if (!term->through[i]) continue;
    d.where = TES_ON_BOUNDARY, d.number = i;
    snprintf(d.text, TEXT, "%s(d0*nx + d1*ny%s)*u*zu", term->through[i] > 0 ? "-" : "",
             s->problem->mesh->dim == 3 ? " + d2*nz" : "");
    status = integrate(s, &d, NULL, sum);
  }
  return status;
}

static TesStatus integrate_transport(const TesiAdjoint *s, const TesiVaried *v, const TesTermDesc *term,
                                     double *sum) {
  TesStatus status = TES_OK;
  Density d = {.points = s->problem->space->degree + 2, .directions = s->problem->mesh->dim};
  for (int e = 0; e < d.directions; e++) d.direction[e].all = term->b[e] ? term->b[e] : v->zero;
  write_transport(s->problem, term, &d);
  status = integrate(s, &d, NULL, sum);
  d.text[0] = 0;
  return status == TES_OK ? integrate_through(s, term, &d, sum) : status;
}

static TesStatus add_term(const TesiAdjoint *s, const TesiVaried *v, const TesTermDesc *term, double *cells,
                          double *sum) {
  const TesProblem *p = s->problem;
  Density d = {.points = p->space->scalar[0]->degree + 1,
               .directions = 1,
               .direction = {{term->a.all, term->a.material}},
               .where = term->term == TES_TERM_ROBIN ? TES_ON_BOUNDARY : TES_ON_DOMAIN,
               .number = term->boundary};
  if (term->term == TES_TERM_TRANSPORT) return integrate_transport(s, v, term, sum);
  if (vanishes(p, term->a.all, term->a.material)) return TES_OK;
  if (term->term == TES_TERM_DIFFUSION && tesi_coefficient_is_matrix(&term->a, tes_mesh_materials(p->mesh)))
    return integrate_matrix(s, v, term, cells, sum);
  if (term->term == TES_TERM_DIFFUSION) write_diffusion(p, &d);
  if (term->term == TES_TERM_MASS || term->term == TES_TERM_ROBIN) write_mass(p, &d);
  if (term->term == TES_TERM_STRAIN) write_strain(p, &d);
  if (term->term == TES_TERM_GRAD_DIV) write_grad_div(p, &d);
  return integrate(s, &d, term->term == TES_TERM_ROBIN ? NULL : cells, sum);
}

TesStatus tesi_adjoint_add_forms(const TesiAdjoint *s, TesiVaried *v, double *cells, double *sum) {
  TesContext *ctx = s->problem->context;
  TesStatus status = TES_OK;
  TesTermDesc term[TESI_TERMS];
  const int count = s->problem->equation->form(&v->like, term), names = tes_mesh_boundaries(s->problem->mesh);
  for (int i = 0; i < count; i++) TES_TRY(add_term(s, v, &term[i], cells, sum));
  for (int i = 0; i < names; i++) {
    const TesFunction *alpha = v->given[i].alpha;
    const bool group = tesi_mesh_is_group(s->problem->mesh, i) && !tesi_mesh_is_inner(s->problem->mesh, i);
    if (tesi_function_is_zero(alpha)) continue;
    if (group)
      TES_FAIL(TES_INVALID_INPUT, "boundary.%s: springs on curves and points are not differentiated",
               tes_mesh_boundary_name(s->problem->mesh, i));
    TES_TRY(add_term(s, v, &(TesTermDesc){.term = TES_TERM_ROBIN, .a.all = alpha, .boundary = i}, NULL, sum));
  }
done:
  return status;
}

/* ---- loads --------------------------------------------------------------------------------------------- */

static TesStatus add_cells(const TesiAdjoint *s, const TesiVaried *v, double *cells) {
  TesStatus status = TES_OK;
  const TesProblem *p = s->problem;
  const TesiNumbered *n = &v->like.numbered;
  double sum = 0;
  for (int c = 0; c < components(p) && status == TES_OK; c++) {
    Density d = {
        .points = p->space->scalar[0]->degree + 3, .directions = 1, .direction = {{n->data.f[c], n->f[c]}}};
    if (!tesi_space_box(p->space->scalar[c])) d.points = tesi_min(d.points, TESI_GEOMETRY_POINTS);
    if (vanishes(p, n->data.f[c], n->f[c])) continue;
    snprintf(d.text, TEXT, "d0*%s", z_name[c]);
    status = integrate(s, &d, cells, &sum);
  }
  return status;
}

/* The load that z multiplies. */
static TesStatus load_of(const TesiAdjoint *s, const TesProblem *like, TesVector *b) {
  const TesiAdjointOf *of = like->equation->adjoint;
  return of && of->load && (s->weight || !like->equation->load) ? of->load(like, b)
                                                                : like->equation->load(like, b);
}

/* *sum += z . the load of a problem. */
static TesStatus add_load(const TesiAdjoint *s, const TesProblem *like, double *sum) {
  TesContext *ctx = like->context;
  TesStatus status = TES_OK;
  TesVector *b = NULL;
  double value;
  TES_TRY(tesi_vector_create_on(like->space->layout, TES_DOUBLE, &b));
  TES_TRY(load_of(s, like, b));
  TES_TRY(tes_vector_dot(s->z, b, &value));
  *sum += value;
done:
  tes_vector_destroy(&b);
  return status;
}

/* Whether a direction changes the load. */
static bool loads(const TesProblem *p, const TesiVaried *v, bool heated) {
  const TesiNumbered *n = &v->like.numbered;
  bool any = heated;
  for (int i = 0; tesi_problem_is_flow(p) && i < tes_mesh_boundaries(p->mesh); i++)
    any = any || v->given[i].g[p->mesh->dim];
  for (int c = 0; c < components(p); c++) {
    any = any || !vanishes(p, n->data.f[c], n->f[c]);
    for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
      any = any || (v->given[i].g[c] && !tesi_problem_given(p, i, c));
  }
  return any;
}

/* A thermal load is a product of strain and stiffness. Its direction is the sum of two loads: each factor is varied
 * with the other one unchanged. */
TesStatus tesi_adjoint_add_loads(const TesiAdjoint *s, TesiVaried *v, double *cells, double *sum) {
  TesStatus status = TES_OK;
  const TesiNumbered *own = &s->problem->numbered, kept = v->like.numbered;
  TesiNumbered *n = &v->like.numbered;
  const bool heated = tesi_numbered_heated(s->problem->mesh, own),
             heats = tesi_numbered_heated(s->problem->mesh, n);
  if (cells) status = add_cells(s, v, cells);
  n->data.expansion = own->data.expansion, n->expansion = own->expansion;
  if (!heated) n->data.expansion = v->zero, n->expansion = kept.expansion;
  if (status == TES_OK && loads(s->problem, v, heated)) status = add_load(s, &v->like, sum);
  *n = kept;
  if (status != TES_OK || !heats) return status;
  n->data.a = own->data.a, n->a = own->a;
  n->data.lambda = own->data.lambda, n->lambda = own->lambda;
  for (int c = 0; c < TESI_AXES; c++) n->data.f[c] = v->zero, n->f[c] = v->none;
  n->given = v->none_given;
  status = add_load(s, &v->like, sum);
  *n = kept;
  return status;
}

/* ---- boundary values ----------------------------------------------------------------------------------- */

static bool gives(const TesProblem *p, const TesiGiven *given) {
  for (int i = 0; i < tes_mesh_boundaries(p->mesh); i++)
    for (int c = 0; c < components(p); c++)
      if (tesi_problem_given(p, i, c) && !tesi_function_is_zero(given[i].g[c])) return true;
  return false;
}

/* u <- directions of given values, r <- - A u where z is not 0. */
static TesStatus lift(const TesiAdjoint *s, TesiVaried *v, TesVector *u, TesVector *r) {
  TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiAdjointOf *of = p->equation->adjoint;
  if (of && of->lift) return of->lift(p, v->given, u, r);
  TES_TRY(tesi_problem_values(&v->like, p->space, u));
  if (!s->weight) return tes_operator_lift(p->op, u, r);
  TES_TRY(of->apply(p, u, r));
  TES_TRY(tes_vector_copy(r, -1, r));
done:
  return status;
}

TesStatus tesi_adjoint_add_given(const TesiAdjoint *s, TesiVaried *v, double *sum) {
  const TesProblem *p = s->problem;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *u = NULL, *r = NULL;
  double direct, rest;
  if (!gives(p, v->given)) return TES_OK;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &u));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &r));
  TES_TRY(lift(s, v, u, r));
  TES_TRY(tes_vector_dot(s->slope, u, &direct));
  TES_TRY(tes_vector_dot(s->z, r, &rest));
  *sum += direct + rest;
done:
  tes_vector_destroy(&u);
  tes_vector_destroy(&r);
  return status;
}

/* ---- the value itself ---------------------------------------------------------------------------------- */

static TesStatus add_name(const TesiAdjoint *s, const TesiVaried *v, const TesValue *what, int fields,
                          const TesiField *own, int i, const TesiField *direction, double *cells, double *sum) {
  enum { BEFORE = 3 }; /* m, its direction, and s = 0: the value is differentiated by s */
  TesContext *ctx = s->problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  double *part = NULL, value = 0;
  const TesSpace *space = s->problem->space->scalar[0];
  memcpy(field + BEFORE, own, (size_t)fields * sizeof *own);
  field[0] = own[i], field[1] = *direction, field[2] = own[i];
  field[0].name = "datum_as_it_is", field[1].name = "datum_direction", field[2].name = "datum_step";
  field[2].coefficient = v->zero, field[2].by_material = NULL;
  field[BEFORE + i].text = "datum_as_it_is + datum_step*datum_direction";
  if (cells) TES_ALLOC(&part, s->problem->mesh->cells);
  const TesiSumOf of = {.by = 2, .cells = part};
  TES_TRY(tesi_functional_sum(space, BEFORE + fields, field, what, &of, &value));
  *sum += value;
  for (int64_t c = 0; cells && c < s->problem->mesh->cells; c++) cells[c] += part[c];
done:
  tesi_free(ctx, &part);
  return status;
}

/* The same of stresses that are written with a number for data.a. */
static TesStatus add_stress(const TesiAdjoint *s, const TesiVaried *v, const TesiAdjointPart *part,
                            double *sum) {
  const TesProblem *p = s->problem;
  const TesiAdjointOf *of = p->equation->adjoint;
  const TesFunction *a = v->like.numbered.data.a;
  char stress[TESI_AXES][TESI_STRESS_TEXT], text[TESI_SHARED_TEXT];
  Density d = {.directions = 1,
               .direction = {{a, NULL}},
               .where = TES_ON_BOUNDARY,
               .number = part->what.number,
               .part = part};
  if (!part->shared || !of->stress || vanishes(p, a, NULL)) return TES_OK;
  for (int c = 0; c < p->mesh->dim; c++) of->stress(p, c, "d0", stress[c]);
  tesi_force_write(p->mesh->dim, stress, part->component, part->slip, text);
  snprintf(d.text, TEXT, "%s", text);
  return integrate(s, &d, NULL, sum);
}

TesStatus tesi_adjoint_add_value(const TesiAdjoint *s, TesiVaried *v, double *cells, double *sum) {
  TesStatus status = TES_OK;
  TesiField own[TESI_FIELDS], direction[TESI_FIELDS];
  const int listed = tesi_problem_fields(s->problem, own);
  tesi_problem_fields(&v->like, direction);
  for (const TesiAdjointPart *part = s->part; part < s->part + s->parts && status == TES_OK; part++) {
    const int fields = tesi_adjoint_part_fields(s, part, listed, own);
    for (int i = 0; i < listed && status == TES_OK; i++) {
      if (!own[i].coefficient || own[i].text) continue;
      if (vanishes(s->problem, direction[i].coefficient, direction[i].by_material)) continue;
      status = add_name(s, v, &part->what, fields, own, i, &direction[i], cells, sum);
    }
    if (status == TES_OK) status = add_stress(s, v, part, sum);
  }
  return status;
}
