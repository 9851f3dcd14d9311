/* A picture: what its scene spans, and how it is drawn, which may be done once more from a record of its scene. */
#ifndef TESI_PICTURE_H
#define TESI_PICTURE_H

#include "io/picture/arrows.h"
#include "io/picture/scene.h"
#include "tessera/output.h"

/* What a scene spans in the picture's plane, and its values. */
typedef struct TesiExtent {
  double low[2], high[2], value[2];
  TesiCorner at[2]; /* of the least and the largest value */
  TesiArrowSize arrows;
  bool any;
} TesiExtent;

extern const TesiExtent tesi_extent_of_nothing;
void tesi_extent_add(TesiExtent *extent, const TesiExtent *other);

/* All that a picture shows beside its scene. */
typedef struct TesiPictureFrame {
  TesPictureDesc desc; /* without texts and run */
  bool flat;           /* it lies in the plane: with axes */
  bool arrows;
  char title[200], of[64];
} TesiPictureFrame;

/* Where triangles and lines come from; detail: as TesiScene. */
typedef struct TesiPictureSource {
  TesStatus (*draw)(void *user, double detail, const TesiSceneSink *sink);
  void *user;
} TesiPictureSource;

/* Draws what is in `extent`, whose values the colours go over, and writes the file. Every rank calls it. */
TesStatus tesi_picture_draw(TesContext *ctx, const TesiPictureFrame *frame, const TesiExtent *extent,
                            const TesiPictureSource *source, const char *path);

/* *pictures (made where it is NULL) <- a picture of this extent, which is about to be drawn from *source; *extent <-
 * the extent of all of them so far, and *source <- a source that keeps a record as well. (pictures.c) */
TesStatus tesi_pictures_add(TesContext *ctx, TesPictures **pictures, const TesiPictureFrame *frame,
                            TesiExtent *extent, TesiPictureSource *source, const char *path);

#endif
