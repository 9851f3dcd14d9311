/* See shells.h. */
#include "mesh/forest/shells.h"
#include <math.h>

TesiShells tesi_shells_of_paper(int dim, int degree, bool adaptive, int coarser) {
  static const int uniform[2][4] = {{11, 10, 10, 9}, {6, 6, 5, 5}};
  static const TesiShells shells[2][4] = {
      {{2, 10, {{68, 0.828}}}, {2, 9, {{68, 0.9}}}, {2, 9, {{68, 0.9}}}, {2, 8, {{30, 0.85}, {20, 0.05}}}},
      {{3, 5, {{13, 0.62}}},
       {3, 5, {{13, 0.62}}},
       {3, 4, {{15, 0.66}, {6, 0.006}}},
       {3, 4, {{15, 0.66}, {6, 0.006}}}}};
  const int k = tesi_min(tesi_max(degree, 1), 4) - 1;
  TesiShells recipe = adaptive ? shells[dim - 2][k] : (TesiShells){.dim = dim, .level = uniform[dim - 2][k]};
  recipe.level = tesi_max(recipe.level - coarser, 0);
  return recipe;
}

/* Marks the cells of level `level` on the shells of one pass. */
static void mark_shells(const TesForest *f, int level, double shells, double fraction, const double centre[3],
                        int8_t *mark) {
#pragma omp parallel for schedule(static) num_threads(tes_context_threads(f->context))
  for (int64_t c = 0; c < f->leaves.cells; c++) {
    const double middle[3] = {0.5, 0.5, 0.5};
    double x[3] = {0}, distance = 0;
    if (f->leaves.level[c] < level) continue;
    tes_forest_evaluate(f, c, 1, middle, x);
    for (int d = 0; d < f->dim; d++) distance += (x[d] - centre[d]) * (x[d] - centre[d]);
    distance = shells * sqrt(distance);
    mark[c] = distance - floor(distance) < fraction;
  }
}

TesStatus tesi_shells_create(TesContext *context, const TesiShells *recipe, TesForest **forest) {
  static const double centres[TESI_SHELL_PASSES][3] = {{0.1, 0.2, 0.3}, {-0.3, 0.1, -0.2}};
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesForest *f = NULL, *refined;
  int8_t *mark = NULL;
  *forest = NULL;
  TES_TRY(tes_forest_create(
      ctx, &(TesForestDesc){.domain = TES_DOMAIN_BALL, .dim = recipe->dim, .level = recipe->level}, &f));
  for (int pass = 0; pass < TESI_SHELL_PASSES && recipe->pass[pass].shells > 0; pass++) {
    TES_ALLOC(&mark, f->leaves.cells);
    mark_shells(f, recipe->level + pass, recipe->pass[pass].shells, recipe->pass[pass].fraction,
                centres[pass], mark);
    TES_TRY(tes_forest_adapt(f, mark, &refined));
    tes_forest_destroy(&f);
    f = refined;
    tesi_free(ctx, &mark);
  }
  *forest = f;
  f = NULL;
done:
  tesi_free(ctx, &mark);
  tes_forest_destroy(&f);
  return status;
}
