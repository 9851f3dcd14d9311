/* Elasticity in case files: the shapes of its values, and its constants. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "io/expression/expression.h"

static TesStatus check_number(TesiCaseReader *r, const char *path, const TesFunction *f, double low,
                              double high, const char *expected) {
  double value;
  if (!f || !tes_function_constant(f, &value) || (value > low && value < high)) return TES_OK;
  return tesi_case_refuse(r, path, "expected %s, got %g", expected, value);
}

/* *to <- the expression; its place is the place of `like`. */
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

/* Checks stability of constants: mu > 0, dim lambda + 2 mu > 0. For functions the operator checks, and reports the
 * point. */
static TesStatus check_stable(TesiCaseReader *r) {
  const TesiCaseDraft *d = &r->draft;
  double lambda, mu;
  const int dim = tesi_case_dim(r);
  if (!tesi_case_given(r, "data.lambda") || !tes_function_constant(d->a, &mu) ||
      !tes_function_constant(d->lambda, &lambda) || (mu > 0 && dim * lambda + 2 * mu > 0))
    return TES_OK;
  return tesi_case_refuse(
      r, mu > 0 ? "data.lambda" : "data.mu",
      "no stable material: lambda is %g and mu is %g, expected mu > 0 and %d lambda + 2 mu > 0", lambda, mu,
      dim);
}

static TesStatus take_constants(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  const TesiYaml *data = tesi_case_given(r, "data");
  if (!tesi_case_given(r, "data.mu")) tes_function_destroy(&d->a); /* the default of data.a */
  if (!d->lambda && !d->a && !d->young && !d->poisson && !tesi_case_given(r, "data.materials")) {
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
  const TesiYaml *initial = tesi_case_given(r, "data.initial");
  if (initial && initial->kind != TESI_YAML_MAP)
    TES_TRY(
        tesi_case_refuse(r, "data.initial", "expected {displacement: [..], velocity: [..]} or {file: FILE}"));
  if (tesi_case_dim(r) == 3)
    TES_TRY(tesi_case_refuse(r, "data.plane", "is for two dimensions, the mesh has three"));
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const TesiYaml *node = tesi_case_given(r, lists[i]);
    if (node && node->kind == TESI_YAML_SCALAR)
      TES_TRY(tesi_case_refuse(r, lists[i], "expected a list of expressions, one per direction"));
  }
  if (!tesi_case_given(r, "data.density")) tes_function_destroy(&d->reaction);
  TES_TRY(check_number(r, "data.density", d->reaction, 0, 1e300, "a number > 0"));
  if (!tesi_case_given(r, "time") && !tesi_case_given(r, "data.gravity") &&
      !tesi_case_given(r, "data.rotation"))
    TES_TRY(tesi_case_refuse(r, "data.density",
                             "belongs to elasticity with `time`, `data.gravity` or `data.rotation`"));
  TES_TRY(take_constants(r));
done:
  return status;
}
