/* Run: ctest -R t7_stokes_setup. Set-up of Stokes with element rt where no two cells are equal: eight times the cells
 * take about eight times the time of the processor. It was fifty where each kind of interval was compared with all
 * others. */
#include <time.h>
#include "tessera/tessera.h"
#include "testing.h"

enum { FEW = 800, MANY = 8 * FEW };

/* Widths from 1 to 1.3, each another: the golden ratio's multiples never come back. */
static double set_up(int cells) {
  TesContext *ctx;
  TesMesh *mesh;
  TesProblem *problem;
  static double x[MANY + 1];
  for (int i = 0; i < cells; i++) x[i + 1] = x[i] + 1 + 0.3 * fmod(0.6180339887498949 * (i + 1), 1);
  assert_int_equal(
      tes_context_create(&(TesContextDesc){.device = "cpu", .verbosity = TES_QUIET, .threads = 1}, &ctx, NULL,
                         0),
      TES_OK);
  const TesMeshDesc desc = {.dim = 2, .cells = {cells, 2}, .upper = {x[cells], 2}, .coordinates = {x}};
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  const clock_t begin = clock();
  assert_ok(ctx, tes_problem_create(ctx, &(TesProblemDesc){.mesh = mesh, .equation = TES_STOKES, .degree = 1},
                                    &problem));
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  tes_problem_destroy(&problem);
  tes_mesh_destroy(&mesh);
  tes_context_destroy(&ctx);
  return seconds;
}

static void set_up_is_linear(void **state) {
  (void)state;
  double few = INFINITY;
  for (int i = 0; i < 3; i++) few = fmin(few, set_up(FEW));
  const double many = set_up(MANY);
  print_message("%d cells %.3f s, %d cells %.3f s: %.3g times\n", 2 * FEW, few, 2 * MANY, many, many / few);
  assert_true(many < 24 * few);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(set_up_is_linear)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
