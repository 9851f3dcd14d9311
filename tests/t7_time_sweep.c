/* Run: ctest -R t7_time_sweep. Transport in time against all numbers of an independent program: the problem of
 * adaptive-multigrid-liebchen, section 5.1, in the paper's steps, in time alone and in space alone, and a hill that is
 * carried round once.
 * Labels: slow heavy
 * Timeout: 2400 */
#include "time_testing.h"

static TesContext *ctx;

static const Row paper[] = {
    {TES_MESH_BOX, 1, 16, TES_TIME_BACKWARD_EULER, 100, 0.000411946, 0.000830932, 0.0002, 1e-09},
    {TES_MESH_BOX, 1, 32, TES_TIME_BACKWARD_EULER, 100, 0.000487728, 0.00064893, 0.0002, 1e-09},
    {TES_MESH_BOX, 1, 64, TES_TIME_BACKWARD_EULER, 100, 0.000517528, 0.000620369, 0.0002, 1e-09},
    {TES_MESH_BOX, 1, 128, TES_TIME_BACKWARD_EULER, 100, 0.000525481, 0.000614602, 0.0002, 1e-09},
    {TES_MESH_BOX, 1, 256, TES_TIME_BACKWARD_EULER, 100, 0.000527498, 0.00061325, 0.0002, 1e-09},
    {TES_MESH_BOX, 2, 4, TES_TIME_BACKWARD_EULER, 100, 0.000511718, 0.00060802, 0.0002, 1e-09},
    {TES_MESH_BOX, 2, 8, TES_TIME_BACKWARD_EULER, 100, 0.000537876, 0.000621358, 0.0002, 1e-09},
    {TES_MESH_BOX, 2, 16, TES_TIME_BACKWARD_EULER, 100, 0.000529208, 0.00061474, 0.0002, 1e-09},
    {TES_MESH_BOX, 2, 32, TES_TIME_BACKWARD_EULER, 100, 0.000528276, 0.000613101, 0.0002, 1e-09},
    {TES_MESH_BOX, 2, 64, TES_TIME_BACKWARD_EULER, 100, 0.000528181, 0.000612836, 0.0002, 1e-09},
    {TES_MESH_BOX, 4, 2, TES_TIME_BACKWARD_EULER, 100, 0.000427689, 0.000575705, 0.0002, 1e-09},
    {TES_MESH_BOX, 4, 4, TES_TIME_BACKWARD_EULER, 100, 0.000528306, 0.000617311, 0.0002, 1e-09},
    {TES_MESH_BOX, 4, 8, TES_TIME_BACKWARD_EULER, 100, 0.000528312, 0.000613439, 0.0002, 1e-09},
    {TES_MESH_BOX, 4, 16, TES_TIME_BACKWARD_EULER, 100, 0.00052818, 0.00061284, 0.0002, 1e-09},
    {TES_MESH_BOX, 4, 32, TES_TIME_BACKWARD_EULER, 100, 0.000528173, 0.000612809, 0.0002, 1e-09},
    {TES_MESH_BOX, 1, 32, TES_TIME_CRANK_NICOLSON, 100, 6.25009e-05, 0.000106013, 0.001, 1e-09},
    {TES_MESH_BOX, 1, 128, TES_TIME_CRANK_NICOLSON, 100, 3.68639e-06, 9.40665e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 2, 8, TES_TIME_CRANK_NICOLSON, 100, 1.52132e-05, 1.36347e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 2, 32, TES_TIME_CRANK_NICOLSON, 100, 5.70739e-06, 6.50118e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 4, 4, TES_TIME_CRANK_NICOLSON, 100, 5.69718e-06, 6.51539e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 4, 8, TES_TIME_CRANK_NICOLSON, 100, 5.67665e-06, 6.48944e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 1, 512, TES_TIME_BACKWARD_EULER, 100, 0.000528004, 0.000612918, 0.0002, 1e-09},
};

