/* Run: ctest -R t9_simd. The program's SIMD width: --simd and TESSERA_SIMD. */
#include "program_testing.h"

#define SQUARE CASES "poisson-square.yaml --set mesh.box.cells=8 --set space.degree=3"

/* Each width that is told is there; another one is refused, as an option and in the environment; the option goes
 * before. */
static void the_simd_width_can_be_chosen(void **state) {
  (void)state;
  char command[256], told[64];
  for (int bits = 128; bits <= 512; bits *= 2) {
    const bool there = test_has_simd(bits);
    snprintf(command, sizeof command, "solve " SQUARE " --simd %d", bits);
    assert_run(command, there ? 0 : 2);
    snprintf(told, sizeof told, there ? "%d-bit SIMD\n" : "SIMD vectors of %d bits are asked for", bits);
    assert_output(told);
    snprintf(told, sizeof told, "%d", bits);
    setenv("TESSERA_SIMD", told, 1);
    assert_run("info", there ? 0 : 2);
    snprintf(told, sizeof told, there ? "SIMD          %d bits" : "SIMD vectors of %d bits", bits);
    assert_output(told);
  }
  setenv("TESSERA_SIMD", "wide", 1);
  assert_run("info", 2);
  assert_output("TESSERA_SIMD is 'wide', expected 128, 256 or 512");
  assert_run("solve " SQUARE " --simd 128", test_has_simd(128) ? 0 : 2);
  unsetenv("TESSERA_SIMD");
  assert_run("solve " SQUARE " --simd 129", 2);
  assert_output("--simd 129: expected 128, 256 or 512");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_simd_width_can_be_chosen)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
