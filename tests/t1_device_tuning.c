/* Run: ctest -R t1_device_tuning. Choices by timing: the fastest is taken and remembered, whatever happens to the
 * file; a choice of other candidates is another one; several processes at once leave a good file. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device/tuning.h"
#include "testing.h"

static char folder[64];

static TesContext *open_emulator(void) {
  TesContext *ctx;
  char message[512];
  if (tes_context_create(&(TesContextDesc){.device = "emulator"}, &ctx, message, sizeof message) != TES_OK)
    fail_msg("%s", message);
  return ctx;
}

/* Seconds of each candidate; negative: it fails. */
typedef struct Clock {
  TesContext *ctx;
  const double *seconds;
  int calls;
} Clock;

static TesStatus read_clock(void *data, int candidate, double *seconds) {
  Clock *clock = data;
  TesContext *ctx = clock->ctx;
  TesStatus status = TES_OK;
  clock->calls++;
  if (clock->seconds[candidate] < 0) TES_FAIL(TES_INTERNAL, "candidate %d does not compile", candidate);
  *seconds = clock->seconds[candidate];
done:
  return status;
}

/* The choice among three; *calls: how many were timed. */
static int choose(const char *name, const char *third, const double *seconds, int *calls) {
  TesContext *ctx = open_emulator();
  Clock clock = {ctx, seconds, 0};
  const TesiTuning tuning = {
      .name = name, .candidate = {"first", "second", third}, .time = read_clock, .data = &clock};
  const int choice = tesi_tune(ctx, &tuning);
  assert_string_equal(tes_context_message(ctx), "");
  *calls = clock.calls;
  tes_context_destroy(&ctx);
  return choice;
}

static void the_fastest_is_remembered(void **state) {
  (void)state;
  int calls;
  assert_int_equal(choose("a", "third", (const double[]){3, 1, 2}, &calls), 1);
  assert_int_equal(calls, 3);
  assert_int_equal(choose("a", "third", (const double[]){1, 3, 2}, &calls), 1); /* as remembered */
  assert_int_equal(calls, 0);
  assert_int_equal(choose("b", "third", (const double[]){1, 3, 2}, &calls), 0); /* another name */
  assert_int_equal(calls, 3);
  assert_int_equal(choose("a", "fourth", (const double[]){3, 2, 1}, &calls), 2); /* other candidates */
  assert_int_equal(calls, 3);
}

static void failures_and_small_gains_are_passed_over(void **state) {
  (void)state;
  int calls;
  assert_int_equal(choose("c", "third", (const double[]){-1, 2, -1}, &calls), 1);
  assert_int_equal(choose("d", "third", (const double[]){-1, -1, -1}, &calls), 0);
  assert_int_equal(choose("e", "third", (const double[]){1, 0.99, 1}, &calls), 0);
  assert_int_equal(choose("f", "third", (const double[]){NAN, NAN, 5}, &calls), 2);
}

/* Changes every file of the cache whose name begins with `name`: what byte `at` is, or its length. */
static int damage(const char *name, long at) {
  int count = 0;
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  for (struct dirent *d; (d = readdir(directory));) {
    char path[400];
    if (strncmp(d->d_name, name, strlen(name))) continue;
    snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
    if (at < 0) {
      assert_int_equal(truncate(path, -at), 0);
    } else {
      FILE *file = fopen(path, "r+");
      assert_non_null(file);
      fseek(file, at, SEEK_SET);
      const int old = fgetc(file);
      fseek(file, at, SEEK_SET);
      fputc(old ^ 1, file);
      fclose(file);
    }
    count++;
  }
  closedir(directory);
  return count;
}

static void damaged_files_are_made_anew(void **state) {
  (void)state;
  static const long places[] = {0, 20, 100, 160, -1, -100, -155};
  int calls;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    choose("damaged", "third", (const double[]){2, 3, 1}, &calls);
    assert_int_equal(damage("damaged", places[i]), 1);
    assert_int_equal(choose("damaged", "third", (const double[]){2, 1, 3}, &calls), 1);
    assert_int_equal(calls, 3);
    assert_int_equal(choose("damaged", "third", (const double[]){1, 2, 3}, &calls), 1);
    assert_int_equal(calls, 0);
    assert_int_equal(damage("damaged", -1), 1);
  }
}

static void several_processes_leave_a_good_file(void **state) {
  (void)state;
  enum { PROCESSES = 6 };
  int calls;
  for (int p = 0; p < PROCESSES; p++)
    if (fork() == 0) {
      int mine, choice = choose("shared", "third", (const double[]){2, 3, 1}, &mine);
      _exit(choice == 2 ? 0 : 1);
    }
  for (int p = 0; p < PROCESSES; p++) {
    int result;
    assert_true(wait(&result) > 0);
    assert_int_equal(result, 0);
  }
  assert_int_equal(choose("shared", "third", (const double[]){1, 2, 3}, &calls), 2);
  assert_int_equal(calls, 0);
  assert_int_equal(damage("shared", 0), 1); /* one file, no temporary ones */
}

static void off_is_the_default_candidate(void **state) {
  (void)state;
  int calls;
  setenv("TESSERA_TUNE", "off", 1);
  assert_int_equal(choose("g", "third", (const double[]){3, 1, 2}, &calls), 0);
  assert_int_equal(calls, 0);
  unsetenv("TESSERA_TUNE"); /* the emulator's times say nothing */
  assert_int_equal(choose("g", "third", (const double[]){3, 1, 2}, &calls), 0);
  assert_int_equal(calls, 0);
  setenv("TESSERA_TUNE", "on", 1);
  setenv("TESSERA_CACHE_DIR", "none", 1); /* chosen, not remembered */
  for (int i = 0; i < 2; i++) {
    assert_int_equal(choose("g", "third", (const double[]){3, 1, 2}, &calls), 1);
    assert_int_equal(calls, 3);
  }
  setenv("TESSERA_CACHE_DIR", folder, 1);
}

static void classes_cover_all_sizes(void **state) {
  (void)state;
  int nodes, before = 0;
  for (int64_t length = 1; length < (int64_t)1 << 40; length *= 4) {
    assert_non_null(tesi_tuning_class(length, &nodes));
    assert_true(nodes >= before);
    before = nodes;
  }
  assert_string_equal(tesi_tuning_class((int64_t)1 << 40, &nodes), "large");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_fastest_is_remembered),
                                     cmocka_unit_test(failures_and_small_gains_are_passed_over),
                                     cmocka_unit_test(damaged_files_are_made_anew),
                                     cmocka_unit_test(several_processes_leave_a_good_file),
                                     cmocka_unit_test(off_is_the_default_candidate),
                                     cmocka_unit_test(classes_cover_all_sizes)};
  strcpy(folder, "/tmp/tessera-tuning-XXXXXX");
  if (!mkdtemp(folder)) return 1;
  setenv("TESSERA_CACHE_DIR", folder, 1);
  setenv("TESSERA_TUNE", "on", 1);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) || failed;
}
