/* The plot of a run in time: values over time, from the rows of its series, including rows of before a restart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "solve.h"

enum { BEFORE = 6 /* columns of a series in front of the fields at points and the values */ };

/* The numbers of a series: time, and the lines of the plot. */
typedef struct Rows {
  int count, room;
  double *number; /* [1 + lines][room] */
} Rows;

static bool make_room(Rows *rows, int columns) {
  if (rows->count < rows->room) return true;
  const int room = 2 * rows->room + 256;
  double *number = malloc((size_t)columns * (size_t)room * sizeof *number);
  if (!number) return false;
  for (int i = 0; i < columns && rows->count; i++)
    memcpy(number + (size_t)i * (size_t)room, rows->number + (size_t)i * (size_t)rows->room,
           (size_t)rows->count * sizeof *number);
  free(rows->number);
  rows->number = number, rows->room = room;
  return true;
}

/* A cell that is empty or not a number gives NaN, which is not drawn. */
static double number_in(const char *row, int column) {
  char *end;
  for (; column > 0 && row; column--) {
    row = strchr(row, ',');
    if (row) row++;
  }
  const double number = row ? strtod(row, &end) : NAN;
  return row && end > row ? number : NAN;
}

static TesStatus read_rows(const Solve *s, FILE *file, Rows *rows) {
  const TesCase *c = s->input;
  const int values = BEFORE + c->points * s->outputs.fields, lines = c->plot.lines;
  char *row = NULL;
  size_t size = 0;
  TesStatus status = TES_OK;
  bool header = true;
  while (status == TES_OK && getline(&row, &size, file) > 0) {
    if (!header && !make_room(rows, 1 + lines)) status = TES_OUT_OF_MEMORY;
    if (!header && status == TES_OK) {
      for (int i = 0; i <= lines; i++)
        rows->number[(size_t)i * (size_t)rows->room + (size_t)rows->count] =
            number_in(row, i ? values + c->plot.of[i - 1] : 0);
      rows->count++;
    }
    header = false;
  }
  free(row);
  return status;
}

static TesStatus read_series(const Solve *s, Rows *rows) {
  FILE *file = fopen(s->input->series, "r");
  if (!file) return TES_IO;
  const TesStatus status = read_rows(s, file, rows);
  fclose(file);
  return status;
}

static bool has_number(const Rows *rows, int lines) {
  for (int i = 1; i <= lines; i++)
    for (int k = 0; k < rows->count; k++)
      if (isfinite(rows->number[(size_t)i * (size_t)rows->room + (size_t)k])) return true;
  return false;
}

/* The largest absolute value of a line; 0: there is none. */
static double size_of(const TesFigureLine *line) {
  double size = 0;
  for (int i = 0; i < line->points; i++)
    if (isfinite(line->y[i])) size = fmax(size, fabs(line->y[i]));
  return size;
}

/* Whether a common axis would make a line flat: sizes of lines differ by more than a factor of ten. */
static bool differ_in_size(int lines, const TesFigureLine *line) {
  double low = INFINITY, high = 0;
  for (int i = 0; i < lines; i++) {
    const double size = size_of(&line[i]);
    if (size > 0) low = fmin(low, size), high = fmax(high, size);
  }
  return high > 10 * low;
}

static TesStatus draw_panels(const Solve *s, int lines, TesFigureLine *line) {
  TesFigurePanel *panel = calloc((size_t)lines, sizeof *panel);
  if (!panel) return TES_OUT_OF_MEMORY;
  for (int i = 0; i < lines; i++) {
    line[i].colour = 0;
    panel[i] =
        (TesFigurePanel){.title = line[i].name, .x_label = "t", .line = &line[i], .lines = 1, .free_y = true};
  }
  const TesStatus status =
      tes_figure_write(s->context, &(TesFigureDesc){s->input->name, NULL, lines, panel}, s->input->plot.file);
  free(panel);
  return status;
}

static TesStatus draw(const Solve *s, const Rows *rows) {
  const TesCasePlot *plot = &s->input->plot;
  TesFigureLine *line = calloc((size_t)plot->lines + 1, sizeof *line);
  TesStatus status;
  if (!line) return TES_OUT_OF_MEMORY;
  for (int i = 0; i < plot->lines; i++)
    line[i] = (TesFigureLine){.name = s->input->value[plot->of[i]].name,
                              .points = rows->count,
                              .colour = i,
                              .x = rows->number,
                              .y = rows->number + (size_t)(i + 1) * (size_t)rows->room,
                              .plain = true};
  const TesFigurePanel panel = {.x_label = "t",
                                .y_label = plot->lines == 1 ? line->name : "values",
                                .line = line,
                                .lines = plot->lines,
                                .free_y = true};
  if (differ_in_size(plot->lines, line))
    status = draw_panels(s, plot->lines, line);
  else
    status = tes_figure_write(s->context, &(TesFigureDesc){s->input->name, NULL, 1, &panel}, plot->file);
  free(line);
  return status;
}

/* All ranks write the figure together; rank 0 knows whether there is something to draw, and draws it. */
TesStatus solve_write_plot(Solve *s) {
  const TesCasePlot *plot = &s->input->plot;
  Rows rows = {0};
  TesStatus status = TES_OK;
  if (!plot->file || !s->in_time.report.series) return TES_OK;
  const bool draws = tes_communicator_rank(cli_ranks()) == 0;
  if (draws) status = read_series(s, &rows);
  const bool drawn =
      tes_communicator_first(cli_ranks(), status == TES_OK && has_number(&rows, plot->lines)) > 0;
  if (drawn) status = draws ? draw(s, &rows) : tes_figure_write(s->context, &(TesFigureDesc){0}, plot->file);
  if (drawn && status == TES_OK) s->plot = plot->file;
  free(rows.number);
  return status;
}
