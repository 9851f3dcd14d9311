/* Run: ctest -R t7_balance. What goes in and out of transport: the mass in a closed vortex, the balance of problems
 * with conditions of every kind in both forms, by every method and steady, and fluxes of solutions that elements hold
 * exactly against their formulas. */
#include <math.h>
#include <stdio.h>
#include "tessera/tessera.h"
#include "device_testing.h"

static TesContext *ctx;

static TesFunction *expression(const char *text) {
  TesFunction *f;
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  return f;
}

/* False: a build without p4est. */
static bool make_mesh(TesMeshKind kind, TesMesh **mesh) {
  TesFunction *corner = expression("0.3 - x - y");
  const TesStatus status = tes_mesh_create(
      ctx,
      &(TesMeshDesc){
          .kind = kind, .dim = 2, .cells = {3, 3}, .refine_where = kind == TES_MESH_BOX ? NULL : corner},
      mesh);
  tes_function_destroy(&corner);
  return status != TES_MISSING;
}

static double mass_of(const TesProblem *p) {
  double mass;
  assert_ok(ctx, tes_problem_value(p, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &mass));
  return mass;
}

/* b = curl(sin(pi x) sin(pi y)) is zero through the boundary: no mass is lost, by any method, stabilized or not. */
static void vortices_keep_their_mass(void **state) {
  TesFunction *a = expression("1e-3"), *b1 = expression("pi*sin(pi*x)*cos(pi*y)"),
              *b2 = expression("-pi*cos(pi*x)*sin(pi*y)"),
              *u = expression("exp(-30*((x - 0.4)*(x - 0.4) + (y - 0.6)*(y - 0.6)))");
  const TesBoundary closed = {.condition = TES_FLUX};
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int method = TES_TIME_BACKWARD_EULER; method <= TES_TIME_SDIRK3; method++) {
      TesMesh *mesh;
      TesProblem *p;
      TesSolveResult result;
      if (!make_mesh(kind ? TES_MESH_FOREST : TES_MESH_BOX, &mesh)) continue;
      const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                                   .mesh = mesh,
                                   .degree = 3,
                                   .data = {.a = a, .b = {b1, b2}},
                                   .transport_form = TES_TRANSPORT_CONSERVATIVE,
                                   .stabilization = method % 2 ? TES_STREAMLINE_NONE : TES_STREAMLINE_ALWAYS,
                                   .balance = true,
                                   .initial = {u},
                                   .boundaries = 1,
                                   .boundary = &closed,
                                   .time = {.end = 0.3, .step = 0.05, .method = (TesTimeMethod)method},
                                   .solver = {.tolerance = 1e-12, .max_iterations = 500}};
      assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
      const double before = mass_of(p);
      assert_ok(ctx, tes_problem_solve(p, &result));
      assert_near(mass_of(p), before, 1e-10 * before);
      const TesBalance balance = tes_problem_info(p).balance;
      assert_near(balance.stored, 0, 1e-10 * before);
      assert_near(balance.in, 0, 0);
      assert_near(balance.out, 0, 0);
      tes_problem_destroy(&p);
      tes_mesh_destroy(&mesh);
    }
  tes_function_destroy(&a), tes_function_destroy(&b1), tes_function_destroy(&b2), tes_function_destroy(&u);
}

/* A condition of each kind; data that vary in space and time, div b = 1.3. Element dg has numbers for a and c, and no
 * Robin conditions. */
