/* Run: ctest -R t9_defect. Enclosed flows whose boundary values leave a net flux: a small one is spread, with a
 * warning, a larger one is refused. */
#include <math.h>
#include <stdio.h>
#include "program_testing.h"

static const char *const problems[] = {
    "problem: stokes\nspace: {element: q, degree: 2}\n",
    "problem: stokes\nspace: {element: q, degree: 2}\nsolver: {method: direct}\n",
    "problem: navier_stokes\nspace: {element: q, degree: 2}\ntime: {end: 0.2, step: 0.02}\ndata: {nu: 1}\n",
    "problem: navier_stokes\nspace: {element: iso, degree: 1}\ntime: {end: 0.02, step: 1e-3}\ndata: {nu: 1}",
    "problem: stokes\nspace: {element: rt, degree: 2}\n",
    "problem: stokes\nspace: {element: rt, degree: 1}\nsolver: {method: fmg}\n",
    "problem: navier_stokes\nspace: {element: rt, degree: 2}\ntime: {end: 0.2, step: 0.02}\ndata: {nu: 1}\n"};

/* A channel of length and width 1, whose outflow is 1 + defect times the inflow of 2/3. */
static int solve(const char *problem, double defect) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(
      file,
      "%s\nmesh: {box: {cells: [8, 8]}}\nboundary: {left: {velocity: [4*y*(1 - y), 0]}, right: {velocity: "
      "[4*y*(1 - y)*(1 + %.17g), 0]}}\noutput: {values: {out: {integral: right, of: u*nx}, div: "
      "{integral: domain, "
      "of: ux + vy}, most: {max: domain, of: ux + vy}}}\n",
      problem, defect);
  assert_int_equal(fclose(file), 0);
  return run("solve a.yaml --json a.json");
}

static void small_defects_are_spread(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double defect = sign * 5e-5;
      const int code = solve(problems[i], defect);
      if (code == 3) continue;
      if (code) fail_msg("exit %d for %s: %s", code, problems[i], output);
      if (!strstr(output, sign > 0 ? "lets more out than in" : "lets more in than out"))
        fail_msg("no warning for %s: %s", problems[i], output);
      assert_non_null(strstr(output, "is spread as a uniform source over the domain"));
      cJSON *json = read_json("a.json");
      const cJSON *values = cJSON_GetObjectItem(json, "values");
      /* by Gauss's theorem; parabolas are exact but for element iso, whose trapezoids have 1 - 1/64 of them. The
       * source is the same everywhere in element rt, whose divergences are exact. */
      assert_near(cJSON_GetObjectItem(values, "div")->valuedouble, defect * 2 / 3, 2e-6);
      assert_near(cJSON_GetObjectItem(values, "out")->valuedouble, (1 + defect) * 2 / 3, i == 3 ? 0.02 : 1e-9);
      if (i > 3) assert_near(cJSON_GetObjectItem(values, "most")->valuedouble, defect * 2 / 3, 1e-4 * 5e-5);
      cJSON_Delete(json);
    }
}

static void balanced_data_have_no_warning(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    const int code = solve(problems[i], 0);
    if (code && code != 3) fail_msg("exit %d for %s: %s", code, problems[i], output);
    assert_null(strstr(output, "is spread"));
  }
}

static void large_defects_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    const int code = solve(problems[i], 3e-4);
    if (code == 3) continue;
    assert_int_equal(code, 2);
    assert_non_null(strstr(output, "the velocity lets more out than in: its net flux is 0.0002"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_defects_are_spread),
                                     cmocka_unit_test(balanced_data_have_no_warning),
                                     cmocka_unit_test(large_defects_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
