/* Arrows of a vector field on a regular grid of a picture's pixels. */
#ifndef TESI_ARROWS_H
#define TESI_ARROWS_H

#include "io/picture/canvas.h"

/* Of a field over what is drawn: largest square of its length, and integrals of this square and of 1. */
typedef struct TesiArrowSize {
  double largest, square, area;
} TesiArrowSize;

/* Of a triangle in the picture's plane. */
void tesi_arrow_size_triangle(TesiArrowSize *size, const TesiCorner corner[3]);
void tesi_arrow_size_add(TesiArrowSize *size, const TesiArrowSize *other);
/* The length of the vector whose arrow is the longest one: the largest, or two and a half times the root mean square
 * where this is less, so that a singular point leaves the other arrows visible. */
double tesi_arrow_longest(const TesiArrowSize *size);

typedef struct TesiArrows {
  TesContext *context;
  double left, top, step; /* pixels: of the first point, and between points */
  int columns, rows;
  struct TesiArrow {
    double depth, vector[2]; /* depth -INFINITY: nothing is drawn there */
  } * point;                 /* [rows][columns] */
} TesiArrows;

/* Points `step` apart over a rectangle of pixels, in its middle. */
TesStatus tesi_arrows_create(TesContext *ctx, double left, double top, double right, double bottom,
                             double step, TesiArrows **arrows);
void tesi_arrows_destroy(TesiArrows **arrows);
/* The points in a triangle take its vectors, unless something nearer to the eye was there before. */
void tesi_arrows_sample(TesiArrows *arrows, const TesiCorner corner[3]);
/* The nearest of all ranks, as if one rank had drawn in their order. Every rank calls it. */
TesStatus tesi_arrows_merge(TesiArrows *arrows);
/* Pixels of the longest arrow: neighbours do not touch. */
double tesi_arrows_reach(const TesiArrows *arrows);
/* In the middle of their points; short ones are left out. */
void tesi_arrows_draw(const TesiArrows *arrows, double longest, double unit, TesiCanvas *canvas);
/* An arrow from (x, y) along (dx, dy) in pixels. */
void tesi_arrow_draw(TesiCanvas *canvas, double x, double y, double dx, double dy, double unit);

#endif
