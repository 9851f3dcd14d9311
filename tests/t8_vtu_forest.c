/* Run: ctest -R t8_vtu_forest. VTU files of forests; t8_vtu_forest_read.py has VTK read what `t8_vtu_forest write
 * FOLDER` leaves there. */
#include <stdio.h>
#include "forest_testing.h"
#include "space/space.h"
#include "tessera/vector.h"
#include "tessera/vtu.h"

static TesContext *ctx;

/* Of degree k a direction; the same in the script. */
static const char *const formulas[2] = {"(x - 0.3)**K + 2*y**K*(1 + x)",
                                        "(x - 0.3)**K + 2*y**K*(1 + x) - (z + 0.1)**K*y"};

static void formula(int dim, int degree, char text[200]) {
  const char *from = formulas[dim - 2];
  int n = 0;
  for (; *from; from++) { /* a**K is written out as a product */
    if (*from != '*' || from[1] != '*') {
      text[n++] = *from;
      continue;
    }
    const int end = n, open = text[n - 1] == ')' ? (int)(strrchr((text[n] = 0, text), '(') - text) : n - 1;
    for (int power = 1; power < degree; power++) {
      text[n++] = '*';
      for (int i = open; i < end; i++) text[n++] = text[i];
    }
    from += 2;
  }
  text[n] = 0;
}

/* Writes dim-degree.vtu: a refined box with a polynomial, which hanging nodes reproduce, and its error against the
 * function. */
static void write(const char *folder, int dim, int degree) {
  uint64_t seed = (uint64_t)(10 * dim + degree);
  char path[600], text[200];
  TesMesh *forest;
  TesSpace *space;
  TesFunction *f, *singular;
  TesVector *u;
  assert_ok(ctx,
            tes_mesh_create(ctx, &(TesMeshDesc){.kind = TES_MESH_FOREST, .dim = dim, .refine = 1}, &forest));
  for (int pass = 0; pass < 2; pass++) test_adapt(ctx, &seed, 0.3, 0, 100, &forest);
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  formula(dim, degree, text);
  assert_ok(ctx, tes_function_create_expression(ctx, text, &f));
  assert_ok(ctx, tes_function_create_expression(ctx, "1/x", &singular));
  double *values = calloc((size_t)space->length, sizeof *values), x[3 * 729];
  for (int64_t c = 0; c < space->view->cells; c++) {
    tesi_hanging_positions(forest, c, space->view->mask[c], space->view->n, space->view->node,
                           space->view->halves, x);
    for (int p = 0; p < space->view->cell_nodes; p++)
      if (!tesi_hanging_directions(dim, space->view->n, space->view->mask[c],
                                   (const int[3]){p % space->view->n, p / space->view->n % space->view->n,
                                                  p / space->view->n / space->view->n}))
        assert_ok(ctx, tes_function_evaluate(
                           f, 1, x + p * dim, x + p * dim + 1, dim == 3 ? x + p * dim + 2 : NULL, 0,
                           &values[tesi_cells_node(space->view->index[c * space->view->cell_nodes + p])]));
  }
  assert_ok(ctx, tes_vector_create(ctx, space->length, TES_DOUBLE, &u));
  assert_ok(ctx, tes_vector_set(u, values));
  double *number = calloc((size_t)space->view->cells, sizeof *number);
  for (int64_t c = 0; c < space->view->cells; c++) number[c] = (double)c;
  const TesVtuField fields[] = {{"u", u, {NULL}, NULL},
                                {"error", u, {f}, NULL},
                                {"f", NULL, {f}, NULL},
                                {"singular", NULL, {singular}, NULL}};
  const TesVtuArray cells = {.name = "estimate", .values = number};
  snprintf(path, sizeof path, "%s/%d-%d.vtu", folder, dim, degree);
  assert_ok(ctx, tes_vtu_write_fields(space, 4, fields, 1, &cells, path));
  assert_int_equal(tes_vtu_write_fields(space, 17, fields, 0, NULL, path), TES_INVALID_INPUT);
  tes_context_clear(ctx);
  free(values);
  free(number);
  tes_vector_destroy(&u);
  tes_function_destroy(&singular);
  tes_function_destroy(&f);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
}

/* Two squares, the second of a material: there `a` is another function. */
static void write_material(const char *folder) {
  static const double nodes[] = {0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 2, 0, 1, 1, 2, 1};
  static const int32_t vertices[] = {0, 1, 2, 3, 1, 4, 3, 5}, material[] = {-1, 0};
  static const char *const names[] = {"steel"};
  const TesCellsDesc cells = {.trees = 2,
                              .nodes = nodes,
                              .vertices = vertices,
                              .material = material,
                              .materials = 1,
                              .material_names = names};
  char path[600];
  TesMesh *forest;
  TesSpace *space;
  TesFunction *one, *two;
  assert_ok(ctx, tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_CELLS, .dim = 2, .trees = &cells},
                                 &forest));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = 2}, &space));
  assert_ok(ctx, tes_function_create_constant(ctx, 1, &one));
  assert_ok(ctx, tes_function_create_constant(ctx, 2, &two));
  const TesFunction *const by_material[] = {two};
  snprintf(path, sizeof path, "%s/material.vtu", folder);
  assert_ok(ctx, tes_vtu_write_fields(space, 1, &(TesVtuField){"a", NULL, {one}, by_material}, 0, NULL, path));
  tes_function_destroy(&one);
  tes_function_destroy(&two);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
}

static void write_all(const char *folder) {
  write_material(folder);
  for (int dim = 2; dim <= 3; dim++)
    for (int degree = 1; degree <= 4; degree++) write(folder, dim, degree);
}

static void files_are_written(void **state) {
  (void)state;
  write_all(TESI_BUILD_DIR);
}

int main(int argc, char **argv) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  const bool forests = test_has_forests(ctx), script = argc == 3 && !strcmp(argv[1], "write");
  int failures = forests ? 0 : script ? 77 : 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_written)};
  if (!forests)
    print_message("built without p4est\n");
  else if (script)
    write_all(argv[2]);
  else
    failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
