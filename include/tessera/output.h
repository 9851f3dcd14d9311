/** \file output.h
 *  Files for people and scripts beside VTU: the solution along a line as CSV, and pictures. */
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
 *  from the beginning, then a line a point. Fields are left empty where the line runs outside of the mesh; a point
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
/** Before time is spent: whether a picture can be written to this file (NULL: none is wanted). Errors: TES_MISSING,
 * TES_IO. */
TesStatus tes_picture_check(TesContext *context, const char *path);
/** Writes a picture as PNG: the field in the plane or on the surface, with a colour bar, axes, a title, and points at
 *  its least value (white) and its largest (black).
 *  Cells are divided until a piece is a few pixels long, so that high degrees and curved cells look as they are; what
 *  is hidden is found sample by sample, nine per pixel. Values that are not finite are grey. Errors: TES_INVALID_INPUT
 *  (an expression that is none, a cut that misses the mesh, warp of a problem without displacement), TES_NAN (no value
 *  is finite), TES_MISSING (a build without libpng), TES_IO. Memory: some 70 bytes per pixel. */
TesStatus tes_picture_write(const TesProblem *problem, const TesPictureDesc *desc, const char *path);
/** At the end of a run, also of a run that failed: pictures whose colours, arrows or frame do not span the whole run
 *  are written again, from a record of what they show, 88 bytes per triangle in one temporary file of at most 2 GiB;
 *  the last picture is as it was. Then all have one range of colours, one frame and one size. *run <- NULL. Every rank
 *  calls it. Where there was no room for a record a picture stays as it is. Errors: TES_IO, TES_OUT_OF_MEMORY. */
TesStatus tes_pictures_finish(TesPictures **run);
/** Writes a film as animated PNG, which browsers play: pictures[count] are files of tes_picture_write() of one size, in
 *  their order, ten a second, again and again. They are not compressed anew, so that it costs as much as copying them.
 *  Errors: TES_INVALID_INPUT (no picture, a file that is none, pictures of several sizes), TES_IO. */
TesStatus tes_film_write(TesContext *context, int count, const char *const *pictures, const char *path);

#ifdef __cplusplus
}
#endif
#endif