/* Q8 on 8 x 8 cells and others; bdf2 and bdf3 as they are started here. */
static const Row in_time[] = {
    {TES_MESH_BOX, 8, 8, TES_TIME_BACKWARD_EULER, 20, 0.0024273, 0.0028349, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BACKWARD_EULER, 40, 0.0012776, 0.0014849, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BACKWARD_EULER, 80, 0.00065651, 0.00076188, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BACKWARD_EULER, 160, 0.00033294, 0.00038618, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_CRANK_NICOLSON, 20, 0.00014309, 0.00016487, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_CRANK_NICOLSON, 40, 3.5514e-05, 4.0773e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_CRANK_NICOLSON, 80, 8.8625e-06, 1.0141e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_CRANK_NICOLSON, 160, 2.2146e-06, 2.5291e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK2, 20, 6.5904e-05, 7.3275e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK2, 40, 1.6557e-05, 1.8006e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK2, 80, 4.1579e-06, 4.4683e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK2, 160, 1.0429e-06, 1.1139e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK3, 20, 1.5528e-05, 1.6521e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK3, 40, 2.5294e-06, 2.5186e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK3, 80, 4.3566e-07, 4.1516e-07, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_SDIRK3, 160, 8.0044e-08, 7.5366e-08, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF2, 20, 0.000611461, 0.000621247, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF2, 40, 0.000149141, 0.000159745, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF2, 80, 3.64356e-05, 4.02338e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF2, 160, 8.98678e-06, 1.008e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 4, 8, TES_TIME_BDF2, 100, 2.32203e-05, 2.57967e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 1, 128, TES_TIME_BDF2, 100, 2.01867e-05, 2.68823e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF3, 20, 5.88617e-05, 0.000116235, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF3, 40, 8.83097e-06, 1.50921e-05, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF3, 80, 1.21853e-06, 1.92375e-06, 0.001, 1e-09},
    {TES_MESH_BOX, 8, 8, TES_TIME_BDF3, 160, 1.59741e-07, 2.42904e-07, 0.001, 1e-09},
    {TES_MESH_BOX, 4, 8, TES_TIME_BDF3, 100, 6.36384e-07, 9.89388e-07, 0.001, 1e-09},
    {TES_MESH_BOX, 1, 128, TES_TIME_BDF3, 100, 4.68663e-06, 6.45818e-06, 0.001, 1e-09},
};

static const Row in_space[] = {
    {TES_MESH_BOX, 1, 8, TES_TIME_BDF4, 400, 0.0010746, 0.0016982, 0.002, 1e-10},
    {TES_MESH_BOX, 1, 16, TES_TIME_BDF4, 400, 0.00026698, 0.00042262, 0.002, 1e-10},
    {TES_MESH_BOX, 1, 32, TES_TIME_BDF4, 400, 6.6696e-05, 0.00010563, 0.002, 1e-10},
    {TES_MESH_BOX, 1, 64, TES_TIME_BDF4, 400, 1.6671e-05, 2.6405e-05, 0.002, 1e-10},
    {TES_MESH_BOX, 1, 128, TES_TIME_BDF4, 400, 4.1677e-06, 6.601e-06, 0.002, 1e-10},
    {TES_MESH_BOX, 2, 4, TES_TIME_BDF4, 400, 8.5125e-05, 6.8028e-05, 0.002, 1e-10},
    {TES_MESH_BOX, 2, 8, TES_TIME_BDF4, 400, 1.0911e-05, 9.9337e-06, 0.002, 1e-10},
    {TES_MESH_BOX, 2, 16, TES_TIME_BDF4, 400, 8.8493e-07, 9.248e-07, 0.002, 1e-10},
    {TES_MESH_BOX, 2, 32, TES_TIME_BDF4, 400, 7.6736e-08, 8.9962e-08, 0.002, 1e-10},
    {TES_MESH_BOX, 4, 2, TES_TIME_BDF4, 400, 8.1253e-07, 6.9337e-07, 0.002, 1e-10},
    {TES_MESH_BOX, 4, 4, TES_TIME_BDF4, 400, 2.796e-08, 2.5813e-08, 0.002, 1e-10},
    {TES_MESH_BOX, 4, 8, TES_TIME_BDF4, 400, 6.623e-10, 6.9357e-10, 0.2, 1e-10},
};

