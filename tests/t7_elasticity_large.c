/* Run: ctest -R t7_elasticity_large. The larger numbers of independent dense solves: the cube with Q_8, the paper's
 * finest meshes, static and with the first step of backward Euler, 100 steps of the trapezoidal rule with Q_2 and Q_4.
 * Labels: heavy */
#include "elasticity_testing.h"

static void high_degree(void **state) {
  (void)state;
  TesMesh *mesh = box(3, 4);
  check_cube(mesh, 8, 4.2662015920e-07, -1.1681180324e-06, "box");
  tes_mesh_destroy(&mesh);
}

static void the_finest_meshes(void **state) {
  static const struct {
    const char *name, *where;
    int level;
    double still, first;
  } rows[] = {{"edge", "%g - max(x, y)", 5, 4.09427956e-07, 4.09000058e-07},
              {"edge", "%g - max(x, y)", 6, 4.09429534e-07, 4.09001634e-07},
              {"vertex", "%g - max(x, max(y, z))", 6, 4.07242223e-07, 4.06817358e-07},
              {"face", "%g - z", 4, 4.14323945e-07, 4.13890547e-07}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesMesh *mesh = paper_mesh(rows[i].where, rows[i].level);
    TesSolveResult result;
    if (!mesh) continue;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
      TesProblemDesc desc = cube(mesh, 1);
      desc.solver.tolerance = 1e-8, desc.solver.tolerance_of = TES_TOLERANCE_LOAD;
      if (dynamic) desc.time = (TesTimeDesc){.end = 0.025, .step = 0.025, .method = TES_TIME_BACKWARD_EULER};
      if (dynamic) desc.solver.guess = -1;
      TesProblem *problem = solve(&desc, &result);
      const double c = -value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "v"});
      print_message("%s %d%s: %d iterations, int f.u %.8e\n", rows[i].name, rows[i].level,
                    dynamic ? " with M / dt^2" : "", result.iterations, c);
      assert_true(result.iterations <= 8);
      assert_near(c, dynamic ? rows[i].first : rows[i].still, 1e-7 * c);
      tes_problem_destroy(&problem);
      forget();
    }
    tes_mesh_destroy(&mesh);
  }
}

static void a_hundred_steps(void **state) {
  static const struct {
    int degree, n;
    double middle, kinetic, strain;
  } rows[] = {{2, 8, -3.190317690e-06, 5.572060502e-08, 5.299094151e-07},
              {4, 4, -3.223014713e-06, 5.696787130e-08, 5.197709142e-07}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TesMesh *mesh = box(3, rows[i].n);
    TesProblemDesc desc = cube(mesh, rows[i].degree);
    TesSolveResult result;
    desc.time =
        (TesTimeDesc){.end = 0.025, .step = 2.5e-4, .method = TES_TIME_GENERALIZED_ALPHA, .rho_inf = 1};
    desc.solver.tolerance = 1e-10;
    TesProblem *problem = solve(&desc, &result);
    const double u = value_of(problem,
                              (TesValue){.kind = TES_VALUE_POINT, .point = {0.5, 0.5, 0.5}, .of = "v"}),
                 kinetic = value_of(
                     problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "(ut*ut + vt*vt + wt*wt)/2"}),
                 strain = value_of(problem, (TesValue){.kind = TES_VALUE_INTEGRAL, .of = "strain_energy"});
    print_message("Q%d: u_y %.9e, energies %.9e, %.9e\n", rows[i].degree, u, kinetic, strain);
    assert_near(u, rows[i].middle, 1e-8 * fabs(u));
    assert_near(kinetic, rows[i].kinetic, 1e-7 * kinetic);
    assert_near(strain, rows[i].strain, 1e-8 * strain);
    tes_problem_destroy(&problem);
    forget();
    tes_mesh_destroy(&mesh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(high_degree), cmocka_unit_test(the_finest_meshes),
                                     cmocka_unit_test(a_hundred_steps)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
