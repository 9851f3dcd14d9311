/* Run: ctest -R t9_folder. output.folder: the files of a run are in it, and it is made; absolute names stay. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "program_testing.h"

static void write_case(const char *output_keys) {
  FILE *file = fopen("a.yaml", "w");
  assert_non_null(file);
  fprintf(file, "problem: poisson\nmesh: {box: {cells: [4, 4]}}\nspace: {degree: 2}\noutput: {%s}\n",
          output_keys);
  assert_int_equal(fclose(file), 0);
}

static void files_are_in_the_folder(void **state) {
  static const char *const files[] = {"runs/a/u.vtu", "runs/a/r.json", "runs/a/c.h5", "runs/a/l.csv"};
  (void)state;
  write_case(
      "folder: runs/a, vtu: u.vtu, json: r.json, checkpoint: c.h5, lines: [{from: [0, 0], to: [1, 1], file: "
      "l.csv}]");
  for (int again = 0; again < 2; again++) { /* a folder that is there serves too */
    const int code = run("solve a.yaml --quiet --set output.checkpoint=null");
    if (code) fail_msg("exit %d: %s", code, output);
  }
  for (int i = 0; i < 4; i++) assert_int_equal(access(files[i], F_OK), i == 2 ? -1 : 0);
  assert_int_equal(access("u.vtu", F_OK), -1);
  cJSON *json = read_json("runs/a/r.json");
  assert_string_equal(cJSON_GetObjectItem(json, "vtu")->valuestring, "runs/a/u.vtu");
  cJSON_Delete(json);
}

static void other_names_stay(void **state) {
  (void)state;
  write_case("folder: b/, vtu: u.vtu");
  assert_int_equal(run("solve a.yaml --quiet --vtu here.vtu --json -"), 0);
  assert_int_equal(access("here.vtu", F_OK), 0);
  assert_int_equal(access("b/u.vtu", F_OK), -1);
  assert_int_equal(access("b", F_OK), 0);
}

/* A case that is refused leaves no folder; one that was there, and files in it, stay. */
static void a_refused_case_leaves_nothing(void **state) {
  (void)state;
  write_case("folder: c/d/e, vtu: no/u.vtu");
  assert_int_equal(run("solve a.yaml --quiet"), 4);
  assert_int_equal(access("c", F_OK), -1);
  assert_int_equal(mkdir("c", 0777), 0);
  assert_int_equal(run("solve a.yaml --quiet"), 4);
  assert_int_equal(access("c", F_OK), 0);
  assert_int_equal(access("c/d", F_OK), -1);
  write_case("folder: c/d/e, vtu: u.vtu, points: [[7, 7]]");
  assert_int_equal(run("solve a.yaml --quiet"), 2);
  assert_int_equal(access("c/d", F_OK), -1);
  assert_int_equal(run("solve a.yaml --quiet --set output.points=null"), 0);
  assert_int_equal(access("c/d/e/u.vtu", F_OK), 0);
}

static void a_file_is_no_folder(void **state) {
  (void)state;
  write_case("folder: a.yaml/x, vtu: u.vtu");
  assert_int_equal(run("solve a.yaml --quiet"), 4);
  assert_non_null(strstr(output, "output.folder: 'a.yaml/x' cannot be made: Not a directory"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_in_the_folder), cmocka_unit_test(other_names_stay),
      cmocka_unit_test(a_refused_case_leaves_nothing), cmocka_unit_test(a_file_is_no_folder)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
