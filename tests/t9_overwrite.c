/* Run: ctest -R t9_overwrite. An output of a solve overwrites neither what is read nor another output, through
 * links either. */
#include "program_testing.h"

#define SQUARE "square.yaml --set mesh.box.cells=4 --set space.degree=2"
#define HEAT "heat.yaml --set output=null"
#define L_SHAPE "l.yaml --set adapt.steps=2 --set adapt.tolerance=0"

static int prepare(void **state) {
  return set_up(state) || system("cp '" CASES "poisson-square.yaml' square.yaml && cp '" CASES
                                 "l-shape.yaml' l.yaml && cp '" CASES "heat.yaml' . && cp '" CASES
                                 "plate.yaml' '" CASES "plate.msh' .");
}

/* Files and what is in them. */
static void look(char sum[256]) {
  FILE *pipe = popen("cat *.* | cksum; ls -A | cksum", "r");
  const size_t length = fread(sum, 1, 255, pipe);
  sum[length] = 0;
  pclose(pipe);
}

static void clashes_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *arguments, *message;
  } wrong[] = {{"solve " SQUARE " --vtu square.yaml", "would overwrite the case file"},
               {"solve " SQUARE " --json square.yaml", "would overwrite the case file"},
               {"solve " SQUARE " --json link.yaml", "would overwrite the case file"},
               {"solve " SQUARE " --vtu hard.yaml", "would overwrite the case file"},
               {"solve " SQUARE " --json ./square.yaml --set space.degre=3", "would overwrite the case file"},
               {"solve " SQUARE " --set output.checkpoint=$PWD/square.yaml", "would overwrite the case file"},
               {"solve " SQUARE " --png square.yaml", "would overwrite the case file"},
               {"solve " SQUARE " --png new --vtu ./new", "are one file"},
               {"solve " SQUARE " --json new --vtu ./new", "are one file"},
               {"solve " SQUARE " --json new --set output.checkpoint=folder/new", "are one file"},
               {"solve " SQUARE " --json - --vtu -", "are one file"},
               {"solve plate.yaml --json plate.msh", "would overwrite the mesh"},
               {"solve plate.yaml --set output.checkpoint=plate.msh", "would overwrite the mesh"},
               {"solve " L_SHAPE " --vtu u.vtu --json u.pvd", "are one file"},
               {"solve " L_SHAPE " --vtu u.vtu --json u-001.vtu", "are one file"},
               {"solve " L_SHAPE " --png u.png --json u-001.png", "are one file"},
               {"solve " L_SHAPE " --png u-001.vtu --json u-001.vtu-001.png", "are one file"},
               {"solve " L_SHAPE " --png u.png --set output.checkpoint=folder/u-000.png", "are one file"},
               {"solve " HEAT " --set output.png=u.png --set output.series=u-003.png", "are one file"},
               {"solve " HEAT " --set output.png=u.png --set output.checkpoint=u-001.png", "are one file"}};
  char before[256], after[256];
  assert_int_equal(system("ln -s square.yaml link.yaml && ln square.yaml hard.yaml && ln -s . folder"), 0);
  look(before);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_run(wrong[i].arguments, 2);
    assert_output(wrong[i].message);
    look(after);
    assert_string_equal(after, before);
  }
}

static void what_does_not_clash_is_written(void **state) {
  (void)state;
  assert_run("solve " SQUARE " --quiet --json /dev/null", 0);
  assert_run("solve " SQUARE " --quiet --json r.json --vtu u.vtu", 0);
  assert_run("solve " SQUARE " --quiet --json r.json --vtu u.vtu", 0);
  assert_true(exists("r.json") && exists("u.vtu"));
  const int status = run("solve " SQUARE " --quiet --png u.png"); /* 3: a build without pictures */
  if (status != 3 && (status != 0 || !exists("u.png"))) fail_msg("exit status %d\n%s", status, output);
}

/* A checkpoint is read before its next state is written there. */
static void a_restart_goes_on_in_its_checkpoint(void **state) {
  (void)state;
  const int status = run("solve " SQUARE " --quiet --set output.checkpoint=c.h5");
  if (status == 3) skip();
  assert_int_equal(status, 0);
  assert_run("solve " SQUARE " --quiet --set output.checkpoint=c.h5 --restart c.h5", 0);
  assert_run("solve " SQUARE " --quiet --vtu c.h5 --restart c.h5", 2);
  assert_output("would overwrite the checkpoint of --restart");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(clashes_are_refused),
                                     cmocka_unit_test(what_does_not_clash_is_written),
                                     cmocka_unit_test(a_restart_goes_on_in_its_checkpoint)};
  return cmocka_run_group_tests(tests, prepare, tear_down);
}