static TesBalance check_balance(TesMeshKind kind, TesTransportForm form, bool moves, int method, bool dg) {
  TesMesh *mesh;
  TesProblem *p;
  TesSolveResult result;
  if (!make_mesh(kind, &mesh)) return (TesBalance){.in = NAN};
  const bool timed = method != 0;
  TesFunction *a = expression(dg ? "0.3" : "0.1 + x*y"), *c = expression(dg ? "1.5" : "1 + x"),
              *b1 = expression("1 + x"), *b2 = expression("y*0.3 - x"),
              *f = expression(timed ? "sin(5*t) + x" : "1 + x"),
              *g = expression(timed ? "cos(4*t)*(1 + y)" : "2*x - y"), *alpha = expression("2"),
              *initial = expression("x*y + 1");
  const TesBoundary boundary[] = {
      {.name = "left", .g = {g}},
      {.name = "right", .condition = TES_NEUMANN, .g = {g}},
      {.name = "bottom", .condition = dg ? TES_NEUMANN : TES_ROBIN, .alpha = dg ? NULL : alpha, .g = {f}},
      {.name = "top", .condition = TES_FLUX, .g = {g}}};
  const TesTimeDesc time = {.end = 0.4, .step = 0.025, .method = (TesTimeMethod)method};
  const TesProblemDesc desc = {
      .equation = TES_TRANSPORT,
      .element = dg ? TES_ELEMENT_DG : TES_ELEMENT_Q,
      .mesh = mesh,
      .degree = 2,
      .data = {.a = a, .b = {moves ? b1 : NULL, moves ? b2 : NULL}, .c = c, .f = {f}},
      .transport_form = form,
      .stabilization = dg || method == TES_TIME_IMEX_BDF2 ? TES_STREAMLINE_NONE : TES_STREAMLINE_ALWAYS,
      .balance = true,
      .initial = {timed ? initial : NULL},
      .boundaries = 4,
      .boundary = boundary,
      .time = timed ? time : (TesTimeDesc){0},
      .solver = {.tolerance = 1e-12, .max_iterations = 300}};
  assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
  const double before = timed ? mass_of(p) : 0;
  assert_ok(ctx, tes_problem_solve(p, &result));
  const TesBalance balance = tes_problem_info(p).balance;
  assert_true(balance.in + balance.out > 0.01 && fabs(balance.sources) > 0.01);
  assert_near(balance.stored, timed ? mass_of(p) - before : 0, 1e-12);
  if (!(fabs(balance.defect) < 1e-10 * (balance.in + balance.out)))
    fail_msg("mesh %d, form %d, method %d: in %g, out %g, sources %g, stored %g, defect %g", (int)kind,
             (int)form, method, balance.in, balance.out, balance.sources, balance.stored, balance.defect);
  assert_near(balance.in + balance.sources, balance.out + balance.stored + balance.defect, 1e-12);
  tes_problem_destroy(&p);
  tes_mesh_destroy(&mesh);
  TesFunction **all[] = {&a, &c, &b1, &b2, &f, &g, &alpha, &initial};
  for (int i = 0; i < 8; i++) tes_function_destroy(all[i]);
  return balance;
}

static void balances_close(void **state) {
  (void)state;
  for (int method = 0; method <= TES_TIME_SDIRK3; method++)
    for (int kind = TES_MESH_BOX; kind <= TES_MESH_FOREST; kind++) {
      check_balance((TesMeshKind)kind, TES_TRANSPORT_CONVECTIVE, true, method, false);
      check_balance((TesMeshKind)kind, TES_TRANSPORT_CONSERVATIVE, true, method, false);
      check_balance((TesMeshKind)kind, TES_TRANSPORT_CONVECTIVE, false, method, false);
    }
}

/* Transport from old values: amounts of u and of what it extrapolates to. Those of bdf2 differ by the error in time. */
static void carried_balances_close(void **state) {
  const double share = 0.03; /* dt^2 u_tt / 2 with dt = 1/40, rates of cos(4t) */
  (void)state;
  for (int i = 0; i < 6; i++) {
    const bool dg = i >= 4;
    const TesTransportForm form = i % 2 ? TES_TRANSPORT_CONSERVATIVE : TES_TRANSPORT_CONVECTIVE;
    const TesMeshKind kind = i / 2 == 1 ? TES_MESH_FOREST : TES_MESH_BOX;
    const TesBalance carried = check_balance(kind, form, true, TES_TIME_IMEX_BDF2, dg),
                     all = check_balance(kind, form, true, TES_TIME_BDF2, dg);
    if (isnan(all.in)) continue;
    assert_near(carried.in, all.in, share * all.in);
    assert_near(carried.out, all.out, share * all.out);
    assert_near(carried.sources, all.sources, share * fabs(all.sources));
  }
}

/* By kernels, on a forest. */
static void balances_close_on_devices(void **state) {
  static const char *const devices[] = {"emulator", "cuda"};
  TesContext *const host = ctx;
  (void)state;
  for (int d = 0; d < 2; d++) {
    ctx = test_device(devices[d]);
    if (!ctx) continue;
    for (int form = 0; form < 2; form++)
      for (int method = 0; method <= TES_TIME_BDF2; method += TES_TIME_BDF2)
        check_balance(TES_MESH_FOREST, (TesTransportForm)form, true, method, false);
    for (int dg = 0; dg < 2; dg++)
      check_balance(TES_MESH_BOX, TES_TRANSPORT_CONVECTIVE, true, TES_TIME_IMEX_BDF2, dg);
    tes_context_destroy(&ctx);
  }
  ctx = host;
}

/* u = 1 + x^2 + x y + t (in time), b = (2, -1), a = 0.5: the flux b.n u - a u_n through each side of the square at
 * t = 1. Sides beside the one with values have what flows as data, so that no node belongs to two. */
