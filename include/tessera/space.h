/** \file space.h
 *  Finite element spaces: continuous Q_k on Gauss-Lobatto nodes over a mesh of any kind, of one or several
 *  components, and products of them.
 *
 *  A vector of a space holds one value per node and component, Dirichlet nodes included. Entries at Dirichlet nodes are
 *  zero in every vector that an operator, smoother, transfer or solver gets or gives: boundary values are in a lifting
 *  (functional.h). With these entries all cells are alike, which is worth more than the memory. dofs() counts unknowns
 *  only.
 *
 *  Numbers of nodes: over a box lexicographic, x fastest, nodes(d) = cells(d) * degree + 1 in direction d. A periodic
 *  direction has one node less, since its last node is its first node. Over other meshes nodes are numbered as a loop
 *  over the cells meets them. Periodic faces of a box have no boundary values.
 *  A hanging node is not an unknown. A node belongs to all cells that touch it. A cell with a hanging face or edge
 *  reads the nodes of the coarse side and interpolates (adaptive-matrix-free-ljungkvist-2017, section 3). Reading
 *  cell K, n = k + 1:
 *    1. u[k][j][i] <- x[index[K][k][j][i]], n^dim values. On a hanging face or edge, index names the nodes of the
 *       parent's face or edge, in the orientation of cell K.
 *    2. For direction d = x, y, z: on the lines along d that the mask says (tes_mask_line()),
 *       u <- W[child bit d] u, W[c][i][j] = (basis function j of [0, 1])(point c/2 + node_i / 2).
 *    Then u are the values at the cell's own nodes. Writing is the transpose: W' for d = z, y, x (in any order), then
 *    x[index] += u. A whole line is read and written, with both its ends.
 */
#ifndef TESSERA_SPACE_H
#define TESSERA_SPACE_H

#include <stdbool.h>
#include "mesh.h"
#include "vector.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesSpace TesSpace;

/** The largest number of components of a space; for a product, of all parts together. */
enum { TES_COMPONENTS = 8 };

/** Bits of the mask of a cell; 0: no face and no edge hangs. Only the three faces and the three edges at the outer
 *  corner of a child can hang. The face with normal d lies on the side that child bit d names. The edge along d lies on
 *  the sides that the child bits of the other two directions name. An edge bit is set only where neither face at the
 *  edge hangs. */
typedef enum TesMask {
  TES_MASK_CHILD_X = 1, /**< upper half of the parent in x */
  TES_MASK_CHILD_Y = 2,
  TES_MASK_CHILD_Z = 4,
  TES_MASK_FACE_X = 8, /**< the face with normal x hangs */
  TES_MASK_FACE_Y = 16,
  TES_MASK_FACE_Z = 32,
  TES_MASK_EDGE_X = 64, /**< the edge along x hangs by itself (3D) */
  TES_MASK_EDGE_Y = 128,
  TES_MASK_EDGE_Z = 256
} TesMask;

/** Whether the line of nodes along d is interpolated. `first` and `second`: whether the other two coordinates of the
 *  line (in ascending order of directions) lie on the side where the child touches its parent's boundary. 2D: `second`
 *  (z) is always false. */
static inline bool tes_mask_line(unsigned mask, int d, bool first, bool second) {
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  return (first && (mask >> (3 + e) & 1)) || (second && (mask >> (3 + f) & 1)) ||
         (first && second && (mask >> (6 + d) & 1));
}

/** How nodes are numbered over meshes of kind cells. */
typedef enum TesNumberingOrder {
  TES_NUMBER_BY_CELLS, /**< as a loop over the cells meets them, lexicographic in the cell: runs of `degree`
                             *   nodes */
  TES_NUMBER_LEXICOGRAPHIC, /**< x fastest, then y, then z, over a whole box; only for boxes */
  TES_NUMBER_SHUFFLED       /**< at random */
} TesNumberingOrder;

typedef struct TesNumberingDesc {
  int degree; /**< 1..15 */
  TesNumberingOrder order;
  uint64_t seed;  /**< seed of the shuffled order */
  bool dirichlet; /**< nodes on the boundary (faces of one cell only) are Dirichlet nodes */
} TesNumberingDesc;

typedef enum TesElement {
  TES_ELEMENT_AUTO, /**< q */
  TES_ELEMENT_Q,    /**< continuous Q_k */
  /** Velocity and pressure of flows, Raviart-Thomas RT_k x Q_k, over a box with at least two cells per direction.
   *  Component i of the velocity is continuous of degree k + 1 in direction i (Gauss-Lobatto nodes) and
   *  discontinuous of degree k in the others (Legendre polynomials, orthonormal on each cell), the pressure is
   *  discontinuous of degree k in all directions: the divergence maps the velocities onto the pressures. A vector holds
   *  the components, then the pressure; each lexicographic, x fastest. stokes-multigrid-cui-2025 */
  TES_ELEMENT_RT,
  /** Discontinuous Q_k over a box with at least two cells per direction: in each direction Legendre polynomials,
   *  orthonormal on the cell of width h, sqrt((2 j + 1) / h) P_j, so that the mass matrix is 1. All entries are
   *  unknowns; values on boundaries are given weakly. Number: mode c (k + 1) + j of cell c in each direction, x
   *  fastest. */
  TES_ELEMENT_DG,
  /** For problems only: Q_1-iso-Q_2/Q_1, velocities of Q_1 on the halved cells of a box, pressures of Q_1 on the
   *  box. */
  TES_ELEMENT_ISO
} TesElement;

