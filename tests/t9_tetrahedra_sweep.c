/* Run: ctest -R t9_tetrahedra_sweep. Tetrahedra of Gmsh at degrees 1 to 4, all equations, emulator too; 196,608 of
 * them, shuffled, at degree 1.
 * Labels: slow heavy
 * Timeout: 3000 */
#include "tetrahedra_testing.h"

static const char *const meshes[] = {"tetrahedra-cube.msh", "tetrahedra-ball.msh", "tetrahedra-bracket.msh"};

static void scalars(void **state) {
  (void)state;
  if (!has_forests()) skip();
  for (int m = 0; m < 3; m++)
    for (int k = 1; k <= 4; k++) {
      solve_exactly(&tetrahedra_poisson, meshes[m], k, "");
      if (k <= 3) solve_exactly(&tetrahedra_transport, meshes[m], k, "");
      if (k <= 2) solve_exactly(&tetrahedra_poisson, meshes[m], k, "--device emulator");
    }
}

static void vectors(void **state) {
  (void)state;
  if (!has_forests()) skip();
  for (int m = 0; m < 3; m++)
    for (int k = 1; k <= 3; k++) {
      solve_exactly(&tetrahedra_elasticity, meshes[m], k, "");
      if (k > 1) solve_exactly(&tetrahedra_stokes, meshes[m], k, "");
      if (k > 1) solve_exactly(&tetrahedra_navier_stokes, meshes[m], k, "");
    }
}

static void two_hundred_thousand(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_tetrahedra("many.msh", 32, 5);
  solve_exactly(&tetrahedra_linear, "many.msh", 1, "--set mesh.split=true");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scalars), cmocka_unit_test(vectors),
                                     cmocka_unit_test(two_hundred_thousand)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
