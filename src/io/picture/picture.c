/* Pictures: the scene, a colour bar, a title, axes; as PNG, or as a page of an image and shapes. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/work.h"
#include "io/file.h"
#include "io/picture/page.h"
#include "io/picture/picture.h"
#include "io/picture/png.h"
#include "parallel/comm.h"
#include "problem/problem.h"
#include "tessera/report.h"

static const TesiColour ink = {38, 42, 48}, faint = {120, 126, 134}, edge = {30, 33, 40};

/* ---- the extent of the scene --------------------------------------------------------------------------- */

const TesiExtent tesi_extent_of_nothing = {
    .low = {DBL_MAX, DBL_MAX}, .high = {-DBL_MAX, -DBL_MAX}, .value = {DBL_MAX, -DBL_MAX}};

void tesi_extent_add(TesiExtent *e, const TesiExtent *other) {
  e->any = e->any || other->any;
  for (int d = 0; d < 2; d++)
    e->low[d] = fmin(e->low[d], other->low[d]), e->high[d] = fmax(e->high[d], other->high[d]);
  if (other->value[0] < e->value[0]) e->value[0] = other->value[0], e->at[0] = other->at[0];
  if (other->value[1] > e->value[1]) e->value[1] = other->value[1], e->at[1] = other->at[1];
  tesi_arrow_size_add(&e->arrows, &other->arrows);
}

/* Joins the extents of all ranks, in order of ranks. */
static void extend_over_ranks(const TesContext *ctx, TesiExtent *e) {
  TesiExtent all = tesi_extent_of_nothing;
  for (int r = 0; r < tesi_ranks(ctx); r++) {
    TesiExtent other = *e;
    tesi_broadcast(ctx, r, sizeof other, &other);
    tesi_extent_add(&all, &other);
  }
  *e = all;
}

static void extend(void *user, const TesiCorner c[3]) {
  TesiExtent *e = user;
  e->any = true;
  tesi_arrow_size_triangle(&e->arrows, c);
  for (int i = 0; i < 3; i++) {
    const double at[2] = {c[i].x, c[i].y};
    for (int d = 0; d < 2; d++) e->low[d] = fmin(e->low[d], at[d]), e->high[d] = fmax(e->high[d], at[d]);
    if (!isfinite(c[i].value)) continue;
    if (c[i].value < e->value[0]) e->value[0] = c[i].value, e->at[0] = c[i];
    if (c[i].value > e->value[1]) e->value[1] = c[i].value, e->at[1] = c[i];
  }
}

