/* Arrows of a vector field on a regular grid of pixels. */
#ifndef TESI_ARROWS_H
#define TESI_ARROWS_H

#include "io/picture/canvas.h"

/* Sums over the triangles of a scene, of a vector field: the largest square of its length, and the integrals of this
 * square and of 1. */
typedef struct TesiArrowSize {
  double largest, square, area;
} TesiArrowSize;

/* Adds a triangle in the picture's plane to these sums. */
void tesi_arrow_size_triangle(TesiArrowSize *size, const TesiCorner corner[3]);
void tesi_arrow_size_add(TesiArrowSize *size, const TesiArrowSize *other);
/* The length of the vector that gets the longest arrow: the largest length, or two and a half times the root mean
 * square if this is less. So a singular point leaves the other arrows visible. */
double tesi_arrow_longest(const TesiArrowSize *size);

typedef struct TesiArrows {
  TesContext *context;
  double left, top, step; /* pixels: of the first point, and between points */
  int columns, rows;
  struct TesiArrow {
    double depth, vector[2]; /* depth -INFINITY: there is no arrow */
  } * point;                 /* [rows][columns] */
} TesiArrows;

/* Points with a distance of `step` over a rectangle of pixels, centred in it. */
TesStatus tesi_arrows_create(TesContext *ctx, double left, double top, double right, double bottom,
                             double step, TesiArrows **arrows);
void tesi_arrows_destroy(TesiArrows **arrows);
/* Points in a triangle take its vectors, unless an earlier triangle is nearer to the eye. */
void tesi_arrows_sample(TesiArrows *arrows, const TesiCorner corner[3]);
/* Takes the nearest triangle of all ranks at each point, as if one rank had drawn all triangles in order of ranks.
 * Every rank calls it. */
TesStatus tesi_arrows_merge(TesiArrows *arrows);
/* Length of the longest arrow in pixels: neighbours do not touch. */
double tesi_arrows_reach(const TesiArrows *arrows);
/* Draws the arrows, each centred at its point; short ones are left out. */
void tesi_arrows_draw(const TesiArrows *arrows, double longest, double unit, TesiCanvas *canvas);
/* An arrow from (x, y) along (dx, dy) in pixels. */
void tesi_arrow_draw(TesiCanvas *canvas, double x, double y, double dx, double dy, double unit);

#endif
