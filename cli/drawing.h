/* Lines, marks and texts on a page, as SVG; or, if the name of the file ends in .pdf, as PDF with Helvetica, a font
 * that every reader of PDF has. Lengths are pixels, y grows downwards, colours are "#rgb" or "#rrggbb". */
#ifndef CLI_DRAWING_H
#define CLI_DRAWING_H

#include <stdio.h>
#include "command.h"

typedef struct CliDrawing {
  FILE *out;
  char *text;
  size_t length;
  bool pdf, begun; /* begun: the present line has a point */
  int width, height;
} CliDrawing;

/* The side of a text that is at its x. */
typedef enum CliAnchor { CLI_LEFT, CLI_MIDDLE, CLI_RIGHT } CliAnchor;
typedef struct CliText {
  double size; /* 0: 12 */
  CliAnchor anchor;
  bool upright;       /* it runs upwards */
  const char *colour; /* NULL: black */
  int most;           /* bytes; longer texts are cut */
} CliText;

/* A white page. False: no memory. */
bool cli_drawing_begin(CliDrawing *d, const char *path, int width, int height);
/* Writes the file. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus cli_drawing_end(TesContext *ctx, CliDrawing *d, const char *path);

void cli_draw_segment(CliDrawing *d, double x0, double y0, double x1, double y1, const char *colour,
                      double width, bool dashed);
/* A line through points, which are given one by one. */
void cli_draw_line_begin(CliDrawing *d, const char *colour, bool dashed);
void cli_draw_line_to(CliDrawing *d, double x, double y);
void cli_draw_line_end(CliDrawing *d);
/* A mark of radius 3: a circle (0), a square (1) or a diamond (2). */
void cli_draw_mark(CliDrawing *d, int kind, double x, double y, const char *colour, const char *inside);
void cli_draw_text(CliDrawing *d, double x, double y, const CliText *how, const char *text);

#endif
