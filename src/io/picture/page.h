/* Lines, marks, texts, filled outlines and an image on a page, as SVG; or, if the name of the file ends in .pdf, as PDF
 * with Helvetica, a font that every reader of PDF has. Lengths are pixels, y grows downwards, colours are "#rgb" or
 * "#rrggbb". */
#ifndef TESI_PAGE_H
#define TESI_PAGE_H

#include <stdio.h>
#include "base/base.h"

typedef struct TesiPage {
  FILE *out;
  char *text;
  size_t length;
  bool pdf, fine; /* fine: segments have round ends, and SVG has hundredths of a pixel */
  bool begun;     /* the present line has a point */
  int width, height;
  double at[2]; /* the last point of the outline */
  const char *png;
  size_t png_length; /* 0: the page has no image */
} TesiPage;

/* Whether the name of a file asks for a page. */
bool tesi_page_is_asked(const char *path);
/* A white page. */
TesStatus tesi_page_begin(TesContext *ctx, TesiPage *page, const char *path, int width, int height);
/* Writes the file. Every rank calls it; the page of rank 0 is written. It destroys the page either way. Errors: TES_IO,
 * TES_OUT_OF_MEMORY. */
TesStatus tesi_page_end(TesContext *ctx, TesiPage *page, const char *path);
/* Destroys a page that is not to be written. */
void tesi_page_discard(TesiPage *page);

/* An image that covers the page: a PNG file of 8 bits and three colours, which must live as long as the page. A page
 * has at most one. */
void tesi_page_image(TesiPage *page, const char *png, size_t length);
void tesi_page_segment(TesiPage *page, double x0, double y0, double x1, double y1, const char *colour,
                       double width, bool dashed);
/* A line through points, which are given one by one. */
void tesi_page_line_begin(TesiPage *page, const char *colour, bool dashed);
void tesi_page_line_to(TesiPage *page, double x, double y);
void tesi_page_line_end(TesiPage *page);
/* Contours of straight lines and quadratic curves. What they wind around is filled. */
void tesi_page_outline_begin(TesiPage *page, const char *colour);
void tesi_page_outline_move(TesiPage *page, double x, double y);
void tesi_page_outline_line(TesiPage *page, double x, double y);
void tesi_page_outline_curve(TesiPage *page, double beside_x, double beside_y, double x, double y);
void tesi_page_outline_end(TesiPage *page);
void tesi_page_disc(TesiPage *page, double x, double y, double radius, const char *colour);
/* A mark of radius 3: a circle (0), a square (1) or a diamond (2). */
void tesi_page_mark(TesiPage *page, int kind, double x, double y, const char *colour, const char *inside);

/* The side of a text that is at its x. */
typedef enum TesiAnchor { TESI_LEFT, TESI_MIDDLE, TESI_RIGHT } TesiAnchor;
typedef struct TesiPageText {
  double size; /* 0: 12 */
  TesiAnchor anchor;
  bool upright;       /* it runs upwards */
  const char *colour; /* NULL: black */
  int most;           /* bytes; longer texts are cut */
} TesiPageText;
void tesi_page_text(TesiPage *page, double x, double y, const TesiPageText *how, const char *text);

#endif
