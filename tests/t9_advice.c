/* Run: ctest -R t9_advice. What the program advises where a solve does not converge: each advice is followed on the
 * case that prints it, and helps; and what cannot help is not advised. */
#include <cJSON.h>
#include "program_testing.h"

static const char beam[] =
    "problem: elasticity\n"
    "mesh: {box: {cells: [16, 4, 4], upper: [4, 1, 1]}}\n"
    "space: {degree: 3}\n"
    "data: {young: 1, poisson: 0.3}\n"
    "boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}, right: {traction: "
    "[0, 1, 0]}}\n",
                  jumps[] = "problem: poisson\n"
                            "mesh: {box: {dim: 2, cells: 16}}\n"
                            "space: {degree: 2}\n"
                            "data: {a: '1 + 999*(x > 0.4)*(y > 0.3)'}\n"
                            "boundary: {all: {dirichlet: 0}}\n",
                  carried[] = "problem: transport\n"
                              "mesh: {box: {cells: [12, 12, 12]}}\n"
                              "space: {degree: 1}\n"
                              "data: {b: [2400, 0, 0], a: 1, f: 1}\n"
                              "boundary: {all: {neumann: 0}, left: {dirichlet: 0}, right: {dirichlet: 1}}\n";

static const char entered[] =
    "problem: transport\n"
    "mesh: {box: {dim: 2, cells: 16}}\n"
    "space: {degree: 4}\n"
    "data: {a: 1e-5, b: ['1', '0.3*y'], f: '1 + 0.3*y', exact: 'x + y'}\n"
    "boundary: {left: {neumann: -1e-5}, right: {dirichlet: exact}, bottom: {dirichlet: exact}, top: "
    "{dirichlet: exact}}\n";

/* Runs what does not converge with options, and again with what is advised as well. */
static void follow(const char *text, const char *options, const char *advice, const char *more) {
  char command[512];
  write_file("a.yaml", text);
  snprintf(command, sizeof command, "solve a.yaml --quiet %s", options);
  assert_run(command, 1);
  assert_output(advice);
  snprintf(command, sizeof command, "solve a.yaml --quiet %s %s", options, more);
  assert_run(command, 0);
}

/* The number that is advised, of iterations. */
static void follow_iterations(const char *text, const char *options) {
  char command[512];
  int needed = 0;
  write_file("a.yaml", text);
  snprintf(command, sizeof command, "solve a.yaml --quiet %s", options);
  assert_run(command, 1);
  const char *at = strstr(output, "allow about ");
  if (!at || sscanf(at, "allow about %d iterations", &needed) != 1)
    fail_msg("no number is advised: %s", output);
  snprintf(command, sizeof command, "solve a.yaml --quiet %s --set solver.max_iterations=%d --json r.json",
           options, needed);
  assert_run(command, 0);
  cJSON *json = read_json("r.json");
  const int taken = cJSON_GetObjectItem(json, "iterations")->valueint;
  print_message("%s: %d advised, %d taken\n", options, needed, taken);
  assert_true(needed <= 4 * taken);
  cJSON_Delete(json);
}

static void more_iterations(void **state) {
  (void)state;
  follow_iterations(beam, "--set solver.max_iterations=6");
  follow_iterations(beam, "--set solver.max_iterations=12 --set solver.smoother=jacobi");
  follow_iterations(beam,
                    "--set solver.max_iterations=12 --set solver.smoother=jacobi --set solver.method=gmres");
  follow_iterations(carried, "--set solver.max_iterations=40 --set solver.smoother=patch");
}

static void another_method(void **state) {
  (void)state;
  follow(jumps, "--set solver.method=vcycle --set solver.max_iterations=40", "use gmres",
         "--set solver.method=gmres");
}

static void factors(void **state) {
  (void)state;
  if (!tes_has_part("mumps")) skip();
  follow(beam, "--set solver.method=cg --set solver.max_iterations=3", "use solver.method: direct",
         "--set solver.method=direct");
}

static void no_smoother_of_ones_own(void **state) {
  (void)state;
  follow(beam, "--set solver.smoother=jacobi --set solver.max_iterations=12", "leave out solver.smoother",
         "--set solver.smoother=auto");
}

/* Cells in the order of the flow, which are chosen where the velocity prevails. */
static void the_order_of_the_flow(void **state) {
  (void)state;
  follow(carried, "--set solver.smoother=patch --set solver.max_iterations=12", "leave out solver.smoother",
         "--set solver.smoother=auto");
}

static double l2_of(const char *command) {
  assert_run(command, 0);
  cJSON *json = read_json("r.json");
  const double l2 = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "errors"), "l2")->valuedouble;
  cJSON_Delete(json);
  return l2;
}

/* The flow enters where no value holds u: incomplete factors break down, which auto sees. */
static void an_entry_without_a_value(void **state) {
  static const char smoother[] = "--set solver.smoother=ordered_cells",
                    value[] = "give a value or the flux where the flow enters: boundary.left\n";
  (void)state;
  if (!has_forests() || !tes_has_part("mumps")) skip();
  follow(entered, smoother, "use solver.method: direct",
         "--set solver.method=direct --set solver.smoother=auto");
  follow(entered, smoother, value, "--set 'boundary.left={dirichlet: exact}'");
  follow(entered, smoother, value, "--set 'boundary.left={flux: -1e-5 + y}'");
  assert_true(l2_of("solve a.yaml --quiet --json r.json") < 1e-8);
}

static void what_cannot_help(void **state) {
  (void)state;
  write_file("a.yaml", carried);
  assert_run("solve a.yaml --quiet --set solver.max_iterations=12 --set solver.smoother=patch", 1);
  assert_null(strstr(output, "use gmres"));
  assert_null(strstr(output, "another smoother"));
  write_file("a.yaml", beam);
  assert_run("solve a.yaml --quiet --set solver.max_iterations=6", 1);
  assert_null(strstr(output, "gmres"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(more_iterations),
                                     cmocka_unit_test(another_method),
                                     cmocka_unit_test(factors),
                                     cmocka_unit_test(no_smoother_of_ones_own),
                                     cmocka_unit_test(the_order_of_the_flow),
                                     cmocka_unit_test(an_entry_without_a_value),
                                     cmocka_unit_test(what_cannot_help)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
