/* Run: ctest -R t9_interrupt. Ctrl-C at random moments of reading, set-up, refinement, factorization, solve and output:
 * the program ends soon, by itself, with status 1 and a message, and leaves no file that is not whole.
 * Labels: heavy
 * Timeout: 300 */
#include <signal.h>
#include <time.h>
#include "program_testing.h"

/* The aim is half a second. A machine that does other work gets twenty times as much. That a run was ended, and did not
 * end by itself, its exit status and message say. */
enum { LIMIT = 10 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static pid_t start(void) {
  char *arguments[] = {"tessera", "solve", "case.yaml", "--device", "cpu", "--threads", "1", NULL};
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (!freopen("errors.txt", "w", stderr) || !freopen("log.txt", "w", stdout)) _exit(99);
    execv(PROGRAM, arguments);
    _exit(98);
  }
  return child;
}

/* Seconds until the child has ended, at most `most`. */
static double wait_for(pid_t child, double most, int *status) {
  const double begin = now();
  while (waitpid(child, status, WNOHANG) == 0) {
    if (now() - begin > most) {
      kill(child, SIGKILL);
      waitpid(child, status, 0);
      return INFINITY;
    }
    usleep(5000);
  }
  return now() - begin;
}

/* What a run leaves is whole: the files end as they should, and none has another name. */
static void assert_whole(const char *of) {
  if (system("ls -A | grep -vxE 'case.yaml|log.txt|errors.txt|out.vtu|out.json|m.msh'") == 0)
    fail_msg("%s: a file is left behind", of);
  if (exists("out.vtu") && system("tail -c 100 out.vtu | grep -q '</VTKFile>'") != 0)
    fail_msg("%s: half of a VTU file", of);
  if (exists("out.json")) cJSON_Delete(read_json("out.json"));
}

/* A signal after a fraction of `whole` seconds. Returns whether it came in time to end the run. */
static bool interrupt_at(double seconds, const char *name) {
  char of[200];
  int status;
  remove("out.vtu"), remove("out.json");
  snprintf(of, sizeof of, "%s, SIGINT after %.3f s", name, seconds);
  const pid_t child = start();
  usleep((useconds_t)(1e6 * seconds));
  kill(child, SIGINT);
  const double taken = wait_for(child, 4 * LIMIT, &status);
  if (!(taken < LIMIT)) fail_msg("%s: it ended after %g s", of, taken);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT && seconds < 0.5) return true; /* it had not begun */
  if (!WIFEXITED(status)) fail_msg("%s: it ended by signal %d", of, WTERMSIG(status));
  assert_whole(of);
  if (WEXITSTATUS(status) == 0) return false;
  if (WEXITSTATUS(status) != 1) fail_msg("%s: exit status %d", of, WEXITSTATUS(status));
  if (system("grep -q 'tessera: interrupted' errors.txt") != 0)
    fail_msg("%s: it did not say so: %d", of, system("cat errors.txt log.txt >&2"));
  return true;
}

static void interrupt_often(const char *name, const char *text) {
  enum { TIMES = 4 };
  int status, ended = 0;
  write_text("case.yaml", text);
  const double whole = wait_for(start(), 120, &status);
  if (!(whole < 120) || !WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("%s does not solve", name);
  for (int i = 0; i < TIMES; i++)
    ended += interrupt_at(whole * (i + random() / (double)RAND_MAX) / TIMES, name);
  if (!ended) fail_msg("%s: no signal ended it", name);
  assert_int_equal(system("rm -f case.yaml log.txt errors.txt out.vtu out.json"), 0);
}

static void at_any_moment(void **state) {
  (void)state;
  interrupt_often("elasticity", "problem: elasticity\nmesh: {box: {cells: [8, 8, 8]}}\nspace: {degree: 3}\n"
                                "data: {young: 1, poisson: 0.3, f: [0, 0, -1]}\n"
                                "boundary: {all: {traction: [0, 0, 0]}, left: {displacement: [0, 0, 0]}}\n"
                                "output: {vtu: out.vtu, json: out.json}\n");
  interrupt_often("stokes",
                  "problem: stokes\nmesh: {box: {cells: [6, 6, 6]}}\nspace: {degree: 2, element: rt}\n"
                  "data: {f: [y, 0, x*z], nu: 1 + x, form: symmetric}\n"
                  "output: {vtu: out.vtu, json: out.json}\n");
  if (!has_forests()) return;
  interrupt_often("ball", "problem: poisson\nmesh: {ball: {dim: 3}, refine: 3}\nspace: {degree: 3}\n"
                          "data: {f: sin(x)*y, a: 1 + x*x, exact: 1 - x*x - y*y - z*z}\n"
                          "output: {vtu: out.vtu, json: out.json}\n");
}

/* Nothing interrupts a factorization, which takes longer than the limit here: the program ends without it. */
static void in_a_factorization(void **state) {
  (void)state;
  if (!has_forests() || !tes_has_part("mumps")) skip();
  write_text("case.yaml", "problem: poisson\nmesh: {ball: {dim: 3}, refine: 3}\nspace: {degree: 3}\n"
                          "solver: {method: direct}\noutput: {json: out.json}\n");
  for (int i = 0; i < 2; i++)
    assert_true(interrupt_at(0.5 + 2.5 * (i + random() / (double)RAND_MAX) / 2, "direct"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(at_any_moment), cmocka_unit_test(in_a_factorization)};
  srandom((unsigned)time(NULL));
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
