/* Cells of meshes of any kind one by one over the cell view, basis functions point by point: for load_ref.c and
 * norms_ref.c. The batches are not used. */
#ifndef TESI_FUNCTIONAL_REF_H
#define TESI_FUNCTIONAL_REF_H

#include "functional/functional.h"

enum { TESI_PLAIN_NODES = TESI_MAX_POINTS * TESI_MAX_POINTS * 16 };

typedef struct TesiPlain {
  const TesSpace *space;
  const TesiCellView *view;
  int dim, n, q, nodes, points; /* of a cell */
  int64_t cells;
  double node[TESI_MAX_POINTS], point[TESI_MAX_POINTS], weight[TESI_MAX_POINTS];
} TesiPlain;

/* Coordinates, weight with |J|, of faces the outer unit normal, d xi_c / d x_r, all basis functions and their
 * derivatives in space. */
typedef struct TesiPlainPoint {
  double x[3], weight, normal[3], inverse[3][3], phi[TESI_PLAIN_NODES], slope[3][TESI_PLAIN_NODES];
} TesiPlainPoint;

TesStatus tesi_plain_init(const TesSpace *space, int q, TesiPlain *plain);
/* Point p of a cell or (face >= 0) of its face. */
TesStatus tesi_plain_point(const TesiPlain *plain, int64_t cell, int face, int p, TesiPlainPoint *at);

#endif
