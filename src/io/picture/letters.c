/* Letters as strokes: readable at any size, the same everywhere, and no font file is asked for. */
#include <math.h>
#include <string.h>
#include "io/picture/canvas.h"

/* From the space to the tilde. First the width, then strokes between blanks: points as two hexadecimal digits, x
 * and y upwards; 4 is the base line, b the height of small letters, e that of capitals. "~": a quadratic B-spline
 * with the first and last point for its ends; "o": a closed one. */
static const char *const glyphs[] = {
    "5",
    "4 2e28 2425",
    "6 2e2b 4e4b",
    "9 3e24 7e64 1b8b 1787",
    "8 ~7c7e1e1979741416 4f43",
    "9 148e o1b1e4e4b o54578784",
    "9 ~84451d3e6d1714547a",
    "4 2e2b",
    "5 ~4f1b1743",
    "5 ~1f4b4713",
    "8 4c48 2b69 296b",
    "8 1979 464c",
    "4 ~252412",
    "8 1979",
    "4 2425",
    "7 136f",
    "8 o141e7e74",
    "8 2c4e44",
    "8 ~1b1e7e7a14 1474",
    "8 ~1c1e7e7939 ~3989841416",
    "8 646e1787",
    "8 7e2e19 ~193b8b842415",
    "8 ~6e1d17 o141a7a74",
    "8 1e7e34",
    "8 o292e6e69 o14197974",
    "8 o181e7e78 ~7b7524",
    "4 2425 292a",
    "4 ~252412 292a",
    "8 7b1975",
    "8 1b7b 1777",
    "8 1b7915",
    "8 ~1b1e7e7947 4445",
    "9 o141e8e84 o474b7b77",
    "8 144e74 2868",
    "9 4e1e1444 1949 ~4e7e7949 ~49898444",
    "8 ~7c7e1e147476",
    "9 3e1e1434 ~3e8e8434",
    "8 7e1e1474 1969",
    "8 7e1e14 1969",
    "9 ~7c7e1e147479 7949",
    "8 1e14 7e74 1979",
    "4 2e24",
    "7 ~5e541416",
    "8 1e14 7e19 3b74",
    "7 1e1474",
    "a 141e579e94",
    "8 141e747e",
    "9 o141e8e84",
    "8 141e4e ~4e8e8848 4818",
    "9 o141e8e84 5784",
    "8 141e4e ~4e8e8848 4818 4874",
    "8 ~7c7e1e1979741416",
    "8 1e7e 4e44",
    "8 ~1e191474797e",
    "8 1e447e",
    "a 1e345c749e",
    "8 1e74 7e14",
    "8 1e497e 4944",
    "8 1e7e1474",
    "5 4f2f2343",
    "7 1f63",
    "5 1f3f3313",
    "8 1b4e7b",
    "8 1373",
    "4 1e2c",
    "7 o141b6b64 6b64",
    "7 1e14 o141b6b64",
    "7 ~6a6b1b146465",
    "7 o141b6b64 6e64",
    "7 1868 ~686b1b146465",
    "5 ~5e2e2a24 1b4b",
    "7 o141b6b64 ~6b65601011",
    "7 1e14 ~181b6b6864",
    "4 2b24 2d2e",
    "5 ~3b343010 3d3e",
    "7 1e14 6b18 2964",
    "5 ~2e262434",
    "a 1b14 ~181b5b5854 ~585b9b9894",
    "7 1b14 ~181b6b6864",
    "7 o141b6b64",
    "7 1b10 o141b6b64",
    "7 o141b6b64 6b60",
    "5 1b14 ~181b4b",
    "6 ~5a5b1b1857541415",
    "5 ~2e272444 1b4b",
    "7 ~1b171464686b 6b64",
    "8 1b447b",
    "a 1b345a749b",
    "7 1b64 6b14",
    "8 1b44 7b20",
    "7 1b6b1464",
    "5 ~4f292943",
    "4 2f22",
    "5 ~1f393913",
    "8 ~193b6779",
};
enum { FIRST = ' ', LAST = '~', BASE = 4, CAPITAL = 10, PIECES = 8 };
_Static_assert(sizeof glyphs / sizeof *glyphs == LAST - FIRST + 1, "a letter is missing");

static int digit(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

static const char *glyph_of(char c) {
  return c >= FIRST && c <= LAST ? glyphs[c - FIRST] : NULL;
}

double tesi_text_width(double size, const char *text) {
  double width = 0;
  for (; *text; text++)
    if (glyph_of(*text)) width += digit(glyph_of(*text)[0]);
  return width * size / CAPITAL;
}

typedef struct Pen {
  TesiCanvas *canvas;
  double x, y, scale, last[2];
  bool down;
  TesiColour colour;
} Pen;

static void go_to(Pen *pen, double x, double y) {
  x = pen->x + x * pen->scale, y = pen->y - (y - BASE) * pen->scale;
  if (pen->down)
    tesi_canvas_stroke(pen->canvas, pen->last[0], pen->last[1], x, y, 1.15 * pen->scale, pen->colour);
  pen->last[0] = x, pen->last[1] = y, pen->down = true;
}

/* Piece of the spline between the middles of two edges of its polygon, from a to b with the corner c. */
static void curve(Pen *pen, const double a[2], const double c[2], const double b[2]) {
  for (int i = 0; i <= PIECES; i++) {
    const double t = (double)i / PIECES, u = 1 - t;
    go_to(pen, u * u * a[0] + 2 * u * t * c[0] + t * t * b[0], u * u * a[1] + 2 * u * t * c[1] + t * t * b[1]);
  }
}

static void spline(Pen *pen, int n, double (*p)[2], bool closed) {
  for (int i = closed ? 0 : 1; i < (closed ? n : n - 1); i++) {
    const double *before = p[(i + n - 1) % n], *after = p[(i + 1) % n];
    double a[2], b[2];
    for (int d = 0; d < 2; d++) {
      a[d] = !closed && i == 1 ? before[d] : (before[d] + p[i][d]) / 2;
      b[d] = !closed && i == n - 2 ? after[d] : (after[d] + p[i][d]) / 2;
    }
    curve(pen, a, p[i], b);
  }
}

/* Draws one stroke; returns where it ends. */
static const char *draw_stroke(Pen *pen, const char *stroke) {
  enum { MOST = 16 };
  const char kind = *stroke;
  double p[MOST][2];
  int n = 0;
  if (kind == '~' || kind == 'o') stroke++;
  for (; *stroke && *stroke != ' ' && n < MOST; stroke += 2, n++)
    p[n][0] = digit(stroke[0]), p[n][1] = digit(stroke[1]);
  pen->down = false;
  if (kind == '~' || kind == 'o')
    spline(pen, n, p, kind == 'o');
  else
    for (int i = 0; i < n; i++) go_to(pen, p[i][0], p[i][1]);
  return stroke;
}

void tesi_canvas_text(TesiCanvas *canvas, double x, double y, double size, double anchor, TesiColour colour,
                      const char *text) {
  Pen pen = {.canvas = canvas,
             .x = x - anchor * tesi_text_width(size, text),
             .y = y,
             .scale = size / CAPITAL,
             .colour = colour};
  for (; *text; text++) {
    const char *glyph = glyph_of(*text);
    if (!glyph) continue;
    for (const char *at = glyph + 1; *at == ' ';) at = draw_stroke(&pen, at + 1);
    pen.x += digit(glyph[0]) * pen.scale;
  }
}
