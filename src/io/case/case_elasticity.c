/* Elasticity in case files: the shapes of its values, its constants, and which keys belong to which problem. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "io/expression/expression.h"

static const TesiYaml *given(const TesiCaseReader *r, const char *path) {
  return r->node[tesi_case_row(path)];
}

static TesStatus refuse(TesiCaseReader *r, const char *path, const char *why) {
  const TesiYaml *node = given(r, path);
  return node ? tesi_case_error(r, tesi_case_row(path), node, "%s", why) : TES_OK;
}

/* A list: its length was compared when it was read. */
static TesStatus check_list(TesiCaseReader *r, const char *path) {
  const int row = tesi_case_row(path);
  const TesiYaml *node = r->node[row];
  if (!node || node->kind != TESI_YAML_SCALAR) return TES_OK;
  return tesi_case_error(r, row, node, "expected a list of expressions, one a direction");
}

TesStatus tesi_case_check_elastic_face(TesiCaseReader *r, const char *path, const TesiCaseFace *face) {
  static const char *const lists[] = {"displacement", "traction", "robin.g"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int row = tesi_case_row(path);
  char below[80];
  if (face->condition != TESI_CASE_DISPLACEMENT && face->condition != TESI_CASE_TRACTION &&
      face->condition != TESI_CASE_ROLLER && face->condition != TESI_CASE_PRESSURE &&
      face->condition != TESI_CASE_ROBIN)
    return tesi_case_error(r, row, r->node[row],
                           "elasticity has displacement, traction, pressure, roller and robin");
  const int condition = face->condition == TESI_CASE_DISPLACEMENT ? 0
                        : face->condition == TESI_CASE_TRACTION   ? 1
                        : face->condition == TESI_CASE_ROBIN      ? 2
                                                                  : -1;
  if (condition < 0) return TES_OK;
  snprintf(below, sizeof below, "%s.%s", path, lists[condition]);
  const TesiYaml *node = r->node[tesi_case_row(below)];
  const bool exact = condition == 0 && node && node->kind == TESI_YAML_SCALAR && !strcmp(node->text, "exact");
  if (!exact) TES_TRY(check_list(r, below));
  if (condition == 0 && face->free == (1u << tesi_case_dim(r)) - 1)
    TES_TRY(
        tesi_case_error(r, tesi_case_row(below), node, "all components are null: a traction of 0 says that"));
done:
  return status;
}

static TesStatus refuse_keys_of_elasticity(TesiCaseReader *r) {
  static const char *const keys[] = {"data.lambda",  "data.mu",      "data.young",
                                     "data.poisson", "data.density", "data.initial.displacement"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int initial = tesi_case_row("data.initial");
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    TES_TRY(refuse(r, keys[i], "belongs to elasticity"));
  TES_TRY(refuse(r, "data.plane", "belongs to elasticity"));
  if (tesi_case_is_flow(r)) goto done;
  TES_TRY(refuse(r, "data.initial.velocity", "belongs to elasticity and navier_stokes"));
  if (r->node[initial] && r->node[initial]->kind == TESI_YAML_MAP && !r->error_count &&
      !r->node[tesi_case_row("data.initial.file")])
    TES_TRY(tesi_case_error(r, initial, r->node[initial], "expected one expression, or {file: FILE}"));
done:
  return status;
}

static TesStatus refuse_keys_of_others(TesiCaseReader *r) {
  static const char *const keys[] = {"data.a", "data.c"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesiCaseDraft *d = &r->draft;
  const int element = tesi_case_row("space.element"), initial = tesi_case_row("data.initial");
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    TES_TRY(refuse(r, keys[i], "belongs to poisson and transport"));
  if (d->c.problem.element > TES_ELEMENT_Q)
    TES_TRY(tesi_case_error(r, element, r->node[element], "elasticity has the element q"));
  if (r->node[initial] && r->node[initial]->kind != TESI_YAML_MAP)
    TES_TRY(tesi_case_error(r, initial, r->node[initial],
                            "expected {displacement: [..], velocity: [..]} or {file: FILE}"));
  if (tesi_case_dim(r) == 3) TES_TRY(refuse(r, "data.plane", "is for two dimensions, the mesh has three"));
done:
  return status;
}

static TesStatus check_number(TesiCaseReader *r, const char *path, const TesFunction *f, double low,
                              double high, const char *expected) {
  const int row = tesi_case_row(path);
  double value;
  if (!f || !tes_function_constant(f, &value) || (value > low && value < high)) return TES_OK;
  return tesi_case_error(r, row, r->node[row], "expected %s, got %g", expected, value);
}

/* *to <- the expression; `where` as that of `like`. */
static TesStatus compose(TesContext *ctx, const char *format, const TesFunction *young,
                         const TesFunction *poisson, TesFunction **to) {
  TesStatus status = TES_OK;
  const char *E = tes_function_text(young), *nu = tes_function_text(poisson);
  const size_t size = strlen(E) + 3 * strlen(nu) + 64;
  char *text = NULL;
  TES_ALLOC(&text, size);
  snprintf(text, size, format, E, nu, nu, nu);
  TES_TRY(tes_function_create_expression(ctx, text, to));
  TES_TRY(tesi_function_set_where(*to, tesi_function_where(young)));
done:
  tesi_free(ctx, &text);
  return status;
}

TesStatus tesi_case_elastic_constants(TesiCaseReader *r, const TesiYaml *node, const char *path,
                                      TesFunction **young, TesFunction **poisson, TesFunction **lambda,
                                      TesFunction **mu) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int row = tesi_case_row(path);
  const bool lame = *lambda || *mu, engineers = *young || *poisson;
  if (lame && engineers)
    return tesi_case_error(r, row, node,
                           "both pairs of constants are given: expected lambda and mu, or young and poisson");
  if ((lame && !(*lambda && *mu)) || (engineers && !(*young && *poisson)))
    return tesi_case_error(r, row, node, "%s is missing: expected lambda and mu, or young and poisson",
                           lame     ? *lambda ? "mu" : "lambda"
                           : *young ? "poisson"
                                    : "young");
  if (!engineers) return TES_OK;
  TES_TRY(check_number(r, "data.young", *young, 0, 1e300, "a number > 0"));
  TES_TRY(check_number(r, "data.poisson", *poisson, -1, 0.5, "a number > -1 and < 1/2"));
  if (r->error_count) goto done;
  TES_TRY(compose(ctx, "(%s)*(%s)/((1 + (%s))*(1 - 2*(%s)))", *young, *poisson, lambda));
  TES_TRY(compose(ctx, "(%s)/(2*(1 + (%s)))", *young, *poisson, mu));
done:
  return status;
}

/* Stable: mu > 0, dim lambda + 2 mu > 0, of numbers; of functions the operator tells the point. */
static TesStatus check_stable(TesiCaseReader *r) {
  const TesiCaseDraft *d = &r->draft;
  double lambda, mu;
  const int dim = tesi_case_dim(r), row = tesi_case_row("data.lambda");
  if (!r->node[row] || !tes_function_constant(d->a, &mu) || !tes_function_constant(d->lambda, &lambda))
    return TES_OK;
  if (mu > 0 && dim * lambda + 2 * mu > 0) return TES_OK;
  const int wrong = mu > 0 ? row : tesi_case_row("data.mu");
  return tesi_case_error(
      r, wrong, r->node[wrong],
      "no stable material: lambda is %g and mu is %g, expected mu > 0 and %d lambda + 2 mu > 0", lambda, mu,
      dim);
}

static TesStatus take_constants(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const TesiYaml *data = given(r, "data");
  if (!given(r, "data.mu")) tes_function_destroy(&d->a); /* the default of data.a */
  if (!d->lambda && !d->a && !d->young && !d->poisson && !given(r, "data.materials")) {
    TES_TRY(tesi_case_error(r, tesi_case_row("data"), data,
                            "the constants are missing: expected lambda and mu, or young and poisson"));
    goto done;
  }
  TES_TRY(tesi_case_elastic_constants(r, data, "data", &d->young, &d->poisson, &d->lambda, &d->a));
  if (!r->error_count) TES_TRY(check_stable(r));
done:
  return status;
}

TesStatus tesi_case_check_elasticity(TesiCaseReader *r) {
  static const char *const lists[] = {"data.f", "data.exact", "data.initial.displacement",
                                      "data.initial.velocity"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  if (d->c.problem.equation != TES_ELASTICITY) return refuse_keys_of_elasticity(r);
  TES_TRY(refuse_keys_of_others(r));
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) TES_TRY(check_list(r, lists[i]));
  if (!given(r, "data.f")) tes_function_destroy(&d->f[0]);
  if (!given(r, "data.density")) tes_function_destroy(&d->reaction);
  TES_TRY(check_number(r, "data.density", d->reaction, 0, 1e300, "a number > 0"));
  if (!given(r, "time")) TES_TRY(refuse(r, "data.density", "belongs to elasticity with `time`"));
  TES_TRY(take_constants(r));
done:
  return status;
}
