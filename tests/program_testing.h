/* Tests that run the program: in a folder of their own, its output kept. */
#ifndef TESI_PROGRAM_TESTING_H
#define TESI_PROGRAM_TESTING_H

#include <cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "testing.h"

#ifndef PROGRAM
#define PROGRAM TESI_BUILD_DIR "/tessera"
#endif
#define CASES TESI_SOURCE_DIR "/cases/"

static char folder[] = "/tmp/tessera-t9-XXXXXX";
static char output[1 << 16];

static inline int set_up(void **state) {
  (void)state;
  unsetenv("COLUMNS");
  return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static inline int tear_down(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return chdir("/") != 0 || system(command) != 0;
}

/* Runs the program with these arguments; its output (both streams) is in `output`. Returns its exit status. */
static inline int run(const char *arguments) {
  char command[4096];
  snprintf(command, sizeof command, PROGRAM " %s 2>&1", arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  const size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = 0;
  const int status = pclose(pipe);
  if (!WIFEXITED(status)) fail_msg("tessera %s: ended by a signal\n%s", arguments, output);
  return WEXITSTATUS(status);
}

/* The line of the last run that begins with "tessera: ". */
static inline void take_message(char text[2000]) {
  const char *line = strstr(output, "tessera: ");
  snprintf(text, 2000, "%.*s", line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}

/* "solve CASE --set .." as "check CASE --set .."; false: an option that `check` has not, or another command. */
static inline bool make_check(const char *arguments, char command[2048]) {
  static const char *const dropped[] = {" --quiet", " --device cpu", " --deterministic", " --threads 1"};
  if (strncmp(arguments, "solve ", strlen("solve ")) != 0) return false;
  snprintf(command, 2048, "check %s", arguments + strlen("solve "));
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
    char *at = strstr(command, dropped[i]);
    if (at) memmove(at, at + strlen(dropped[i]), strlen(at + strlen(dropped[i])) + 1);
  }
  for (const char *at = command; (at = strstr(at, " --")); at++)
    if (strncmp(at, " --set", strlen(" --set")) != 0) return false;
  return !strpbrk(command, "<>|&") && !strstr(command, " -- ");
}

/* `check` refuses what `solve` has refused just now, with the same message. The output stays that of `solve`. */
static inline void assert_check_agrees(const char *arguments) {
  static char before[sizeof output];
  char command[2048], message[2][2000];
  if (!make_check(arguments, command)) return;
  memcpy(before, output, sizeof output);
  take_message(message[0]);
  if (strstr(message[0], "(tessera ")) return; /* of the command line itself */
  const int status = run(command);
  take_message(message[1]);
  if (status != 2 || strcmp(message[0], message[1]))
    fail_msg("tessera %s: exit status %d\n%s\nsolve said:\n%s", command, status, output, message[0]);
  memcpy(output, before, sizeof output);
}

#define assert_run(arguments, expected)                                                                      \
  do {                                                                                                       \
    const int got_ = run(arguments);                                                                         \
    if (got_ != (expected))                                                                                  \
      fail_msg("tessera %s: exit status %d, expected %d\n%s", arguments, got_, expected, output);            \
    if (got_ == 2) assert_check_agrees(arguments);                                                           \
  } while (0)
#define assert_output(text)                                                                                  \
  do {                                                                                                       \
    if (!strstr(output, text)) fail_msg("'%s' is not in:\n%s", text, output);                                \
  } while (0)

/* A case that is refused with a message which holds `told`. */
static inline void assert_refused(const char *path, const char *told) {
  char command[200];
  snprintf(command, sizeof command, "solve %s --quiet --device cpu", path);
  assert_run(command, 2);
  assert_output(told);
}

static inline bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

/* No temporary files are left behind either. */
static inline int files_here(void) {
  FILE *pipe = popen("ls -A | wc -l", "r");
  int count = -1;
  assert_int_equal(fscanf(pipe, "%d", &count), 1);
  pclose(pipe);
  return count;
}

static inline cJSON *read_json(const char *path) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  const size_t length = fread(output, 1, sizeof output - 1, file);
  output[length] = 0;
  fclose(file);
  cJSON *json = cJSON_Parse(output);
  assert_non_null(json);
  return json;
}

static inline void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* NaN where there is none; group: NULL: of json itself. */
static inline double number_in(const cJSON *json, const char *group, const char *name) {
  const cJSON *at = group ? cJSON_GetObjectItem(json, group) : json, *item = cJSON_GetObjectItem(at, name);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static inline const char *text_of(const cJSON *json, const char *key) {
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(json, key));
  return text ? text : "(missing)";
}

/* Whether the program was built with p4est. */
static inline bool has_forests(void) {
  const int status = run("solve " CASES "periodic.yaml --quiet");
  if (status != 0 && status != 3) fail_msg("exit status %d\n%s", status, output);
  return status == 0;
}

#endif