static void check_rows(const Row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) check_row(ctx, &rows[i]);
}

static void test_paper(void **state) {
  (void)state;
  check_rows(paper, sizeof paper / sizeof *paper);
}

static void test_time(void **state) {
  (void)state;
  check_rows(in_time, sizeof in_time / sizeof *in_time);
}

static void test_space(void **state) {
  (void)state;
  check_rows(in_space, sizeof in_space / sizeof *in_space);
}

/* Started by sdirk3, whose order is lower: that of bdf4 comes later. */
static void test_bdf4(void **state) {
  const Row coarse = {TES_MESH_BOX, 8, 8, TES_TIME_BDF4, 80, 0, 0, 0, 1e-11},
            fine = {TES_MESH_BOX, 8, 8, TES_TIME_BDF4, 160, 0, 0, 0, 1e-11};
  const double order = log2(check_row(ctx, &coarse) / check_row(ctx, &fine));
  (void)state;
  if (!(order > 3.5)) fail_msg("bdf4: order %g", order);
}

/* ---- a hill carried round ---- */

typedef struct Hill {
  double a;
  int degree, cells;
  TesTimeMethod method;
  int steps;
  TesStreamline streamline;
  double l2, largest, mass; /* 0: not compared */
} Hill;

static const Hill hills[] = {
    {0.0001, 1, 64, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_NONE, 0.0041149, 0.95643, 0.03078},
    {0.0001, 1, 64, TES_TIME_BACKWARD_EULER, 200, TES_STREAMLINE_NONE, 0.053535, 0.5224, 0.030782},
    {0.0001, 1, 64, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_ALWAYS, 0.0040455, 0.94569, 0.030782},
    {0.0001, 2, 32, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_NONE, 0.0038692, 0.96203, 0.030778},
    {0.0001, 2, 32, TES_TIME_BACKWARD_EULER, 200, TES_STREAMLINE_NONE, 0.053377, 0.52399, 0.03078},
    {0.0001, 2, 32, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_ALWAYS, 0.0038787, 0.95935, 0.03078},
    {0.0001, 4, 16, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_NONE, 0.0039466, 0.9572, 0.030781},
    {0.0001, 4, 16, TES_TIME_BACKWARD_EULER, 200, TES_STREAMLINE_NONE, 0.053375, 0.52483, 0.030782},
    {0.0001, 4, 16, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_ALWAYS, 0.0039476, 0.95721, 0.03078},
    {1e-06, 1, 64, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_NONE, 0.0044392, 0.99477, 0.030782},
    {1e-06, 1, 64, TES_TIME_BACKWARD_EULER, 200, TES_STREAMLINE_NONE, 0.055584, 0.53596, 0.030784},
    {1e-06, 1, 64, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_ALWAYS, 0.0045316, 0.9823, 0.030784},
    {1e-06, 2, 32, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_NONE, 0.004175, 0.99948, 0.030776},
    {1e-06, 2, 32, TES_TIME_BACKWARD_EULER, 200, TES_STREAMLINE_NONE, 0.055425, 0.53731, 0.030782},
    {1e-06, 2, 32, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_ALWAYS, 0.0041981, 0.99818, 0.030781},
    {1e-06, 4, 16, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_NONE, 0.0042554, 0.99523, 0.030782},
    {1e-06, 4, 16, TES_TIME_BACKWARD_EULER, 200, TES_STREAMLINE_NONE, 0.055423, 0.53811, 0.030783},
    {1e-06, 4, 16, TES_TIME_CRANK_NICOLSON, 200, TES_STREAMLINE_ALWAYS, 0.0042553, 0.99515, 0.030782},
    {0.0001, 4, 16, TES_TIME_CRANK_NICOLSON, 100, TES_STREAMLINE_NONE, 0.014969, 0, 0},
    {0.0001, 4, 16, TES_TIME_CRANK_NICOLSON, 400, TES_STREAMLINE_NONE, 0.00099416, 0, 0},
    {0.0001, 4, 16, TES_TIME_CRANK_NICOLSON, 800, TES_STREAMLINE_NONE, 0.00024883, 0, 0},
};

