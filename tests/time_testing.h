/* What the tests of problems in time share: the methods with their orders, and heat whose error is that of time. */
#ifndef TESI_TIME_TESTING_H
#define TESI_TIME_TESTING_H

#include <math.h>
#include <stdio.h>
#include "device_testing.h"
#include "problem/in_time.h"
#include "tessera/tessera.h"
#include "testing.h"

static const struct {
  TesTimeMethod method;
  int order;
} methods[] = {{TES_TIME_BACKWARD_EULER, 1}, {TES_TIME_CRANK_NICOLSON, 2}, {TES_TIME_BDF2, 2},
               {TES_TIME_BDF3, 3},           {TES_TIME_BDF4, 4},           {TES_TIME_SDIRK2, 2},
               {TES_TIME_SDIRK3, 3}};
enum { METHODS = sizeof methods / sizeof *methods };

static inline TesFunction *expression(TesContext *on, const char *text) {
  TesFunction *f;
  assert_ok(on, tes_function_create_expression(on, text, &f));
  return f;
}

/* A problem with u = T(t) w, w = x^2 + x y - y^2 / 2 + 1, which elements of degree 2 hold: Lap w = 1. The top has the
 * flux a u_y = a T (x - y). a = 2, c = 3. */
typedef struct Heat {
  TesFunction *a, *c, *f, *u, *flux;
} Heat;

#define W "(x*x + x*y - y*y/2 + 1)"
static inline Heat make_heat(TesContext *on, const char *T, const char *dT) {
  char f[300], u[200], flux[200];
  snprintf(f, sizeof f, "(%s)*" W " - 2*(%s) + 3*(%s)*" W, dT, T, T);
  snprintf(u, sizeof u, "(%s)*" W, T);
  snprintf(flux, sizeof flux, "2*(%s)*(x - y)", T);
  return (Heat){expression(on, "2"), expression(on, "3"), expression(on, f), expression(on, u),
                expression(on, flux)};
}

static inline void forget(Heat *h) {
  TesFunction **all[] = {&h->a, &h->c, &h->f, &h->u, &h->flux};
  for (int i = 0; i < 5; i++) tes_function_destroy(all[i]);
}

static inline bool make_mesh(TesContext *on, TesMeshKind kind, int cells, TesMesh **mesh) {
  TesFunction *corner = expression(on, "0.1 - x - y");
  const TesStatus status =
      tes_mesh_create(on,
                      &(TesMeshDesc){.kind = kind,
                                     .dim = 2,
                                     .cells = {cells, cells},
                                     .refine_where = kind == TES_MESH_BOX ? NULL : corner},
                      mesh);
  tes_function_destroy(&corner);
  return status != TES_MISSING;
}

#endif
