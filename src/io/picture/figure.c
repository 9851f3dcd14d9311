/* Figures: scales, ticks, lines and a legend; one large panel, or several small ones. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "io/file.h"
#include "io/picture/page.h"
#include "parallel/comm.h"
#include "tessera/output.h"

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
static bool find_span(const TesFigurePanel *f, bool is_x, Axis *axis, const Axis *other) {
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

static void draw_text(TesiPage *d, double x, double y, TesiAnchor anchor, const char *text) {
  tesi_page_text(d, x, y, &(TesiPageText){.anchor = anchor, .most = 100}, text);
}

/* A line across the figure and its value beside the axis. */
static void draw_tick(TesiPage *d, const Axis both[2], bool is_x, double value) {
  char text[160];
  const Axis *axis = &both[!is_x], *x = &both[0], *y = &both[1];
  const double at = place(axis, value), exponent = axis->log ? log10(value) : 0;
  tesi_page_segment(d, is_x ? at : x->from, is_x ? y->from : at, is_x ? at : x->to, is_x ? y->to : at, "#ddd",
                    1, false);
  snprintf(text, sizeof text, "%.9g", fabs(value) < 1e-9 * axis->step && !axis->log ? 0 : value);
  if (axis->log && fabs(exponent) > 3.5)
    snprintf(text, sizeof text, "%ge%.0f", value / pow(10, floor(exponent + 1e-9)), floor(exponent + 1e-9));
  draw_text(d, is_x ? at : x->from - 8, is_x ? y->from + 18 : at + 4, is_x ? TESI_MIDDLE : TESI_RIGHT, text);
}

