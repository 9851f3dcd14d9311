/* The scene of a picture, as triangles and lines: a plane mesh, the surface of a mesh in space, or a cut through it. */
#ifndef TESI_SCENE_H
#define TESI_SCENE_H

#include "functional/fields.h"
#include "io/picture/canvas.h"

/* A point in the picture's plane. depth: towards the eye. light: from 0 to 1. */
typedef struct TesiSceneSink {
  void (*triangle)(void *user, const TesiCorner corner[3]);
  void (*line)(void *user, const TesiCorner *from, const TesiCorner *to);
  void *user;
} TesiSceneSink;

typedef struct TesiScene {
  const TesiQuantity *quantity;
  const TesMesh *mesh;
  int slice; /* 0: none; 1 + direction */
  double at;
  bool edges;
  double detail; /* length of the shortest pieces worth drawing, in the picture's plane; 0: few pieces, enough to find
                  * the extent */
  double warp;                         /* points are drawn at x + warp (their displacement); 0: at x */
  const TesiQuantity *displacement[3]; /* [dim], with warp */
  const TesiQuantity *vector[3];       /* [dim], vector field for arrows; NULL: none */
} TesiScene;

/* Passes all triangles and lines of the scene to the sink, once. */
TesStatus tesi_scene_draw(const TesiScene *scene, const TesiSceneSink *sink);

#endif