#define PLACE "pow(x - 0.5 + 0.25*sin(2*pi*t), 2) + pow(y - 0.5 - 0.25*cos(2*pi*t), 2)"

static void check_hill(const Hill *hill) {
  TesMesh *mesh;
  TesProblem *p;
  TesSolveResult result;
  char text[2][400];
  double l2, h1, largest, mass;
  snprintf(text[0], sizeof text[0], "%.17g", hill->a);
  snprintf(text[1], sizeof text[1], "0.0049/(0.0049 + 2*%.17g*t)*exp(-(" PLACE ")/(2*(0.0049 + 2*%.17g*t)))",
           hill->a, hill->a);
  TesFunction *a = expression(ctx, text[0]), *u = expression(ctx, text[1]),
              *b[2] = {expression(ctx, "2*pi*(0.5 - y)"), expression(ctx, "2*pi*(x - 0.5)")};
  const TesBoundary all = {.g = {u}};
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.dim = 2, .cells = {hill->cells, hill->cells}}, &mesh));
  assert_ok(ctx, tes_problem_create(
                     ctx,
                     &(TesProblemDesc){.equation = TES_TRANSPORT,
                                       .mesh = mesh,
                                       .degree = hill->degree,
                                       .stabilization = hill->streamline,
                                       .data = {.a = a, .b = {b[0], b[1]}},
                                       .exact = {u},
                                       .boundaries = 1,
                                       .boundary = &all,
                                       .time = {.end = 1, .step = 1. / hill->steps, .method = hill->method},
                                       .solver = {.tolerance = 1e-8, .max_iterations = 500}},
                     &p));
  assert_ok(ctx, tes_problem_solve(p, &result));
  assert_ok(ctx, tes_problem_errors(p, &l2, &h1));
  assert_ok(ctx, tes_vector_maximum(tes_problem_solution(p), &largest));
  assert_ok(ctx, tes_problem_value(p, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &mass));
  if (!(fabs(l2 - hill->l2) < 5e-4 * hill->l2 && (hill->largest == 0 || fabs(largest - hill->largest) < 2e-4) &&
        (hill->mass == 0 || fabs(mass - hill->mass) < 3e-6)))
    fail_msg("a %g, degree %d, method %d: error %.6g, largest %.6g, mass %.6g; expected %.6g, %.6g, %.6g",
             hill->a, hill->degree, (int)hill->method, l2, largest, mass, hill->l2, hill->largest, hill->mass);
  tes_problem_destroy(&p);
  tes_mesh_destroy(&mesh);
  TesFunction **functions[] = {&a, &u, &b[0], &b[1]};
  for (int i = 0; i < 4; i++) tes_function_destroy(functions[i]);
}

static void test_hills(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof hills / sizeof *hills; i++) check_hill(&hills[i]);
}

static int set_up(void **state) {
  (void)state;
  return tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0) != TES_OK;
}

static int tear_down(void **state) {
  (void)state;
  tes_context_destroy(&ctx);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bdf4), cmocka_unit_test(test_hills),
                                     cmocka_unit_test(test_time), cmocka_unit_test(test_space),
                                     cmocka_unit_test(test_paper)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
