/* Lines over axes as SVG: scales, ticks, lines and a legend; one figure, or several in panels. */
#include "figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output_file.h"

/* Pixels. */
enum { WIDTH = 920, HEIGHT = 520, LEFT = 76, RIGHT = 310, TOP = 62, BOTTOM = 56, LEGEND = 20, LETTERS = 42 };
/* Of a panel, and above all of them. */
enum { PANEL_WIDTH = 440, PANEL_HEIGHT = 310, PANEL_RIGHT = 44, PANEL_TOP = 36, HEAD = 56 };

static const char *const colours[] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7d4f9e", "#b8860b", "#d6579b",
                                      "#444444", "#17a2a2", "#8c6d4f", "#6a8f00", "#5b6ee1", "#a33b20"};
enum { COLOURS = sizeof colours / sizeof *colours };

/* One direction: values low .. high, or their decimal logarithms, lie from pixel `from` to `to`. */
typedef struct Axis {
  bool log;
  double low, high, step, from, to;
} Axis;

static bool is_drawn(const Axis *axis, double value) {
  return isfinite(value) && (!axis->log || value > 0);
}

static double place(const Axis *axis, double value) {
  const double v = axis->log ? log10(value) : value;
  return axis->from + (axis->to - axis->from) * (v - axis->low) / (axis->high - axis->low);
}

/* 1, 2 or 5 times a power of ten, about a fifth of the span. */
static double round_step(double span) {
  const double raw = span / 5, power = pow(10, floor(log10(raw))), part = raw / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* Ends at ticks; of logarithms at decades where there are some, else near the values. */
static void round_ends(Axis *axis, bool whole_decades) {
  const double round_off = 1e-11 * fmax(fabs(axis->low), fabs(axis->high));
  if (!axis->log && axis->high - axis->low < round_off) axis->low = axis->high = (axis->low + axis->high) / 2;
  if (!(axis->high > axis->low)) {
    const double room = axis->log ? 0.5 : axis->low != 0 ? 0.1 * fabs(axis->low) : 1;
    axis->low -= room, axis->high += room;
  }
  axis->step = axis->log ? fmax(1, ceil((axis->high - axis->low) / 8)) : round_step(axis->high - axis->low);
  if (axis->log && !whole_decades) {
    const double room = 0.03 * (axis->high - axis->low);
    axis->low -= room, axis->high += room;
    return;
  }
  axis->low = axis->step * floor(axis->low / axis->step + 1e-9);
  axis->high = axis->step * ceil(axis->high / axis->step - 1e-9);
}

/* The span of what is drawn; false: nothing is. */
static bool find_span(const CliFigure *f, bool is_x, Axis *axis, const Axis *other) {
  axis->low = INFINITY, axis->high = -INFINITY;
  for (int l = 0; l < f->lines; l++)
    for (int i = 0; i < f->line[l].points; i++) {
      const double x = f->line[l].x[i], y = f->line[l].y[i], v = is_x ? x : y, w = is_x ? y : x;
      if (!is_drawn(axis, v) || !is_drawn(other, w)) continue;
      axis->low = fmin(axis->low, axis->log ? log10(v) : v);
      axis->high = fmax(axis->high, axis->log ? log10(v) : v);
    }
  return axis->low <= axis->high;
}

static void print_text(FILE *out, const char *text, int most) {
  for (int i = 0; *text && i < most; text++, i++) switch (*text) {
    case '&':
      fputs("&amp;", out);
      break;
    case '<':
      fputs("&lt;", out);
      break;
    case '>':
      fputs("&gt;", out);
      break;
    default:
      fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void put_text(FILE *out, double x, double y, const char *attributes, const char *text, int most) {
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  print_text(out, text, most);
  fputs("</text>\n", out);
}

/* A line across the figure and its value beside the axis. */
static void print_tick(FILE *out, const Axis both[2], bool is_x, double value) {
  char text[160];
  const Axis *axis = &both[!is_x];
  const double at = place(axis, value), exponent = axis->log ? log10(value) : 0;
  if (is_x)
    fprintf(out, "<path d=\"M%.1f %g V%g\" stroke=\"#ddd\"/>\n", at, both[1].from, both[1].to);
  else
    fprintf(out, "<path d=\"M%g %.1f H%g\" stroke=\"#ddd\"/>\n", both[0].from, at, both[0].to);
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", is_x ? at : both[0].from - 8,
          is_x ? both[1].from + 18 : at + 4, is_x ? "middle" : "end");
  snprintf(text, sizeof text, "%.6g", fabs(value) < 1e-9 * axis->step && !axis->log ? 0 : value);
  if (axis->log && fabs(exponent) > 3.5)
    snprintf(text, sizeof text, "%ge%.0f", value / pow(10, floor(exponent + 1e-9)), floor(exponent + 1e-9));
  fprintf(out, "%s</text>\n", text);
}

static void print_ticks(FILE *out, const Axis both[2], bool is_x) {
  static const double within[] = {1, 2, 5};
  const Axis *axis = &both[!is_x];
  if (!axis->log) {
    for (int i = 0; axis->low + i * axis->step <= axis->high + 1e-6 * axis->step; i++)
      print_tick(out, both, is_x, axis->low + i * axis->step);
    return;
  }
  const int parts = axis->high - axis->low < 2.5 ? 3 : 1;
  for (double decade = axis->step * floor(axis->low / axis->step); decade <= axis->high; decade += axis->step)
    for (int i = 0; i < parts; i++) {
      const double value = within[i] * pow(10, decade), at = log10(value);
      if (at >= axis->low - 1e-9 && at <= axis->high + 1e-9) print_tick(out, both, is_x, value);
    }
}

/* A circle; where colours come again a square, then a diamond. */
static void print_mark(FILE *out, const CliLine *line, double x, double y) {
  const char *colour = colours[line->colour % COLOURS], *inside = line->hollow ? "white" : colour;
  switch (line->colour / COLOURS % 3) {
  case 0:
    fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, inside,
            colour);
    break;
  case 1:
    fprintf(out, "<path d=\"M%.1f %.1f h6 v6 h-6 z\" fill=\"%s\" stroke=\"%s\"/>\n", x - 3, y - 3, inside,
            colour);
    break;
  default:
    fprintf(out, "<path d=\"M%.1f %.1f l4 4 l-4 4 l-4 -4 z\" fill=\"%s\" stroke=\"%s\"/>\n", x, y - 4, inside,
            colour);
  }
}

static void print_line(FILE *out, const Axis axis[2], const CliLine *line) {
  const char *colour = colours[line->colour % COLOURS];
  fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", colour,
          line->dashed ? " stroke-dasharray=\"5 4\"" : "");
  for (int i = 0; i < line->points; i++)
    if (is_drawn(&axis[0], line->x[i]) && is_drawn(&axis[1], line->y[i]))
      fprintf(out, "%.1f,%.1f ", place(&axis[0], line->x[i]), place(&axis[1], line->y[i]));
  fputs("\"/>\n", out);
  for (int i = 0; i < line->points && !line->plain && (line->hollow || !line->dashed); i++)
    if (is_drawn(&axis[0], line->x[i]) && is_drawn(&axis[1], line->y[i]))
      print_mark(out, line, place(&axis[0], line->x[i]), place(&axis[1], line->y[i]));
  for (int i = line->points - 1; i >= 0 && line->note; i--) {
    if (!is_drawn(&axis[0], line->x[i]) || !is_drawn(&axis[1], line->y[i])) continue;
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">", place(&axis[0], line->x[i]) + 7,
            place(&axis[1], line->y[i]) + 4, colour);
    print_text(out, line->note, 12);
    fputs("</text>\n", out);
    break;
  }
}

