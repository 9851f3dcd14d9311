/* Run: ctest -R t8_case. Case files: values, defaults, overrides, messages, the documentation, the cases of the
 * repository.
 * TESSERA_UPDATE_DOCS=1 rewrites the table of docs/case-file.md. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bare_testing.h"
#include "failing_allocator.h"
#include "io/case/case_schema.h"
#include "tessera/case.h"

static TesCase *parsed(const char *text) {
  TesCase *c;
  if (tes_case_parse(ctx, text, "a.yaml", 0, NULL, &c)) fail_msg("%s\n%s", text, tes_context_message(ctx));
  return c;
}

static TesCase *overridden(const char *text, const char *override) {
  TesCase *c;
  if (tes_case_parse(ctx, text, "a.yaml", 1, &override, &c))
    fail_msg("%s\n%s", override, tes_context_message(ctx));
  return c;
}

static double value_at(const TesFunction *f, double x, double y, double z) {
  double value = NAN;
  if (tes_function_evaluate(f, 1, &x, &y, &z, 0, &value)) fail_msg("%s", tes_context_message(ctx));
  return value;
}

/* What holds on a face: its own entry, or that of all others. */
static const TesBoundary *boundary_of(const TesCase *c, int face) {
  static const char *const faces[6] = {"left", "right", "bottom", "top", "back", "front"};
  const TesBoundary *found = NULL;
  for (int i = 0; i < c->problem.boundaries; i++) {
    const TesBoundary *b = &c->problem.boundary[i];
    if (b->name ? !strcmp(b->name, faces[face]) : !found) found = b;
  }
  assert_non_null(found);
  return found;
}

static void defaults_are_those_of_the_documentation(void **state) {
  (void)state;
  TesCase *c = parsed("problem: poisson\nmesh: {box: {cells: [2, 3, 4]}}\n");
  assert_int_equal(c->problem.equation, TES_POISSON);
  assert_string_equal(c->name, "a.yaml");
  assert_int_equal(c->mesh.dim, 3);
  for (int d = 0; d < 3; d++) {
    assert_int_equal(c->mesh.cells[d], 2 + d);
    assert_near(c->mesh.lower[d], 0, 0);
    assert_near(c->mesh.upper[d], 1, 0);
    assert_null(c->mesh.coordinates[d]);
  }
  assert_int_equal(c->problem.degree, 4);
  assert_string_equal(tes_function_text(c->problem.data.f[0]), "1");
  assert_string_equal(tes_function_text(c->problem.data.a), "1");
  assert_string_equal(tes_function_text(c->problem.data.c), "0");
  assert_null(c->problem.exact[0]);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(boundary_of(c, i)->condition, TES_DIRICHLET);
    assert_near(value_at(boundary_of(c, i)->g[0], 1, 2, 3), 0, 0);
    assert_null(boundary_of(c, i)->alpha);
  }
  assert_int_equal(c->problem.solver.method, TES_METHOD_AUTO);
  assert_int_equal(c->problem.solver.smoother, TES_SMOOTHER_AUTO);
  assert_int_equal(c->problem.solver.local, TES_LOCAL_AUTO);
  assert_int_equal(c->problem.solver.order, TES_ORDER_AUTO);
  assert_int_equal(c->problem.solver.pre, 0);
  assert_int_equal(c->problem.solver.post, 0);
  assert_near(c->problem.solver.tolerance, 1e-9, 0);
  assert_int_equal(c->problem.solver.max_iterations, 100);
  assert_int_equal(c->problem.solver.precision, TES_SOLVE_MIXED);
  assert_null(c->vtu);
  assert_null(c->json);
  assert_int_equal(c->warning_count, 0);
  tes_case_destroy(&c);
  assert_null(c);
}

static const char full[] =
    "problem: poisson\n"
    "mesh:\n"
    "  box: {dim: 3, cells: [2, 3, 4], lower: [-1, 0, 0.5], upper: [1, 2*pi, 2.5],\n"
    "        spacing: {x: s*s, z: [0.5, 0.75, 1, 2, 2.5]}}\n"
    "space: {degree: 7}\n"
    "data: {f: x + t, a: 2, c: 'x*x', exact: \"min(x, y)\"}\n"
    "boundary:\n"
    "  all: {neumann: 3}\n"
    "  left: {dirichlet: y}\n"
    "  front: {robin: {alpha: 4, g: x*y}}\n"
    "solver: {method: gmres, smoother: patch_additive, local_solver: rank1, order: reversed,\n"
    "  pre_smoothing: 2, post_smoothing: 0, tolerance: 1e-7, max_iterations: 20, precision: single}\n"
    "output: {vtu: out/a.vtu, json: '-'}\n";

