/* Tests that run the program: in a folder of their own, its output kept. */
#ifndef TESI_PROGRAM_TESTING_H
#define TESI_PROGRAM_TESTING_H

#include <cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "testing.h"

#define PROGRAM TESI_BUILD_DIR "/tessera"
#define CASES TESI_SOURCE_DIR "/cases/"

static char folder[] = "/tmp/tessera-t9-XXXXXX";
static char output[1 << 16];

static inline int set_up(void **state) {
  (void)state;
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
  char command[2048];
  snprintf(command, sizeof command, PROGRAM " %s 2>&1", arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  const size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = 0;
  const int status = pclose(pipe);
  if (!WIFEXITED(status)) fail_msg("tessera %s: ended by a signal\n%s", arguments, output);
  return WEXITSTATUS(status);
}

#define assert_run(arguments, expected)                                                                      \
  do {                                                                                                       \
    const int got_ = run(arguments);                                                                         \
    if (got_ != (expected))                                                                                  \
      fail_msg("tessera %s: exit status %d, expected %d\n%s", arguments, got_, expected, output);            \
  } while (0)
#define assert_output(text)                                                                                  \
  do {                                                                                                       \
    if (!strstr(output, text)) fail_msg("'%s' is not in:\n%s", text, output);                                \
  } while (0)

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
