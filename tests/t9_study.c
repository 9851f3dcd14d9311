/* Run: ctest -R t9_study. Studies: rows, orders, limits, figures and refusals, as a script sees them. */
#include <math.h>
#include "program_testing.h"

static double number_of(const cJSON *row, const char *key) {
  const cJSON *item = cJSON_GetObjectItem(row, key);
  if (!item) fail_msg("no column %s", key);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static const cJSON *row_of(const cJSON *json, int i) {
  return cJSON_GetArrayItem(cJSON_GetObjectItem(json, "rows"), i);
}

/* Degree 2 and 3 on four meshes: orders k + 1 and k; the mean of sin(pi x) sin(pi y) is 4/pi^2. */
static void orders_and_limits_are_those_of_theory(void **state) {
  (void)state;
  assert_run("study " CASES "poisson-square.yaml --over space.degree=2,3 --over mesh.refine=0..3 "
             "--set mesh.box.cells=4 --set solver.tolerance=1e-12 --json s.json "
             "--set 'output.values={m: {mean: domain}}'",
             0);
  assert_output("l2_order");
  cJSON *json = read_json("s.json");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "rows")), 8);
  for (int k = 2; k <= 3; k++)
    for (int r = 0; r < 4; r++) {
      const cJSON *row = row_of(json, 4 * (k - 2) + r);
      assert_int_equal((int)number_of(row, "cells"), 16 << 2 * r);
      assert_int_equal((int)number_of(row, "dofs"), (k * (4 << r) - 1) * (k * (4 << r) - 1));
      assert_int_equal(isfinite(number_of(row, "l2_order")), r > 0);
      assert_int_equal(isfinite(number_of(row, "m_limit")), r > 1);
      if (r == 3) {
        assert_near(number_of(row, "l2_order"), k + 1, 0.02);
        assert_near(number_of(row, "h1_order"), k, 0.02);
        assert_near(number_of(row, "m_limit"), 4 / (M_PI * M_PI), 1e-9);
        assert_true(fabs(number_of(row, "m_limit") - 4 / (M_PI * M_PI)) <
                    0.1 * fabs(number_of(row, "m") - 4 / (M_PI * M_PI)));
      }
    }
  cJSON_Delete(json);
  remove("s.json");
}

/* The first of two keys may be the mesh; uneven ratios 1.5 and 4/3 and lists as values. */
static void sizes_may_stand_in_any_key(void **state) {
  (void)state;
  assert_run("study " CASES "poisson-square.yaml --over 'mesh.box.cells=[8,8],[12,12],[16,16]' "
             "--over space.degree=2,3 --json s.json --set 'output.values={m: {mean: domain}}' --quiet",
             0);
  assert_string_equal(output, "");
  cJSON *json = read_json("s.json");
  assert_false(isfinite(number_of(row_of(json, 1), "l2_order")));
  assert_near(number_of(row_of(json, 2), "l2_order"), 3, 0.05);
  assert_near(number_of(row_of(json, 5), "l2_order"), 4, 0.05);
  assert_near(number_of(row_of(json, 4), "m_order"), 4, 0.1);
  cJSON_Delete(json);
  remove("s.json");
}

static void steps_in_time_have_orders(void **state) {
  (void)state;
  FILE *file = fopen("heat.yaml", "w");
  assert_non_null(file);
  fputs("problem: transport\nmesh: {box: {cells: [2, 2]}}\nspace: {degree: 2}\n"
        "data: {exact: x*y*sin(4*t), f: 4*x*y*cos(4*t)}\nboundary: {all: {dirichlet: exact}}\n"
        "time: {end: 1, step: 0.1, method: backward_euler}\nsolver: {tolerance: 1e-11, tolerance_of: load}\n"
        "output: {vtu: no.vtu, series: no.csv, json: no.json, png: no.png, film: film.png}\n",
        file);
  fclose(file);
  assert_run("study heat.yaml --over time.step=0.1,0.05,0.025,0.0125 --json s.json --plot s.svg", 0);
  cJSON *json = read_json("s.json");
  assert_near(number_of(row_of(json, 3), "l2_order"), 1, 0.1);
  assert_near(number_of(row_of(json, 3), "l2_space_time_order"), 1, 0.1);
  cJSON_Delete(json);
  assert_false(exists("no.vtu") || exists("no.pvd") || exists("no.csv") || exists("no.json"));
  assert_int_equal(files_here(), 3);
  assert_int_equal(remove("s.json") | remove("s.svg") | remove("heat.yaml"), 0);
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (; (text = strstr(text, part)); text++) n++;
  return n;
}

