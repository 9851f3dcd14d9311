/* Tables drawn by gnuplot, which gets data and commands through a pipe and writes SVG under a temporary name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "table.h"

static const CliCell *cell(const CliTable *table, int row, int column) {
  return &table->cells[row * table->columns + column];
}

static bool same(const CliCell *a, const CliCell *b) {
  return a->text && b->text ? !strcmp(a->text, b->text) : a->number == b->number;
}

/* Whether this row is the first with its value of the series column. */
static bool opens_series(const CliTable *table, int row, int series) {
  for (int r = 0; r < row; r++)
    if (same(cell(table, r, series), cell(table, row, series))) return false;
  return true;
}

static void send(FILE *gnuplot, const CliTable *table, const CliPlot *plot, const char *path) {
  fprintf(gnuplot,
          "set terminal svg size 820,520 font 'sans-serif,13' background '#ffffff'\nset output '%s'\nset "
          "title '%s'\n"
          "set xlabel '%s'\nset ylabel '%s'\nset key outside right\nset grid\nset yrange [0:*]\n%s",
          path, plot->title, plot->x_label, plot->y_label,
          plot->log_x ? "set logscale x\nset format x '10^{%T}'\n" : "");
  const char *separator = "plot ";
  for (int row = 0; row < table->rows; row++)
    if (opens_series(table, row, plot->series)) {
      const CliCell *name = cell(table, row, plot->series);
      fprintf(gnuplot, "%s'-' with linespoints pointtype 7 pointsize 0.5 title '", separator);
      name->text ? fprintf(gnuplot, "%s'", name->text)
                 : fprintf(gnuplot, "%s %g'", table->column[plot->series].name, name->number);
      separator = ", ";
    }
  fprintf(gnuplot, "\n");
  for (int row = 0; row < table->rows; row++) {
    if (!opens_series(table, row, plot->series)) continue;
    for (int r = row; r < table->rows; r++)
      if (same(cell(table, r, plot->series), cell(table, row, plot->series)) &&
          isfinite(cell(table, r, plot->y)->number))
        fprintf(gnuplot, "%.8g %.8g\n", cell(table, r, plot->x)->number, cell(table, r, plot->y)->number);
    fprintf(gnuplot, "e\n");
  }
}

TesStatus cli_table_plot(TesContext *ctx, const CliTable *table, const CliPlot *plot, const char *path) {
  TesStatus status = TES_OK;
  char temporary[4096];
  TES_CHECK(table->rows > 0, "nothing to plot");
  TES_CHECK(!strchr(path, '\'') && strlen(path) < sizeof temporary - 32, "a plot cannot have this name: %s",
            path);
  snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
  FILE *gnuplot = popen("gnuplot", "w");
  if (!gnuplot) TES_FAIL(TES_MISSING, "gnuplot, which draws the plot, cannot be started");
  send(gnuplot, table, plot, temporary);
  const int outcome = pclose(gnuplot);
  if (outcome != 0) {
    remove(temporary);
    TES_FAIL(TES_MISSING, "gnuplot failed (exit status %d): is it installed, and can %s be written?",
             outcome >> 8, path);
  }
  if (rename(temporary, path) != 0) {
    remove(temporary);
    TES_FAIL(TES_IO, "cannot write the plot %s", path);
  }
done:
  return status;
}
