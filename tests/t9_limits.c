/* Run: ctest -R t9_limits. The program where there is little address space (`ulimit -v`) or stack (`ulimit -s`): it
 * ends with status 4 and a message. OpenBLAS alone would ask for its buffers for ever, in a thread of its own already
 * while it is loaded. */
#include "base/leaks.h"
#include "program_testing.h"

#define SQUARE CASES "poisson-square.yaml --set mesh.box.cells=8 --set space.degree=3"

/* With so many KiB of address space (v) or stack (s); 137 if it does not end. */
static int run_limited(char what, int kib, const char *arguments) {
  char command[1024];
  snprintf(command, sizeof command,
           "ulimit -%c %d; timeout -s KILL 20 env -u OPENBLAS_NUM_THREADS " PROGRAM " %s 2>&1", what, kib,
           arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  output[fread(output, 1, sizeof output - 1, pipe)] = 0;
  return WEXITSTATUS(pclose(pipe));
}

static int run_within(int kib, const char *arguments) {
  return run_limited('v', kib, arguments);
}

static void little_stack_is_told(void **state) {
  (void)state;
#ifdef TESI_ADDRESS_SANITIZER
  skip(); /* frames are larger */
#endif
  for (int kib = 64; kib < 1024; kib = 2 * kib + 100) {
    assert_int_equal(run_limited('s', kib, "solve " SQUARE), 4);
    assert_output("at least 1024 are needed: ulimit -s 1024");
  }
  assert_int_equal(run_limited('s', 1024,
                               "solve " CASES "poisson-square.yaml --quiet --set mesh.kind=forest"
                               " --set mesh.box.cells=2 --set space.degree=8"),
                   0);
  assert_int_equal(run_limited('s', 64, "--version"), 0);
}

static void little_address_space_is_told(void **state) {
  (void)state;
  enum { STEP = 25000, MOST = 4000000 };
  int kib = STEP, needed;
#ifdef TESI_ADDRESS_SANITIZER
  skip(); /* it takes terabytes of address space */
#endif
  while (kib < MOST && run_within(kib, "--version") != 0) kib += STEP;
  assert_in_range(kib, STEP, MOST - 1);
  for (needed = kib; needed < MOST && run_within(needed, "solve " SQUARE " --threads 1") != 0; needed += STEP) {
    if (run_within(needed, "solve " SQUARE " --threads 1") != 4)
      fail_msg("ulimit -v %d: not status 4\n%s", needed, output);
    assert_output("memory");
  }
  assert_in_range(needed, kib + STEP, MOST - 1);
  assert_int_equal(run_within(needed - STEP, "solve " SQUARE " --threads 1"), 4);
  assert_output("the buffer of OpenBLAS, 128 MiB of address space");
  assert_int_equal(run_within(needed + STEP, "solve " SQUARE " --threads 2"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(little_stack_is_told),
      cmocka_unit_test(little_address_space_is_told),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
