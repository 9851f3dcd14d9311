/* Run: ctest -R t9_devices. Every case of cases/ on the processor and in kernels: the same iterations and errors.
 * Made small for the emulator; as they are for a GPU, where there is one. TESSERA_TEST_PROGRAM ("tessera" with its
 * path) and TESSERA_TEST_CASES (the folder) are for tests that were moved to another machine; TESSERA_TEST_CASE
 * names the only case to run ("l-shape", or "l-shape:2", the second one of that name). Brief: the small ones alone,
 * and where none is named a third of them.
 * Quick: 1-9
 * Labels: heavy */
#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "testing.h"

typedef struct Outcome {
  int exit_status, iterations, levels;
  double residual, l2;
  bool in_time, mirrored;
  char device[64], text[1 << 15];
} Outcome;

/* So many steps, whatever their estimate: a tolerance that is missed is a failure. */
#define STEPS(n) "--set adapt.tolerance=0 --set adapt.steps=" n
/* The cycle that devices take by themselves in time; the host's own is another one. */
#define BY_PATCHES " --set solver.smoother=patch"

static const struct {
  const char *name, *small; /* options that make it small */
} cases[] = {
    {"adaptive-hill",
     "--set mesh.box.cells=[2,2] --set space.degree=2 --set time.end=0.04 --set solver.tolerance=1e-9 "
     "--set output=null"}, /* its mesh follows the solution */
    {"ball", "--set mesh.refine=0 --set mesh.refine_times=1 --set space.degree=1"},
    {"cantilever", "--set mesh.box.cells=[4,2,2] --set solver.precision=double"},
    {"cavity-explicit", "--set mesh.box.cells=[4,4,6] --set time.end=0.01"},
    {"elastic-cube", "--set mesh.box.cells=[4,4,4] --set time.end=0.00125"},
    {"elastic-plate", "--set mesh.refine=2 --set space.degree=2"},
    {"fichera", STEPS("2") " --set space.degree=1 --set solver.precision=double"},
    {"graded", "--set mesh.box.cells=[4,2] --set mesh.box.spacing.y=[0,0.3,1] --set space.degree=3"},
    {"heat", "--set mesh.box.cells=[4,4] --set time.end=0.1"},
    {"high-degree", "--set mesh.box.cells=[2,2] --set space.degree=12"},
    {"l-shape", STEPS("2") " --set space.degree=2 --set mesh.refine=0"},
    {"l-shape", STEPS("3") " --set space.degree=4 --set solver.method=gmres"},
    {"l-shape", STEPS("3") " --set space.degree=4 --set solver.method=fmg"},
    {"l-shape",
     STEPS("3") " --set space.degree=4 --set solver.coarsening=degree --set solver.smoother=cell_patch"},
    {"plate", STEPS("2") " --set space.degree=2 --set solver.smoother=line_patch"},
    {"mixed-boundary", "--set mesh.box.cells=[2,2,2] --set space.degree=2"},
    {"odd-sizes", "--set mesh.box.cells=[6,5,2] --set space.degree=2"},
    {"periodic", "--set mesh.box.cells=[4,4] --set space.degree=2 --set mesh.refine_where=0.1-x"},
    {"plate", STEPS("2") " --set space.degree=1"},
    {"poisson-cube", "--set mesh.box.cells=[4,4,4] --set space.degree=2"},
    {"poisson-dg", "--set mesh.box.cells=[8,5] --set space.degree=3"},
    {"poisson-dg", "--set mesh.box.cells=[8,8] --set space.degree=2 --set solver.method=fmg --set "
                   "solver.tolerance=0.1 --set 'data.exact=exp(x)*cos(y)' --set data.f=0 --set "
                   "'boundary={all: {dirichlet: exact}}'"},
    {"poisson-square", "--set mesh.box.cells=8"},
    {"poisson-square", "--set mesh.box.cells=4 --set space.degree=2 --set solver.smoother=jacobi --set "
                       "solver.precision=double"},
    {"poisson-square", "--set mesh.box.cells=4 --set space.degree=2 --set solver.smoother=gauss_seidel --set "
                       "solver.method=gmres"},
    {"pure-neumann", "--set mesh.box.cells=8 --set space.degree=3"},
    {"shear-layers", "--set mesh.box.cells=[5,5] --set time.end=0.03 --set output=null"},
    {"taylor-green-rt",
     "--set mesh.box.cells=[3,3,3] --set space.degree=1 --set time.end=1 --set output=null"},
    {"rotating-gaussian", "--set mesh.box.cells=[8,8] --set time.end=0.1"},
    {"rotating-gaussian", "--set mesh.box.cells=[6,6] --set space.element=dg --set time.end=0.1" BY_PATCHES},
    {"stokes-cavity", "--set mesh.box.cells=[3,2,4] --set space.degree=1"},
    {"stokes-cavity", "--set mesh.box.cells=[8,8,8] --set space.degree=1"}, /* 4^3 cells solved at once */
    {"stokes-channel", "--set mesh.box.cells=[8,4]"},
    {"stokes-cylinder", "--set mesh.refine=0 --set space.degree=2"},
    {"stokes-cylinder", STEPS("2") " --set mesh.refine=0 --set space.degree=2"},
    {"stokes-manufactured", "--set mesh.box.cells=[8,8] --set solver.method=fmg"},
    {"stokes-manufactured-3d",
     "--set mesh.box.cells=[4,4,4] --set solver.method=fmg --set solver.tolerance=0.1"},
    {"stokes-shear", "--set mesh.box.cells=[5,4] --set solver.precision=double"},
    {"stokes-viscosity", "--set mesh.box.cells=[8,8] --set solver.precision=double"},
    {"sun", "--set mesh.refine=0 --set mesh.geometry_degree=2 --set space.degree=2"},
    {"taylor-green", "--set mesh.box.cells=[3,3] --set space.degree=3 --set time.end=0.3"},
    {"three-bodies", "--set mesh.box.cells=[8,8] --set time.end=0.01 --set output=null" BY_PATCHES},
    {"variable-coefficient", "--set mesh.box.cells=8 --set space.degree=3"},
    {"variable-coefficient", "--set mesh.box.cells=8 --set space.degree=3 --set solver.local_solver=auto"},
    {"variable-coefficient",
     "--set mesh.box.cells=4 --set space.degree=2 --set solver.smoother=chebyshev --set solver.method=cg"},
    {"variable-coefficient",
     "--set mesh.box.cells=4 --set space.degree=2 --set solver.smoother=patch_additive "
     "--set solver.method=cg"}};