static void fluxes_are_those_of_formulas(void **state) {
  static const double steady[] = {/* left: -2 u + 0.5 y */ -2 + 0.25,
                                  /* right: 2 (2 + y) - 0.5 (2 + y) */ 3.75,
                                  /* bottom: 1 + x^2 + 0.5 x */ 1 + 1 / 3. + 0.25,
                                  /* top: -(1 + x^2 + x) - 0.5 x */ -1 - 1 / 3. - 0.75};
  TesFunction *a = expression("0.5"), *b1 = expression("2"), *b2 = expression("-1");
  (void)state;
  for (int timed = 0; timed < 2; timed++)
    for (int form = 0; form < 2; form++) {
      TesMesh *mesh;
      TesProblem *p;
      TesSolveResult result;
      assert_true(make_mesh(TES_MESH_BOX, &mesh));
      TesFunction *u = expression(timed ? "1 + x*x + x*y + t" : "1 + x*x + x*y"),
                  *f = expression(timed ? "1 + 2*(2*x + y) - x - 1" : "2*(2*x + y) - x - 1"),
                  *down = expression("-0.5*x"), *up = expression("0.5*x"),
                  *in = expression(timed ? "0.5*(2 + y) - 2*(2 + y + t)" : "0.5*(2 + y) - 2*(2 + y)");
      const TesBoundary boundary[] = {{.name = "left", .g = {u}},
                                      {.name = "bottom", .condition = TES_NEUMANN, .g = {down}},
                                      {.name = "top", .condition = TES_NEUMANN, .g = {up}},
                                      {.name = "right", .condition = TES_FLUX, .g = {in}}};
      const TesTimeDesc time = {.end = 1, .step = 0.25, .method = TES_TIME_CRANK_NICOLSON};
      const TesProblemDesc desc = {.equation = TES_TRANSPORT,
                                   .mesh = mesh,
                                   .degree = 2,
                                   .data = {.a = a, .b = {b1, b2}, .f = {f}},
                                   .exact = {u},
                                   .transport_form = (TesTransportForm)form,
                                   .stabilization = TES_STREAMLINE_NONE,
                                   .balance = true,
                                   .boundaries = 4,
                                   .boundary = boundary,
                                   .time = timed ? time : (TesTimeDesc){0},
                                   .solver = {.tolerance = 1e-12, .max_iterations = 300}};
      double l2, h1;
      assert_ok(ctx, tes_problem_create(ctx, &desc, &p));
      assert_ok(ctx, tes_problem_solve(p, &result));
      assert_ok(ctx, tes_problem_errors(p, &l2, &h1));
      assert_near(l2, 0, 1e-10);
      const TesBalance balance = tes_problem_info(p).balance;
      /* with crank_nicolson the rate of the last step is the mean of its ends, t = 7/8 */
      const double more[] = {-2, 2, 1, -1};
      for (int i = 0; i < 4; i++) assert_near(balance.flux[i], steady[i] + timed * 0.875 * more[i], 1e-9);
      assert_near(balance.defect, 0, 1e-10);
      tes_problem_destroy(&p);
      tes_mesh_destroy(&mesh);
      TesFunction **all[] = {&u, &f, &down, &up, &in};
      for (int i = 0; i < 5; i++) tes_function_destroy(all[i]);
    }
  tes_function_destroy(&a), tes_function_destroy(&b1), tes_function_destroy(&b2);
}

/* Of poisson there is neither. */
static void other_equations_are_refused(void **state) {
  TesMesh *mesh;
  TesProblem *p;
  const TesBoundary flux = {.condition = TES_FLUX};
  (void)state;
  assert_true(make_mesh(TES_MESH_BOX, &mesh));
  assert_int_equal(
      tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .boundaries = 1, .boundary = &flux}, &p),
      TES_INVALID_INPUT);
  assert_non_null(strstr(tes_context_message(ctx), "flux belongs to transport"));
  tes_context_clear(ctx);
  assert_int_equal(tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .balance = true}, &p),
                   TES_INVALID_INPUT);
  tes_context_clear(ctx);
  tes_mesh_destroy(&mesh);
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  const size_t left = tes_context_memory(ctx);
  tes_context_destroy(&ctx);
  return left != 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vortices_keep_their_mass),     cmocka_unit_test(balances_close),
      cmocka_unit_test(carried_balances_close),       cmocka_unit_test(balances_close_on_devices),
      cmocka_unit_test(fluxes_are_those_of_formulas), cmocka_unit_test(other_equations_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
