/* Loads of elasticity by name. gravity and rotation are added to f as density (g + omega^2 r), r the vector from the
 * axis, for the body and for each material. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"

enum { TEXT = 1200 };

/* text <- component c of the acceleration; *where <- the place from which it was read. */
static void accelerate(TesiCaseReader *r, int c, char text[TEXT], const char **where) {
  static const char axes[] = "xyz";
  const TesiCaseDraft *d = &r->draft;
  const int dim = tesi_case_dim(r);
  const double *p = d->rotation_point;
  double n[3] = {0, 0, 1}, size = 0;
  int length = snprintf(text, TEXT, "%s", d->gravity[c] ? tes_function_text(d->gravity[c]) : "0");
  *where = tesi_function_where(d->gravity[c] ? d->gravity[c] : d->speed);
  if (!d->speed) return;
  for (int k = 0; k < 3 && r->entries[tesi_case_row("data.rotation.axis")]; k++) n[k] = d->rotation_axis[k];
  for (int k = 0; k < 3; k++) size += n[k] * n[k];
  const char *speed = tes_function_text(d->speed);
  length += snprintf(text + length, (size_t)(TEXT - length), " + (%s)*(%s)*(%c - (%.17g)", speed, speed,
                     axes[c], p[c]);
  for (int k = 0; k < dim; k++)
    if (n[c] * n[k] != 0 && length < TEXT)
      length += snprintf(text + length, (size_t)(TEXT - length), " - (%.17g)*(%c - (%.17g))",
                         n[c] * n[k] / size, axes[k], p[k]);
  if (length < TEXT) snprintf(text + length, (size_t)(TEXT - length), ")");
}

/* *to <- f + density times the acceleration. */
static TesStatus add_load(TesContext *ctx, const TesFunction *f, const TesFunction *density,
                          const char *acceleration, const char *where, TesFunction **to) {
  TesStatus status = TES_OK;
  const char *own = f ? tes_function_text(f) : "0", *mass = density ? tes_function_text(density) : "1";
  const size_t size = strlen(own) + strlen(mass) + strlen(acceleration) + 16;
  char *text = NULL;
  TES_ALLOC(&text, size);
  if (f)
    snprintf(text, size, "(%s) + (%s)*(%s)", own, mass, acceleration);
  else
    snprintf(text, size, "(%s)*(%s)", mass, acceleration);
  TES_TRY(tes_function_create_expression(ctx, text, to));
  TES_TRY(tesi_function_set_where(*to, where));
done:
  tesi_free(ctx, &text);
  return status;
}

static TesStatus add_component(TesiCaseReader *r, int c) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesiCaseDraft *d = &r->draft;
  TesMaterial *material = (TesMaterial *)d->c.problem.material;
  char acceleration[TEXT];
  const char *where;
  TesFunction *f = NULL;
  accelerate(r, c, acceleration, &where);
  if (strlen(acceleration) + 1 == TEXT)
    return tesi_case_refuse(r, "data.rotation", "expected a shorter expression: %.60s", acceleration);
  for (int i = 0; i < d->c.problem.materials; i++) {
    TesData *data = &material[i].data;
    if (!data->c && !data->f[c]) continue;
    TES_TRY(add_load(ctx, data->f[c] ? data->f[c] : d->f[c], data->c ? data->c : d->reaction, acceleration,
                     where, &f));
    tes_function_destroy((TesFunction **)&data->f[c]);
    data->f[c] = f, f = NULL;
  }
  TES_TRY(add_load(ctx, d->f[c], d->reaction, acceleration, where, &f));
  tes_function_destroy(&d->f[c]);
  d->f[c] = f, f = NULL;
done:
  tes_function_destroy(&f);
  return status;
}

/* A material without density has the density of the body, which must then be given. */
static TesStatus check_density(TesiCaseReader *r, const char *key) {
  const TesProblemDesc *p = &r->draft.c.problem;
  bool known = p->materials > 0;
  for (int i = 0; i < p->materials; i++) known = known && p->material[i].data.c;
  return known || r->draft.reaction ? TES_OK : tesi_case_refuse(r, key, "data.density is missing");
}

static TesStatus check_axis(TesiCaseReader *r) {
  static const char key[] = "data.rotation.axis";
  const double *n = r->draft.rotation_axis;
  if (!tesi_case_given(r, key)) return TES_OK;
  if (tesi_case_dim(r) == 2)
    return tesi_case_refuse(r, key, "is for three dimensions: in two the axis is along z, through `point`");
  return r->entries[tesi_case_row(key)] && n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > 0
             ? TES_OK
             : tesi_case_refuse(r, key, "expected a list of three numbers that are not all 0");
}

TesStatus tesi_case_add_loads(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const char *key = tesi_case_given(r, "data.gravity") ? "data.gravity" : "data.rotation";
  if (!tesi_case_given(r, key)) return TES_OK;
  TES_TRY(check_density(r, key));
  TES_TRY(check_axis(r));
  for (int c = 0; c < tesi_case_dim(r) && !r->error_count; c++) TES_TRY(add_component(r, c));
done:
  return status;
}