static void every_key_is_read(void **state) {
  (void)state;
  TesCase *c = parsed(full);
  const double x[3] = {-1, -0.5, 1}, z[5] = {0.5, 0.75, 1, 2, 2.5};
  for (int i = 0; i < 3; i++) assert_near(c->mesh.coordinates[0][i], x[i], 1e-15);
  assert_null(c->mesh.coordinates[1]);
  for (int i = 0; i < 5; i++) assert_near(c->mesh.coordinates[2][i], z[i], 0);
  assert_near(c->mesh.lower[0], -1, 0);
  assert_near(c->mesh.upper[1], 2 * M_PI, 0);
  assert_int_equal(c->problem.degree, 7);
  assert_near(value_at(c->problem.data.f[0], 2, 0, 0), 2, 0);
  assert_near(value_at(c->problem.data.a, 2, 0, 0), 2, 0);
  assert_near(value_at(c->problem.data.c, 3, 0, 0), 9, 0);
  assert_near(value_at(c->problem.exact[0], 3, 2, 0), 2, 0);
  assert_int_equal(boundary_of(c, 0)->condition, TES_DIRICHLET);
  assert_near(value_at(boundary_of(c, 0)->g[0], 1, 5, 0), 5, 0);
  for (int i = 1; i < 5; i++) {
    assert_int_equal(boundary_of(c, i)->condition, TES_NEUMANN);
    assert_near(value_at(boundary_of(c, i)->g[0], 0, 0, 0), 3, 0);
  }
  assert_int_equal(boundary_of(c, 5)->condition, TES_ROBIN);
  assert_near(value_at(boundary_of(c, 5)->alpha, 0, 0, 0), 4, 0);
  assert_near(value_at(boundary_of(c, 5)->g[0], 2, 3, 0), 6, 0);
  assert_int_equal(c->problem.solver.method, TES_METHOD_GMRES);
  assert_int_equal(c->problem.solver.smoother, TES_SMOOTHER_PATCH_ADDITIVE);
  assert_int_equal(c->problem.solver.local, TES_LOCAL_RANK1);
  assert_int_equal(c->problem.solver.order, TES_ORDER_REVERSED);
  assert_int_equal(c->problem.solver.pre, 2);
  assert_int_equal(c->problem.solver.post, -1);
  assert_near(c->problem.solver.tolerance, 1e-7, 0);
  assert_int_equal(c->problem.solver.max_iterations, 20);
  assert_int_equal(c->problem.solver.precision, TES_SOLVE_SINGLE);
  assert_string_equal(c->vtu, "out/a.vtu");
  assert_string_equal(c->json, "-");
  assert_int_equal(c->warning_count, 2); /* of single precision, and an order of an additive smoother */
  assert_non_null(strstr(c->warnings[0], "solver.precision: single raises solver.tolerance to 1e-6"));
  assert_string_equal(c->warnings[1],
                      "a.yaml:11:79: solver.order: has no effect with a smoother that is not multiplicative");
  tes_case_destroy(&c);
}

/* Enums and words are in the same order. */
static void choices_have_their_names(void **state) {
  (void)state;
  assert_string_equal(tes_case_choice("problem", TES_POISSON), "poisson");
  assert_string_equal(tes_case_choice("solver.method", TES_METHOD_CG), "cg");
  assert_string_equal(tes_case_choice("solver.method", TES_METHOD_FMG), "fmg");
  assert_string_equal(tes_case_choice("solver.smoother", TES_SMOOTHER_GAUSS_SEIDEL), "gauss_seidel");
  assert_string_equal(tes_case_choice("solver.smoother", TES_SMOOTHER_JACOBI), "jacobi");
  assert_string_equal(tes_case_choice("solver.local_solver", TES_LOCAL_SCALED), "scaled");
  assert_string_equal(tes_case_choice("solver.order", TES_ORDER_SAME), "same");
  assert_string_equal(tes_case_choice("solver.precision", TES_SOLVE_DOUBLE), "double");
  assert_null(tes_case_choice("solver.precision", 3));
  assert_null(tes_case_choice("solver.precision", -1));
  assert_null(tes_case_choice("solver.tolerance", 0));
  assert_null(tes_case_choice("nothing", 0));
}