typedef struct TesSpaceDesc {
  const TesMesh *mesh; /**< a reference is kept */
  int degree; /**< 0 means 4; 1..20 over a box, 1..8 over a forest, 1..15 over cells; rt: 0 means 2, 1..15; dg: 1..15 */
  int components; /**< 0 means 1; 1..6; rt, dg: 0 */
  /** [tes_mesh_boundaries(mesh)], in the order of the mesh's numbers: bit c says whether values of component c are
   *  given there (Dirichlet); for one component 1 means given. Copied. NULL: values of all components are given on the
   *  whole boundary, also on faces without a name. With an array, faces without a name are free (Neumann, Robin). rt:
   *  bit 0, the normal component is given strongly; bit 1, the tangential components are given weakly and remain
   *  unknowns. dg: bit 0, values are given weakly. */
  const uint8_t *given;
  /** [tes_mesh_boundaries(mesh)]: faces on which vectors have no component along the normal. The normal may have any
   *  direction and the face may be curved. For spaces of dim components of element q; copied. NULL: none. In every
   *  vector that an operator, smoother, transfer or solver gets or gives the normal component is zero at the nodes of
   *  these faces. At a node, normals that differ by less than about 30 degrees are replaced by their mean. On an edge
   *  two normal components are removed, at a corner all three. */
  const bool *slips;
  TesElement element;
} TesSpaceDesc;

/** Errors: TES_INVALID_INPUT (degree out of range for this kind of mesh; no unknowns), TES_OUT_OF_MEMORY (found before
 * the allocation; the message gives GiB). */
TesStatus tes_space_create(TesContext *context, const TesSpaceDesc *desc, TesSpace **space);
/** The product of spaces over one mesh, of at most 8 components in all; references to the parts are kept. */
TesStatus tes_space_create_product(TesContext *context, int count, const TesSpace *const *part,
                                   TesSpace **space);
void tes_space_destroy(TesSpace **space);
/** The space of the same degree, components and boundary on the coarsened mesh; NULL with TES_OK when the mesh does
 * not coarsen. */
TesStatus tes_space_coarsen(const TesSpace *space, TesSpace **coarse);

/** Description of the space; the space owns a reference of the mesh. */
const TesMesh *tes_space_mesh(const TesSpace *space);
int tes_space_degree(const TesSpace *space);         /**< product: the degree of part 0 */
TesElement tes_space_element(const TesSpace *space); /**< never auto */
/** Bit c: values of component c are given on boundary number `boundary` (-1: faces without a name). */
unsigned tes_space_given(const TesSpace *space, int boundary);
/** Number of components of element q in all parts, number of parts (rt: components and the pressure), and one part,
 *  owned by the space (NULL: no part has this number, or element rt). */
int tes_space_components(const TesSpace *space);
int tes_space_parts(const TesSpace *space);
const TesSpace *tes_space_part(const TesSpace *space, int part);
/** A view of the entries of one part in a vector of the space, without a copy: writing to the view writes to the
 *  vector. Write to the view only where the vector may be written. Destroy it before the vector. Errors:
 *  TES_INVALID_INPUT. */
TesStatus tes_vector_part(const TesSpace *space, const TesVector *vector, int part, TesVector **view);
/** The length of vectors, and the number of unknowns of all ranks: all nodes but the Dirichlet nodes. */
int64_t tes_space_length(const TesSpace *space);
int64_t tes_space_dofs(const TesSpace *space);
/** Hanging nodes, which other codes count as constrained degrees of freedom: their dofs are length + hanging. */
int64_t tes_space_hanging(const TesSpace *space);
/** Over a box, one component: nodes in direction d, Dirichlet nodes included; 1 for d >= dim. Else: 0. */
int tes_space_nodes_along(const TesSpace *space, int d);
/** The cells' nodes of a space of one component: *index is [cells][n^dim], x fastest, -1 - node for Dirichlet
 *  nodes; *mask (may be NULL) [cells] of TesMask. Owned by the space; over a box they are made at the first call
 *  (TES_OUT_OF_MEMORY). */
TesStatus tes_space_index(const TesSpace *space, const int32_t **index, const uint16_t **mask);

/** Coordinates of the nodes: x[length][dim]. Errors: TES_OUT_OF_MEMORY. */
TesStatus tes_space_coordinates(const TesSpace *space, double *x);
/** u <- values of function[components] (a NULL component is zero) at the nodes. Errors: TES_NAN, TES_OUT_OF_MEMORY,
 *  TES_INVALID_INPUT (a vector of another length). */
TesStatus tes_space_interpolate(const TesSpace *space, const TesFunction *const *function, TesVector *u);
/** v <- u, a function of `from`, at the nodes of `to`, which has as many components; vectors are float64. Degrees
 *  may differ. The meshes are the same; or two boxes with the same corners; or two forests with the same coarse mesh,
 *  whose cells differ by at most one level. The result is exact where cells are the same or finer, and interpolated
 *  where they are coarser. Errors: TES_INVALID_INPUT (other meshes), TES_OUT_OF_MEMORY. */
TesStatus tes_space_carry(const TesSpace *from, const TesVector *u, const TesSpace *to, TesVector *v);

#ifdef __cplusplus
}
#endif
#endif
