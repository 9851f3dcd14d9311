/* See arrows.h. */
#include "io/picture/arrows.h"
#include <math.h>
#include "parallel/comm.h"

/* ---- size ---------------------------------------------------------------------------------------------- */

void tesi_arrow_size_triangle(TesiArrowSize *s, const TesiCorner c[3]) {
  const double area = fabs((c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y)) / 2;
  double square = 0;
  for (int i = 0; i < 3; i++) {
    const double *v = c[i].vector, of = v[0] * v[0] + v[1] * v[1];
    if (!isfinite(of)) return;
    s->largest = fmax(s->largest, of);
    square += of / 3;
  }
  s->square += area * square, s->area += area;
}

void tesi_arrow_size_add(TesiArrowSize *s, const TesiArrowSize *other) {
  s->largest = fmax(s->largest, other->largest);
  s->square += other->square, s->area += other->area;
}

double tesi_arrow_longest(const TesiArrowSize *s) {
  const double largest = sqrt(s->largest), usual = s->area > 0 ? sqrt(s->square / s->area) : largest;
  return fmin(largest, 2.5 * usual);
}

/* ---- points -------------------------------------------------------------------------------------------- */

static TesStatus create_points(TesContext *ctx, int points, struct TesiArrow **point) {
  TesStatus status = TES_OK;
  TES_ALLOC(point, points);
  for (int i = 0; i < points; i++) (*point)[i].depth = -INFINITY;
done:
  return status;
}

TesStatus tesi_arrows_create(TesContext *ctx, double left, double top, double right, double bottom,
                             double step, TesiArrows **arrows) {
  TesStatus status = TES_OK;
  TesiArrows *a = NULL;
  TES_NEW(&a);
  a->context = ctx, a->step = step;
  a->columns = (int)fmax(1, floor((right - left) / step)),
  a->rows = (int)fmax(1, floor((bottom - top) / step));
  a->left = (left + right - (a->columns - 1) * step) / 2, a->top = (top + bottom - (a->rows - 1) * step) / 2;
  TES_TRY(create_points(ctx, a->columns * a->rows, &a->point));
  *arrows = a;
  a = NULL;
done:
  tesi_arrows_destroy(&a);
  return status;
}

void tesi_arrows_destroy(TesiArrows **arrows) {
  if (!*arrows) return;
  TesContext *ctx = (*arrows)->context;
  tesi_free(ctx, &(*arrows)->point);
  tesi_free(ctx, arrows);
}

static void take(struct TesiArrow *point, const struct TesiArrow *other) {
  if (other->depth >= point->depth && other->depth > -INFINITY) *point = *other;
}

/* The indices of points between low and high, among the existing points. */
static void range(double low, double high, double first, double step, int most, int *from, int *to) {
  *from = (int)fmin(fmax(ceil((low - first) / step), 0), most);
  *to = (int)fmin(fmax(floor((high - first) / step) + 1, 0), most);
}

void tesi_arrows_sample(TesiArrows *a, const TesiCorner c[3]) {
  const double area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y);
  int x0, x1, y0, y1;
  if (!(fabs(area) > 0)) return;
  range(fmin(c[0].x, fmin(c[1].x, c[2].x)), fmax(c[0].x, fmax(c[1].x, c[2].x)), a->left, a->step, a->columns,
        &x0, &x1);
  range(fmin(c[0].y, fmin(c[1].y, c[2].y)), fmax(c[0].y, fmax(c[1].y, c[2].y)), a->top, a->step, a->rows, &y0,
        &y1);
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) {
      const double x = a->left + i * a->step, y = a->top + j * a->step;
      struct TesiArrow here = {0};
      double least = 1;
      for (int k = 0; k < 3; k++) {
        const TesiCorner *p = &c[(k + 1) % 3], *q = &c[(k + 2) % 3];
        const double w = ((q->x - p->x) * (y - p->y) - (x - p->x) * (q->y - p->y)) / area;
        least = fmin(least, w);
        here.depth += w * c[k].depth;
        for (int d = 0; d < 2; d++) here.vector[d] += w * c[k].vector[d];
      }
      if (least >= -1e-9) take(&a->point[j * a->columns + i], &here); /* triangles leave no gap */
    }
}

TesStatus tesi_arrows_merge(TesiArrows *a) {
  TesContext *ctx = a->context;
  TesStatus status = TES_OK;
  const int points = a->columns * a->rows, own = tes_communicator_rank(tesi_context_communicator(ctx));
  struct TesiArrow *mine = a->point, *theirs = NULL, *all = NULL;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  status = create_points(ctx, points, &theirs);
  if (status == TES_OK) status = create_points(ctx, points, &all);
  TES_TRY(tesi_agree(ctx, status));
  for (int r = 0; r < tesi_ranks(ctx); r++) {
    struct TesiArrow *layer = r == own ? mine : theirs;
    tesi_broadcast(ctx, r, points * (int64_t)sizeof *layer, layer);
    for (int i = 0; i < points; i++) take(&all[i], &layer[i]);
  }
  a->point = all, all = mine;
done:
  tesi_free(ctx, &theirs);
  tesi_free(ctx, &all);
  return status;
}

double tesi_arrows_reach(const TesiArrows *a) {
  return 0.85 * a->step;
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

/* The shaft, and a head that is smaller on short arrows. `more` makes the arrow thicker on all sides. */
static void draw_shape(TesiCanvas *canvas, double x, double y, double dx, double dy, double unit, double more,
                       TesiColour colour) {
  const double length = hypot(dx, dy), head = fmin(fmax(9 * unit, 6), 0.5 * length), half = 0.4 * head;
  const double e[2] = {dx / length, dy / length}, tip[2] = {x + dx, y + dy};
  const double neck[2] = {tip[0] - head * e[0], tip[1] - head * e[1]},
               width = fmax(1.7 * unit, 1.3) + 2 * more;
  const double corner[3][2] = {{tip[0] + 2 * more * e[0], tip[1] + 2 * more * e[1]},
                               {neck[0] - more * e[0] - (half + 1.4 * more) * e[1],
                                neck[1] - more * e[1] + (half + 1.4 * more) * e[0]},
                               {neck[0] - more * e[0] + (half + 1.4 * more) * e[1],
                                neck[1] - more * e[1] - (half + 1.4 * more) * e[0]}};
  tesi_canvas_stroke(canvas, x, y, neck[0], neck[1], width, colour);
  tesi_canvas_wedge(canvas, corner, colour);
}

/* Dark with a bright rim, which is visible on all colours. */
void tesi_arrow_draw(TesiCanvas *canvas, double x, double y, double dx, double dy, double unit) {
  draw_shape(canvas, x, y, dx, dy, unit, fmax(0.8 * unit, 0.5), (TesiColour){255, 255, 255});
  draw_shape(canvas, x, y, dx, dy, unit, 0, (TesiColour){24, 27, 32});
}

void tesi_arrows_draw(const TesiArrows *a, double longest, double unit, TesiCanvas *canvas) {
  for (int i = 0; i < a->columns * a->rows; i++) {
    const double *v = a->point[i].vector, length = hypot(v[0], v[1]);
    if (a->point[i].depth == -INFINITY || !isfinite(length) || !(length > 0.1 * longest)) continue;
    const double scale = tesi_arrows_reach(a) * fmin(1, longest / length) / longest;
    const double x = a->left + i % a->columns * a->step, y = a->top + i / a->columns * a->step;
    const double dx = scale * v[0], dy = -scale * v[1];
    tesi_arrow_draw(canvas, x - dx / 2, y - dy / 2, dx, dy, unit);
  }
}