static void single_numbers_hold_in_all_directions(void **state) {
  (void)state;
  TesCase *c = parsed("problem: poisson\nmesh: {box: {dim: 2, cells: 5, lower: -pi, upper: pi/2}}\n");
  assert_int_equal(c->mesh.dim, 2);
  for (int d = 0; d < 2; d++) {
    assert_int_equal(c->mesh.cells[d], 5);
    assert_near(c->mesh.lower[d], -M_PI, 0);
    assert_near(c->mesh.upper[d], M_PI / 2, 0);
  }
  assert_int_equal(c->mesh.cells[2], 1);
  assert_near(c->mesh.lower[2], 0, 0);
  assert_near(c->mesh.upper[2], 0, 0);
  assert_int_equal(c->problem.boundaries, 1); /* what holds on all */
  tes_case_destroy(&c);
}

static void lists_of_coordinates_give_the_corners(void **state) {
  (void)state;
  TesCase *c = parsed("problem: poisson\nmesh: {box: {cells: [2, 3], upper: [8, 1], lower: [2, 0], spacing: "
                      "{x: [2, 5, 8]}}}\n");
  assert_near(c->mesh.coordinates[0][1], 5, 0);
  tes_case_destroy(&c);
  c = parsed("problem: poisson\nmesh: {box: {cells: [2, 3], spacing: {x: [2, pi, 8]}}}\n");
  assert_near(c->mesh.lower[0], 2, 0);
  assert_near(c->mesh.upper[0], 8, 0);
  assert_near(c->mesh.coordinates[0][1], M_PI, 0);
  assert_near(c->mesh.upper[1], 1, 0);
  tes_case_destroy(&c);
}

static const char small[] =
    "problem: poisson\nmesh: {box: {cells: [4, 4]}}\nboundary: {left: {dirichlet: 7}}\nsolver:\n";

static void overrides_change_values(void **state) {
  (void)state;
  TesCase *c =
      overridden(small, "data.f=x > 0 ? max(x, 2) : 1"); /* no YAML here: colon and comma are harmless */
  assert_near(value_at(c->problem.data.f[0], 3, 0, 0), 3, 0);
  tes_case_destroy(&c);
  c = overridden(small, "data.f=  'x*x' ");
  assert_string_equal(tes_function_text(c->problem.data.f[0]), "x*x");
  tes_case_destroy(&c);
  c = overridden(small, "mesh.box.cells=[3, 5, 6]");
  assert_int_equal(c->mesh.dim, 3);
  assert_int_equal(c->mesh.cells[2], 6);
  tes_case_destroy(&c);
  c = overridden(small, "solver.tolerance=1e-4");
  assert_near(c->problem.solver.tolerance, 1e-4, 0);
  tes_case_destroy(&c);
  c = overridden(small, "boundary.left.neumann=y"); /* takes the place of the other condition */
  assert_int_equal(boundary_of(c, 0)->condition, TES_NEUMANN);
  tes_case_destroy(&c);
  c = overridden(small, "boundary.left={robin: {alpha: 1, g: 2}}");
  assert_int_equal(boundary_of(c, 0)->condition, TES_ROBIN);
  tes_case_destroy(&c);
  c = overridden(small, "boundary.left=null");
  assert_int_equal(boundary_of(c, 0)->condition, TES_DIRICHLET);
  assert_near(value_at(boundary_of(c, 0)->g[0], 0, 0, 0), 0, 0);
  tes_case_destroy(&c);
  c = overridden(small, "output.vtu=a file = name.vtu");
  assert_string_equal(c->vtu, "a file = name.vtu");
  tes_case_destroy(&c);
  c = overridden(full, "output.vtu=null");
  assert_null(c->vtu);
  tes_case_destroy(&c);
  const char *const robin[] = {"boundary.left.robin.alpha=1", "boundary.left.robin.g=x", "space.degree=2",
                               "space.degree=3"};
  assert_int_equal(tes_case_parse(ctx, small, "a.yaml", 4, robin, &c), TES_OK);
  assert_int_equal(boundary_of(c, 0)->condition, TES_ROBIN);
  assert_int_equal(c->problem.degree, 3);
  tes_case_destroy(&c);
}

static void files_are_read(void **state) {
  (void)state;
  TesCase *c = (TesCase *)&c;
  assert_int_equal(tes_case_read(ctx, "/no/such/case.yaml", 0, NULL, &c), TES_IO);
  assert_null(c);
  assert_string_equal(tes_context_message(ctx), "cannot read /no/such/case.yaml: No such file or directory");
  tes_context_clear(ctx);
}

