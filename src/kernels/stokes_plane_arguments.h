/* Arguments of stokes_plane.cu, by value and in memory; the host includes this text too. */
#ifndef TESK_STOKES_PLANE_ARGUMENTS_H
#define TESK_STOKES_PLANE_ARGUMENTS_H

#include "stokes_arguments.h"

typedef struct TeskPlane {
  TeskParts parts;
  int cells[2], periodic[2];
  double alpha;
  int kinds[2];          /* of intervals of a direction */
  const void *tables[2]; /* real: theirs */
} TeskPlane;

enum { TESK_PLANE_CLOSED = 1, TESK_PLANE_SPLIT_X = 2, TESK_PLANE_SPLIT_Y = 4 };

/* A patch. inverse: S^+ [columns of a row's parity block][rows], rows (mode of x, mode of y); NULL: S^+ is
 * missing. */
typedef struct TeskPlanePatch {
  const void *inverse;
  int vertex[2], kind[2], flags, unused;
} TeskPlanePatch;

/* Patches of a colour, and per direction the cells that no patch has: ranges of lists. */
typedef struct TeskPlaneColour {
  int first, patches, rest[2], rests[2];
} TeskPlaneColour;

typedef struct TeskPlaneLists {
  const TeskPlanePatch *patches;
  const TeskPlaneColour *colours;
  const int *rest;
  int first, step, count; /* colours of a launch: first, first + step, .. */
  int blocks;             /* blocks of patches; the blocks behind them copy */
} TeskPlaneLists;

#endif
