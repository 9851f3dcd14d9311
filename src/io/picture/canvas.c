/* See canvas.h. */
#include "io/picture/canvas.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "parallel/comm.h"

enum { S = TESI_CANVAS_SAMPLES };

TesStatus tesi_canvas_create(TesContext *ctx, int width, int height, TesiCanvas **canvas) {
  TesStatus status = TES_OK;
  TesiCanvas *c = NULL;
  *canvas = NULL;
  TES_NEW(&c);
  c->context = ctx, c->width = width, c->height = height;
  const int64_t samples = (int64_t)S * S * width * height;
  TES_ALLOC(&c->sample, samples);
  TES_ALLOC(&c->depth, samples);
  if (tesi_ranks(ctx) > 1) TES_ALLOC(&c->line, samples);
  for (int64_t i = 0; i < samples; i++) c->sample[i] = (TesiColour){255, 255, 255}, c->depth[i] = -INFINITY;
  for (int64_t i = 0; c->line && i < samples; i++) c->line[i] = -INFINITY;
  tesi_canvas_use(c, false);
  *canvas = c;
  c = NULL;
done:
  tesi_canvas_destroy(&c);
  return status;
}

void tesi_canvas_destroy(TesiCanvas **canvas) {
  if (!*canvas) return;
  TesContext *ctx = (*canvas)->context;
  tesi_free(ctx, &(*canvas)->sample);
  tesi_free(ctx, &(*canvas)->depth);
  tesi_free(ctx, &(*canvas)->line);
  tesi_free(ctx, canvas);
}

/* ---- colours ------------------------------------------------------------------------------------------- */

