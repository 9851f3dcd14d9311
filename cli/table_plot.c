/* Tables drawn as figures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "table.h"

enum { NAME = 80 };

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

/* Names and numbers of all lines: as many as rows times lines drawn per row. */
typedef struct Lines {
  TesFigureLine *line;
  char (*name)[NAME];
  double *number;
  int lines, numbers;
} Lines;

/* beside NULL: the line itself */
static void add_line(const CliTable *table, const CliPlot *plot, int row, const CliBeside *beside, int colour,
                     Lines *all) {
  const CliCell *series = cell(table, row, plot->series);
  const int from = beside && beside->x ? beside->x : plot->x, column = beside ? beside->y : plot->y;
  double *x = all->number + all->numbers, *y = x + table->rows;
  char *name = all->name[all->lines];
  const char *what = !beside ? "" : beside->name ? beside->name : table->column[column].name;
  int points = 0;
  for (int r = row; r < table->rows; r++)
    if (same(cell(table, r, plot->series), series) && isfinite(cell(table, r, column)->number))
      x[points] = cell(table, r, from)->number, y[points++] = cell(table, r, column)->number;
  if (!points) return;
  if (series->text)
    snprintf(name, NAME, "%s%s%s", series->text, beside ? ": " : "", what);
  else
    snprintf(name, NAME, "%s %g%s%s", table->column[plot->series].name, series->number, beside ? ": " : "",
             what);
  all->line[all->lines++] = (TesFigureLine){.name = name,
                                            .points = points,
                                            .colour = colour,
                                            .x = x,
                                            .y = y,
                                            .dashed = beside,
                                            .hollow = beside && (beside->marks || points == 1)};
  all->numbers += 2 * table->rows;
}

static void add_series(const CliTable *table, const CliPlot *plot, Lines *all) {
  int colour = 0;
  for (int row = 0; row < table->rows; row++) {
    if (!opens_series(table, row, plot->series)) continue;
    add_line(table, plot, row, NULL, colour, all);
    for (int i = 0; i < CLI_BESIDE; i++)
      if (plot->beside[i].y) add_line(table, plot, row, &plot->beside[i], colour, all);
    colour++;
  }
}

TesStatus cli_table_plot(TesContext *ctx, const CliTable *table, const CliPlot *plot, const char *path) {
  const size_t most = (size_t)table->rows * (1 + CLI_BESIDE) + 1;
  Lines all = {.line = calloc(most, sizeof *all.line),
               .name = calloc(most, sizeof *all.name),
               .number = calloc(most * 2 * (size_t)(table->rows + 1), sizeof *all.number)};
  TesStatus status = TES_OUT_OF_MEMORY;
  if (all.line && all.name && all.number) {
    add_series(table, plot, &all);
    const TesFigurePanel panel = {.x_label = plot->x_label,
                                  .y_label = plot->y_label,
                                  .line = all.line,
                                  .lines = all.lines,
                                  .log_x = plot->log_x,
                                  .log_y = plot->log_y};
    status = tes_figure_write(ctx, &(TesFigureDesc){plot->title, plot->subtitle, 1, &panel}, path);
  }
  free(all.line), free(all.name), free(all.number);
  return status;
}
