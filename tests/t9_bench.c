/* Run: ctest -R t9_bench. The benchmarks of the program: tables, files, figures, and what is refused. */
#include "program_testing.h"

static int count(const char *text, const char *part) {
  int found = 0;
  for (const char *at = text; (at = strstr(at, part)); at++) found++;
  return found;
}

static void benches_write_tables(void **state) {
  (void)state;
  assert_run("bench operator --dim 2 --degree 2,3 --dofs 1e3 --seconds 0.01 --csv o.csv --json o.json", 0);
  assert_output("mdofs_per_s");
  cJSON *json = read_json("o.json");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "rows")), 4);
  cJSON_Delete(json);
  assert_true(exists("o.csv"));
  assert_run("bench smoother --dim 2 --degree 2 --dofs 1e3 --seconds 0.01", 0);
  assert_output("sweep_per_operator");
  assert_run("bench solver --dim 2 --degree 4 --dofs 1e3 --seconds 0.01 --precision mixed", 0);
  assert_output("mixed");
  assert_run("bench bp --bp 3 --degree 1 --cells 8,2000000000 --seconds 0.01 --precision double --csv o.csv",
             4);
  FILE *table = fopen("o.csv", "r"); /* the row before */
  assert_non_null(table);
  output[fread(output, 1, sizeof output - 1, table)] = 0;
  fclose(table);
  assert_output("3,3,1,double,8,");
  assert_run("bench bp --form element --bp 1 --degree 1 --cells 8 --seconds 0.01 --json - --precision double",
             0);
  assert_true(*output == '{');
  assert_run("bench cycle --dim 2,3 --degree 2,4 --dofs 1e3 --seconds 0.001 --csv o.csv --plot o.svg", 0);
  assert_output("percent");
  assert_run("bench bp --variant list", 0);
  assert_output("registers");
  if (tes_has_part("p4est")) {
    assert_run(
        "bench adaptive --dim 3 --degree 2 --mesh uniform --dofs 100,1e3 --precision double --seconds 0.001 "
        "--plot o.svg",
        0);
    assert_output("uniform");
    assert_null(strstr(output, "shells"));
    assert_run("bench kershaw --degree 2 --cells 4 --seconds 0.001 --device cpu --csv o.csv", 0);
    assert_output("nekRS's");
  }
  assert_run("bench patch-tables --dim 2,3 --level 3,4 --degree 1,3 --csv o.csv", 0);
  assert_output("paper, Table 2, level 4");
  assert_run("bench patch-tables --table 7 --dofs 1000 --seconds 0.001 --device cpu", 0);
  assert_output("paper: mixed");
  assert_run(
      "bench patch-figures --figure 18 --dofs 1e3..4e3 --degree 1 --seconds 0.001 --device cpu --csv o.csv "
      "--plot o.svg",
      0);
  assert_output("s_per_gdof");
  assert_run(
      "bench patch-figures --figure 11 --degree 2 --dofs 500 --seconds 0.001 --device cpu --csv o.csv --plot "
      "o.svg",
      0);
  assert_output("finest level: transfers");
  assert_run("bench applications --table 4 --cells 4 --seconds 0.01 --device cpu", 0);
  assert_output("tessera, multigrid");
  assert_output("matrices, threads");
  assert_run("bench applications --level 3 --seconds 0.001 --device cpu", 0);
  assert_output("GMRES, Jacobi, matrices, threads");
  if (tes_has_part("p4est")) {
    assert_run("bench applications --table 2 --mesh face --level 2", 0);
    assert_output("     4.92      4.92           7.11      5313");
    assert_run("bench applications --table 3 --mesh edge --level 1 --seconds 0.001 --device cpu", 0);
    assert_output("GMRES, Jacobi, matrices, threads");
    assert_output("4.054402"); /* backward Euler ends at the static solution */
    assert_output("7.79624");
  }
  remove("o.csv");
  remove("o.svg");
  remove("o.json");
}

/* The kernels of the papers' ladders, on the emulator: which compiles each of them. Brief: a kernel alone; tests of t4
 * and t5 run them under the sanitizers too. */
static void ladders_are_measured(void **state) {
  (void)state;
  assert_run("bench bp --variant symmetric --bp 5 --degree 1 --cells 8 --seconds 0.001 --precision double "
             "--device emulator",
             0);
  assert_output("symmetric");
  if (test_brief()) return;
  assert_run(
      "bench bp --variant planes --bp 5 --degree 1 --cells 8 --seconds 0.01 --precision double --device "
      "emulator",
      0);
  assert_output("symmetric");
  assert_run(
      "bench bp --variant cubes --bp 3 --degree 1 --cells 1,8 --seconds 0.001 --precision double --device "
      "emulator --plot o.svg",
      0);
  assert_output("split");
  assert_output("cube_arrays");
  assert_run(
      "bench patch-figures --figure 8 --degree 1 --dofs 60 --seconds 0.001 --device emulator --csv o.csv "
      "--plot o.svg",
      0);
  assert_output("patches_");
  assert_run(
      "bench patch-figures --figure 20 --degree 2 --dofs 60 --seconds 0.001 --device emulator --csv o.csv "
      "--plot o.svg",
      0);
  assert_output("share_of_roof");
  assert_run(
      "bench patch-figures --figure 16 --degree 2 --dofs 300 --seconds 0.001 --device emulator --csv o.csv "
      "--plot o.svg",
      0);
  assert_output("boundary finest level: sweeps");
  assert_int_equal(remove("o.csv") + remove("o.svg"), 0);
}

