/* A picture: the extent of its scene, and the drawing. A picture may be drawn again from a record of its scene. */
#ifndef TESI_PICTURE_H
#define TESI_PICTURE_H

#include "io/picture/arrows.h"
#include "io/picture/scene.h"
#include "tessera/output.h"

/* The range of a scene in the picture's plane, and of its values. */
typedef struct TesiExtent {
  double low[2], high[2], value[2];
  TesiCorner at[2]; /* places of the smallest and largest value */
  TesiArrowSize arrows;
  bool any;
} TesiExtent;

extern const TesiExtent tesi_extent_of_nothing;
void tesi_extent_add(TesiExtent *extent, const TesiExtent *other);

/* Everything in a picture besides its scene. */
typedef struct TesiPictureFrame {
  TesPictureDesc desc; /* without texts and without `run` */
  bool flat;           /* the mesh lies in the plane: the picture has axes */
  bool arrows;
  char title[200], of[64], unit[24];
} TesiPictureFrame;

/* A source of triangles and lines; detail: as in TesiScene. */
typedef struct TesiPictureSource {
  TesStatus (*draw)(void *user, double detail, const TesiSceneSink *sink);
  void *user;
} TesiPictureSource;

/* Draws the scene within `extent`, whose values the colours cover, and writes the file. Every rank calls it. */
TesStatus tesi_picture_draw(TesContext *ctx, const TesiPictureFrame *frame, const TesiExtent *extent,
                            const TesiPictureSource *source, const char *path);

/* To be called before a picture of this extent is drawn from *source (pictures.c). *pictures (made if it is NULL)
 * gets the picture. *extent <- the extent of all pictures so far. *source <- a source that also records the scene. */
TesStatus tesi_pictures_add(TesContext *ctx, TesPictures **pictures, const TesiPictureFrame *frame,
                            TesiExtent *extent, TesiPictureSource *source, const char *path);

#endif
