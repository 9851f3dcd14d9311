/* Run: ctest -R t9_golden_sweep. The rows that t9_golden leaves out (more float32 cycles, large degrees in 3D, kernels
 * in the emulator) with one and two threads, and its own rows with the other number of threads.
 * Labels: slow */
#include "golden_testing.h"

static void answers_are_those_of_before(void **state) {
  (void)state;
  Golden golden;
  golden_read(&golden);
  golden_rows(&golden, false, (const int[2]){2, 1});
  golden_rows(&golden, true, (const int[2]){1, 2});
  golden_rows(&golden, true, (const int[2]){2, 1});
  golden_tell(&golden);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_before)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
