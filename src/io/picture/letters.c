/* Letters: filled outlines, equal on every machine. No font file is needed. */
#include <math.h>
#include <string.h>
#include "io/picture/canvas.h"
#include "io/picture/font.h"
#include "io/utf8.h"

enum { S = TESI_CANVAS_SAMPLES, EDGES = 1024, CROSSINGS = 64, PIECES = 6 };

/* The next letter of the text, which is removed from *text; NULL: the font does not have it. */
static const TesiGlyph *next_glyph(const char **text) {
  const unsigned char *s = (const unsigned char *)*text;
  const int length = tesi_utf8_length(*text);
  int code = length <= 1 ? s[0] : s[0] & (0xff >> (length + 1)), low = 0, high = tesi_font_size - 1;
  for (int i = 1; i < length; i++) code = code << 6 | (s[i] & 0x3f);
  *text += length ? length : 1;
  while (low <= high) {
    const int middle = (low + high) / 2;
    if (tesi_font[middle].code == code) return length ? &tesi_font[middle] : NULL;
    if (tesi_font[middle].code < code)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return NULL;
}

double tesi_text_width(double size, const char *text) {
  double width = 0;
  while (*text) {
    const TesiGlyph *glyph = next_glyph(&text);
    if (glyph) width += glyph->width;
  }
  return width * size / TESI_FONT_CAPITAL;
}

/* The outline of a letter as straight edges, in samples; or on a page, in pixels. */
typedef struct Outline {
  TesiPage *page;     /* NULL: edges */
  double x, y, scale; /* left end of the base line; samples or pixels per unit of the font */
  int edges;
  double edge[EDGES][4];
} Outline;

static void add_edge(Outline *o, const double from[2], const double to[2]) {
  if (o->page) {
    tesi_page_outline_line(o->page, to[0], to[1]);
    return;
  }
  if (o->edges == EDGES || from[1] == to[1]) return;
  double *e = o->edge[o->edges++];
  e[0] = from[0], e[1] = from[1], e[2] = to[0], e[3] = to[1];
}

/* From a to b, past c. */
static void add_curve(Outline *o, const double a[2], const double c[2], const double b[2]) {
  double from[2] = {a[0], a[1]};
  if (o->page) {
    tesi_page_outline_curve(o->page, c[0], c[1], b[0], b[1]);
    return;
  }
  for (int i = 1; i <= PIECES; i++) {
    const double t = (double)i / PIECES, u = 1 - t;
    const double to[2] = {u * u * a[0] + 2 * u * t * c[0] + t * t * b[0],
                          u * u * a[1] + 2 * u * t * c[1] + t * t * b[1]};
    add_edge(o, from, to);
    memcpy(from, to, sizeof from);
  }
}

/* Between two consecutive control points lies a point of the curve, in their middle. Returns the end of the contour. */
static const char *add_contour(Outline *o, const char *text) {
  double first[2] = {0}, at[2] = {0}, aside[2] = {0};
  bool has_aside = false;
  for (bool begun = false; *text && *text != ' '; text += 2) {
    const bool is_aside = *text == '!';
    text += is_aside;
    const double p[2] = {o->x + (text[0] - '#' - 7) * o->scale, o->y - (text[1] - '#' - 18) * o->scale};
    const double middle[2] = {(aside[0] + p[0]) / 2, (aside[1] + p[1]) / 2};
    if (!begun && o->page) tesi_page_outline_move(o->page, p[0], p[1]);
    if (!begun) memcpy(first, p, sizeof first), memcpy(at, p, sizeof at);
    begun = true;
    if (has_aside)
      add_curve(o, at, aside, is_aside ? middle : p), memcpy(at, is_aside ? middle : p, sizeof at);
    if (!is_aside && !has_aside) add_edge(o, at, p), memcpy(at, p, sizeof at);
    has_aside = is_aside;
    if (is_aside) memcpy(aside, p, sizeof aside);
  }
  if (has_aside)
    add_curve(o, at, aside, first);
  else
    add_edge(o, at, first);
  return text;
}

/* The place where an edge crosses a row, and whether the edge goes down (1) or up. */
typedef struct Crossing {
  double x;
  int turn;
} Crossing;

static int cross(const Outline *o, double y, Crossing *crossing) {
  int n = 0;
  for (int i = 0; i < o->edges && n < CROSSINGS; i++) {
    const double *e = o->edge[i];
    if ((y < e[1]) == (y < e[3])) continue;
    Crossing c = {e[0] + (y - e[1]) / (e[3] - e[1]) * (e[2] - e[0]), e[3] > e[1] ? 1 : -1};
    int k = n++;
    for (; k > 0 && crossing[k - 1].x > c.x; k--) crossing[k] = crossing[k - 1];
    crossing[k] = c;
  }
  return n;
}

/* Fills the samples around which the outline winds. */
static void fill(TesiCanvas *canvas, const Outline *o, TesiColour colour) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < o->edges; i++)
    low = fmin(low, fmin(o->edge[i][1], o->edge[i][3])), high = fmax(high, fmax(o->edge[i][1], o->edge[i][3]));
  const int64_t wide = (int64_t)S * canvas->width, tall = (int64_t)S * canvas->height;
  for (int64_t j = (int64_t)fmax(floor(low), 0); j < tall && (double)j < high; j++) {
    Crossing crossing[CROSSINGS];
    int turns = 0;
    const int n = cross(o, (double)j + 0.5, crossing);
    for (int k = 0; k + 1 < n; k++) {
      turns += crossing[k].turn;
      const double end = fmin(crossing[k + 1].x - 0.5, (double)wide - 1);
      for (int64_t i = (int64_t)fmax(ceil(crossing[k].x - 0.5), 0); turns && (double)i < end; i++)
        canvas->sample[j * wide + i] = colour;
    }
  }
}

void tesi_canvas_text(TesiCanvas *canvas, double x, double y, double size, double anchor, TesiColour colour,
                      const char *text) {
  const double per_pixel = canvas->page ? 1 : S;
  char name[8];
  Outline o = {.page = canvas->page,
               .x = per_pixel * (x - anchor * tesi_text_width(size, text)),
               .y = per_pixel * y,
               .scale = per_pixel * size / TESI_FONT_CAPITAL};
  if (o.page) tesi_page_outline_begin(o.page, tesi_colour_text(colour, name));
  while (*text) {
    const TesiGlyph *glyph = next_glyph(&text);
    if (!glyph) continue;
    o.edges = 0;
    for (const char *at = glyph->outline; *at; at += *at == ' ') at = add_contour(&o, at);
    if (!o.page) fill(canvas, &o, colour);
    o.x += glyph->width * o.scale;
  }
  if (o.page) tesi_page_outline_end(o.page);
}
