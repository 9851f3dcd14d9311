#include "problem/fault.h"
#include <stdio.h>
#include "base/fault.h"

enum { TEXT = 160, AXES = 3 };

typedef struct Name {
  char text[TEXT];
} Name;

/* The first component at fault, as "WHAT[0]: ". */
static bool take(Name *name, const char *what, int count, const TesFunction *const *f) {
  for (int i = 0; i < count; i++) {
    if (!tesi_function_is_faulty(f[i])) continue;
    snprintf(name->text, TEXT, count > 1 ? "%s[%d]: " : "%s: ", what, i);
    return true;
  }
  return false;
}

static bool take_data(Name *name, const char *of, const TesData *d) {
  char what[TEXT / 2];
  const struct {
    const char *name;
    int count;
    const TesFunction *const *f;
  } rows[] = {
      {"a", 1, &d->a}, {"c", 1, &d->c}, {"lambda", 1, &d->lambda}, {"b", AXES, d->b}, {"f", AXES, d->f}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(what, sizeof what, "%.60s.%s", of, rows[i].name);
    if (take(name, what, rows[i].count, rows[i].f)) return true;
  }
  return false;
}

static bool take_boundary(Name *name, const TesBoundary *b) {
  char what[TEXT / 2];
  snprintf(what, sizeof what, "boundary.%.50s.g", b->name ? b->name : "all");
  if (take(name, what, AXES + 1, b->g)) return true;
  snprintf(what, sizeof what, "boundary.%.50s.alpha", b->name ? b->name : "all");
  return take(name, what, 1, &b->alpha);
}

static bool find(Name *name, const TesProblemDesc *desc) {
  char what[TEXT / 2];
  if (take_data(name, "data", &desc->data)) return true;
  for (int i = 0; i < desc->materials; i++) {
    snprintf(what, sizeof what, "materials.%.50s", desc->material[i].name ? desc->material[i].name : "");
    if (take_data(name, what, &desc->material[i].data)) return true;
  }
  for (int i = 0; i < desc->boundaries; i++)
    if (take_boundary(name, &desc->boundary[i])) return true;
  return take(name, "exact", AXES + 1, desc->exact) || take(name, "initial", AXES + 1, desc->initial) ||
         take(name, "initial_velocity", AXES, desc->initial_velocity);
}

TesStatus tesi_name_fault(TesContext *ctx, const TesProblemDesc *desc, TesStatus status) {
  Name name;
  if (status == TES_NAN && find(&name, desc)) tesi_fail_before(ctx, name.text);
  return status;
}
