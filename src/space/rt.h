/* Raviart-Thomas spaces over a box, velocity and pressure: RT_k x Q_k, as 1D axes.
 *
 * Component i of the velocity is continuous of degree k + 1 in direction i (nodes) and discontinuous of degree k in
 * the others (modes); the pressure is discontinuous of degree k in all. n = k + 1. In each direction
 *   nodes: Gauss-Lobatto nodes of all cells, n cells + 1, or n cells on a ring, where the last node is the first;
 *   modes: Legendre polynomials, orthonormal on the cell of width h, number c n + j: l_j(x) = sqrt((2 j + 1) / h)
 *   P_j, so that their mass matrix is 1.
 * A vector holds the components, then the pressure, each lexicographic, x fastest. */
#ifndef TESI_RT_H
#define TESI_RT_H

#include "mesh/mesh.h"

typedef struct TesiRtAxis {
  int cells, n, nodes, modes; /* all 1 in directions that do not exist */
  bool periodic;
  bool normal[2],
      tangential[2]; /* at the lower and upper end: the normal component is known there, the others are (weakly) */
  double *h;         /* [cells] widths; equal cells have the same to the last bit */
  const double *x; /* [cells + 1] of the mesh */
} TesiRtAxis;

enum { TESI_RT_PARTS = 4 };

typedef struct TesiRt {
  int dim, n, parts; /* parts: dim components, and the pressure */
  bool scalar; /* element dg: the components have no entries, and the unknown stands where the pressure does */
  TesiRtAxis axis[3];
  int extent[TESI_RT_PARTS][3];
  int64_t offset[TESI_RT_PARTS + 1];
} TesiRt;

/* given[2 * dim]: bit 0, the normal component is known at this face; bit 1, the tangential ones; scalar: bit 0, the
 * unknown, which is then "tangential". */
TesStatus tesi_rt_create(TesContext *ctx, const TesMesh *mesh, int degree, const uint8_t *given, bool scalar,
                         TesiRt **rt);
void tesi_rt_destroy(TesContext *ctx, TesiRt **rt);
/* Unknowns: all entries but known nodes, minus nothing for the constant of the pressure. */
int64_t tesi_rt_dofs(const TesiRt *rt);
static inline int64_t tesi_rt_size(const TesiRt *rt, int part) {
  return rt->offset[part + 1] - rt->offset[part];
}
/* First node of an axis that is an unknown, and one past the last. */
static inline int tesi_rt_first(const TesiRtAxis *a) {
  return !a->periodic && a->normal[0] ? 1 : 0;
}
static inline int tesi_rt_end(const TesiRtAxis *a) {
  return !a->periodic && a->normal[1] ? a->nodes - 1 : a->nodes;
}
/* Node i of cell c. */
static inline int tesi_rt_node(const TesiRtAxis *a, int c, int i) {
  return (c * a->n + i) % (a->periodic ? a->nodes : a->nodes + 1);
}
/* Whether nothing fixes the constant of the pressure: the normal component is known on all faces. */
bool tesi_rt_closed(const TesiRt *rt);
/* Whether some node is known. */
bool tesi_rt_knows(const TesiRt *rt);
/* v <- 0 at known nodes; host array over the whole space. */
void tesi_rt_clear(const TesiRt *rt, double *v);

/* v <- u, of another degree over the same cells: nodal values in the components' own directions, elsewhere the first
 * modes; host arrays. Divergence-free u stay so where the degree does not fall. */
TesStatus tesi_rt_carry(TesContext *ctx, const TesiRt *from, const double *u, const TesiRt *to, double *v);

/* Values out[n] of the Legendre basis of a cell of width h at t in [0, 1], and derivatives (may be NULL). */
void tesi_rt_legendre(int n, double h, double t, double *out, double *derivative);

#endif
