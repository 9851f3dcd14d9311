/* Lines over axes: scales, ticks, lines and a legend; one figure, or several panels. */
#include "figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "drawing.h"

/* Pixels. */
enum { WIDTH = 920, HEIGHT = 520, LEFT = 76, RIGHT = 310, TOP = 62, BOTTOM = 56, LEGEND = 20, LETTERS = 42 };
/* Sizes of a panel; HEAD: height of the part above all panels. */
enum { PANEL_WIDTH = 440, PANEL_HEIGHT = 310, PANEL_RIGHT = 44, PANEL_TOP = 36, HEAD = 56 };

static const char *const colours[] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7d4f9e", "#b8860b", "#d6579b",
                                      "#444444", "#17a2a2", "#8c6d4f", "#6a8f00", "#5b6ee1", "#a33b20"};
enum { COLOURS = sizeof colours / sizeof *colours };

/* One direction: values low .. high, or their decimal logarithms, are mapped to pixels `from` to `to`. */
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

/* 1, 2 or 5 times a power of ten: a step of about a fifth of the span. */
static double round_step(double span) {
  const double raw = span / 5, power = pow(10, floor(log10(raw))), part = raw / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* Ends at ticks. On logarithmic axes at powers of ten if there are some, else near the values. */
static void round_ends(Axis *axis, bool whole_decades) {
  const double round_off = 1e-7 * fmax(fabs(axis->low), fabs(axis->high));
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

/* The span of the points to be drawn; false: there are none. */
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

static void draw_text(CliDrawing *d, double x, double y, CliAnchor anchor, const char *text) {
  cli_draw_text(d, x, y, &(CliText){.anchor = anchor, .most = 100}, text);
}

/* A line across the figure and its value beside the axis. */
static void draw_tick(CliDrawing *d, const Axis both[2], bool is_x, double value) {
  char text[160];
  const Axis *axis = &both[!is_x], *x = &both[0], *y = &both[1];
  const double at = place(axis, value), exponent = axis->log ? log10(value) : 0;
  cli_draw_segment(d, is_x ? at : x->from, is_x ? y->from : at, is_x ? at : x->to, is_x ? y->to : at, "#ddd",
                   1, false);
  snprintf(text, sizeof text, "%.9g", fabs(value) < 1e-9 * axis->step && !axis->log ? 0 : value);
  if (axis->log && fabs(exponent) > 3.5)
    snprintf(text, sizeof text, "%ge%.0f", value / pow(10, floor(exponent + 1e-9)), floor(exponent + 1e-9));
  draw_text(d, is_x ? at : x->from - 8, is_x ? y->from + 18 : at + 4, is_x ? CLI_MIDDLE : CLI_RIGHT, text);
}

static void draw_ticks(CliDrawing *d, const Axis both[2], bool is_x) {
  static const double within[] = {1, 2, 5};
  const Axis *axis = &both[!is_x];
  if (!axis->log) {
    for (int i = 0; axis->low + i * axis->step <= axis->high + 1e-6 * axis->step; i++)
      draw_tick(d, both, is_x, axis->low + i * axis->step);
    return;
  }
  const int parts = axis->high - axis->low < 2.5 ? 3 : 1;
  for (double decade = axis->step * floor(axis->low / axis->step); decade <= axis->high; decade += axis->step)
    for (int i = 0; i < parts; i++) {
      const double value = within[i] * pow(10, decade), at = log10(value);
      if (at >= axis->low - 1e-9 && at <= axis->high + 1e-9) draw_tick(d, both, is_x, value);
    }
}

static const char *colour_of(const CliLine *line) {
  return colours[line->colour % COLOURS];
}

/* A circle; if colours are used a second time a square, then a diamond. */
static void draw_mark(CliDrawing *d, const CliLine *line, double x, double y) {
  cli_draw_mark(d, line->colour / COLOURS % 3, x, y, colour_of(line), line->hollow ? "#fff" : colour_of(line));
}

static bool has_marks(const CliLine *line) {
  return !line->plain && (line->hollow || !line->dashed);
}

static void draw_line(CliDrawing *d, const Axis axis[2], const CliLine *line) {
  int last = -1;
  cli_draw_line_begin(d, colour_of(line), line->dashed);
  for (int i = 0; i < line->points; i++)
    if (is_drawn(&axis[0], line->x[i]) && is_drawn(&axis[1], line->y[i]))
      cli_draw_line_to(d, place(&axis[0], line->x[i]), place(&axis[1], line->y[i])), last = i;
  cli_draw_line_end(d);
  for (int i = 0; i < line->points && has_marks(line); i++)
    if (is_drawn(&axis[0], line->x[i]) && is_drawn(&axis[1], line->y[i]))
      draw_mark(d, line, place(&axis[0], line->x[i]), place(&axis[1], line->y[i]));
  if (line->note && last >= 0)
    cli_draw_text(d, place(&axis[0], line->x[last]) + 7, place(&axis[1], line->y[last]) + 4,
                  &(CliText){.colour = colour_of(line), .most = 12}, line->note);
}

/* Names that do not fit below one another are left out; their number is printed. */
static void draw_legend(CliDrawing *d, const CliFigure *f, double x, double top, double bottom) {
  const int most = (int)(bottom - top) / LEGEND;
  char text[40];
  for (int l = 0; l < f->lines && l < most; l++) {
    const double y = top + 8 + LEGEND * l;
    cli_draw_segment(d, x, y, x + 22, y, colour_of(&f->line[l]), 2, f->line[l].dashed);
    if (has_marks(&f->line[l])) draw_mark(d, &f->line[l], x + 11, y);
    cli_draw_text(d, x + 28, y + 4, &(CliText){.most = LETTERS}, f->line[l].name);
  }
  snprintf(text, sizeof text, "and %d more", f->lines - most);
  if (f->lines > most) draw_text(d, x, top + 12 + LEGEND * most, CLI_LEFT, text);
}

static void draw_titles(CliDrawing *d, const char *title, const char *subtitle) {
  cli_draw_text(d, LEFT, 24, &(CliText){.size = 15, .most = 110}, title);
  if (subtitle) cli_draw_text(d, LEFT, 44, &(CliText){.colour = "#666", .most = 130}, subtitle);
}

/* Axes with their names, and lines. */
static void draw_plot(CliDrawing *d, const CliFigure *f, const Axis axis[2]) {
  const double left = axis[0].from, right = axis[0].to, bottom = axis[1].from, top = axis[1].to;
  draw_ticks(d, axis, true);
  draw_ticks(d, axis, false);
  cli_draw_segment(d, left, top, left, bottom, "#000", 1, false);
  cli_draw_segment(d, left, bottom, right, bottom, "#000", 1, false);
  draw_text(d, (left + right) / 2, bottom + 42, CLI_MIDDLE, f->x_label);
  if (f->y_label)
    cli_draw_text(d, left - 58, (top + bottom) / 2,
                  &(CliText){.anchor = CLI_MIDDLE, .upright = true, .most = 80}, f->y_label);
  for (int l = 0; l < f->lines; l++) draw_line(d, axis, &f->line[l]);
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

/* Width for the longest name. */
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
  CliDrawing d;
  if (!make_axes(f, axis)) return refuse_nothing(path);
  if (!cli_drawing_begin(&d, path, WIDTH, HEIGHT)) return TES_OUT_OF_MEMORY;
  draw_titles(&d, f->title, f->subtitle);
  draw_plot(&d, f, axis);
  draw_legend(&d, f, right + 14, TOP, HEIGHT - BOTTOM);
  return cli_drawing_end(ctx, &d, path);
}

static void draw_panel(CliDrawing *d, const CliFigure *f, double left, double top) {
  Axis axis[2] = {{.from = left + LEFT, .to = left + PANEL_WIDTH - PANEL_RIGHT},
                  {.from = top + PANEL_HEIGHT - BOTTOM, .to = top + PANEL_TOP}};
  cli_draw_text(d, axis[0].from, top + PANEL_TOP - 12, &(CliText){.size = 13, .most = 60}, f->title);
  if (make_axes(f, axis))
    draw_plot(d, f, axis);
  else
    draw_text(d, axis[0].from, top + PANEL_TOP + 20, CLI_LEFT, "no number to draw");
}

TesStatus cli_figure_write_panels(TesContext *ctx, const char *title, const char *subtitle, int panels,
                                  const CliFigure *panel, const char *path) {
  const int columns = panels < 2 ? 1 : panels < 7 ? 2 : 3, rows = (panels + columns - 1) / columns;
  const int height = HEAD + rows * PANEL_HEIGHT, beside = panel->lines > 1 ? legend_width(panel, RIGHT) : 0;
  CliDrawing d;
  bool any = false;
  for (int i = 0; i < panels; i++) any = make_axes(&panel[i], (Axis[2]){{0}, {0}}) || any;
  if (!any) return refuse_nothing(path);
  if (!cli_drawing_begin(&d, path, columns * PANEL_WIDTH + beside, height)) return TES_OUT_OF_MEMORY;
  draw_titles(&d, title, subtitle);
  for (int i = 0; i < panels; i++)
    draw_panel(&d, &panel[i], i % columns * PANEL_WIDTH, HEAD + i / columns * PANEL_HEIGHT);
  if (beside) draw_legend(&d, panel, columns * PANEL_WIDTH, HEAD + PANEL_TOP, height);
  return cli_drawing_end(ctx, &d, path);
}