/* A point in the box: on face number `face`, or inside for face -1; in meshes of trees about the middle of the
 * first octant. */
static void random_point(const TesCase *c, int face, uint64_t *seed, double point[3]) {
  for (int d = 0; d < 3; d++) point[d] = d < c->mesh.dim ? 0.3 + 0.2 * test_random(seed) : 0;
  if (c->mesh.domain != TES_DOMAIN_BOX) return; /* no face is asked for */
  for (int d = 0; d < 3; d++)
    point[d] = c->mesh.lower[d] + (c->mesh.upper[d] - c->mesh.lower[d]) * (0.5 + 0.5 * test_random(seed));
  if (face >= 0) point[face / 2] = face % 2 ? c->mesh.upper[face / 2] : c->mesh.lower[face / 2];
}

static double derivative_at(const TesFunction *f, int d, int order, const double p[3]) {
  TesFunction *first, *second = NULL;
  if (tes_function_create_derivative(f, d, &first)) fail_msg("%s", tes_context_message(ctx));
  if (order == 2) assert_int_equal(tes_function_create_derivative(first, d, &second), TES_OK);
  const double value = value_at(order == 2 ? second : first, p[0], p[1], p[2]);
  tes_function_destroy(&first);
  tes_function_destroy(&second);
  return value;
}

/* -div(a grad u) + c u = f inside. */
static void check_equation(const TesCase *c, const double p[3]) {
  double sum = value_at(c->problem.data.c, p[0], p[1], p[2]) * value_at(c->problem.exact[0], p[0], p[1], p[2]);
  for (int d = 0; d < c->mesh.dim; d++)
    sum -= value_at(c->problem.data.a, p[0], p[1], p[2]) * derivative_at(c->problem.exact[0], d, 2, p) +
           derivative_at(c->problem.data.a, d, 1, p) * derivative_at(c->problem.exact[0], d, 1, p);
  const double f = value_at(c->problem.data.f[0], p[0], p[1], p[2]);
  assert_near(sum, f, 1e-9 * (1 + fabs(f)));
}

static void check_condition(const TesCase *c, int face, const double p[3]) {
  const TesBoundary *b = boundary_of(c, face);
  const double u = value_at(c->problem.exact[0], p[0], p[1], p[2]),
               value = value_at(b->g[0], p[0], p[1], p[2]);
  const double flux = value_at(c->problem.data.a, p[0], p[1], p[2]) *
                      derivative_at(c->problem.exact[0], face / 2, 1, p) * (face % 2 ? 1 : -1);
  const double left = b->condition == TES_DIRICHLET ? u
                      : b->condition == TES_NEUMANN ? flux
                                                    : flux + value_at(b->alpha, p[0], p[1], p[2]) * u;
  assert_near(left, value, 1e-9 * (1 + fabs(value)));
}

/* Every case of the repository is valid, and its exact solution solves it. */
static void the_cases_of_the_repository_are_right(void **state) {
  (void)state;
  glob_t files;
  uint64_t seed = 3;
  assert_int_equal(glob(TESI_SOURCE_DIR "/cases/*.yaml", 0, NULL, &files), 0);
  assert_true(files.gl_pathc >= 6);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    TesCase *c;
    if (tes_case_read(ctx, files.gl_pathv[i], 0, NULL, &c)) fail_msg("%s", tes_context_message(ctx));
    if (c->warning_count) fail_msg("%s", c->warnings[0]);
    for (int n = 0; n < 20 && c->problem.equation == TES_POISSON && c->problem.exact[0]; n++) {
      double point[3];
      random_point(c, -1, &seed, point);
      check_equation(c, point);
      for (int face = 0; c->mesh.domain == TES_DOMAIN_BOX && face < 2 * c->mesh.dim; face++) {
        if (c->mesh.periodic[face / 2]) continue;
        random_point(c, face, &seed, point);
        check_condition(c, face, point);
      }
    }
    tes_case_destroy(&c);
  }
  globfree(&files);
}

