/* The meshes of adaptive-matrix-free-ljungkvist-2017, Table 2 (tests/data/adaptive_ball_meshes.csv): cells, degrees
 * of freedom, hanging share. A ball, refined on spherical shells round centres that are not the ball's ("a series
 * of non-aligned spherical shells"). The paper does not say which; these have its numbers of cells, degrees of
 * freedom and hanging nodes within a few per cent. Pass i refines the cells of the finest level whose centre x has
 * frac(shells |x - c_i|) < fraction, c_1 = (0.1, 0.2, 0.3), c_2 = (-0.3, 0.1, -0.2).
 * Labels: slow heavy */
#include <stdio.h>
#include "forest_testing.h"
#include "mesh/forest/forest.h"

static TesContext *ctx;

enum { PASSES = 2 };

typedef struct Shells {
  int dim, level; /* uniform refinements first */
  struct {
    double shells, fraction; /* 0: no pass */
  } pass[PASSES];
} Shells;

/* The recipe of the paper's largest mesh for a degree 1..4. */
static Shells shells_of_paper(int dim, int degree, bool adaptive) {
  static const int uniform[2][4] = {{11, 10, 10, 9}, {6, 6, 5, 5}};
  static const Shells shells[2][4] = {
      {{2, 10, {{68, 0.828}}}, {2, 9, {{68, 0.9}}}, {2, 9, {{68, 0.9}}}, {2, 8, {{30, 0.85}, {20, 0.05}}}},
      {{3, 5, {{13, 0.62}}},
       {3, 5, {{13, 0.62}}},
       {3, 4, {{15, 0.66}, {6, 0.006}}},
       {3, 4, {{15, 0.66}, {6, 0.006}}}}};
  const int k = tesi_min(tesi_max(degree, 1), 4) - 1;
  return adaptive ? shells[dim - 2][k] : (Shells){.dim = dim, .level = uniform[dim - 2][k]};
}

/* Marks the cells of level `level` on the shells of one pass. */
static void mark_shells(const TesMesh *f, int level, double shells, double fraction, const double centre[3],
                        int8_t *mark) {
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(f->context))
  for (int64_t c = 0; c < f->leaves.cells; c++) {
    const double middle[3] = {0.5, 0.5, 0.5};
    double x[3] = {0}, distance = 0;
    if (f->leaves.level[c] < level) continue;
    tesi_mesh_map(f, c, 1, middle, x);
    for (int d = 0; d < f->dim; d++) distance += (x[d] - centre[d]) * (x[d] - centre[d]);
    distance = shells * sqrt(distance);
    mark[c] = distance - floor(distance) < fraction;
  }
}

static TesStatus create_shells(TesContext *context, const Shells *recipe, TesMesh **forest) {
  static const double centres[PASSES][3] = {{0.1, 0.2, 0.3}, {-0.3, 0.1, -0.2}};
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesMesh *f = NULL, *refined;
  int8_t *mark = NULL;
  *forest = NULL;
  TES_TRY(tes_mesh_create(
      ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .dim = recipe->dim, .refine = recipe->level}, &f));
  for (int pass = 0; pass < PASSES && recipe->pass[pass].shells > 0; pass++) {
    TES_ALLOC(&mark, f->leaves.cells);
    mark_shells(f, recipe->level + pass, recipe->pass[pass].shells, recipe->pass[pass].fraction,
                centres[pass], mark);
    TES_TRY(tes_mesh_adapt(f, mark, &refined));
    tes_mesh_destroy(&f);
    f = refined;
    tesi_free(ctx, &mark);
  }
  *forest = f;
  f = NULL;
done:
  tesi_free(ctx, &mark);
  tes_mesh_destroy(&f);
  return status;
}

/* Uniform meshes are those of the paper; refined ones have its cells and dofs within 1 %, its share of hanging
 * nodes within a twentieth of it. */
static void compare(bool adaptive, int dim, int degree, double cells, double dofs, double percent) {
  TesMesh *forest;
  TesSpace *space;
  const Shells recipe = shells_of_paper(dim, degree, adaptive);
  assert_ok(ctx, create_shells(ctx, &recipe, &forest));
  assert_ok(ctx, tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = degree}, &space));
  const double hanging = (double)tes_space_hanging(space), all = (double)tes_space_length(space) + hanging;
  print_message("%s %dD k=%d: %lld cells (paper %.0f), %.0f dofs (%.0f), %.2f %% hanging (%.2f)\n",
                adaptive ? "adaptive" : "uniform", dim, degree, (long long)tes_mesh_info(forest).cells, cells,
                all, dofs, 100 * hanging / all, percent);
  assert_near((double)tes_mesh_info(forest).cells, cells, adaptive ? 0.01 * cells : 0);
  assert_near(all, dofs, adaptive ? 0.01 * dofs : 0);
  assert_near(100 * hanging / all, percent, 0.05 * percent);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
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
