/* Run: ctest -R t7_units_sweep. As t7_units, in more units: each of length, time and mass times 1e-30 to 1e30 by
 * itself, and together; on the emulator too.
 * Labels: slow
 * Timeout: 1200 */
#include "tessera/tessera.h"
#include "units_testing.h"

static void each_by_itself(void **state) {
  (void)state;
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) skip();
  for (int power = -30; power <= 30; power += 6) {
    const double s = pow(10, power);
    const Units units[] = {{s, 1, 1}, {1, s, 1}, {1, 1, s}};
    for (int i = 0; i < UNITS_CASES; i++) units_compare(ctx, &units_cases[i], 3, units);
  }
  tes_context_destroy(&ctx);
}

static void together(void **state) {
  (void)state;
  enum { COUNT = 20 };
  TesContext *ctx = test_context(&(TesContextDesc){.device = "cpu", .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) skip();
  Units units[COUNT];
  uint64_t seed = 1;
  for (int i = 0; i < COUNT; i++)
    units[i] = (Units){pow(10, 15 * test_random(&seed)), pow(10, 15 * test_random(&seed)),
                       pow(10, 15 * test_random(&seed))};
  for (int i = 0; i < UNITS_CASES; i++) units_compare(ctx, &units_cases[i], COUNT, units);
  tes_context_destroy(&ctx);
}

static void emulator(void **state) {
  (void)state;
  static const Units units[] = {{1e-6, 1, 1e12}, {1e30, 1, 1}, {1, 1e-30, 1}, {1, 1, 1e-30}};
  TesContext *ctx =
      test_context(&(TesContextDesc){.device = "emulator", .threads = 1, .verbosity = TES_QUIET});
  if (!ctx) skip();
  for (int i = 0; i < UNITS_CASES; i++) {
    UnitsCase small = units_cases[i];
    small.cells = small.cells > 4 ? 4 : small.cells;
    if (small.dim == 2) units_compare(ctx, &small, (int)(sizeof units / sizeof *units), units);
  }
  tes_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_by_itself), cmocka_unit_test(together),
                                     cmocka_unit_test(emulator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
