/* Figures: lines over axes, written as SVG, or as PDF where the file's name ends so (drawing.h). Whatever the programs
 * draw as lines goes through here; a table has
 * cli_table_plot() (table.h) on top of it. */
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include "command.h"

/* A line through points in the order of x, with a mark at each; points that are not finite, or not positive on a
 * logarithmic axis, are left out. Lines of one colour belong together. */
typedef struct CliLine {
  const char *name; /* in the legend */
  int points, colour;
  const double *x, *y;
  bool dashed;      /* without marks: a bound, or the values of others */
  bool hollow;      /* with marks all the same, not filled */
  bool plain;       /* without marks, of many points */
  const char *note; /* a few letters behind its last point; NULL: none */
} CliLine;

typedef struct CliFigure {
  const char *title, *subtitle, *x_label, *y_label; /* subtitle, y_label NULL: none */
  const CliLine *line;
  int lines;
  bool log_x, log_y; /* a linear y begins at 0, or below where values are negative, unless `free_y` */
  bool free_y;
} CliFigure;

/* Errors: TES_INVALID_INPUT, told, where there is no point to draw; TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_figure_write(TesContext *ctx, const CliFigure *figure, const char *path);
/* Several in panels, two or three beside one another, whose titles stand above them. The lines of all are the same by
 * name and colour: one legend, where there are two or more. */
TesStatus cli_figure_write_panels(TesContext *ctx, const char *title, const char *subtitle, int panels,
                                  const CliFigure *panel, const char *path);

#endif
