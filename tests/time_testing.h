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

/* The problem of adaptive-multigrid-liebchen, section 5.1: a = 0.01, b = (0, -1), until t = 2. */
#define M(z) "(0.5 + 0.25*cos(pi/2*t) - " z ")"
#define THETA "exp(-(" M("x") "*" M("x") " + " M("y") "*" M("y") ")/4)"

typedef struct Row {
  TesMeshKind kind;
  int degree, cells;
  TesTimeMethod method;
  int steps;
  double l2, l2_space_time, digits; /* digits 0: not compared */
  double tolerance;                 /* of solves; 0: 1e-8 */
} Row;

/* Against the numbers of another program; the error at the end. */
static inline double check_row(TesContext *ctx, const Row *row) {
  TesMesh *mesh;
  TesProblem *problem;
  TesSolveResult result;
  double l2, h1;
  const TesMeshDesc desc = {.kind = row->kind, .dim = 2, .cells = {row->cells, row->cells}};
  const TesStatus made = tes_mesh_create(ctx, &desc, &mesh);
  if (made == TES_MISSING) return NAN;
  assert_ok(ctx, made);
  TesFunction *a = expression(ctx, "0.01"), *b = expression(ctx, "-1"), *u = expression(ctx, THETA),
              *f = expression(ctx, "(pi/16*sin(pi/2*t)*(" M("x") " + " M("y") ") - 0.01*((" M("x") "*" M(
                                       "x") " + " M("y") "*" M("y") ")/4 - 1) - " M("y") "/2)*" THETA);
  const TesBoundary all = {.g = {u}};
  assert_ok(ctx, tes_problem_create(
                     ctx,
                     &(TesProblemDesc){.equation = TES_TRANSPORT,
                                       .mesh = mesh,
                                       .degree = row->degree,
                                       .stabilization = TES_STREAMLINE_NONE,
                                       .data = {.a = a, .b = {NULL, b}, .f = {f}},
                                       .exact = {u},
                                       .boundaries = 1,
                                       .boundary = &all,
                                       .time = {.end = 2, .step = 2. / row->steps, .method = row->method},
                                       .solver = {.tolerance = row->tolerance > 0 ? row->tolerance : 1e-8}},
                     &problem));
  assert_ok(ctx, tes_problem_solve(problem, &result));
  assert_ok(ctx, tes_problem_errors(problem, &l2, &h1));
  const double both = tes_problem_info(problem).l2_space_time;
  if (row->digits > 0 &&
      !(fabs(l2 - row->l2) < row->digits * row->l2 && fabs(both - row->l2_space_time) < row->digits * both))
    fail_msg("degree %d, %d cells: errors %.6g and %.6g, expected %.6g and %.6g", row->degree, row->cells, l2,
             both, row->l2, row->l2_space_time);
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  TesFunction **functions[] = {&a, &b, &u, &f};
  for (int i = 0; i < 4; i++) tes_function_destroy(functions[i]);
  return l2;
}

#endif
