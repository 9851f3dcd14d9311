/* Run: ctest -R t9_golden. What the program answers to 370 small cases is what it answered before, half of them with
 * one thread, half with two: tests/golden_testing.h says how they are compared, tests/golden_make.py what they are.
 * Timeout: 600
 * Labels: heavy */
#include "golden_testing.h"

static void answers_are_those_of_before(void **state) {
  (void)state;
  Golden golden;
  golden_read(&golden);
  golden_rows(&golden, false, (const int[2]){1, 2});
  golden_tell(&golden);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_those_of_before)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