/* Names that do not fit below one another are left out, and their number is told. */
static void print_legend(FILE *out, const CliFigure *f, double x, double top, double bottom) {
  const int most = (int)(bottom - top) / LEGEND;
  for (int l = 0; l < f->lines && l < most; l++) {
    const double y = top + 8 + LEGEND * l;
    fprintf(out, "<path d=\"M%.1f %.1f h22\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", x, y,
            colours[f->line[l].colour % COLOURS], f->line[l].dashed ? " stroke-dasharray=\"5 4\"" : "");
    if (!f->line[l].plain && (f->line[l].hollow || !f->line[l].dashed))
      print_mark(out, &f->line[l], x + 11, y);
    put_text(out, x + 28, y + 4, "", f->line[l].name, LETTERS);
  }
  if (f->lines > most)
    fprintf(out, "<text x=\"%.1f\" y=\"%g\">and %d more</text>\n", x, top + 12 + LEGEND * most,
            f->lines - most);
}

static void print_head(FILE *out, int width, int height, const char *title, const char *subtitle) {
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
          "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          width, height);
  put_text(out, LEFT, 24, "font-size=\"15\"", title, 110);
  if (subtitle) put_text(out, LEFT, 44, "fill=\"#666\"", subtitle, 130);
}

/* Axes with their names, and lines. */
static void print_plot(FILE *out, const CliFigure *f, const Axis axis[2]) {
  const double left = axis[0].from, right = axis[0].to, bottom = axis[1].from, top = axis[1].to;
  print_ticks(out, axis, true);
  print_ticks(out, axis, false);
  fprintf(out, "<path d=\"M%g %g V%g H%g\" fill=\"none\" stroke=\"black\"/>\n", left, top, bottom, right);
  put_text(out, (left + right) / 2, bottom + 42, "text-anchor=\"middle\"", f->x_label, 100);
  if (f->y_label) {
    fprintf(out, "<text transform=\"translate(%g,%g) rotate(-90)\" text-anchor=\"middle\">", left - 58,
            floor((top + bottom) / 2));
    print_text(out, f->y_label, 80);
    fputs("</text>\n", out);
  }
  for (int l = 0; l < f->lines; l++) print_line(out, axis, &f->line[l]);
}

