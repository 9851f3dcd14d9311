/* Drawing: an image of samples, several a pixel and direction, which are averaged in the end. y grows downwards,
 * lengths are in pixels. */
#ifndef TESI_CANVAS_H
#define TESI_CANVAS_H

#include "base/base.h"

enum { TESI_CANVAS_SAMPLES = 3 /* per pixel and direction */, TESI_CANVAS_COLOURS = 1024 };

typedef struct TesiColour {
  uint8_t r, g, b;
} TesiColour;

typedef struct TesiCanvas {
  TesContext *context;
  int width, height;                      /* pixels */
  TesiColour *sample;                     /* [3 height][3 width] */
  float *depth;                           /* the same; what is nearer to the eye is larger */
  float *line;                            /* of the nearest line; NULL: nobody asks */
  TesiColour colour[TESI_CANVAS_COLOURS]; /* of values, from the least to the largest */
} TesiCanvas;

/* A corner: place, depth, and what is interpolated between corners. */
typedef struct TesiCorner {
  double x, y, depth, value, light;
  double vector[2]; /* whose arrow may be drawn: in the picture's plane, y upwards */
} TesiCorner;

/* White; with the map of one brightness to another. */
TesStatus tesi_canvas_create(TesContext *ctx, int width, int height, TesiCanvas **canvas);
void tesi_canvas_destroy(TesiCanvas **canvas);
/* The colours of values: tesi_colour_at(), or, diverging, blue below the middle and red above it. */
void tesi_canvas_use(TesiCanvas *canvas, bool diverging);
/* At t in [0, 1]. */
TesiColour tesi_canvas_colour(const TesiCanvas *canvas, double t);
/* Colour of value, brightness of light, both linear between the corners; values from low to high, others get
 * the colour of the nearer end; NaN is grey. */
void tesi_canvas_triangle(TesiCanvas *canvas, const TesiCorner corner[3], double low, double high);
/* A line with round ends, in front of what is not nearer than its ends. */
void tesi_canvas_line(TesiCanvas *canvas, const TesiCorner *from, const TesiCorner *to, double width,
                      TesiColour colour);
/* The same in front of everything. */
void tesi_canvas_stroke(TesiCanvas *canvas, double x0, double y0, double x1, double y1, double width,
                        TesiColour colour);
/* A triangle of one colour in front of everything. */
void tesi_canvas_wedge(TesiCanvas *canvas, const double corner[3][2], TesiColour colour);
void tesi_canvas_fill(TesiCanvas *canvas, double x0, double y0, double x1, double y1, TesiColour colour);
/* canvas <- what ranks drew, as if they had drawn on one canvas in the order of the ranks; all lines are of one
 * colour. Every rank calls it, before anything else is drawn. */
TesStatus tesi_canvas_merge(TesiCanvas *canvas, TesiColour line);
/* Gaps of one or two samples, between curved cells that were divided differently, get what is beside them. */
void tesi_canvas_close(TesiCanvas *canvas);
/* Of what is drawn at a point; outside of the canvas: nothing, -INFINITY. */
double tesi_canvas_depth(const TesiCanvas *canvas, double x, double y);
/* Pixels [height][width], which the caller frees. */
TesStatus tesi_canvas_average(const TesiCanvas *canvas, TesiColour **pixels);

/* The colour map at t in [0, 1]: dark blue, green, yellow, of perceived brightness that grows evenly. */
TesiColour tesi_colour_at(double t);

/* Text, capitals so many pixels high, beginning at (x, y), the left end of its base line; anchor 0.5: its middle,
 * 1: its end is at x. UTF-8: Latin letters, Greek and some signs; others are left out. */
void tesi_canvas_text(TesiCanvas *canvas, double x, double y, double size, double anchor, TesiColour colour,
                      const char *text);
double tesi_text_width(double size, const char *text);

#endif
