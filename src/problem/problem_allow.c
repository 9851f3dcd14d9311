/* Compares a description with the row of its equation and element (support.h). */
#include <math.h>
#include "device/kernel.h"
#include "mesh/mesh.h"
#include "parallel/comm.h"
#include "problem/problem.h"
#include "problem/support.h"

bool tesi_problem_is_timed(const TesTimeDesc *time) {
  return time->start != 0 || time->end != 0 || time->step != 0 || time->cfl != 0 || time->tolerance != 0;
}

static TesStatus refused(TesContext *ctx, const char *where, const char *name, const TesiRefusal *refusal) {
  TesStatus status = TES_OK;
  TES_FAIL(refusal->missing ? TES_MISSING : TES_INVALID_INPUT, "%s%s%s%s%s: %s", where ? where : "",
           where ? ": " : "", refusal->key, name ? "." : "", name ? name : "", refusal->reason);
done:
  return status;
}

bool tesi_problem_has(const TesProblem *p, TesiHas what) {
  return p->equation->support && p->equation->support->has & TESI_BIT(what);
}

TesStatus tesi_problem_allow_more(const TesProblem *p, uint64_t has) {
  const TesiAsked asked = {.mesh = tesi_mesh_row(p->mesh), .has = has, .ranks = tesi_ranks(p->context) > 1};
  const TesiSupport *row = p->equation->support;
  TesiRefusal refusal;
  const bool no = row && tesi_support_refuse(row, &asked, 1, &refusal);
  return no ? refused(p->context, NULL, NULL, &refusal) : TES_OK;
}

static uint64_t features_of(const TesProblemDesc *desc) {
  const TesTimeDesc *t = &desc->time;
  const struct {
    TesiHas what;
    bool asked;
  } all[] = {{TESI_HAS_B, desc->data.b[0] || desc->data.b[1] || desc->data.b[2]},
             {TESI_HAS_MATERIALS, desc->materials > 0},
             {TESI_HAS_NAME, desc->name != NULL},
             {TESI_HAS_EXPANSION, desc->data.expansion != NULL},
             {TESI_HAS_TEMPERATURE, desc->data.temperature != NULL},
             {TESI_HAS_MEAN_VELOCITY, desc->mean_components != 0},
             {TESI_HAS_TIME, tesi_problem_is_timed(t)},
             {TESI_HAS_STEP, t->step > 0},
             {TESI_HAS_CFL, t->cfl > 0},
             {TESI_HAS_TOLERANCE, t->tolerance > 0},
             {TESI_HAS_BALANCE, desc->balance},
             {TESI_HAS_FIELD_AVERAGE, desc->average},
             {TESI_HAS_GRAD_DIV, desc->grad_div},
             {TESI_HAS_ADDED_LOAD, desc->add_load != NULL}};
  uint64_t asked = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].asked) asked |= TESI_BIT(all[i].what);
  return asked;
}

TesStatus tesi_problem_find_equation(TesContext *ctx, const TesProblemDesc *desc,
                                     const TesiEquation **equation) {
  TesStatus status = TES_OK;
  TesiRefusal refusal;
  int equations = 0, elements = 0;
  while (tesi_equation_words[equations]) equations++;
  while (tesi_element_words[elements]) elements++;
  const TesiRange ranges[] = {
      {"equation", TESI_WHOLE, offsetof(TesProblemDesc, equation), 0, equations - 1, NULL, 0},
      {"element", TESI_WHOLE, offsetof(TesProblemDesc, element), 0, elements - 1, NULL, 0}};
  TES_TRY(tesi_support_check(ctx, desc, 2, ranges));
  const TesiSupport *row = tesi_support_find(desc->equation, desc->element,
                                             desc->mesh ? tesi_mesh_row(desc->mesh) : TESI_GRID, &refusal);
  if (!row) TES_TRY(refused(ctx, NULL, NULL, &refusal));
  for (int i = 0; i < tesi_equation_count; i++)
    if (tesi_equations[i]->support == row) *equation = tesi_equations[i];
done:
  return status;
}