static void figures_have_a_line_and_a_name_each(void **state) {
  (void)state;
  assert_run("study " CASES "poisson-square.yaml --over space.degree=2,3 --over mesh.box.cells=4,8,16 "
             "--quiet --plot s.svg --csv - ",
             0);
  assert_output("space.degree,mesh.box.cells,cells,dofs,iterations,l2,l2_order,h1,h1_order,setup_s,solve_s,");
  FILE *file = fopen("s.svg", "r");
  assert_non_null(file);
  output[fread(output, 1, sizeof output - 1, file)] = 0;
  fclose(file);
  assert_int_equal(count(output, "<polyline"), 4);
  assert_int_equal(count(output, "<circle"), 12 + 4); /* and one a line beside its name */
  assert_output(">degree=3: h1<");
  assert_output("poisson-square.yaml over space.degree, mesh.box.cells<");
  assert_run("study " CASES "poisson-square.yaml --over space.degree=2,3 --quiet --plot s.svg --draw solve_s",
             0);
  assert_run("bench bp --bp 5 --dim 2 --degree 1,2,3 --dofs 500 --precision double --seconds 0.001 --quiet "
             "--plot s.svg",
             0);
  file = fopen("s.svg", "r");
  assert_non_null(file);
  output[fread(output, 1, sizeof output - 1, file)] = 0;
  fclose(file);
  assert_int_equal(count(output, "<polyline"), 1);
  assert_int_equal(count(output, "<circle"), 3 + 1);
  assert_output("benchmark problems, global vectors<");
  assert_output("thread");
  assert_output(">BP5 2D double<");
  assert_int_equal(remove("s.svg"), 0);
}

static void read_figure(const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  output[fread(output, 1, sizeof output - 1, file)] = 0;
  fclose(file);
}

/* A panel a value: its distance to the limit, with the order behind the last point; where there is none, the value. */
static void values_have_panels(void **state) {
  static const char *const ends[] = {"", " --exact m=0.405284734569351"};
  (void)state;
  for (int exact = 0; exact < 2; exact++) {
    char arguments[600];
    snprintf(arguments, sizeof arguments,
             "study " CASES
             "poisson-square.yaml --over space.degree=1,2 --over mesh.refine=0..3 --quiet --plot s.svg "
             "--set mesh.box.cells=4 --set solver.tolerance=1e-12 "
             "--set 'output.values={m: {mean: domain}, c: {mean: domain, of: 0.4 + 0*u}}'%s",
             ends[exact]);
    assert_run(arguments, 0);
    read_figure("s.svg");
    assert_int_equal(count(output, "<polyline"), 2 * 4); /* l2, h1, m, c */
    assert_output(">error l2<");
    assert_output(exact ? ">|m - 0.405284735|, exact<" : ">|m - 0.40528473");
    assert_int_equal(count(output, "extrapolated<"), !exact);
    assert_output(">c, without a limit<");
    assert_int_equal(count(output, ">degree=2<"), 1); /* one legend */
    assert_int_equal(count(output, ">h^"), 6);
    assert_int_equal(count(output, ">h^3.0<"), 1); /* l2 of degree 2 */
    assert_int_equal(count(output, ">h^4.0<"), 1); /* its mean */
    assert_int_equal(count(output, ">0.4<"), 1);   /* a constant is drawn with room around */
  }
  assert_run("study " CASES "poisson-square.yaml --over mesh.refine=0 --plot s.svg --exact m", 2);
  assert_output("--exact m: expected NAME=NUMBER");
  assert_run("study " CASES "poisson-square.yaml --over mesh.refine=0 --exact m=1", 2);
  assert_output("--exact needs --plot");
  assert_int_equal(remove("s.svg"), 0);
}

