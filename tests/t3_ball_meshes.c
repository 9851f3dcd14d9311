/* The meshes of adaptive-matrix-free-ljungkvist-2017, Table 2 (tests/data/adaptive_ball_meshes.csv): cells, degrees of freedom, hanging share.
 * Labels: slow heavy */
#include <stdio.h>
#include "forest_testing.h"
#include "mesh/forest/shells.h"

static TesContext *ctx;

/* Uniform meshes are those of the paper; refined ones have its cells and dofs within 1 %, its share of hanging nodes within a twentieth of it. */
static void compare(bool adaptive, int dim, int degree, double cells, double dofs, double percent) {
  TesForest *forest;
  TesForestSpace *space;
  const TesiShells recipe = tesi_shells_of_paper(dim, degree, adaptive, 0);
  assert_ok(ctx, tesi_shells_create(ctx, &recipe, &forest));
  assert_ok(ctx,
            tes_forest_space_create(ctx, &(TesForestSpaceDesc){.forest = forest, .degree = degree}, &space));
  const double hanging = (double)tes_forest_space_hanging(space),
               all = (double)tes_forest_space_length(space) + hanging;
  print_message("%s %dD k=%d: %lld cells (paper %.0f), %.0f dofs (%.0f), %.2f %% hanging (%.2f)\n",
                adaptive ? "adaptive" : "uniform", dim, degree, (long long)tes_forest_cells(forest), cells,
                all, dofs, 100 * hanging / all, percent);
  assert_near((double)tes_forest_cells(forest), cells, adaptive ? 0.01 * cells : 0);
  assert_near(all, dofs, adaptive ? 0.01 * dofs : 0);
  assert_near(100 * hanging / all, percent, 0.05 * percent);
  tes_forest_space_destroy(&space);
  tes_forest_destroy(&forest);
}

static void test_table(void **state) {
  (void)state;
  char line[200], mesh[32];
  int rows = 0, dim, degree;
  double cells, dofs, percent;
  FILE *file = fopen(TESI_SOURCE_DIR "/tests/data/adaptive_ball_meshes.csv", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%31[a-z],%d,%d,%lf,%lf,%lf", mesh, &dim, &degree, &cells, &dofs, &percent) != 6)
      continue;
    compare(!strcmp(mesh, "adaptive"), dim, degree, cells, dofs, percent);
    rows++;
  }
  fclose(file);
  assert_int_equal(rows, 16);
}

int main(void) {
  assert_int_equal(tes_context_create(NULL, &ctx, NULL, 0), TES_OK);
  if (!test_has_forests(ctx)) {
    print_message("built without p4est\n");
    tes_context_destroy(&ctx);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  assert_int_equal(tes_context_memory(ctx), 0);
  tes_context_destroy(&ctx);
  return failures;
}