static void draw_ticks(TesiPage *d, const Axis both[2], bool is_x) {
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

static const char *colour_of(const TesFigureLine *line) {
  return colours[line->colour % COLOURS];
}

/* A circle; if colours are used a second time a square, then a diamond. */
static void draw_mark(TesiPage *d, const TesFigureLine *line, double x, double y) {
  tesi_page_mark(d, line->colour / COLOURS % 3, x, y, colour_of(line),
                 line->hollow ? "#fff" : colour_of(line));
}

static bool has_marks(const TesFigureLine *line) {
  return !line->plain && (line->hollow || !line->dashed);
}

static void draw_line(TesiPage *d, const Axis axis[2], const TesFigureLine *line) {
  int last = -1;
  tesi_page_line_begin(d, colour_of(line), line->dashed);
  for (int i = 0; i < line->points; i++)
    if (is_drawn(&axis[0], line->x[i]) && is_drawn(&axis[1], line->y[i]))
      tesi_page_line_to(d, place(&axis[0], line->x[i]), place(&axis[1], line->y[i])), last = i;
  tesi_page_line_end(d);
  for (int i = 0; i < line->points && has_marks(line); i++)
    if (is_drawn(&axis[0], line->x[i]) && is_drawn(&axis[1], line->y[i]))
      draw_mark(d, line, place(&axis[0], line->x[i]), place(&axis[1], line->y[i]));
  if (line->note && last >= 0)
    tesi_page_text(d, place(&axis[0], line->x[last]) + 7, place(&axis[1], line->y[last]) + 4,
                   &(TesiPageText){.colour = colour_of(line), .most = 12}, line->note);
}

/* Names that do not fit below one another are left out; their number is printed. */
static void draw_legend(TesiPage *d, const TesFigurePanel *f, double x, double top, double bottom) {
  const int most = (int)(bottom - top) / LEGEND;
  char text[40];
  for (int l = 0; l < f->lines && l < most; l++) {
    const double y = top + 8 + LEGEND * l;
    tesi_page_segment(d, x, y, x + 22, y, colour_of(&f->line[l]), 2, f->line[l].dashed);
    if (has_marks(&f->line[l])) draw_mark(d, &f->line[l], x + 11, y);
    tesi_page_text(d, x + 28, y + 4, &(TesiPageText){.most = LETTERS}, f->line[l].name);
  }
  snprintf(text, sizeof text, "and %d more", f->lines - most);
  if (f->lines > most) draw_text(d, x, top + 12 + LEGEND * most, TESI_LEFT, text);
}

static void draw_titles(TesiPage *d, const char *title, const char *subtitle) {
  tesi_page_text(d, LEFT, 24, &(TesiPageText){.size = 15, .most = 110}, title);
  if (subtitle) tesi_page_text(d, LEFT, 44, &(TesiPageText){.colour = "#666", .most = 130}, subtitle);
}

/* Axes with their names, and lines. */
static void draw_plot(TesiPage *d, const TesFigurePanel *f, const Axis axis[2]) {
  const double left = axis[0].from, right = axis[0].to, bottom = axis[1].from, top = axis[1].to;
  draw_ticks(d, axis, true);
  draw_ticks(d, axis, false);
  tesi_page_segment(d, left, top, left, bottom, "#000", 1, false);
  tesi_page_segment(d, left, bottom, right, bottom, "#000", 1, false);
  draw_text(d, (left + right) / 2, bottom + 42, TESI_MIDDLE, f->x_label);
  if (f->y_label)
    tesi_page_text(d, left - 58, (top + bottom) / 2,
                   &(TesiPageText){.anchor = TESI_MIDDLE, .upright = true, .most = 80}, f->y_label);
  for (int l = 0; l < f->lines; l++) draw_line(d, axis, &f->line[l]);
}

/* Spans of both directions; false: there is nothing to draw. */
static bool make_axes(const TesFigurePanel *f, Axis axis[2]) {
  axis[0].log = f->log_x, axis[1].log = f->log_y;
  if (!find_span(f, true, &axis[0], &axis[1]) || !find_span(f, false, &axis[1], &axis[0])) return false;
  if (!f->log_y && !f->free_y) axis[1].low = fmin(axis[1].low, 0), axis[1].high = fmax(axis[1].high, 0);
  round_ends(&axis[0], false);
  round_ends(&axis[1], true);
  return true;
}

/* Width for the longest name. */
static int legend_width(const TesFigurePanel *f, int most) {
  size_t longest = 0;
  for (int l = 0; l < f->lines; l++)
    longest = strlen(f->line[l].name) > longest ? strlen(f->line[l].name) : longest;
  const int width = 52 + 7 * (int)(longest < LETTERS ? longest : LETTERS);
  return width < most ? width : most;
}

/* The whole page is one panel. */
static void draw_alone(const TesFigureDesc *figure, TesiPage *d) {
  const TesFigurePanel *f = figure->panel;
  const int right = WIDTH - legend_width(f, RIGHT);
  Axis axis[2] = {{.from = LEFT, .to = right}, {.from = HEIGHT - BOTTOM, .to = TOP}};
  make_axes(f, axis);
  draw_titles(d, figure->title, figure->subtitle);
  draw_plot(d, f, axis);
  draw_legend(d, f, right + 14, TOP, HEIGHT - BOTTOM);
}

static void draw_panel(TesiPage *d, const TesFigurePanel *f, double left, double top) {
  Axis axis[2] = {{.from = left + LEFT, .to = left + PANEL_WIDTH - PANEL_RIGHT},
                  {.from = top + PANEL_HEIGHT - BOTTOM, .to = top + PANEL_TOP}};
  tesi_page_text(d, axis[0].from, top + PANEL_TOP - 12, &(TesiPageText){.size = 13, .most = 60}, f->title);
  if (make_axes(f, axis))
    draw_plot(d, f, axis);
  else
    draw_text(d, axis[0].from, top + PANEL_TOP + 20, TESI_LEFT, "no number to draw");
}

static void draw_panels(const TesFigureDesc *figure, int columns, bool legend, TesiPage *d) {
  draw_titles(d, figure->title, figure->subtitle);
  for (int i = 0; i < figure->panels; i++)
    draw_panel(d, &figure->panel[i], i % columns * PANEL_WIDTH, HEAD + i / columns * PANEL_HEIGHT);
  if (legend) draw_legend(d, figure->panel, columns * PANEL_WIDTH, HEAD + PANEL_TOP, d->height);
}

static TesStatus draw(TesContext *ctx, const TesFigureDesc *figure, const char *path, TesiPage *d) {
  TesStatus status = TES_OK;
  const TesFigurePanel *panel = figure->panel;
  const int panels = figure->panels,
            columns = panels < 2   ? 1
                      : panels < 7 ? 2
                                   : 3,
            rows = (panels + columns - 1) / columns;
  bool any = false;
  TES_CHECK(panels > 0 && panel && figure->title, "a figure of %d panels, expected a title and panels",
            panels);
  for (int i = 0; i < panels; i++) any = make_axes(&panel[i], (Axis[2]){{0}, {0}}) || any;
  TES_CHECK(any, "%s: there is no number to draw", path);
  const bool alone = panels == 1 && !panel->title, legend = panel->lines > 1;
  const int width = columns * PANEL_WIDTH + (legend ? legend_width(panel, RIGHT) : 0);
  TES_TRY(tesi_page_begin(ctx, d, path, alone ? WIDTH : width, alone ? HEIGHT : HEAD + rows * PANEL_HEIGHT));
  if (alone)
    draw_alone(figure, d);
  else
    draw_panels(figure, columns, legend, d);
done:
  return status;
}

TesStatus tes_figure_write(TesContext *ctx, const TesFigureDesc *figure, const char *path) {
  TesStatus status = TES_OK;
  TesiPage page = {0};
  tesi_work_begin_results(ctx, false, "drawing a figure");
  if (tes_communicator_rank(tesi_context_communicator(ctx)) == 0)
    status = draw(ctx, figure, path, &page);
  else
    status = tesi_page_begin(ctx, &page, path, 1, 1);
  TES_TRY(tesi_file_agree(ctx, status));
  TES_TRY(tesi_page_end(ctx, &page, path));
done:
  tesi_page_discard(&page);
  tesi_work_end(ctx);
  return status;
}
