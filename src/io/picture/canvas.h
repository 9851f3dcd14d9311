/* Drawing on an image with several samples per pixel and direction, which are averaged at the end. y grows downwards;
 * lengths are in pixels. */
#ifndef TESI_CANVAS_H
#define TESI_CANVAS_H

#include "base/base.h"
#include "io/picture/page.h"

enum { TESI_CANVAS_SAMPLES = 3 /* per pixel and direction */, TESI_CANVAS_COLOURS = 1024 };

typedef struct TesiColour {
  uint8_t r, g, b;
} TesiColour;

typedef struct TesiCanvas {
  TesContext *context;
  int width, height;  /* pixels */
  TesiColour *sample; /* [3 height][3 width] */
  float *depth;       /* per sample: depth; larger is nearer to the eye */
  float *line;        /* depth of the nearest line; NULL: not needed */
  TesiPage *page;     /* strokes, wedges, fills and texts become shapes there; NULL: samples */
  TesiColour colour[TESI_CANVAS_COLOURS]; /* of values, from the smallest to the largest */
} TesiCanvas;

/* A corner: its place and depth, and the numbers that are interpolated between corners. */
typedef struct TesiCorner {
  double x, y, depth, value, light;
  double vector[2]; /* vector for an arrow: in the picture's plane, y upwards */
} TesiCorner;

/* Makes a white canvas, with the colour map that goes from dark to bright. */
TesStatus tesi_canvas_create(TesContext *ctx, int width, int height, TesiCanvas **canvas);
void tesi_canvas_destroy(TesiCanvas **canvas);
/* The colours of values: tesi_colour_at(); or diverging colours, blue below the middle and red above it. */
void tesi_canvas_use(TesiCanvas *canvas, bool diverging);
/* At t in [0, 1]. */
TesiColour tesi_canvas_colour(const TesiCanvas *canvas, double t);
/* A triangle with the colour of its value and the brightness of its light, both linear between the corners. Colours
 * cover low to high; values outside get the colour of the nearer end; NaN is grey. */
void tesi_canvas_triangle(TesiCanvas *canvas, const TesiCorner corner[3], double low, double high);
/* A line with round ends, drawn over everything that is not nearer than its ends. */
void tesi_canvas_line(TesiCanvas *canvas, const TesiCorner *from, const TesiCorner *to, double width,
                      TesiColour colour);
/* A line in front of everything. */
void tesi_canvas_stroke(TesiCanvas *canvas, double x0, double y0, double x1, double y1, double width,
                        TesiColour colour);
/* A triangle of one colour in front of everything. */
void tesi_canvas_wedge(TesiCanvas *canvas, const double corner[3][2], TesiColour colour);
void tesi_canvas_fill(TesiCanvas *canvas, double x0, double y0, double x1, double y1, TesiColour colour);
/* canvas <- the drawings of all ranks, as if they had drawn on one canvas in the order of the ranks; all lines have
 * one colour. Every rank calls it, before anything else is drawn. */
TesStatus tesi_canvas_merge(TesiCanvas *canvas, TesiColour line);
/* Fills gaps of one or two samples, between curved cells that were divided differently, with the neighbouring
 * colours. */
void tesi_canvas_close(TesiCanvas *canvas);
/* The depth at a point; -INFINITY: nothing is drawn there, or the point is outside of the canvas. */
double tesi_canvas_depth(const TesiCanvas *canvas, double x, double y);
/* Pixels [height][width], which the caller frees. */
TesStatus tesi_canvas_average(const TesiCanvas *canvas, TesiColour **pixels);

/* The colour map at t in [0, 1]: dark blue, green, yellow. Its perceived brightness grows evenly. */
TesiColour tesi_colour_at(double t);

/* "#rrggbb" */
const char *tesi_colour_text(TesiColour colour, char text[8]);

/* Text whose capitals have this height in pixels. The base line begins at (x, y); anchor 0.5: its middle is at x, 1:
 * its end is at x. UTF-8: Latin letters, Greek and some signs; other characters are left out. */
void tesi_canvas_text(TesiCanvas *canvas, double x, double y, double size, double anchor, TesiColour colour,
                      const char *text);
double tesi_text_width(double size, const char *text);

#endif