static void read_figure(void) {
  FILE *file = fopen("s.svg", "r");
  assert_non_null(file);
  output[fread(output, 1, sizeof output - 1, file)] = 0;
  fclose(file);
}

/* Lines of earlier tables stand beside those of now, and alone where nothing is measured; values of others are hollow
 * marks. */
static void figures_take_lines_of_earlier_tables(void **state) {
  (void)state;
  assert_run("bench bp --bp 5 --dim 2 --degree 1,2,3 --dofs 500 --precision double --seconds 0.001 --quiet "
             "--csv first.csv",
             0);
  assert_run("bench bp --bp 5 --dim 2 --degree 1,2 --dofs 500 --precision double --seconds 0.001 --quiet "
             "--plot s.svg --with first.csv",
             0);
  read_figure();
  assert_int_equal(count(output, "<polyline"), 2);
  assert_int_equal(count(output, "<circle"), 5 + 2); /* and one a line beside its name */
  assert_output(">BP5 2D double<");
  assert_output(">BP5 2D double, first<");
  assert_output("thread");
  assert_run("bench bp --seconds 0 --with GPU=./first.csv,first.csv --plot s.svg", 0);
  read_figure();
  assert_output(">BP5 2D double, GPU<");
  assert_int_equal(count(output, "<polyline"), 2);
  assert_run("bench bp --seconds 0 --with first.csv,first.csv --plot s.svg", 0);
  read_figure();
  assert_int_equal(count(output, "<polyline"), 1); /* one file twice: the same line */
  assert_null(strstr(output, "thread"));
  assert_run("bench applications --table 3 --seconds 0 --with first.csv --plot s.svg", 2);
  assert_output("first.csv:2: no column 'level', which the figure needs");
  assert_run("bench bp --seconds 0 --with no.csv --plot s.svg", 4);
  assert_output("no.csv");
  assert_run("bench bp --seconds 0 --with . --plot s.svg", 4);
  assert_output(". is no table");
  FILE *file = fopen("wrong.csv", "w");
  assert_non_null(file);
  fputs("degree,gdofs_per_s,series\n1,much,BP5\n", file);
  fclose(file);
  assert_run("bench bp --seconds 0 --with wrong.csv --plot s.svg", 2);
  assert_output("wrong.csv:2: column 'gdofs_per_s': 'much' is no number");
  file = fopen("first.csv", "w");
  assert_non_null(file);
  fputs("who,unknowns,step ms,pres-solve,mib\nours,100,1,0.5,2\nours,200,2,1,3\n\"paper, GPU\",100,5,4,\n",
        file);
  fclose(file);
  assert_run("bench applications --table 4 --seconds 0 --with first.csv,b=first.csv --plot s.svg", 0);
  read_figure();
  assert_int_equal(count(output, "<polyline"), 6); /* of two tables, and of the paper, each with its solves */
  assert_output(">ours, b: solve<");
  assert_output(">ours, first: solve<");
  assert_output(">paper, GPU: solve<");
  assert_output("fill=\"#fff\" stroke="); /* a single value of others */
  assert_run("bench applications --table 4 --draw memory --seconds 0 --with first.csv --plot s.svg", 0);
  read_figure();
  assert_output(">MiB<");
  assert_int_equal(count(output, "<polyline"), 1); /* theirs is not told */
  assert_int_equal(remove("s.svg") + remove("first.csv") + remove("wrong.csv"), 0);
}

