/* Figures: lines over axes, written as SVG, or as PDF if the file's name ends in .pdf (drawing.h). All programs draw
 * their lines with these functions; for tables there is cli_table_plot() (table.h). */
#ifndef CLI_FIGURE_H
#define CLI_FIGURE_H

#include "command.h"

/* A line through points in the order of x, with a mark at each point. Points that are not finite, or not positive on
 * a logarithmic axis, are left out. Lines of one colour belong together. */
typedef struct CliLine {
  const char *name; /* in the legend */
  int points, colour;
  const double *x, *y;
  bool dashed;      /* without marks: a bound, or values of others */
  bool hollow;      /* with marks, which are not filled */
  bool plain;       /* without marks, for many points */
  const char *note; /* a few letters after its last point; NULL: none */
} CliLine;

typedef struct CliFigure {
  const char *title, *subtitle, *x_label, *y_label; /* subtitle, y_label NULL: none */
  const CliLine *line;
  int lines;
  bool log_x, log_y; /* a linear y begins at 0, or below where values are negative, unless `free_y` */
  bool free_y;
} CliFigure;

/* Errors: TES_INVALID_INPUT, with a message, if there is no point to draw; TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_figure_write(TesContext *ctx, const CliFigure *figure, const char *path);
/* Several figures in panels, two or three per row, each with its title above. Lines have the same name and colour in
 * all panels. If there are two or more, they have one common legend. */
TesStatus cli_figure_write_panels(TesContext *ctx, const char *title, const char *subtitle, int panels,
                                  const CliFigure *panel, const char *path);

#endif