static TesiAsked asked_of(const TesContext *ctx, const TesiSupport *row, const TesProblemDesc *desc,
                          uint64_t more) {
  const TesSolveOptions *o = &desc->solver;
  const bool conservative = desc->transport_form == TES_TRANSPORT_CONSERVATIVE;
  return (TesiAsked){.mesh = tesi_mesh_row(desc->mesh),
                     .dim = desc->mesh->dim,
                     .degree = desc->degree ? desc->degree : row->degree.usual,
                     .kernels = tesi_has_kernels(ctx),
                     .ranks = tesi_ranks(ctx) > 1,
                     .whole = true,
                     .has = features_of(desc) | more,
                     .word = {[TESI_OF_FORM] = conservative ? TESI_FORM_CONSERVATIVE : (int)desc->flow_form,
                              [TESI_OF_STABILIZATION] = (int)desc->stabilization,
                              [TESI_OF_TIME_METHOD] = (int)desc->time.method,
                              [TESI_OF_METHOD] = (int)o->method,
                              [TESI_OF_SMOOTHER] = (int)o->smoother,
                              [TESI_OF_LOCAL] = (int)o->local,
                              [TESI_OF_ORDER] = (int)o->order,
                              [TESI_OF_COARSENING] = (int)o->coarsening,
                              [TESI_OF_COARSE] = (int)o->coarse}};
}

TesStatus tesi_problem_allow_ranks(TesContext *ctx, const TesiSupport *row, const TesProblemDesc *desc,
                                   TesiMeshRow mesh, bool gpus) {
  TesStatus status = TES_OK;
  TesiRefusal refusal;
  TesiAsked asked = asked_of(ctx, row, desc, 0);
  asked.ranks = true, asked.kernels = gpus, asked.mesh = mesh;
  if (tesi_support_refuse(row, &asked, 1, &refusal)) TES_TRY(refused(ctx, NULL, NULL, &refusal));
done:
  return status;
}

TesStatus tesi_problem_allow(TesContext *ctx, const TesiSupport *row, const TesProblemDesc *desc,
                             uint64_t more) {
  TesStatus status = TES_OK;
  TesiRefusal refusal;
  const TesiAsked asked = asked_of(ctx, row, desc, more);
  if (tesi_support_refuse(row, &asked, 1, &refusal)) TES_TRY(refused(ctx, NULL, NULL, &refusal));
  for (int c = 0; c < desc->mesh->dim; c++)
    TES_CHECK(!(desc->mean_components >> c & 1) || isfinite(desc->mean_velocity[c]),
              "the mean velocity in direction %c is not finite", "xyz"[c]);
  for (int i = 0; i < desc->boundaries; i++) {
    const TesBoundary *b = &desc->boundary[i];
    if (b->condition >= TES_DIRICHLET && b->condition <= TES_FLUX &&
        tesi_support_refuses_condition(row, b, desc->mesh->dim, &refusal))
      TES_TRY(refused(ctx, b->where, b->name ? b->name : "all", &refusal));
  }
done:
  return status;
}

TesStatus tesi_problem_allow_numbers(const TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiSupport *row = p->equation->support;
  const TesData *data = &p->numbered.data;
  double value;
  for (int i = 0; i < 2 && row; i++) {
    const TesFunction *f = i ? data->c : data->a;
    const char *const name = row->flow ? i ? "alpha" : "nu" : i ? "c" : "a";
    TES_CHECK(!(row->numbers & (i ? TESI_NUMBER_C : TESI_NUMBER_A)) || !f || tes_function_constant(f, &value),
              "%s%s is %.100s, expected a number%s: element %s has constants alone", tesi_function_where(f),
              name, tes_function_text(f), i && row->flow ? " >= 0" : "", tesi_element_words[row->element]);
  }
done:
  return status;
}

TesStatus tesi_problem_flow_numbers(const TesProblem *p, double *nu, double *alpha) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesData *data = &p->numbered.data;
  *nu = 1;
  if (data->a) tes_function_constant(data->a, nu);
  TES_CHECK(*nu > 0 && isfinite(*nu), "nu is %g, expected > 0", *nu);
  TES_CHECK(tes_function_constant(data->c, alpha) && *alpha >= 0 && isfinite(*alpha),
            "alpha is \"%.100s\", expected a number >= 0", tes_function_text(data->c));
  TES_TRY(tesi_problem_allow_more(p, *alpha == 0 ? 0 : TESI_BIT(TESI_HAS_ALPHA)));
done:
  return status;
}