/* Spans of both directions; false: there is nothing to draw. */
static bool make_axes(const CliFigure *f, Axis axis[2]) {
  axis[0].log = f->log_x, axis[1].log = f->log_y;
  if (!find_span(f, true, &axis[0], &axis[1]) || !find_span(f, false, &axis[1], &axis[0])) return false;
  if (!f->log_y && !f->free_y) axis[1].low = fmin(axis[1].low, 0), axis[1].high = fmax(axis[1].high, 0);
  round_ends(&axis[0], false);
  round_ends(&axis[1], true);
  return true;
}

static TesStatus refuse_nothing(const char *path) {
  cli_usage_error("%s: there is no number to draw", path);
  return TES_INVALID_INPUT;
}

/* Room for the longest name. */
static int legend_width(const CliFigure *f, int most) {
  size_t longest = 0;
  for (int l = 0; l < f->lines; l++)
    longest = strlen(f->line[l].name) > longest ? strlen(f->line[l].name) : longest;
  const int width = 52 + 7 * (int)(longest < LETTERS ? longest : LETTERS);
  return width < most ? width : most;
}

TesStatus cli_figure_write(TesContext *ctx, const CliFigure *f, const char *path) {
  const int right = WIDTH - legend_width(f, RIGHT);
  Axis axis[2] = {{.from = LEFT, .to = right}, {.from = HEIGHT - BOTTOM, .to = TOP}};
  char *text;
  size_t length;
  if (!make_axes(f, axis)) return refuse_nothing(path);
  FILE *out = open_memstream(&text, &length);
  if (!out) return TES_OUT_OF_MEMORY;
  print_head(out, WIDTH, HEIGHT, f->title, f->subtitle);
  print_plot(out, f, axis);
  print_legend(out, f, right + 14, TOP, HEIGHT - BOTTOM);
  fputs("</svg>\n", out);
  return cli_file_commit(ctx, out, &text, path);
}

static void print_panel(FILE *out, const CliFigure *f, double left, double top) {
  Axis axis[2] = {{.from = left + LEFT, .to = left + PANEL_WIDTH - PANEL_RIGHT},
                  {.from = top + PANEL_HEIGHT - BOTTOM, .to = top + PANEL_TOP}};
  put_text(out, axis[0].from, top + PANEL_TOP - 12, "font-size=\"13\"", f->title, 60);
  if (make_axes(f, axis))
    print_plot(out, f, axis);
  else
    put_text(out, axis[0].from, top + PANEL_TOP + 20, "fill=\"#666\"", "no number to draw", 60);
}

TesStatus cli_figure_write_panels(TesContext *ctx, const char *title, const char *subtitle, int panels,
                                  const CliFigure *panel, const char *path) {
  const int columns = panels < 2 ? 1 : panels < 7 ? 2 : 3, rows = (panels + columns - 1) / columns;
  const bool legend = panel->lines > 1;
  const int height = HEAD + rows * PANEL_HEIGHT;
  char *text;
  size_t length;
  bool any = false;
  for (int i = 0; i < panels; i++) any = make_axes(&panel[i], (Axis[2]){{0}, {0}}) || any;
  if (!any) return refuse_nothing(path);
  FILE *out = open_memstream(&text, &length);
  if (!out) return TES_OUT_OF_MEMORY;
  print_head(out, columns * PANEL_WIDTH + (legend ? legend_width(panel, RIGHT) : 0), height, title, subtitle);
  for (int i = 0; i < panels; i++)
    print_panel(out, &panel[i], i % columns * PANEL_WIDTH, HEAD + i / columns * PANEL_HEIGHT);
  if (legend) print_legend(out, panel, columns * PANEL_WIDTH, HEAD + PANEL_TOP, height);
  fputs("</svg>\n", out);
  return cli_file_commit(ctx, out, &text, path);
}