static const char *from_environment(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

static void solve(const char *name, const char *options, const char *device, Outcome *outcome) {
  char command[2048];
  memset(outcome, 0, sizeof *outcome);
  snprintf(command, sizeof command, "%s solve %s/%s.yaml %s --device %s --json - --quiet",
           from_environment("TESSERA_TEST_PROGRAM", TESI_BUILD_DIR "/tessera"),
           from_environment("TESSERA_TEST_CASES", TESI_SOURCE_DIR "/cases"), name, options, device);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  const size_t length = fread(outcome->text, 1, sizeof outcome->text - 1, pipe);
  outcome->text[length] = 0;
  outcome->exit_status = WEXITSTATUS(pclose(pipe));
  if (outcome->exit_status) return;
  cJSON *json = cJSON_Parse(outcome->text);
  if (!json) fail_msg("%s\n%s", command, outcome->text);
  const cJSON *residuals = cJSON_GetObjectItem(json, "residuals");
  outcome->iterations = (int)cJSON_GetNumberValue(cJSON_GetObjectItem(json, "iterations"));
  outcome->levels = cJSON_GetArraySize(cJSON_GetObjectItem(json, "hierarchy"));
  outcome->in_time = cJSON_HasObjectItem(json, "time_steps");
  outcome->mirrored = strstr(outcome->text, "walls mirrored") != NULL;
  outcome->residual = cJSON_GetNumberValue(cJSON_GetArrayItem(residuals, cJSON_GetArraySize(residuals) - 1));
  const cJSON *errors = cJSON_GetObjectItem(json, "errors"),
              *velocity = cJSON_GetObjectItem(errors, "velocity_l2");
  outcome->l2 = cJSON_GetNumberValue(velocity ? velocity : cJSON_GetObjectItem(errors, "l2"));
  snprintf(outcome->device, sizeof outcome->device, "%s",
           cJSON_GetStringValue(cJSON_GetObjectItem(json, "device")));
  cJSON_Delete(json);
}

/* Counts are the same; residuals differ by round-off, which the last digits before the tolerance of float32 cycles
 * show. Of many steps in time, each to three digits of its own, a tenth of the iterations may be more or less; one
 * where patches at walls are solved with other matrices (stokes_lanes.cu), or the device solves directly on a finer
 * level, or the only level is solved by other factors. */
static void compare(const char *name, const char *options, const char *device) {
  static Outcome host, other;
  solve(name, options, "cpu", &host);
  if (host.exit_status == 3) return; /* a mesh of trees, and a build without them */
  solve(name, options, device, &other);
  if (other.exit_status == 3 && device[0] == 'c') skip();
  if (host.exit_status) fail_msg("%s %s: status %d: %s", name, options, host.exit_status, host.text);
  if (other.exit_status)
    fail_msg("%s %s %s: status %d: %s", name, options, device, other.exit_status, other.text);
  assert_int_equal(strncmp(other.device, device, strlen(device)), 0);
  printf("%s %s: %d iterations to %.2e, on the host %.2e\n", name, options, other.iterations, other.residual,
         host.residual);
  const bool other_cycle = other.mirrored || other.levels < host.levels || host.levels == 1;
  if (abs(host.iterations - other.iterations) > (host.in_time ? host.iterations / 10 : other_cycle))
    fail_msg("%s %s: %d iterations on the %s, %d on the host", name, options, other.iterations, device,
             host.iterations);
  assert_int_equal(isnan(other.l2), isnan(host.l2)); /* not told without an exact solution */
  if (!isnan(host.l2)) assert_near(other.l2, host.l2, 1e-3 * host.l2 + 1e-10);
}

/* As it is in the file, with its output; but for these. */
static void compare_large(const char *name, const char *device) {
  static const char *const others[][2] = {
      {"l-shape", STEPS("6")},
      {"fichera", STEPS("6")},
      {"three-bodies", "--set time.end=0.01" BY_PATCHES},
      /* where nu jumps by 1000 a cycle in float32 leaves 3e-7, and from there on rounding decides: 11 or 12 */
      {"stokes-viscosity", "--set solver.precision=double"},
      /* its meshes follow what a loose tolerance leaves: errors of 1e-3 and of 1e-6 differ by 7 % */
      {"adaptive-hill", "--set solver.tolerance=1e-9"}};
  char options[128], path[64];
  snprintf(path, sizeof path, "/tmp/tessera-devices-%ld.vtu", (long)getpid());
  snprintf(options, sizeof options, "--vtu %s", path);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(name, others[i][0])) snprintf(options, sizeof options, "%s", others[i][1]);
  compare(name, options, device);
  remove(path);
}

