/* Spaces as the other folders see them. */
#ifndef TESI_SPACE_H
#define TESI_SPACE_H

#include "mesh/mesh.h"
#include "tessera/space.h"

/* One direction of a tensor-product space: all that 1D kernels need. */
typedef struct TesiAxis {
  int degree, cells, nodes; /* nodes = cells * degree + 1; in directions that do not exist: 0, 1, 1 */
  bool natural[2];          /* at the lower and upper end: free, not Dirichlet */
  bool uniform;             /* all cells equally wide, up to round-off of the coordinates */
  double *h;                /* [cells] widths */
  double *x;                /* [nodes] coordinates of the nodes */
} TesiAxis;

struct TesSpace {
  atomic_int references;
  TesContext *context;
  TesMesh *mesh;
  int dim, degree;
  TesiAxis axis[3];
  int64_t length, dofs;
};

TesSpace *tesi_space_retain(const TesSpace *space);
/* First and one-past-last node of an axis that is an unknown. */
static inline int tesi_axis_first(const TesiAxis *axis) {
  return axis->natural[0] ? 0 : 1;
}
static inline int tesi_axis_end(const TesiAxis *axis) {
  return axis->natural[1] ? axis->nodes : axis->nodes - 1;
}

#endif