/* The map viridis of matplotlib (S. van der Walt, N. Smith), as polynomials of degree 6 (M. Zucker; both CC0). */
TesiColour tesi_colour_at(double t) {
  static const double c[7][3] = {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
                                 {0.1050930431085774, 1.404613529898575, 1.384590162594685},
                                 {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
                                 {-4.634230498983486, -5.799100973351585, -19.33244095627987},
                                 {6.228269936347081, 14.17993336680509, 56.69055260068105},
                                 {4.776384997670288, -13.74514537774601, -65.35303263337234},
                                 {-5.435455855934631, 4.645852612178535, 26.3124352495832}};
  double rgb[3] = {0};
  t = fmin(fmax(t, 0), 1);
  for (int i = 6; i >= 0; i--)
    for (int k = 0; k < 3; k++) rgb[k] = rgb[k] * t + c[i][k];
  for (int k = 0; k < 3; k++) rgb[k] = 255 * fmin(fmax(rgb[k], 0), 1) + 0.5;
  return (TesiColour){(uint8_t)rgb[0], (uint8_t)rgb[1], (uint8_t)rgb[2]};
}

/* Cool to warm: blue, a light grey in the middle, red (K. Moreland 2009, "Diverging color maps for scientific
 * visualization"), linear in the square roots of light between his three colours. */
static TesiColour diverging_at(double t) {
  static const double end[3][3] = {{59, 76, 192}, {221, 221, 221}, {180, 4, 38}};
  t = fmin(fmax(t, 0), 1);
  const double *from = end[t > 0.5], *to = from + 3, s = 2 * t - (t > 0.5);
  uint8_t rgb[3];
  for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(sqrt((1 - s) * from[k] * from[k] + s * to[k] * to[k]) + 0.5);
  return (TesiColour){rgb[0], rgb[1], rgb[2]};
}

void tesi_canvas_use(TesiCanvas *canvas, bool diverging) {
  for (int i = 0; i < TESI_CANVAS_COLOURS; i++) {
    const double t = i / (TESI_CANVAS_COLOURS - 1.);
    canvas->colour[i] = diverging ? diverging_at(t) : tesi_colour_at(t);
  }
}

TesiColour tesi_canvas_colour(const TesiCanvas *canvas, double t) {
  return canvas->colour[(int)(fmin(fmax(t, 0), 1) * (TESI_CANVAS_COLOURS - 1) + 0.5)];
}

static TesiColour shade(const TesiCanvas *canvas, double value, double light, double low, double high) {
  const double t = high > low ? (value - low) / (high - low) : 0.5;
  const TesiColour c = isfinite(value) ? tesi_canvas_colour(canvas, t) : (TesiColour){170, 170, 170};
  light = fmin(fmax(light, 0), 1);
  return (TesiColour){(uint8_t)(c.r * light), (uint8_t)(c.g * light), (uint8_t)(c.b * light)};
}

/* ---- several ranks ------------------------------------------------------------------------------------- */

/* Samples of some rows, on a rank. */
typedef struct Layer {
  TesiColour *sample;
  float *depth, *line;
} Layer;

static void free_layer(TesContext *ctx, Layer *l) {
  tesi_free(ctx, &l->sample);
  tesi_free(ctx, &l->depth);
  tesi_free(ctx, &l->line);
}

static TesStatus create_layer(TesContext *ctx, int64_t samples, Layer *l) {
  TesStatus status = TES_OK;
  TES_ALLOC(&l->sample, samples);
  TES_ALLOC(&l->depth, samples);
  TES_ALLOC(&l->line, samples);
done:
  return status;
}

/* *first <- the first sample on which something is drawn; *end <- the sample after the last one. */
static void drawn_range(const TesiCanvas *c, int64_t *first, int64_t *end) {
  const int64_t samples = (int64_t)S * S * c->width * c->height;
  for (*first = 0; *first < samples && c->depth[*first] == -INFINITY && c->line[*first] == -INFINITY;)
    ++*first;
  for (*end = samples; *end > *first && c->depth[*end - 1] == -INFINITY && c->line[*end - 1] == -INFINITY;)
    --*end;
}

/* A triangle hides everything that is as near or farther away. A line is drawn over everything that is not nearer,
 * and hides nothing that comes later. So, where the triangles of a rank are hidden, only its nearest line matters. */
static void add_layer(const Layer *l, int64_t samples, TesiColour line, TesiColour *sample, float *depth) {
  for (int64_t i = 0; i < samples; i++) {
    if (l->depth[i] > -INFINITY && l->depth[i] >= depth[i])
      sample[i] = l->sample[i], depth[i] = l->depth[i];
    else if (l->line[i] > -INFINITY && l->line[i] >= depth[i])
      sample[i] = line;
  }
}

/* The drawing of a rank, sent to all ranks. */
static TesStatus share_layer(const TesiCanvas *c, int rank, int64_t *first, int64_t *samples, Layer *l) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const bool own = tes_communicator_rank(tesi_context_communicator(ctx)) == rank;
  int64_t range[2] = {0};
  if (own) drawn_range(c, &range[0], &range[1]);
  tesi_broadcast(ctx, rank, sizeof range, range);
  *first = range[0], *samples = range[1] - range[0];
  TES_TRY(tesi_agree(ctx, create_layer(ctx, *samples + 1, l)));
  if (own) {
    memcpy(l->sample, c->sample + *first, (size_t)*samples * sizeof *l->sample);
    memcpy(l->depth, c->depth + *first, (size_t)*samples * sizeof *l->depth);
    memcpy(l->line, c->line + *first, (size_t)*samples * sizeof *l->line);
  }
  tesi_broadcast(ctx, rank, *samples * (int64_t)sizeof *l->sample, l->sample);
  tesi_broadcast(ctx, rank, *samples * (int64_t)sizeof *l->depth, l->depth);
  tesi_broadcast(ctx, rank, *samples * (int64_t)sizeof *l->line, l->line);
done:
  return status;
}

TesStatus tesi_canvas_merge(TesiCanvas *c, TesiColour line) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  const int64_t samples = (int64_t)S * S * c->width * c->height;
  Layer all = {0}, layer = {0};
  int64_t first, count;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  TES_TRY(tesi_agree(ctx, create_layer(ctx, samples, &all)));
  for (int64_t i = 0; i < samples; i++) all.sample[i] = (TesiColour){255, 255, 255}, all.depth[i] = -INFINITY;
  for (int r = 0; r < tesi_ranks(ctx); r++) {
    TES_TRY(share_layer(c, r, &first, &count, &layer));
    add_layer(&layer, count, line, all.sample + first, all.depth + first);
    free_layer(ctx, &layer);
  }
  memcpy(c->sample, all.sample, (size_t)samples * sizeof *c->sample);
  memcpy(c->depth, all.depth, (size_t)samples * sizeof *c->depth);
done:
  free_layer(ctx, &layer);
  free_layer(ctx, &all);
  return status;
}

/* ---- shapes -------------------------------------------------------------------------------------------- */

/* Samples from .. to - 1 whose middles may lie between two lengths. */
static void sample_range(double low, double high, int most, int *from, int *to) {
  *from = (int)fmin(fmax(ceil(low * S - 0.5), 0), most);
  *to = (int)fmin(fmax(floor(high * S - 0.5) + 1, 0), most);
}

