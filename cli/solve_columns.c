/* Tables of steps: as many columns as fit the terminal, with the values of the case among them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "solve.h"

enum { USUAL = 100 /* characters per line if the width is unknown */ };

void solve_column(SolveColumns *c, int rank, int width, const char *name, const char *format, ...) {
  va_list arguments;
  if (c->count == SOLVE_COLUMNS) return;
  SolveColumn *column = &c->column[c->count++];
  *column = (SolveColumn){.rank = rank, .width = width};
  snprintf(column->name, sizeof column->name, (int)strlen(name) > width ? "%.*s.." : "%.*s",
           (int)strlen(name) > width ? width - 2 : width, name);
  va_start(arguments, format);
  vsnprintf(column->text, sizeof column->text, format, arguments);
  va_end(arguments);
}

void solve_value_columns(const Solve *s, bool known, SolveColumns *c) {
  for (int i = 0; i < s->input->values; i++) {
    const double value = known && s->outputs.known ? s->outputs.value[i] : NAN;
    solve_column(c, 1 + i, 11, s->input->value[i].name, isfinite(value) ? "%.5g" : "-", value);
  }
}

/* The largest rank for which all columns up to this rank fit. */
static int largest_rank(const SolveColumns *c) {
  const int width = cli_width() ? cli_width() : USUAL;
  int most = 0;
  for (int rank = 0;; rank++) {
    int wide = -2, left = 0;
    for (int i = 0; i < c->count; i++)
      if (c->column[i].rank <= rank)
        wide += c->column[i].width + 2;
      else
        left++;
    if (wide > width && rank) return most;
    most = rank;
    if (!left) return most;
  }
}

static void print(const Solve *s, TesLogLevel level, const SolveColumns *c, bool names) {
  char line[SOLVE_COLUMNS * 34] = "";
  const int most = largest_rank(c);
  size_t length = 0;
  for (int i = 0; i < c->count; i++) {
    const SolveColumn *column = &c->column[i];
    if (column->rank <= most)
      length += (size_t)snprintf(line + length, sizeof line - length, "%s%*s", length ? "  " : "",
                                 column->width, names ? column->name : column->text);
  }
  solve_log(s, level, "%s", line);
}

void solve_print_columns(const Solve *s, TesLogLevel level, const SolveColumns *c, bool first) {
  if (first) print(s, level, c, true);
  print(s, level, c, false);
}

void solve_print_span(double seconds, char text[32]) {
  if (!(seconds >= 0))
    snprintf(text, 32, "-");
  else if (seconds < 100)
    snprintf(text, 32, "%.*f s", seconds < 10 ? 1 : 0, seconds);
  else if (seconds < 6000)
    snprintf(text, 32, "%.0f min", seconds / 60);
  else
    snprintf(text, 32, "%.1f h", seconds / 3600);
}
