/* Run: ctest -R t9_terminal. What a solve prints on a terminal of 80 columns: values and the change of a step on the
 * way, materials as they were given, lines that fit. */
#include "program_testing.h"

static void write_text(const char *text) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* Runs at a width, and checks it but for what follows "tessera: ". */
static void run_at(const char *columns, const char *arguments) {
  setenv("COLUMNS", columns, 1);
  assert_run(arguments, 0);
  unsetenv("COLUMNS");
  for (const char *line = output; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0))
    if ((int)strcspn(line, "\n") > atoi(columns)) fail_msg("%.*s", (int)strcspn(line, "\n"), line);
}

/* The number in a column of the last row of the table of steps, by the end of its name. */
static double number_below(const char *name) {
  const char *head = strstr(output, "   step  "), *at = head ? strstr(head, name) : NULL, *last = NULL;
  assert_non_null(at);
  const size_t end = (size_t)(at - head) + strlen(name);
  for (const char *row = strchr(head, '\n') + 1; row[6] >= '0' && row[6] <= '9'; row = strchr(row, '\n') + 1)
    last = row;
  assert_non_null(last);
  char text[16];
  snprintf(text, sizeof text, "%.11s", last + end - 11);
  return strtod(strrchr(text, ' ') ? strrchr(text, ' ') : text, NULL);
}

static void steps_show_values_and_the_change(void **state) {
  (void)state;
  write_text(
      "problem: transport\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 2}\ndata: {f: 0, initial: exp(1)}\n"
      "boundary: {all: {dirichlet: 0}, left: {neumann: 0}, right: {neumann: 0}, bottom: {neumann: 0}, "
      "top: {neumann: 0}}\n"
      "time: {end: 1, step: 0.02, steady: 1e-9}\n"
      "output: {values: {mean: {mean: domain}, a_long_name_of_one: {integral: domain, of: 2*u}}}\n");
  run_at("80", "solve a.yaml --set data.f=-u0 --set constants.u0=0.5"); /* u = e - t/2 */
  assert_near(number_below("mean"), exp(1) - 0.5, 1e-4);
  assert_near(number_below("a_long_na.."), 2 * exp(1) - 1, 1e-4);
  assert_near(number_below("change"), 0.5 / exp(1), 0.01); /* per unit of time, of the largest so far */
  assert_output("ended at t = 1 after 50 steps, ");
  assert_output("value     mean = 2.2182818");
  run_at("70", "solve a.yaml"); /* room for one, and a steady state at once */
  assert_null(strstr(output, "a_long_na.."));
  assert_output("a steady state");
  assert_near(number_below("mean"), exp(1), 1e-4);
}

/* A value that is not finite at the start is no failure before the end. */
static void values_that_are_not_there_are_left_out(void **state) {
  (void)state;
  write_text(
      "problem: transport\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 2}\ndata: {f: 1, initial: 0}\n"
      "boundary: {left: {neumann: 0}, right: {neumann: 0}, bottom: {neumann: 0}, top: {neumann: 0}}\n"
      "time: {end: 1, step: 0.1}\noutput: {values: {root: {mean: domain, of: \"sqrt(u - 0.45)\"}}}\n");
  run_at("80", "solve a.yaml");
  assert_near(number_below("root"), sqrt(0.55), 1e-4);
  assert_output("          -  ");
}

static void materials_are_told_as_given(void **state) {
  (void)state;
  write_text("problem: elasticity\nunits: mm-N-MPa\nmesh: {box: {cells: [2, 2]}}\n"
             "data: {young: 210 GPa, poisson: 0.3}\nboundary: {left: {displacement: [0, 0]}, all: {traction: "
             "[0, 0]}}\n");
  run_at("80", "solve a.yaml");
  assert_output("data      young = 210 GPa   poisson = 0.3\n");
  assert_null(strstr(output, "lambda ="));
  assert_output("\n          "); /* the method is longer than a line */
  assert_run("solve " CASES "mesh.yaml --set output=null", 0);
  assert_output("          plate: a = 1\n          sleeve: a = 50   f = 1\n");
}

static void adaptive_steps_show_values(void **state) {
  (void)state;
  if (!tes_has_part("p4est")) skip();
  write_text("problem: poisson\nmesh: {l_shape: {}, refine: 1}\nspace: {degree: 2}\nboundary: {all: "
             "{dirichlet: 0}}\n"
             "adapt: {steps: 3}\noutput: {values: {centre: {point: [-0.5, 0.5]}}}\n");
  run_at("80", "solve a.yaml");
  assert_output("  estimate       centre  seconds\n");
  const char *last = strstr(output, "value     centre = ");
  assert_non_null(last);
  char shown[16];
  snprintf(shown, sizeof shown, "%.5g", strtod(last + strlen("value     centre = "), NULL));
  assert_output(shown);
}

/* Between the rows of the table a terminal has a line that is overwritten; the end tells how to go on. */
static void runs_that_are_interrupted(void **state) {
  (void)state;
  if (!tes_has_part("hdf5")) skip();
  write_text("problem: transport\nmesh: {box: {cells: [8, 8]}}\nspace: {degree: 4}\ndata: {f: 1, a: 1e-6}\n"
             "time: {end: 1, step: 1e-7, steady: 1e-9}\noutput: {checkpoint: c.h5}\n");
  bool stepped = false;
  for (int seconds = 1; seconds <= 16 && !stepped; seconds *= 2) {
    char command[300];
    snprintf(command, sizeof command, "timeout -s INT %d " PROGRAM " solve a.yaml > o.txt 2>&1", seconds);
    assert_true(system(command) != 0);
    FILE *file = fopen("o.txt", "r");
    assert_non_null(file);
    output[fread(output, 1, sizeof output - 1, file)] = 0;
    assert_int_equal(fclose(file), 0);
    stepped = strstr(output, "interrupted at t = ") != NULL;
  }
  assert_output("go on     with --restart c.h5\n");
  assert_output("tessera: interrupted at t = ");
  assert_output(" steps; go on with --restart c.h5\n");
  assert_null(strstr(output, "0 iterations at a relative residual"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_show_values_and_the_change),
      cmocka_unit_test(values_that_are_not_there_are_left_out), cmocka_unit_test(materials_are_told_as_given),
      cmocka_unit_test(adaptive_steps_show_values), cmocka_unit_test(runs_that_are_interrupted)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
