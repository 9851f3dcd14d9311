/** \file output.h
 *  Files for people and scripts beside VTU: the solution along a line as CSV, pictures, and figures of numbers. */
#ifndef TESSERA_OUTPUT_H
#define TESSERA_OUTPUT_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** count >= 2 points from one end to the other, both included, equally far from each other. */
typedef struct TesLineDesc {
  double from[3], to[3];
  int count; /**< 0 means 101 */
} TesLineDesc;
/** Writes all fields of the solution along a line as CSV: a line of names, "s,x,y,u" (3D: s,x,y,z), s the distance
 *  from the beginning, then a line per point. Fields are left empty where the line runs outside of the mesh; a point
 *  that misses it by less than a hundredth of a cell's length is moved to it, as tes_problem_sample() does. *missed
 *  (may be NULL) <- points outside. Errors: TES_INVALID_INPUT (no point in the mesh), TES_IO. */
TesStatus tes_line_write(const TesProblem *problem, const TesLineDesc *desc, const char *path, int *missed);

/** Zero means default. */
typedef enum TesColourMap {
  TES_COLOUR_MAP_AUTO,     /**< diverging where the range has values of both signs, else viridis */
  TES_COLOUR_MAP_VIRIDIS,  /**< from dark to bright */
  TES_COLOUR_MAP_DIVERGING /**< blue below the middle, red above it; without a range the middle is 0 */
} TesColourMap;
/** Pictures of one run. */
typedef struct TesPictures TesPictures;
typedef struct TesPictureDesc {
  const char *of; /**< an expression as in TesValue.of, without normals; NULL: the first field */
  int slice;      /**< 3D: 1, 2 or 3: a cut across x, y or z; 0: the surface, seen from (+, -, +) */
  double at;      /**< where the cut is */
  bool edges;     /**< of cells */
  int width;      /**< pixels, 200..8000; 0 means 900 */
  const char *unit; /**< of the values, UTF-8, at most 21 bytes: in brackets behind `of` at the colours; NULL: none */
  const char *title; /**< UTF-8, with the time behind it; NULL: what is shown, time, equation, cells and degree */
  double range[2]; /**< of the colours; values beyond get the colour of the end. Equal: the least and largest */
  TesColourMap colours;
  double warp; /**< elasticity: points are drawn at x + warp u; a slice cuts the body at rest. 0: at rest */
  /** Components of a vector field, expressions as `of`, one per direction: arrows on a regular grid of the picture, as
   *  long as the part of the vector in its plane, with the length of one beside the colours. The longest ones are of
   *  two and a half times the root mean square and more. arrows[0] NULL: none. */
  const char *arrows[3];
  /** NULL: a picture alone. Else the run that it belongs to; *run is NULL before the first picture. Colours then go
   *  over the values of all pictures of the run so far, and the frame spans all of them. */
  TesPictures **run;
} TesPictureDesc;
/** Writes a picture: the field in the plane or on the surface, with a colour bar, axes, a title, and points at its
 *  least value (white) and its largest (black). A name that ends in .svg or .pdf gives an SVG or PDF file: the field is
 *  an image of 3 x 3 samples per pixel, all else are outlines. All other names give a PNG file.
 *  Cells are divided until a piece is a few pixels long, so that high degrees and curved cells look as they are; what
 *  is hidden is found sample by sample, nine per pixel. Values that are not finite are grey. Errors: TES_INVALID_INPUT
 *  (an expression that is none, a cut that misses the mesh, warp of a problem without displacement), TES_NAN (no value
 *  is finite), TES_MISSING (a build without libpng: tes_has_part("png")), TES_IO. Memory: some 70 bytes per pixel. */
TesStatus tes_picture_write(const TesProblem *problem, const TesPictureDesc *desc, const char *path);
/** At the end of a run, also of a run that failed: pictures whose colours, arrows or frame do not span the whole run
 *  are written again, from a record of what they show, 88 bytes per triangle in one temporary file of at most 2 GiB;
 *  the last picture is as it was. Then all have one range of colours, one frame and one size. *run <- NULL. Every rank
 *  calls it. Where there was no room for a record a picture stays as it is. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_pictures_finish(TesPictures **run);
/** Writes a film as animated PNG, which browsers play: pictures[count] are PNG files of tes_picture_write() of one
 *  size, in their order, ten a second, again and again. They are not compressed anew, so that it costs as much as
 *  copying them. Errors: TES_INVALID_INPUT (no picture, a file that is none, pictures of several sizes), TES_IO. */
TesStatus tes_film_write(TesContext *context, int count, const char *const *pictures, const char *path);

/** A line of a figure through points in the order of x, with a mark at each point. Points that are not finite, or not
 *  positive on a logarithmic axis, are left out. Lines of one `colour`, a number from 0, belong together. */
typedef struct TesFigureLine {
  const char *name; /**< in the legend */
  int points, colour;
  const double *x, *y; /**< [points] */
  bool dashed;         /**< without marks: a bound, or values of others */
  bool hollow;         /**< with marks, which are not filled */
  bool plain;          /**< without marks, for many points */
  const char *note;    /**< a few letters after its last point; NULL: none */
} TesFigureLine;
/** Lines over axes. */
typedef struct TesFigurePanel {
  const char *title;             /**< above the panel; NULL: none, of a panel alone */
  const char *x_label, *y_label; /**< y_label NULL: none */
  const TesFigureLine *line;
  int lines;
  bool log_x, log_y;
  bool free_y; /**< else a linear y begins at 0, or below where values are negative */
} TesFigurePanel;
/** One panel without a title fills the page. Several panels, or one with a title, are small, two or three per row.
 *  Lines have the same name and colour in all of them, and one legend. */
typedef struct TesFigureDesc {
  const char *title, *subtitle; /**< subtitle NULL: none */
  int panels;
  const TesFigurePanel *panel;
} TesFigureDesc;
/** Writes a figure as SVG; or, if the name of the file ends in .pdf, as PDF. Every rank calls it; rank 0 draws, and
 *  what other ranks describe is not read. Errors: TES_INVALID_INPUT (no number to draw), TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_figure_write(TesContext *context, const TesFigureDesc *figure, const char *path);

#ifdef __cplusplus
}
#endif
#endif