/* Every object stands where the table at the end says, texts are escaped, lines are drawn. */
static void figures_are_pdf_too(void **state) {
  (void)state;
  assert_run("study " CASES
             "poisson-square.yaml --over space.degree=1,2 --over mesh.refine=0..2 --quiet --plot s.pdf "
             "--set mesh.box.cells=4 --set 'output.values={\"gr\xc3\xb6\xc3\x9f(e)\": {mean: domain}}'",
             0);
  read_figure("s.pdf");
  assert_true(!strncmp(output, "%PDF-1.4\n", 9));
  const char *start = strstr(output, "startxref\n"),
             *table = start ? output + strtol(start + 10, NULL, 10) : NULL;
  assert_non_null(start);
  assert_true(!strncmp(table, "xref\n0 6\n", 9));
  for (int i = 1; i < 6; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d 0 obj <<", i);
    if (strncmp(output + strtol(table + 9 + 20 * i, NULL, 10), name, strlen(name)))
      fail_msg("object %d is not where the table says", i);
  }
  const char *stream = strstr(output, "/Length "), *content = stream ? strstr(stream, "stream\n") : NULL;
  assert_non_null(content);
  assert_true(!strncmp(content + 7 + strtol(stream + 8, NULL, 10), "\nendstream", 10));
  assert_output("(degree=2) Tj");
  assert_output("(h^3.0) Tj");
  assert_output("(|gr\\366\\337\\(e\\) - 0.40");
  assert_run("study " CASES "poisson-square.yaml --over mesh.refine=0 --plot s.png", 2);
  assert_output("figures are SVG or PDF: call it s.svg or s.pdf");
  assert_int_equal(remove("s.pdf"), 0);
}

static size_t longest_line(void) {
  size_t longest = 0;
  for (const char *line = output; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0))
    longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
  return longest;
}

/* What does not fit beside unknowns and status follows below, in tables that begin with the key. */
static void tables_fit_the_terminal(void **state) {
  static const char study[] =
      "study " CASES "poisson-square.yaml --over mesh.refine=0,1 --set mesh.box.cells=4 "
      "--set 'output.values={m: {mean: domain}, c: {mean: domain, of: x*u}}'";
  (void)state;
  assert_run(study, 0);
  assert_true(longest_line() > 80);
  assert_int_equal(count(output, "mesh.refine"), 1);
  setenv("COLUMNS", "80", 1);
  assert_run(study, 0);
  unsetenv("COLUMNS");
  assert_true(longest_line() <= 81); /* a blank behind the last column */
  assert_int_equal(count(output, "mesh.refine"), 4);
  assert_output("mesh.refine       dofs         l2 l2_order         h1 h1_order status");
  assert_output("\n\nmesh.refine                m m_order          m_limit \n0  ");
  assert_output("\n\nmesh.refine     cells iterations  setup_s  solve_s \n0                  16 ");
}

static char *contents(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = calloc(1, 65536);
  assert_non_null(file);
  assert_true(fread(text, 1, 65535, file) > 0);
  fclose(file);
  return text;
}

