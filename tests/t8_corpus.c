/* Run: ctest -R t8_corpus. What the fuzzers of tests/fuzz know and found, replayed without libFuzzer. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include "fuzz/targets.c"
#include "testing.h"

static void replay(const char *target, void (*feed)(const uint8_t *data, size_t size)) {
  char pattern[512];
  glob_t files;
  snprintf(pattern, sizeof pattern, TESI_SOURCE_DIR "/tests/fuzz/corpus/%s/*", target);
  assert_int_equal(glob(pattern, 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    static uint8_t data[1 << 17];
    FILE *file = fopen(files.gl_pathv[i], "rb");
    assert_non_null(file);
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    feed(data, size);
    feed(data, size / 2); /* a text cut short */
  }
  globfree(&files);
}

static void expressions(void **state) {
  (void)state;
  replay("expression", fuzz_expression);
}

static void cases(void **state) {
  (void)state;
  replay("case", fuzz_case);
}

static void meshes(void **state) {
  (void)state;
  replay("mesh", fuzz_mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(expressions), cmocka_unit_test(cases),
                                     cmocka_unit_test(meshes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
