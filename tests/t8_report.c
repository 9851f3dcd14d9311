/* Run: ctest -R t8_report. The JSON report: all fields of the contract, valid whatever the numbers are. */
#include "io/report.h"
#include <cjson/cJSON.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "failing_allocator.h"

static const double residuals[] = {1, 0.25, 1e-10};
static const TesReportLevel levels[] = {{64, 729}, {8, 125}};
static const TesReportTime times[] = {{"smoother", 0.125}, {"transfer", 0.5}};
static const TesReportText solver[] = {{"method", "V-cycle"},
                                       {"smoother", "vertex patches, \"reversed\"\nafter"}};
static const char *const warnings[] = {"tolerance is low"};

static const TesReport complete = {
    .status = TES_NOT_CONVERGED,
    .message = "residual 1e-3 after 2 iterations",
    .case_file = "a.yaml",
    .problem = "poisson",
    .iterations = 2,
    .fractional_iterations = 1.75,
    .tolerance = 1e-9,
    .residuals = residuals,
    .residual_count = 3,
    .dofs = 4000000000,
    .dim = 3,
    .degree = 4,
    .levels = levels,
    .level_count = 2,
    .has_errors = true,
    .error_l2 = 1e-7,
    .error_h1 = 2e-6,
    .setup_seconds = 0.5,
    .solve_seconds = 2,
    .times = times,
    .time_count = 2,
    .dofs_per_second = 2e9,
    .device = "cpu",
    .precision = "mixed",
    .threads = 2,
    .memory_peak = 1000,
    .solver = solver,
    .solver_count = 2,
    .warnings = warnings,
    .warning_count = 1,
    .vtu = "a.vtu",
};

static cJSON *parsed(const TesReport *report) {
  TesContext *ctx;
  char *text;
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  assert_int_equal(tesi_report_text(ctx, report, &text), TES_OK);
  cJSON *root = cJSON_Parse(text);
  if (!root) fail_msg("not valid: %s", text);
  tesi_free(ctx, &text);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return root;
}

/* The item at a path like "errors.l2" or "residuals.1". */
static const cJSON *at(const cJSON *root, const char *path) {
  char copy[64], *rest;
  strcpy(copy, path);
  for (char *part = strtok_r(copy, ".", &rest); part && root; part = strtok_r(NULL, ".", &rest))
    root = cJSON_IsArray(root) ? cJSON_GetArrayItem(root, atoi(part))
                               : cJSON_GetObjectItemCaseSensitive(root, part);
  return root;
}

static void expect_number(const cJSON *root, const char *path, double value) {
  const cJSON *item = at(root, path);
  if (!cJSON_IsNumber(item)) fail_msg("%s is no number", path);
  assert_near(item->valuedouble, value, 0);
}

static void expect_text(const cJSON *root, const char *path, const char *value) {
  const cJSON *item = at(root, path);
  if (!cJSON_IsString(item)) fail_msg("%s is no text", path);
  assert_string_equal(item->valuestring, value);
}