/* Whether TESSERA_TEST_CASE, "name" or "name:number", is not set or names case i, the turn-th of its name from 1 on. */
static bool is_wanted(size_t i, int turn) {
  const char *only = getenv("TESSERA_TEST_CASE"), *name = cases[i].name;
  if (!only) return !test_brief() || i % 3 == 0;
  const size_t length = strcspn(only, ":");
  return strlen(name) == length && !strncmp(only, name, length) &&
         (!only[length] || atoi(only + length + 1) == turn);
}

/* Those that are wanted; how many. */
static int run_cases(const char *device, bool large) {
  int found = 0, turn = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *name = cases[i].name;
    turn = i && !strcmp(cases[i - 1].name, name) ? turn + 1 : 1;
    if (!is_wanted(i, turn)) continue;
    if (!large) compare(name, cases[i].small, device);
    if (large && turn == 1) compare_large(name, device);
    found++;
  }
  return found;
}

static void cases_take_the_same_iterations(const char *device, bool large) {
  if (strcmp(from_environment("TESSERA_TEST_DEVICE", device), device)) skip();
  if (run_cases(device, large)) return;
  char path[1024]; /* cases that run on the processor alone are not in the list */
  snprintf(path, sizeof path, "%s/%s.yaml", from_environment("TESSERA_TEST_CASES", TESI_SOURCE_DIR "/cases"),
           getenv("TESSERA_TEST_CASE"));
  if (access(path, F_OK)) fail_msg("no case is named %s", getenv("TESSERA_TEST_CASE"));
  skip();
}

static void small_cases_on_the_emulator(void **state) {
  (void)state;
  cases_take_the_same_iterations("emulator", false);
}

static void small_cases_on_a_gpu(void **state) {
  (void)state;
  cases_take_the_same_iterations("cuda", false);
}

static void large_cases_on_a_gpu(void **state) {
  (void)state;
  if (test_brief()) skip();
  cases_take_the_same_iterations("cuda", true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_cases_on_the_emulator),
                                     cmocka_unit_test(small_cases_on_a_gpu),
                                     cmocka_unit_test(large_cases_on_a_gpu)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