/* The case, a table and a mesh file are as before; a key of the whole case has no dot in its name. */
static void files_of_the_case_stay(void **state) {
  (void)state;
  static const char *const wrong[] = {"--csv own.yaml", "--json ./own.yaml", "--plot own.yaml", "--csv k.csv"};
  FILE *file = fopen("own.yaml", "w");
  fputs("problem: poisson\nmesh: {box: {cells: [4, 4]}}\ntables: {k: {file: k.csv}}\ndata: {a: k(x)}\n", file);
  fclose(file);
  file = fopen("k.csv", "w");
  fputs("0, 1\n1, 2\n", file);
  fclose(file);
  char *own = contents("own.yaml"), *table = contents("k.csv");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "study own.yaml --over mesh.refine=0,1 %s", wrong[i]);
    assert_run(arguments, 2);
    assert_output("would overwrite");
    char *now[] = {contents("own.yaml"), contents("k.csv")};
    assert_string_equal(now[0], own);
    assert_string_equal(now[1], table);
    free(now[0]), free(now[1]);
  }
  free(own), free(table);
  assert_run("study own.yaml --over problem=poisson,transport --over mesh.refine=0,1 --plot f.svg", 0);
  char *figure = contents("f.svg");
  assert_non_null(strstr(figure, "problem=transport"));
  free(figure);
  remove("own.yaml"), remove("k.csv"), remove("f.svg");
}

/* Rows whose cases have other values have columns too. */
static void values_of_all_rows_have_columns(void **state) {
  (void)state;
  assert_run("study " CASES
             "poisson-square.yaml --over 'output.values={m: {mean: domain}},{q: {integral: domain}}' "
             "--json s.json --quiet",
             0);
  cJSON *json = read_json("s.json");
  for (int i = 0; i < 2; i++) assert_near(number_of(row_of(json, i), i ? "q" : "m"), 4 / (M_PI * M_PI), 1e-6);
  assert_false(isfinite(number_of(row_of(json, 0), "q")));
  cJSON_Delete(json);
  remove("s.json");
}

static void wrong_studies_are_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"", "study takes one case file"},
      {CASES "poisson-square.yaml", "needs --over"},
      {CASES "poisson-square.yaml --over mesh.refine", "expected KEY=a,b"},
      {CASES "poisson-square.yaml --over mesh.refine=0,,1", "a value is empty"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --over space.degree=1 --over data.f=1", "more than 2"},
      {CASES "poisson-square.yaml --over mesh.refin=0,1", "did you mean 'refine'"},
      {CASES "poisson-square.yaml --over space.degree=2,99", "expected an integer from 1 to 20"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --draw l2", "--draw needs --plot"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --draw l3 --plot f.svg",
       "the table has no error or value 'l3'; it has: l2, h1, solve_s"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --draw l2,solve_s --plot f.svg", "drawn alone"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --exact l2=0 --plot f.svg",
       "the table has no value 'l2'; it has: none"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --csv s.csv --json ./s.csv", "are one file"},
      {CASES "poisson-square.yaml --over mesh.refine=0 --csv - --json -", "are one file"},
      {"- --over mesh.refine=0", "from a file"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[300];
    snprintf(arguments, sizeof arguments, "study %s", wrong[i][0]);
    assert_run(arguments, 2);
    assert_output(wrong[i][1]);
    if (strstr(output, "dofs")) fail_msg("study %s: a table was begun", wrong[i][0]);
  }
  assert_run("study " CASES "poisson-square.yaml --over mesh.refine=0 --csv /nonexistent/x.csv", 4);
  assert_run("study " CASES "poisson-square.yaml --over solver.max_iterations=1,30 "
             "--set solver.tolerance=1e-10 --set mesh.box.cells=8 --set solver.method=cg --set "
             "solver.smoother=jacobi",
             1);
  assert_output("not_converged");
  assert_output(" converged");
  assert_int_equal(files_here(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders_and_limits_are_those_of_theory),
                                     cmocka_unit_test(sizes_may_stand_in_any_key),
                                     cmocka_unit_test(steps_in_time_have_orders),
                                     cmocka_unit_test(figures_have_a_line_and_a_name_each),
                                     cmocka_unit_test(values_have_panels),
                                     cmocka_unit_test(figures_are_pdf_too),
                                     cmocka_unit_test(tables_fit_the_terminal),
                                     cmocka_unit_test(files_of_the_case_stay),
                                     cmocka_unit_test(values_of_all_rows_have_columns),
                                     cmocka_unit_test(wrong_studies_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