/* A linear function over a triangle; its value at sample i of a row is at + i step. */
typedef struct Slope {
  double at, step;
} Slope;

/* Barycentric coordinate k at the middle of the first sample of row j. */
static Slope weight_of(const TesiCorner p[3], int k, double area, int i, int j) {
  const TesiCorner *a = &p[(k + 1) % 3], *b = &p[(k + 2) % 3];
  const double x = (i + 0.5) / S, y = (j + 0.5) / S;
  return (Slope){((b->x - a->x) * (y - a->y) - (x - a->x) * (b->y - a->y)) / area, -(b->y - a->y) / area / S};
}

void tesi_canvas_triangle(TesiCanvas *canvas, const TesiCorner p[3], double low, double high) {
  const double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
  int x0, x1, y0, y1;
  if (!(fabs(area) > 0)) return;
  sample_range(fmin(p[0].x, fmin(p[1].x, p[2].x)), fmax(p[0].x, fmax(p[1].x, p[2].x)), S * canvas->width, &x0,
               &x1);
  sample_range(fmin(p[0].y, fmin(p[1].y, p[2].y)), fmax(p[0].y, fmax(p[1].y, p[2].y)), S * canvas->height,
               &y0, &y1);
  for (int j = y0; j < y1; j++) {
    const Slope s[3] = {weight_of(p, 0, area, x0, j), weight_of(p, 1, area, x0, j),
                        weight_of(p, 2, area, x0, j)};
    for (int i = x0; i < x1; i++) {
      double w[3];
      for (int k = 0; k < 3; k++) w[k] = s[k].at + (i - x0) * s[k].step;
      if (w[0] < -1e-9 || w[1] < -1e-9 || w[2] < -1e-9) continue; /* neighbouring triangles leave no gap */
      const int64_t at = (int64_t)j * S * canvas->width + i;
      const double depth = w[0] * p[0].depth + w[1] * p[1].depth + w[2] * p[2].depth;
      if (depth < canvas->depth[at]) continue;
      canvas->depth[at] = (float)depth;
      canvas->sample[at] = shade(canvas, w[0] * p[0].value + w[1] * p[1].value + w[2] * p[2].value,
                                 w[0] * p[0].light + w[1] * p[1].light + w[2] * p[2].light, low, high);
    }
  }
}

void tesi_canvas_line(TesiCanvas *canvas, const TesiCorner *a, const TesiCorner *b, double width,
                      TesiColour colour) {
  const double r = width / 2, dx = b->x - a->x, dy = b->y - a->y, length = dx * dx + dy * dy;
  int x0, x1, y0, y1;
  sample_range(fmin(a->x, b->x) - r, fmax(a->x, b->x) + r, S * canvas->width, &x0, &x1);
  sample_range(fmin(a->y, b->y) - r, fmax(a->y, b->y) + r, S * canvas->height, &y0, &y1);
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) {
      const double x = (i + 0.5) / S - a->x, y = (j + 0.5) / S - a->y;
      const double t = length > 0 ? fmin(fmax((x * dx + y * dy) / length, 0), 1) : 0;
      const int64_t at = (int64_t)j * S * canvas->width + i;
      if ((x - t * dx) * (x - t * dx) + (y - t * dy) * (y - t * dy) > r * r) continue;
      const double depth = (1 - t) * a->depth + t * b->depth;
      if (canvas->line && depth > canvas->line[at]) canvas->line[at] = (float)depth;
      if (depth >= canvas->depth[at]) canvas->sample[at] = colour;
    }
}

/* ---- in front of everything ---------------------------------------------------------------------------- */

const char *tesi_colour_text(TesiColour colour, char text[8]) {
  snprintf(text, 8, "#%02x%02x%02x", colour.r, colour.g, colour.b);
  return text;
}

static void draw_polygon(TesiPage *page, int corners, const double (*corner)[2], TesiColour colour) {
  char text[8];
  tesi_page_outline_begin(page, tesi_colour_text(colour, text));
  tesi_page_outline_move(page, corner[0][0], corner[0][1]);
  for (int i = 1; i < corners; i++) tesi_page_outline_line(page, corner[i][0], corner[i][1]);
  tesi_page_outline_end(page);
}

