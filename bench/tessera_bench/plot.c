/* Tables drawn by gnuplot, which gets data and commands through a pipe and writes SVG under a temporary name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "table.h"

enum { PATH = 4096 };

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

/* What is drawn for a series: its values, then its limits. */
static int lines_of(const CliPlot *plot, int column[3]) {
  int count = 0;
  column[count++] = plot->y;
  for (int i = 0; i < 2; i++)
    if (plot->limit[i]) column[count++] = plot->limit[i];
  return count;
}

/* Whether a series that begins in this row has a number in the column. */
static bool has_numbers(const CliTable *table, const CliPlot *plot, int row, int column) {
  for (int r = row; r < table->rows; r++)
    if (same(cell(table, r, plot->series), cell(table, row, plot->series)) &&
        isfinite(cell(table, r, column)->number))
      return true;
  return false;
}

static void send_line(FILE *gnuplot, const CliTable *table, const CliPlot *plot, int row, int column) {
  for (int r = row; r < table->rows; r++)
    if (same(cell(table, r, plot->series), cell(table, row, plot->series)) &&
        isfinite(cell(table, r, column)->number))
      fprintf(gnuplot, "%.8g %.8g\n", cell(table, r, plot->x)->number, cell(table, r, column)->number);
  fprintf(gnuplot, "e\n");
}

static void name_line(FILE *gnuplot, const CliTable *table, const CliPlot *plot, int row, int column,
                      int number) {
  const CliCell *name = cell(table, row, plot->series);
  const bool limit = column != plot->y;
  fprintf(gnuplot, "'-' with %s linecolor %d title '",
          limit ? "lines dashtype 2" : "linespoints pointtype 7 pointsize 0.5", number);
  name->text ? fprintf(gnuplot, "%s", name->text)
             : fprintf(gnuplot, "%s %g", table->column[plot->series].name, name->number);
  fprintf(gnuplot, "%s%s' noenhanced", limit ? ": " : "", limit ? table->column[column].name : "");
}

static void send(FILE *gnuplot, const CliTable *table, const CliPlot *plot, const char *path) {
  fprintf(gnuplot,
          "set terminal svg size 820,520 font 'sans-serif,13' background '#ffffff'\nset output '%s'\nset "
          "title '%s'\n"
          "set xlabel '%s'\nset ylabel '%s'\nset key outside right\nset grid\n%s%s",
          path, plot->title, plot->x_label, plot->y_label,
          plot->log_x ? "set logscale x\nset format x '10^{%T}'\n" : "",
          plot->log_y ? "set logscale y\nset format y '10^{%T}'\n" : "set yrange [0:*]\n");
  int column[3], number = 0;
  const int lines = lines_of(plot, column);
  const char *separator = "plot ";
  for (int row = 0; row < table->rows; row++) {
    if (!opens_series(table, row, plot->series)) continue;
    number++;
    for (int i = 0; i < lines; i++) {
      if (!has_numbers(table, plot, row, column[i])) continue;
      fputs(separator, gnuplot);
      name_line(gnuplot, table, plot, row, column[i], number);
      separator = ", ";
    }
  }
  fprintf(gnuplot, "\n");
  for (int row = 0; row < table->rows; row++)
    for (int i = 0; i < lines && opens_series(table, row, plot->series); i++)
      if (has_numbers(table, plot, row, column[i])) send_line(gnuplot, table, plot, row, column[i]);
}

TesStatus cli_plot_check(TesContext *ctx, const char *path) {
  TesStatus status = TES_OK;
  TES_CHECK(!strchr(path, '\'') && strlen(path) < PATH - 32, "a plot cannot have this name: %s", path);
  if (system("command -v gnuplot >/dev/null 2>&1") != 0)
    TES_FAIL(TES_MISSING, "gnuplot, which draws the plot, is not installed");
done:
  return status;
}

TesStatus cli_table_plot(TesContext *ctx, const CliTable *table, const CliPlot *plot, const char *path) {
  TesStatus status = TES_OK;
  char temporary[PATH];
  TES_CHECK(table->rows > 0, "nothing to plot");
  TES_TRY(cli_plot_check(ctx, path));
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