static char *file_text(const char *path) {
  FILE *file = fopen(path, "r");
  static char text[65536];
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

/* The table of docs/case-file.md is what the program knows. */
static void the_documentation_is_up_to_date(void **state) {
  (void)state;
  const char *path = TESI_SOURCE_DIR "/docs/case-file.md", *update = getenv("TESSERA_UPDATE_DOCS");
  static char table[32768];
  assert_true(tes_case_help("", TES_CASE_HELP_MARKDOWN, table, sizeof table) < sizeof table);
  char *text = file_text(path), *begin = strstr(text, "| Key |"), *end = strstr(text, "<!-- end of keys -->");
  assert_non_null(begin);
  assert_non_null(end);
  if (update) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(begin - text), text, table, end);
    assert_int_equal(fclose(file), 0);
    text = file_text(path), begin = strstr(text, "| Key |"), end = strstr(text, "<!-- end of keys -->");
  }
  *end = 0;
  if (strcmp(begin, table)) fail_msg("docs/case-file.md lags behind: run TESSERA_UPDATE_DOCS=1 t8_case");
}

/* The examples of the documentation, the blocks marked yaml, are valid. */
static void the_examples_of_the_documentation_are_valid(void **state) {
  (void)state;
  char *text = file_text(TESI_SOURCE_DIR "/docs/case-file.md");
  int count = 0;
  for (char *begin = text, *end; (begin = strstr(begin, "```yaml\n")); begin = end + 1, count++) {
    begin += strlen("```yaml\n");
    end = strstr(begin, "```");
    assert_non_null(end);
    *end = 0;
    TesCase *c; /* files of the examples stand beside the cases */
    if (tes_case_parse(ctx, begin, TESI_SOURCE_DIR "/cases/a.yaml", 0, NULL, &c))
      fail_msg("%s\n%s", begin, tes_context_message(ctx));
    tes_case_destroy(&c);
  }
  assert_true(count >= 2);
}

static void help_tells_parts(void **state) {
  (void)state;
  char text[4096], short_text[16];
  const size_t length = tes_case_help("solver.method", TES_CASE_HELP_TEXT, text, sizeof text);
  assert_int_equal(length, strlen(text));
  assert_non_null(strstr(text, "auto, vcycle, fmg, gmres, cg or direct; default: auto"));
  assert_null(strstr(text, "smoother"));
  assert_int_equal(tes_case_help("solver.method", TES_CASE_HELP_TEXT, short_text, sizeof short_text), length);
  assert_int_equal(strlen(short_text), sizeof short_text - 1);
  assert_int_equal(tes_case_help("solver.methods", TES_CASE_HELP_TEXT, text, sizeof text), 0);
  assert_string_equal(text, "");
  assert_true(tes_case_help("boundary.left.robin", TES_CASE_HELP_TEXT, text, sizeof text) > 0);
  for (int i = 0; i < tesi_case_key_count; i++) assert_true(strlen(tesi_case_keys[i].help) > 5);
}

static TesStatus parse_and_destroy(TesContext *c, void *user) {
  TesCase *result = NULL;
  const char *const overrides[] = {"space.degree=3", "boundary.back.robin={alpha: 1, g: x}",
                                   "mesh.box.cells=[2, 3, 4]"};
  (void)user;
  const TesStatus status = tes_case_parse(c, full, "a.yaml", 3, overrides, &result);
  tes_case_destroy(&result);
  return status;
}

static TesStatus parse_loads(TesContext *c, void *user) {
  TesCase *result = NULL;
  (void)user;
  const TesStatus status = tes_case_parse(c,
                                          "problem: elasticity\nmesh: {box: {cells: [2, 2, 2]}}\ndata: "
                                          "{young: 210, poisson: 0.3, density: 7850, f: [1, x, "
                                          "0], gravity: [0, 0, -9.81], rotation: {speed: 300, axis: [1, 1, "
                                          "0]}, expansion: 1e-5, temperature: 30*x}\n",
                                          "a.yaml", 0, NULL, &result);
  tes_case_destroy(&result);
  return status;
}

static void failing_memory_is_survived(void **state) {
  (void)state;
  assert_true(every_allocation_fails(parse_loads, NULL) > 50);
  assert_true(every_allocation_fails(parse_and_destroy, NULL) > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_those_of_the_documentation),
      cmocka_unit_test(every_key_is_read),
      cmocka_unit_test(choices_have_their_names),
      cmocka_unit_test(single_numbers_hold_in_all_directions),
      cmocka_unit_test(lists_of_coordinates_give_the_corners),
      cmocka_unit_test(overrides_change_values),
      cmocka_unit_test(files_are_read),
      cmocka_unit_test(the_cases_of_the_repository_are_right),
      cmocka_unit_test(the_documentation_is_up_to_date),
      cmocka_unit_test(the_examples_of_the_documentation_are_valid),
      cmocka_unit_test(help_tells_parts),
      cmocka_unit_test(failing_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