/* A line without a length is a dot. */
static void draw_segment(TesiPage *page, const double from[2], const double to[2], double width,
                         TesiColour colour) {
  char text[8];
  tesi_colour_text(colour, text);
  if (from[0] == to[0] && from[1] == to[1])
    tesi_page_disc(page, to[0], to[1], width / 2, text);
  else
    tesi_page_segment(page, from[0], from[1], to[0], to[1], text, width, false);
}

void tesi_canvas_stroke(TesiCanvas *canvas, double x0, double y0, double x1, double y1, double width,
                        TesiColour colour) {
  if (canvas->page) {
    draw_segment(canvas->page, (double[2]){x0, y0}, (double[2]){x1, y1}, width, colour);
    return;
  }
  const TesiCorner a = {.x = x0, .y = y0, .depth = FLT_MAX}, b = {.x = x1, .y = y1, .depth = FLT_MAX};
  tesi_canvas_line(canvas, &a, &b, width, colour);
}

void tesi_canvas_wedge(TesiCanvas *canvas, const double p[3][2], TesiColour colour) {
  if (canvas->page) {
    draw_polygon(canvas->page, 3, p, colour);
    return;
  }
  const double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]);
  int x0, x1, y0, y1;
  sample_range(fmin(p[0][0], fmin(p[1][0], p[2][0])), fmax(p[0][0], fmax(p[1][0], p[2][0])),
               S * canvas->width, &x0, &x1);
  sample_range(fmin(p[0][1], fmin(p[1][1], p[2][1])), fmax(p[0][1], fmax(p[1][1], p[2][1])),
               S * canvas->height, &y0, &y1);
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) {
      bool inside = area != 0;
      for (int k = 0; k < 3 && inside; k++) {
        const double *a = p[k], *b = p[(k + 1) % 3], x = (i + 0.5) / S, y = (j + 0.5) / S;
        inside = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) * area >= 0;
      }
      if (inside) canvas->sample[(int64_t)j * S * canvas->width + i] = colour;
    }
}

void tesi_canvas_fill(TesiCanvas *canvas, double left, double top, double right, double bottom,
                      TesiColour colour) {
  if (canvas->page) {
    const double corner[4][2] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
    draw_polygon(canvas->page, 4, corner, colour);
    return;
  }
  int x0, x1, y0, y1;
  sample_range(left, right, S * canvas->width, &x0, &x1);
  sample_range(top, bottom, S * canvas->height, &y0, &y1);
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++) canvas->sample[(int64_t)j * S * canvas->width + i] = colour;
}

void tesi_canvas_close(TesiCanvas *canvas) {
  const int64_t wide = (int64_t)S * canvas->width, samples = wide * S * canvas->height;
  const int64_t step[2] = {1, wide};
  const float *depth = canvas->depth;
  for (int d = 0; d < 2; d++)
    for (int64_t i = step[d], end = samples - 2 * step[d]; i < end; i++)
      if (depth[i] == -INFINITY && depth[i - step[d]] > -INFINITY &&
          (depth[i + step[d]] > -INFINITY || depth[i + 2 * step[d]] > -INFINITY))
        canvas->sample[i] = canvas->sample[i - step[d]], canvas->depth[i] = depth[i - step[d]];
}

double tesi_canvas_depth(const TesiCanvas *canvas, double x, double y) {
  const double i = floor(S * x), j = floor(S * y);
  if (!(i >= 0 && j >= 0 && i < S * canvas->width && j < S * canvas->height)) return -INFINITY;
  return canvas->depth[(int64_t)j * S * canvas->width + (int64_t)i];
}

TesStatus tesi_canvas_average(const TesiCanvas *canvas, TesiColour **pixels) {
  TesContext *ctx = canvas->context;
  TesStatus status = TES_OK;
  TES_ALLOC(pixels, (int64_t)canvas->width * canvas->height);
  for (int j = 0; j < canvas->height; j++)
    for (int i = 0; i < canvas->width; i++) {
      int sum[3] = {0};
      for (int k = 0; k < S * S; k++) {
        const TesiColour *c = &canvas->sample[(int64_t)(S * j + k / S) * S * canvas->width + S * i + k % S];
        sum[0] += c->r, sum[1] += c->g, sum[2] += c->b;
      }
      for (int k = 0; k < 3; k++) sum[k] = (sum[k] + S * S / 2) / (S * S);
      (*pixels)[(int64_t)j * canvas->width + i] =
          (TesiColour){(uint8_t)sum[0], (uint8_t)sum[1], (uint8_t)sum[2]};
    }
done:
  return status;
}
