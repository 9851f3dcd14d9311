/* What the kernels of Stokes get by value; the host includes this text too. */
#ifndef TESK_SADDLE_ARGUMENTS_H
#define TESK_SADDLE_ARGUMENTS_H

#include "band_arguments.h"

/* Parts of a vector: dim components, then the pressure; each [z][y][x]. */
typedef struct TeskParts {
  int dim, extent[4][3];
  long long offset[5];
} TeskParts;

typedef struct TeskSaddle {
  TeskParts parts;
  double nu, alpha;
  TeskBand stiffness[3], mass[3], penalty[3], derivative[3], transposed[3]; /* by direction */
} TeskSaddle;

/* An interval of a direction: its nodes from `first` on, its modes, and numbers (real), row-major, one after the
 * other: Zc [nodes][nodes] (node, mode), Zd [modes][modes], G [modes][nodes], lc [nodes], ld [modes]
 * (src/operator/saddle/saddle_local.h). */
typedef struct TeskSaddleKind {
  const void *numbers;
  int nodes, modes, first, unused;
} TeskSaddleKind;

/* The cells round a vertex, or the whole box (vertex 0). */
typedef struct TeskSaddlePatch {
  const void *inverse; /* real: S^+, symmetric */
  int vertex[3], kind[3];
} TeskSaddlePatch;

typedef struct TeskSaddlePatches {
  TeskParts parts;
  int n, nodes[3], modes[3]; /* of the whole axes: on rings entries go on at the beginning */
  int most;                  /* numbers of the largest part of a patch */
  double nu, alpha;
  const TeskSaddleKind *kind[3];
} TeskSaddlePatches;

/* One direction of an embedding or its transpose, of all parts. */
typedef struct TeskRtPass {
  TeskParts from, to;
  TeskBand nodes, modes;
  int direction, unused;
} TeskRtPass;

#endif
