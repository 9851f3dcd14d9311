#include "base/combined.h"

enum { BLOCK = 256 };

typedef struct Combined {
  TesContext *context;
  TesiCombine *combine;
  double number;
  TesFunction *of[TESI_COMBINED_MOST];
} Combined;

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  const Combined *c = user;
  double values[TESI_COMBINED_MOST][BLOCK];
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t count = n - first < BLOCK ? n - first : BLOCK;
    const double *value[TESI_COMBINED_MOST] = {NULL};
    for (int i = 0; i < TESI_COMBINED_MOST; i++) {
      if (!c->of[i]) continue;
      tesi_function_values(c->of[i], count, x + first, y + first, z + first, t, values[i]);
      value[i] = values[i];
    }
    c->combine(c->number, count, value, out + first);
  }
}

static void forget(void *user) {
  Combined *c = user;
  TesContext *ctx = c->context;
  for (int i = 0; i < TESI_COMBINED_MOST; i++) tes_function_destroy(&c->of[i]);
  tesi_free(ctx, &c);
}

TesStatus tesi_function_create_combined(TesContext *ctx, TesiCombine *combine, double number, int count,
                                        const TesFunction *const *of, const char *text,
                                        TesFunction **function) {
  TesStatus status = TES_OK;
  Combined *c = NULL;
  TES_NEW(&c);
  *c = (Combined){.context = ctx, .combine = combine, .number = number};
  for (int i = 0; i < count; i++) c->of[i] = tesi_function_retain(of[i]);
  TES_TRY(tesi_function_create(ctx, evaluate, c, forget, text, function));
  c = NULL;
done:
  if (c) forget(c);
  return status;
}