static void all_fields_are_written(void **state) {
  (void)state;
  cJSON *root = parsed(&complete);
  static const struct {
    const char *path;
    double value;
  } numbers[] = {{"iterations", 2},
                 {"fractional_iterations", 1.75},
                 {"tolerance", 1e-9},
                 {"residuals.0", 1},
                 {"residuals.2", 1e-10},
                 {"dofs", 4e9},
                 {"dim", 3},
                 {"degree", 4},
                 {"levels", 2},
                 {"hierarchy.0.cells", 64},
                 {"hierarchy.1.dofs", 125},
                 {"errors.l2", 1e-7},
                 {"errors.h1", 2e-6},
                 {"times.setup", 0.5},
                 {"times.solve", 2},
                 {"times.smoother", 0.125},
                 {"times.transfer", 0.5},
                 {"dofs_per_second", 2e9},
                 {"threads", 2},
                 {"memory_peak", 1000}};
  static const struct {
    const char *path, *value;
  } texts[] = {{"status", "not_converged"},
               {"message", "residual 1e-3 after 2 iterations"},
               {"case", "a.yaml"},
               {"problem", "poisson"},
               {"device", "cpu"},
               {"precision", "mixed"},
               {"solver.method", "V-cycle"},
               {"solver.smoother", "vertex patches, \"reversed\"\nafter"},
               {"warnings.0", "tolerance is low"},
               {"vtu", "a.vtu"}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    expect_number(root, numbers[i].path, numbers[i].value);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect_text(root, texts[i].path, texts[i].value);
  expect_text(root, "version", tes_version());
  assert_int_equal(cJSON_GetArraySize(at(root, "residuals")), 3);
  cJSON_Delete(root);
}

static void an_empty_report_has_the_fields_that_are_always_there(void **state) {
  (void)state;
  const char *always[] = {"status", "iterations", "fractional_iterations", "residuals", "dofs",
                          "levels", "times",      "dofs_per_second",       "device",    "precision",
                          "version"};
  cJSON *root = parsed(&(TesReport){0});
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (!at(root, always[i])) fail_msg("%s is missing", always[i]);
  assert_int_equal(cJSON_GetArraySize(root), sizeof always / sizeof *always);
  expect_text(root, "status", "converged");
  cJSON_Delete(root);
}

static void nan_and_infinity_become_null(void **state) {
  (void)state;
  const double bad[] = {1, NAN, INFINITY, -INFINITY};
  TesReport r = complete;
  r.status = TES_NAN;
  r.residuals = bad, r.residual_count = 4;
  r.error_l2 = NAN, r.dofs_per_second = INFINITY, r.fractional_iterations = NAN, r.solve_seconds = -INFINITY;
  cJSON *root = parsed(&r);
  const char *null[] = {"residuals.1",     "residuals.2",           "residuals.3", "errors.l2",
                        "dofs_per_second", "fractional_iterations", "times.solve"};
  for (size_t i = 0; i < sizeof null / sizeof *null; i++) assert_true(cJSON_IsNull(at(root, null[i])));
  expect_text(root, "status", "nan");
  cJSON_Delete(root);
}

static void texts_become_utf8(void **state) {
  (void)state;
  TesReport r = {.message = "a\xff\xc3;\xe2\x82\xac\xc3\xa9\xed\xa0\x80\xc3"};
  cJSON *root = parsed(&r);
  expect_text(root, "message", "a??;\xe2\x82\xac\xc3\xa9????");
  cJSON_Delete(root);
}

/* A program that embeds the library may use a locale with decimal commas. */
static void locales_do_not_matter(void **state) {
  (void)state;
  const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
  for (size_t i = 0; i < 3; i++)
    if (setlocale(LC_ALL, names[i])) break;
  cJSON *root = parsed(&complete);
  expect_number(root, "fractional_iterations", 1.75);
  setlocale(LC_ALL, "C");
  cJSON_Delete(root);
}

static void reports_go_to_files(void **state) {
  (void)state;
  TesContext *ctx;
  char path[] = "/tmp/t8_report_XXXXXX", text[16] = "";
  close(mkstemp(path));
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  assert_int_equal(tes_report_write(ctx, &complete, path), TES_OK);
  FILE *file = fopen(path, "r");
  assert_non_null(fgets(text, sizeof text, file));
  assert_string_equal(text, "{\n");
  fclose(file);
  assert_int_equal(tes_report_write(ctx, &complete, "/no/folder/r.json"), TES_IO);
  assert_non_null(strstr(tes_context_message(ctx), "/no/folder/r.json"));
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  remove(path);
}

static TesStatus write_to_null(TesContext *ctx, void *user) {
  (void)user;
  return tes_report_write(ctx, &complete, "/dev/null");
}

static long json_allocations, json_fail_at;

static void *json_allocate(size_t bytes) {
  return ++json_allocations >= json_fail_at && json_fail_at ? NULL : malloc(bytes);
}

static void failing_memory_is_survived(void **state) {
  (void)state;
  assert_true(every_allocation_fails(write_to_null, NULL) >= 3);
  cJSON_Hooks hooks = {json_allocate, free};
  cJSON_InitHooks(&hooks);
  TesContext *ctx;
  assert_int_equal(tesi_context_new(NULL, &ctx), TES_OK);
  TesStatus status = TES_OUT_OF_MEMORY;
  for (json_fail_at = 1; status == TES_OUT_OF_MEMORY; json_fail_at++) {
    json_allocations = 0;
    tes_context_clear(ctx);
    status = write_to_null(ctx, NULL);
    assert_int_equal(tes_context_memory(ctx), 0);
  }
  assert_int_equal(status, TES_OK);
  assert_true(json_fail_at > 50);
  cJSON_InitHooks(NULL);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_fields_are_written),
      cmocka_unit_test(an_empty_report_has_the_fields_that_are_always_there),
      cmocka_unit_test(nan_and_infinity_become_null),
      cmocka_unit_test(texts_become_utf8),
      cmocka_unit_test(locales_do_not_matter),
      cmocka_unit_test(reports_go_to_files),
      cmocka_unit_test(failing_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
