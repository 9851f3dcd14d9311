/* Run: ctest -R t9_tetrahedra. Meshes of tetrahedra as Gmsh 4.15 makes them, split into hexahedra: a cube (HXT), a ball
 * (Delaunay), an angle bracket with two holes (frontal), some 30 cells and more at a node. Polynomials of the space are
 * found to the tolerance, by all equations. All degrees: t9_tetrahedra_sweep. */
#include "tetrahedra_testing.h"

static void two_degrees_of_a_cube(void **state) {
  (void)state;
  if (!has_forests()) skip();
  solve_exactly(&tetrahedra_poisson, "tetrahedra-cube.msh", 1, "");
  solve_exactly(&tetrahedra_poisson, "tetrahedra-cube.msh", 2, "--threads 2");
}

static void a_ball_of_degree_three(void **state) {
  (void)state;
  if (!has_forests()) skip();
  solve_exactly(&tetrahedra_poisson, "tetrahedra-ball.msh", 3, "");
}

static void other_equations_on_a_bracket(void **state) {
  (void)state;
  if (!has_forests()) skip();
  solve_exactly(&tetrahedra_transport, "tetrahedra-bracket.msh", 2, "");
  solve_exactly(&tetrahedra_elasticity, "tetrahedra-bracket.msh", 1, "");
}

/* Nodes that many cells share: cells in sectors round an axis, more of them than any set of 64 colours holds. */
static void many_cells_at_a_node(void **state) {
  (void)state;
  if (!has_forests()) skip();
  write_sectors("plane.msh", 200, 0);
  write_sectors("space.msh", 120, 2);
  for (int k = 1; k <= 8; k++) solve_exactly(&tetrahedra_linear, "plane.msh", k, k % 2 ? "--threads 2" : "");
  solve_exactly(&tetrahedra_linear, "plane.msh", 2, "--set solver.smoother=cell_patch --threads 2");
  solve_exactly(&tetrahedra_linear, "plane.msh", 1, "--device emulator --deterministic");
  solve_exactly(&tetrahedra_linear, "plane.msh", 2, "--device emulator --deterministic");
  solve_exactly(&tetrahedra_linear, "space.msh", 2, "--threads 2");
}

/* Cells and nodes in any order: the same solution and as many iterations. */
static void shuffled_boxes(void **state) {
  (void)state;
  if (!has_forests()) skip();
  const int dims[] = {2, 3},
            cells[] = {80, 18}; /* more than 4096 cells: chunks of 64 have more than 64 neighbours */
  for (int i = 0; i < 2; i++) {
    double value[2], iterations[2];
    for (int shuffled = 0; shuffled < 2; shuffled++) {
      write_box("box.msh", dims[i], cells[i], shuffled ? 41 : 0);
      solve_for(&tetrahedra_smooth, "box.msh", 2, "--threads 2", &value[shuffled], &iterations[shuffled]);
    }
    assert_near(value[1], value[0], 1e-9 * fabs(value[0]));
    assert_near(iterations[1], iterations[0], 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_degrees_of_a_cube),
                                     cmocka_unit_test(a_ball_of_degree_three),
                                     cmocka_unit_test(other_equations_on_a_bracket),
                                     cmocka_unit_test(many_cells_at_a_node), cmocka_unit_test(shuffled_boxes)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
