/* Run: ctest -R t8_case_schema. The JSON schema of case files: every case of the repository fits, wrong ones do not. */
#include <cJSON.h>
#include <glob.h>
#include <stdio.h>
#include "io/file.h"
#include "io/yaml.h"
#include "testing.h"
#include "tessera/case.h"

static TesContext *ctx;
static cJSON *schema;

static bool has_type(const TesiYaml *node, const char *type) {
  char *end = node->text;
  const bool scalar = node->kind == TESI_YAML_SCALAR;
  const bool number = scalar && node->plain && *node->text && (strtod(node->text, &end), !*end);
  if (!strcmp(type, "null")) return tesi_yaml_is_null(node);
  if (!strcmp(type, "object")) return node->kind == TESI_YAML_MAP;
  if (!strcmp(type, "array")) return node->kind == TESI_YAML_LIST;
  if (!strcmp(type, "number")) return number;
  if (!strcmp(type, "integer")) return number && strtod(node->text, NULL) == floor(strtod(node->text, NULL));
  return scalar && !number;
}

/* YAML reads `true` and `false` without quotes as truth values and not as words. */
static bool is_value(const cJSON *value, const TesiYaml *node) {
  const bool plain = node->text && node->plain, yes = plain && !strcmp(node->text, "true"),
             no = plain && !strcmp(node->text, "false");
  if (cJSON_IsNull(value)) return tesi_yaml_is_null(node);
  if (cJSON_IsBool(value)) return cJSON_IsTrue(value) ? yes : no;
  return !yes && !no && node->text && !strcmp(node->text, value->valuestring);
}

/* Whether a map has at most so many keys, and those that are required. */
static bool counts(const cJSON *rule, const TesiYaml *node) {
  const cJSON *most = cJSON_GetObjectItem(rule, "maxProperties"), *any = cJSON_GetObjectItem(rule, "anyOf"),
              *item;
  bool good = !any;
  if (most && node->count > most->valueint) return false;
  cJSON_ArrayForEach(
      item, cJSON_GetObjectItem(rule, "required")) if (!tesi_yaml_find(node, item->valuestring)) return false;
  cJSON_ArrayForEach(item, any) good |= counts(item, node);
  return good;
}

static bool fits(const cJSON *rule, const TesiYaml *node) {
  const cJSON *list, *properties = cJSON_GetObjectItem(rule, "properties"), *item;
  bool good = false;
  if ((list = cJSON_GetObjectItem(rule, "enum"))) {
    cJSON_ArrayForEach(item, list) good |= is_value(item, node);
    return good;
  }
  cJSON_ArrayForEach(item, cJSON_GetObjectItem(rule, "type")) good |= has_type(node, item->valuestring);
  if (good && (item = cJSON_GetObjectItem(rule, "minimum")) && has_type(node, "integer"))
    good = strtod(node->text, NULL) >= item->valuedouble &&
           strtod(node->text, NULL) <= cJSON_GetObjectItem(rule, "maximum")->valuedouble;
  if (!good || node->kind != TESI_YAML_MAP || !cJSON_GetObjectItem(rule, "additionalProperties")) return good;
  good = counts(rule, node);
  for (const TesiYaml *child = node->first; child && good; child = child->next) {
    const cJSON *below = cJSON_GetObjectItem(properties, child->key);
    good = below ? fits(below, child) : cJSON_IsTrue(cJSON_GetObjectItem(rule, "additionalProperties"));
  }
  return good;
}

static bool text_fits(const char *text) {
  TesiYaml *root;
  char message[TESI_YAML_MESSAGE];
  assert_int_equal(tesi_yaml_parse(ctx, text, strlen(text), "a", &root, message), TES_OK);
  const bool good = fits(schema, root);
  tesi_yaml_free(ctx, &root);
  return good;
}

static void cases_fit(void **state) {
  static char text[262144];
  glob_t files;
  (void)state;
  assert_int_equal(tes_context_create(&(TesContextDesc){.device = "cpu"}, &ctx, NULL, 0), TES_OK);
  assert_in_range(tes_case_schema(text, sizeof text), 1000, sizeof text - 1);
  schema = cJSON_Parse(text);
  assert_non_null(schema);
  assert_int_equal(glob(TESI_SOURCE_DIR "/cases/*.yaml", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char *content;
    size_t length;
    assert_ok(ctx, tesi_file_read(ctx, files.gl_pathv[i], 1 << 20, &content, &length));
    if (!text_fits(content)) fail_msg("%s does not fit", files.gl_pathv[i]);
    tesi_free(ctx, &content);
  }
  globfree(&files);
  static const char head[] = "problem: poisson\nmesh: {box: {cells: [2, 2]}}\n";
  static const char *const bad[] = {"spase: {degree: 3}",
                                    "space: {degree: 99}",
                                    "space: {degree: [1]}",
                                    "space: 3",
                                    "solver: {method: cgg}",
                                    "boundary: {left: {dirichlet: 0, neumann: 1}}",
                                    "boundary: {left: {dirichlet: 0, neumann: 1, priority: 1}}",
                                    "output: {points: 3}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(text, sizeof text, "%s%s\n", head, bad[i]);
    if (text_fits(text)) fail_msg("%s fits", bad[i]);
  }
  assert_false(text_fits("problem: poisson\n"));
  assert_true(text_fits(head));
  assert_true(text_fits("problem: stokes\nmesh: {box: {cells: [2, 2]}}\nboundary: {top: {slip: true}}\n"));
  assert_false(text_fits("problem: stokes\nmesh: {box: {cells: [2, 2]}}\nboundary: {top: {slip: 1}}\n"));
  assert_true(
      text_fits("problem: elasticity\nmesh: {box: {cells: [2, 2]}}\ndata: {exact: [x, y]}\n"
                "boundary: {top: {displacement: [0, null]}, left: {robin: {alpha: 1, g: [0, 1]}}}\n"));
  cJSON_Delete(schema);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cases_fit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