/* Nothing is passed over in silence, and nothing is measured before it is told. */
static void wrong_benches_are_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"bp --degree 1..16", "degree 16, expected 1 to 15"},
      {"adaptive --degree 9", "degree 9, expected 1 to 8"},
      {"bp --precision mixed", "mixed is for solver"},
      {"bp --smoother patch", "bench bp has no --smoother; that is for: smoother solver"},
      {"operator --cells 5", "bench operator has no --cells"},
      {"patch-tables --dim 2", "bench patch-tables takes --dim and --degree with --level"},
      {"patch-tables --table 4", "bench patch-tables: --table 5, 6 or 7"},
      {"patch-tables --method cg", "bench patch-tables takes --method with --table 7"},
      {"patch-tables --dofs 1e4", "takes --dofs with --table"},
      {"patch-tables --table 5 --level 4", "--level or --table, not both"},
      {"applications --table 5", "bench applications: --table 1, 2, 3 or 4"},
      {"patch-figures", "bench patch-figures needs --figure 3, 5, 7 to 12, or 15 to 20"},
      {"patch-figures --figure 4", "--figure"},
      {"patch-figures --figure 11 --precision double", "figure 11 is of mixed precision"},
      {"patch-figures --figure 17 --dim 2", "bench patch-figures: figure 17 is of 3D"},
      {"solver --figure 18", "bench solver has no --figure; that is for: patch-figures"},
      {"adaptive --geometry affine",
       "bench adaptive: --geometry auto, curved, vertices, stored, weights or halves"},
      {"bp --cg-tolerance 1e-3", "--cg-tolerance needs --cg"},
      {"bp --cells 8 --dofs 100", "not both"},
      {"applications --table 4 --level 3", "--level with tables 1 to 3 and --cells with table 4"},
      {"applications --cells 8", "--level with tables 1 to 3 and --cells with table 4"},
      {"applications --level 2", "--level 2, expected 3 or more"},
      {"applications --table 3 --level 7", "--level 7, expected 1 to 6 with tables 2 and 3"},
      {"applications --mesh face", "--mesh is for tables 2 and 3"},
      {"stokes --mesh face", "bench stokes has no --mesh; that is for: applications"},
      {"bp --variant foo --device emulator", "no variant 'foo'"},
      {"bp --variant shared --bp 2 --device emulator", "one component"},
      {"bp --variant cube --bp 5 --degree 9,10 --device emulator",
       "'cube' is not for --bp 5 --degree 10: blocks"},
      {"bp --variant split --bp 5 --device emulator", "BP5 has nothing to interpolate"},
      {"adaptive --mesh face", "--mesh uniform or shells"},
      {"adaptive --table 3", "--table 2, the sizes of the paper's largest meshes"},
      {"adaptive --table 2 --dofs 1e6", "not both"},
      {"applications --draw errors", "bench applications: --draw errors, expected one of: time memory"},
      {"stokes --draw memory", "expected one of: time errors operator iterations"},
      {"stokes --draw roofline", "bench stokes without --variant: --draw roofline, expected one of: time"},
      {"stokes --variant all --draw errors",
       "bench stokes --variant: --draw errors, expected one of: time operator"},
      {"stokes --variant foo --device emulator",
       "of operators tiles, padded, basic, shared or conflict_free, got"},
      {"bp --draw registers", "bench bp without --variant: --draw registers, expected one of: time"},
      {"bp --with a.csv", "--with needs --plot"},
      {"bp --seconds 0", "--seconds 0 measures nothing"},
      {"operator --with a.csv --plot a.svg", "bench operator has no --with"},
      {"applications --table 2 --plot a.svg", "there is no figure of it"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char arguments[200];
    snprintf(arguments, sizeof arguments, "bench %s", wrong[i][0]);
    assert_run(arguments, 2);
    assert_output(wrong[i][1]);
    if (strstr(output, "median")) fail_msg("%s: a table was begun", wrong[i][0]);
  }
  assert_run(
      "bench stokes --variant conflict_free --degree 1 --cells 2 --seconds 0.001 --precision double --device "
      "emulator --draw roofline --plot b.svg",
      0);
  assert_output("conflict_free");
  remove("b.svg");
  assert_run("bench stokes --variant padded --device cpu", 3);
  assert_run("bench bp --variant all", 3);
  assert_run("bench patch-figures --figure 3 --device cpu", 3);
  assert_run("bench patch-tables --table 5 --device cpu", 3);
  assert_run("bench bp --csv /nonexistent/x.csv", 4);
  assert_run("bench bp --plot /nonexistent/x.svg", 4);
  if (strstr(output, "median")) fail_msg("a table was begun");
}

/* A box of trees, which the solver takes for one (conjugate gradients want a symmetric cycle). */
static void forests_of_boxes_are_solved(void **state) {
  (void)state;
  const char *const program = TESI_BUILD_DIR "/bench/bench_forest_solve";
  char command[500];
  if (!exists(program) || !tes_has_part("p4est")) skip();
  for (int patches = 0; patches < 2; patches++) {
    snprintf(command, sizeof command,
             "%s --domain box --aspect 10 --dim 3 --degree 2 --base 2 --depth 0 --patches %s --csv f.csv",
             program, patches ? "on" : "off");
    assert_int_equal(system(command), 0);
  }
  FILE *table = fopen("f.csv", "r");
  assert_non_null(table);
  output[fread(output, 1, sizeof output - 1, table)] = 0;
  fclose(table);
  assert_int_equal(count(output, "converged,box,10"), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(benches_write_tables), cmocka_unit_test(ladders_are_measured),
      cmocka_unit_test(figures_take_lines_of_earlier_tables), cmocka_unit_test(forests_of_boxes_are_solved),
      cmocka_unit_test(wrong_benches_are_refused)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