static void ignore_line(void *user, const TesiCorner *from, const TesiCorner *to) {
  (void)user, (void)from, (void)to;
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

static const double NAME_SIZE = 11.5, UNIT_LINE = 17; /* the name above the bar, and a line for its unit */

/* unit: pixels per 900th of the width, so that a picture looks the same at any size. */
typedef struct Picture {
  TesiCanvas *canvas;
  double unit, left, bottom, scale; /* of the plot: lower left corner, pixels per length */
  double range[2];                  /* of the colours */
  TesiExtent extent, drawn;         /* the extent found with coarse pieces, and the extent drawn */
  TesiArrows *arrows;               /* NULL: none */
} Picture;

static TesiCorner place(const Picture *p, const TesiCorner *c) {
  TesiCorner at = *c;
  at.x = p->left + (c->x - p->extent.low[0]) * p->scale;
  at.y = p->bottom - (c->y - p->extent.low[1]) * p->scale;
  return at;
}

static void draw_triangle(void *user, const TesiCorner c[3]) {
  Picture *p = user;
  const TesiCorner at[3] = {place(p, &c[0]), place(p, &c[1]), place(p, &c[2])};
  extend(&p->drawn, c);
  tesi_canvas_triangle(p->canvas, at, p->range[0], p->range[1]);
  if (p->arrows) tesi_arrows_sample(p->arrows, at);
}

/* Points at the smallest value (white) and the largest (black), if they are not hidden. */
static void mark_ends(const Picture *p) {
  static const TesiColour white = {255, 255, 255};
  const double u = p->unit, near = 0.01 * (fabs(p->extent.high[0] - p->extent.low[0]) +
                                           fabs(p->extent.high[1] - p->extent.low[1]));
  for (int end = 0; end < 2 && p->drawn.value[0] < p->drawn.value[1]; end++) {
    const TesiCorner at = place(p, &p->drawn.at[end]);
    if (at.depth + near < tesi_canvas_depth(p->canvas, at.x, at.y)) continue;
    tesi_canvas_stroke(p->canvas, at.x, at.y, at.x, at.y, 10 * u, end ? white : ink);
    tesi_canvas_stroke(p->canvas, at.x, at.y, at.x, at.y, 7 * u, end ? ink : white);
  }
}

/* Lines are drawn slightly in front of their cells. */
static void draw_line(void *user, const TesiCorner *from, const TesiCorner *to) {
  const Picture *p = user;
  TesiCorner a = place(p, from), b = place(p, to);
  const double nearer =
      0.002 * fmax(p->extent.high[0] - p->extent.low[0], p->extent.high[1] - p->extent.low[1]);
  a.depth += nearer, b.depth += nearer;
  tesi_canvas_line(p->canvas, &a, &b, 0.9 * p->unit, edge);
}

/* 1, 2 or 5 times a power of ten, so that about `count` steps fit into the width. */
static double round_step(double width, int count) {
  const double rough = width / count, power = pow(10, floor(log10(rough))), digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

static void number_text(double value, double step, char text[32]) {
  const double size = fmax(fabs(value), step);
  const int digits = (int)fmax(0, ceil(-log10(step) - 1e-9));
  if (fabs(value) < 1e-6 * step) value = 0;
  if (size >= 1e5 || digits > 4)
    snprintf(text, 32, "%.*e",
             (int)fmax(0, fmin(6, floor(log10(fmax(fabs(value), step)) + 0.001) - floor(log10(step) + 0.001))),
             value);
  else
    snprintf(text, 32, "%.*f", digits, value);
}

/* Ticks below and to the left of a plane plot. */
static void draw_axes(const Picture *p, const char *const names[2]) {
  const double u = p->unit, size = 10.5 * u;
  const double end[2] = {p->left + (p->extent.high[0] - p->extent.low[0]) * p->scale,
                         p->bottom - (p->extent.high[1] - p->extent.low[1]) * p->scale};
  for (int d = 0; d < 2; d++) {
    const double width = p->extent.high[d] - p->extent.low[d];
    if (!(width > 0)) continue;
    const double step = round_step(width, (int)fmax(2, fmin(6, width * p->scale / (90 * u))));
    for (double i = ceil(p->extent.low[d] / step - 1e-9); i * step <= p->extent.high[d] + 1e-9 * step; i++) {
      char text[32];
      const double at = (i * step - p->extent.low[d]) * p->scale;
      number_text(i * step, step, text);
      if (d == 0) {
        const double x = p->left + at, y = p->bottom + 8 * u;
        tesi_canvas_stroke(p->canvas, x, y, x, y + 5 * u, 1.1 * u, faint);
        tesi_canvas_text(p->canvas, x, y + 21 * u, size, 0.5, ink, text);
      } else {
        const double x = p->left - 8 * u, y = p->bottom - at;
        tesi_canvas_stroke(p->canvas, x, y, x - 5 * u, y, 1.1 * u, faint);
        tesi_canvas_text(p->canvas, x - 10 * u, y + size / 2, size, 1, ink, text);
      }
    }
  }
  tesi_canvas_text(p->canvas, (p->left + end[0]) / 2, p->bottom + 46 * u, 11.5 * u, 0.5, ink, names[0]);
  tesi_canvas_text(p->canvas, p->left - 54 * u, (p->bottom + end[1]) / 2 + 6 * u, 11.5 * u, 0.5, ink,
                   names[1]);
}

/* The name of the values, and their unit if there is one. */
static void name_text(const TesiPictureFrame *frame, char text[96]) {
  snprintf(text, 96, "%s%s%s", frame->of, *frame->unit ? " " : "", frame->unit);
}

/* Whether the unit needs a line of its own. */
static bool has_unit_line(const Picture *p, const TesiPictureFrame *frame, double x) {
  char text[96];
  name_text(frame, text);
  return *frame->unit && x + tesi_text_width(NAME_SIZE * p->unit, text) > p->canvas->width;
}

/* A name above the bar, cut at the border of the picture. */
static void draw_name(const Picture *p, double x, double y, const char *name) {
  const double size = NAME_SIZE * p->unit;
  const int all = (int)strlen(name);
  char text[96];
  for (int shown = tesi_min(all, 90); shown > 0; shown--) {
    snprintf(text, sizeof text, "%.*s%s", shown, name, shown < all ? ".." : "");
    if (x + tesi_text_width(size, text) <= p->canvas->width) break;
  }
  tesi_canvas_text(p->canvas, x, y, size, 0, ink, text);
}

static void draw_label(const Picture *p, double x, double y, const TesiPictureFrame *frame) {
  const bool two = has_unit_line(p, frame, x);
  char text[96];
  name_text(frame, text);
  draw_name(p, x, y - (two ? UNIT_LINE * p->unit : 0), two ? frame->of : text);
  if (two) draw_name(p, x, y, frame->unit);
}

static void draw_bar(const Picture *p, double x, double top, double bottom, const TesiPictureFrame *frame) {
  const double u = p->unit, *range = p->range, width = range[1] - range[0];
  for (int i = 0; i < 256; i++) {
    const double y = bottom - (bottom - top) * i / 256;
    const double under =
        y - (bottom - top) / 256 - 1.5; /* the next one hides it, so that no white shines through */
    tesi_canvas_fill(p->canvas, x, fmax(under, top) - 0.5, x + 20 * u, y,
                     tesi_canvas_colour(p->canvas, i / 255.));
  }
  draw_label(p, x, top - 16 * u, frame);
  const double step = width > 0 ? round_step(width, (int)fmax(3, (bottom - top) / (60 * u))) : 1;
  for (double i = ceil(range[0] / step - 1e-9); width > 0 && i * step <= range[1] + 1e-9 * step; i++) {
    char text[32];
    const double y = bottom - (bottom - top) * (i * step - range[0]) / width;
    number_text(i * step, step, text);
    tesi_canvas_stroke(p->canvas, x + 22 * u, y, x + 27 * u, y, 1.1 * u, faint);
    tesi_canvas_text(p->canvas, x + 33 * u, y + 5 * u, 10.5 * u, 0, ink, text);
  }
  char text[40];
  if (width > 0) {
    for (int end = 0; end < 2; end++) {
      snprintf(text, sizeof text, "%s %.5g", end ? "max" : "min", p->drawn.value[end]);
      tesi_canvas_text(p->canvas, x, bottom + (end ? 42 : 25) * u, 10.5 * u, 0, ink, text);
    }
    return;
  }
  snprintf(text, sizeof text, "%.4g", range[0]);
  tesi_canvas_text(p->canvas, x + 33 * u, (top + bottom) / 2, 10.5 * u, 0, ink, text);
}

/* An arrow of a round length, with this length as text. */
static void draw_arrow_key(const Picture *p, double x, double y) {
  const double u = p->unit, longest = tesi_arrow_longest(&p->extent.arrows),
               reach = tesi_arrows_reach(p->arrows);
  char text[40];
  if (!(longest > 0)) return;
  const double power = pow(10, floor(log10(longest) + 1e-9)), digit = longest / power * (1 + 1e-9),
               round = power * (digit >= 5   ? 5
                                : digit >= 2 ? 2
                                             : 1),
               length = reach * round / longest;
  snprintf(text, sizeof text, "%.4g", round);
  tesi_arrow_draw(p->canvas, x + u, y, length, 0, u);
  tesi_canvas_text(p->canvas, x + u + length + 8 * u, y + 5 * u, 10.5 * u, 0, ink, text);
}

/* The coordinate directions, in the lower left corner. */
static void draw_triad(const Picture *p, double x, double y) {
  static const double arms[3][2] = {{0.866, 0.211}, {0.5, -0.366}, {0, -0.906}};
  static const char *const names[] = {"x", "y", "z"};
  const double u = p->unit;
  for (int d = 0; d < 3; d++) {
    const double dx = 34 * u * arms[d][0], dy = 34 * u * arms[d][1];
    tesi_canvas_stroke(p->canvas, x, y, x + dx, y + dy, 1.6 * u, faint);
    tesi_canvas_text(p->canvas, x + 1.28 * dx, y + 1.28 * dy + 4 * u, 10.5 * u, 0.5, ink, names[d]);
  }
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void draw_frame(const Picture *p, const TesiPictureFrame *frame, double right) {
  static const char *const axes[3] = {"x", "y", "z"};
  const double u = p->unit, top = p->bottom - (p->extent.high[1] - p->extent.low[1]) * p->scale;
  const int slice = frame->desc.slice, d = slice - 1;
  const char *const names[2] = {axes[slice ? (d == 0 ? 1 : 0) : 0], axes[slice ? (d == 2 ? 1 : 2) : 1]};
  const double middle = (top + p->bottom) / 2, half = fmax((p->bottom - top) / 2, 70 * u);
  tesi_canvas_text(p->canvas, 28 * u, 40 * u, 15 * u, 0, ink, frame->title);
  draw_bar(p, right, middle - half + (p->arrows ? 34 : 14) * u, middle + half, frame);
  const double above = 8 + (has_unit_line(p, frame, right) ? UNIT_LINE : 0);
  if (p->arrows) draw_arrow_key(p, right, middle - half - above * u);
  if (frame->flat)
    draw_axes(p, names);
  else
    draw_triad(p, 40 * u, p->canvas->height - 34 * u);
}

/* The distance between arrows: large enough for small pictures, and five arrows across narrow ones. */
static TesStatus set_out_arrows(TesContext *ctx, const TesiPictureFrame *frame, Picture *p) {
  const double high = (p->extent.high[1] - p->extent.low[1]) * p->scale,
               wide = (p->extent.high[0] - p->extent.low[0]) * p->scale,
               step = fmax(fmin(fmax(40 * p->unit, 24), fmin(high, wide) / 5), fmax(20 * p->unit, 16));
  return !frame->arrows
             ? TES_OK
             : tesi_arrows_create(ctx, p->left, p->bottom - high, p->left + wide, p->bottom, step, &p->arrows);
}

/* Sizes from the width. The plot fills the width between the margins; its height follows from its shape, within
 * bounds. */
static TesStatus set_out(TesContext *ctx, const TesPictureDesc *desc, bool flat, Picture *p) {
  const int width = desc->width ? desc->width : 900;
  const double u = p->unit = width / 900., w = p->extent.high[0] - p->extent.low[0],
               h = p->extent.high[1] - p->extent.low[1];
  const double left = (flat ? 78 : 48) * u, right = 150 * u, over = 78 * u, under = (flat ? 66 : 48) * u;
  const double room = width - left - right, least = 170 * u, most = 760 * u;
  p->scale = fmin(room / fmax(w, 1e-300), most / fmax(h, 1e-300));
  const double height = fmax(h * p->scale, least);
  p->left = left + (room - w * p->scale) / 2;
  p->bottom = over + (height + h * p->scale) / 2;
  return tesi_canvas_create(ctx, width, (int)(over + height + under), &p->canvas);
}

/* The average of the samples as PNG. */
static TesStatus write_png(TesContext *ctx, const TesiCanvas *canvas, const char *path) {
  TesStatus status = TES_OK;
  TesiColour *pixels = NULL;
  TesiFile *file = NULL;
  char *png = NULL;
  size_t length = 0;
  status = tesi_canvas_average(canvas, &pixels);
  if (status == TES_OK)
    status = tesi_png_encode(ctx, canvas->width, canvas->height, pixels, path, &png, &length);
  TES_TRY(tesi_agree(ctx, status));
  TES_TRY(tesi_file_create(ctx, path, &file));
  TES_TRY(tesi_file_agree(ctx, tesi_file_write(file, png, length)));
  TES_TRY(tesi_file_commit(&file));
done:
  tesi_file_discard(&file);
  free(png);
  tesi_free(ctx, &pixels);
  return status;
}

static void make_title(const TesProblem *p, const TesPictureDesc *desc, const char *of, char text[200]) {
  const TesProblemInfo info = tes_problem_info(p);
  char slice[40] = "", when[40] = "";
  if (desc->slice) snprintf(slice, sizeof slice, " at %c = %g", "xyz"[desc->slice - 1], desc -> at);
  if (p->in_time) snprintf(when, sizeof when, ", t = %.5g", info.time);
  if (desc->title) {
    snprintf(text, 200, "%.150s%s", desc->title, when);
    return;
  }
  snprintf(text, 200, "%.60s%s%s:  %s, %lld cells, degree %d", of, slice, when, p->equation->name,
           (long long)tes_mesh_info(p->mesh).all_cells, tes_space_degree(p->space));
}

/* The range of colours. A field whose values have both signs is shown symmetric about zero by default. */
static void choose_colours(const TesPictureDesc *desc, Picture *p) {
  const double round_off = 1e-12; /* a constant has one value */
  const bool given = desc->range[0] != desc->range[1];
  const double *from = given ? desc->range : p->extent.value, low = from[0], high = from[1];
  const bool both = low < 0 && high > 0 && fmin(-low, high) > 0.2 * fmax(-low, high),
             diverging =
                 desc->colours == TES_COLOUR_MAP_DIVERGING || (both && desc->colours == TES_COLOUR_MAP_AUTO);
  const double about = fmax(fabs(low), fabs(high));
  p->range[0] = diverging && !given ? -about : low, p->range[1] = diverging && !given ? about : high;
  if (high - low <= round_off * about) p->range[1] = p->range[0];
  tesi_canvas_use(p->canvas, diverging);
}

/* Everything in front of the field. */
static void draw_front(const Picture *p, const TesiPictureFrame *frame) {
  if (p->arrows) tesi_arrows_draw(p->arrows, tesi_arrow_longest(&p->extent.arrows), p->unit, p->canvas);
  mark_ends(p);
  draw_frame(p, frame, p->canvas->width - 122 * p->unit);
}

/* The samples as an image, and shapes in front of it. */
static TesStatus write_page(TesContext *ctx, const Picture *p, const TesiPictureFrame *frame,
                            const char *path) {
  TesiCanvas *canvas = p->canvas;
  TesiPage page = {0};
  char *png = NULL;
  size_t length = 0;
  TesStatus status =
      tesi_png_encode(ctx, TESI_CANVAS_SAMPLES * canvas->width, TESI_CANVAS_SAMPLES * canvas->height,
                      canvas->sample, path, &png, &length);
  if (status == TES_OK) status = tesi_page_begin(ctx, &page, path, canvas->width, canvas->height);
  TES_TRY(tesi_agree(ctx, status));
  page.fine = true;
  tesi_page_image(&page, png, length);
  canvas->page = &page;
  draw_front(p, frame);
  canvas->page = NULL;
  TES_TRY(tesi_page_end(ctx, &page, path));
done:
  tesi_page_discard(&page);
  free(png);
  return status;
}

TesStatus tesi_picture_draw(TesContext *ctx, const TesiPictureFrame *frame, const TesiExtent *extent,
                            const TesiPictureSource *source, const char *path) {
  TesStatus status = TES_OK;
  Picture p = {.extent = *extent, .drawn = tesi_extent_of_nothing};
  TES_TRY(tesi_agree(ctx, set_out(ctx, &frame->desc, frame->flat, &p)));
  TES_TRY(tesi_agree(ctx, set_out_arrows(ctx, frame, &p)));
  choose_colours(&frame->desc, &p);
  TES_TRY(tesi_agree(
      ctx, source->draw(source->user, 5 / p.scale, &(TesiSceneSink){draw_triangle, draw_line, &p})));
  extend_over_ranks(ctx, &p.drawn);
  TES_TRY(tesi_canvas_merge(p.canvas, edge));
  tesi_canvas_close(p.canvas);
  if (p.arrows) TES_TRY(tesi_arrows_merge(p.arrows));
  if (tesi_page_is_asked(path)) {
    TES_TRY(write_page(ctx, &p, frame, path));
  } else {
    draw_front(&p, frame);
    TES_TRY(write_png(ctx, p.canvas, path));
  }
done:
  tesi_arrows_destroy(&p.arrows);
  tesi_canvas_destroy(&p.canvas);
  return status;
}

static TesStatus draw_scene(void *user, double detail, const TesiSceneSink *sink) {
  TesiScene *scene = user;
  scene->detail = detail;
  return tesi_scene_draw(scene, sink);
}

/* The displacement by which points are moved. */
static TesStatus take_warp(const TesProblem *p, const TesPictureDesc *desc, int fields,
                           const TesiField *field, TesiScene *scene, TesiQuantity *displacement[3]) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int dim = p->mesh->dim;
  TES_CHECK(isfinite(desc->warp), "warp is %g, expected a number", desc->warp);
  if (desc->warp == 0) return TES_OK;
  TES_CHECK(!p->equation->flow && tes_space_components(p->space) == dim,
            "warp moves points by their displacement: elasticity has one, %s has none", p->equation->name);
  for (int d = 0; d < dim; d++) {
    TES_TRY(tesi_quantity_create(p->mesh, tesi_field_names[d][0], false, fields, field, &displacement[d]));
    scene->displacement[d] = displacement[d];
  }
  scene->warp = desc->warp;
done:
  return status;
}

/* The vector field for the arrows. */
static TesStatus take_arrows(const TesProblem *p, const TesPictureDesc *desc, int fields,
                             const TesiField *field, TesiScene *scene, TesiQuantity *vector[3]) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (!desc->arrows[0]) return TES_OK;
  for (int d = 0; d < p->mesh->dim; d++) {
    TES_CHECK(desc->arrows[d], "arrows: expression %d is missing, expected one per direction", d);
    TES_TRY(tesi_quantity_create(p->mesh, desc->arrows[d], false, fields, field, &vector[d]));
    scene->vector[d] = vector[d];
  }
done:
  return status;
}

TesStatus tes_picture_write(const TesProblem *problem, const TesPictureDesc *desc, const char *path) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiField field[TESI_FIELDS];
  const int fields = tesi_problem_fields(problem, field), dim = problem->mesh->dim;
  const char *of = desc->of ? desc->of : field->name;
  TesiPictureFrame frame = {.desc = *desc, .flat = dim == 2 || desc->slice, .arrows = desc->arrows[0] != NULL};
  TesiQuantity *q = NULL, *displacement[3] = {NULL}, *vector[3] = {NULL};
  TesiExtent extent = tesi_extent_of_nothing;
  tesi_work_begin_results(ctx, problem->in_time != NULL, "drawing %s", path);
  TES_CHECK(desc->slice >= 0 && desc->slice <= 3 && (!desc->slice || dim == 3),
            "a slice is for meshes in 3D, across direction 1, 2 or 3, got %d", desc->slice);
  TES_CHECK(!desc->width || (desc->width >= 200 && desc->width <= 8000),
            "a picture is %d wide, expected 200..8000", desc->width);
  TES_CHECK(desc->range[0] <= desc->range[1] && isfinite(desc->range[0]) && isfinite(desc->range[1]),
            "the range of a picture is %g to %g, expected two numbers that ascend", desc->range[0],
            desc->range[1]);
  TES_CHECK((int)desc->colours >= TES_COLOUR_MAP_AUTO && desc->colours <= TES_COLOUR_MAP_DIVERGING,
            "colours are %d, expected %d..%d", (int)desc->colours, TES_COLOUR_MAP_AUTO,
            TES_COLOUR_MAP_DIVERGING);
  if (!tes_has_part("png")) TES_TRY(tesi_png_encode(ctx, 0, 0, NULL, path, NULL, NULL));
  TES_TRY(tesi_quantity_create(problem->mesh, of, false, fields, field, &q));
  TesiScene scene = {.quantity = q, .mesh = problem->mesh, .slice = desc->slice, .at = desc->at};
  TesiPictureSource source = {draw_scene, &scene};
  snprintf(frame.of, sizeof frame.of, "%.63s", of);
  if (desc->unit) snprintf(frame.unit, sizeof frame.unit, "[%.21s]", desc->unit);
  frame.desc.of = frame.desc.title = frame.desc.unit = NULL, frame.desc.run = NULL;
  for (int d = 0; d < 3; d++) frame.desc.arrows[d] = NULL;
  TES_TRY(take_warp(problem, desc, fields, field, &scene, displacement));
  TES_TRY(take_arrows(problem, desc, fields, field, &scene, vector));
  TES_TRY(tesi_agree(ctx, tesi_scene_draw(&scene, &(TesiSceneSink){extend, ignore_line, &extent})));
  extend_over_ranks(ctx, &extent);
  TES_CHECK(extent.any, "%s: the slice %c = %g misses the mesh", path, "xyz"[tesi_max(desc->slice, 1) - 1],
            desc -> at);
  if (extent.value[0] > extent.value[1])
    TES_FAIL(TES_NAN, "%s is finite at no point of the picture %s", of, path);
  scene.edges = desc->edges;
  make_title(problem, desc, of, frame.title);
  if (desc->run) TES_TRY(tesi_pictures_add(ctx, desc->run, &frame, &extent, &source, path));
  TES_TRY(tesi_picture_draw(ctx, &frame, &extent, &source, path));
done:
  tesi_work_end(ctx);
  tesi_quantity_destroy(&q);
  for (int d = 0; d < 3; d++) tesi_quantity_destroy(&displacement[d]), tesi_quantity_destroy(&vector[d]);
  return status;
}
