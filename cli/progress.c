/* Shows progress while nothing else is printed: on a terminal a line that is overwritten, in a log a plain line if
 * the last line is 10 seconds old. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "command.h"

enum { WIDTH = 80 };

static bool shown;         /* the last line will be overwritten */
static double last_second; /* of a line */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Launchers give ranks a terminal of their own, whose text they hand on to a file or a pipe. */
static bool launcher_is_on_terminal(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/1", (long)getppid());
  const int out = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  const bool on_terminal = out >= 0 && isatty(out);
  if (out >= 0) close(out);
  return on_terminal;
}

static bool overwrites(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 &&
         (!cli_ranks() || launcher_is_on_terminal());
}

int cli_width(void) {
  struct winsize size;
  const char *columns = getenv("COLUMNS");
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col;
  return columns && atoi(columns) > 1 ? atoi(columns) : 0;
}

/* The end of a line of at most `most` characters: its last blank, or `most`. */
static int line_end(const char *text, int most) {
  int end = most;
  if ((int)strlen(text) <= most) return (int)strlen(text);
  while (end > 0 && text[end] != ' ') end--;
  return end > 0 && strspn(text, " ") < (size_t)end ? end : most;
}

void cli_print_line(FILE *out, const char *line) {
  enum { INDENT = 10, LEAST = 40 };
  const int columns = isatty(fileno(out)) || out == stdout ? cli_width() : 0;
  int most = columns;
  while (columns >= LEAST && (int)strlen(line) > most) {
    const int end = line_end(line, most);
    fprintf(out, "%.*s\n%*s", end, line, INDENT, "");
    line += end;
    line += strspn(line, " ");
    most = columns - INDENT;
  }
  fprintf(out, "%s\n", line);
}

void cli_progress(const char *line) {
  cli_interrupt_part(line);
  const double seconds = now();
  const bool overwrite = overwrites();
  if (last_second == 0) last_second = seconds;
  if (overwrite ? shown && seconds - last_second < 0.05 : seconds - last_second < 10) return;
  last_second = seconds;
  shown = overwrite;
  if (overwrite)
    printf("\r\033[K%.*s", (cli_width() ? cli_width() : WIDTH) - 1, line);
  else
    printf("%s\n", line);
  fflush(stdout);
}

void cli_progress_end(void) {
  if (shown) fputs("\r\033[K", stdout), fflush(stdout);
  shown = false;
  last_second = now();
}

enum { WARNINGS = 16 };
static char *warnings[WARNINGS];
static int warning_count;

/* Each warning once, without "warning: ". */
static void keep_warning(const char *line) {
  static const char prefix[] = "warning: ";
  const char *text = strncmp(line, prefix, sizeof prefix - 1) ? line : line + sizeof prefix - 1;
  for (int i = 0; i < warning_count; i++)
    if (!strcmp(warnings[i], text)) return;
  if (warning_count < WARNINGS && (warnings[warning_count] = strdup(text))) warning_count++;
}

int cli_warnings(const char *const **list) {
  *list = (const char *const *)warnings;
  return warning_count;
}

void cli_log(void *user, TesLogLevel level, const char *line) {
  (void)user;
  if (level == TES_LOG_WARNING) keep_warning(line);
  if (level == TES_LOG_PROGRESS) {
    cli_progress(line);
    return;
  }
  cli_progress_end();
  FILE *out = level == TES_LOG_WARNING ? stderr : stdout;
  cli_print_line(out, line);
  fflush(out);
}
