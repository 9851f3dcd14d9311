/** \file mesh.h
 *  Meshes: quadrilaterals or hexahedra in space, with numbers and names for boundaries and materials.
 *  Three kinds, one noun:
 *
 *  - box: a tensor-product grid, cells[d] intervals in direction d with any spacing. Nothing is stored per cell:
 *  operators, smoothers and transfers compute indices, which is fastest. Cells are numbered lexicographically, x
 *    fastest, then y, then z.
 *  - forest: a coarse mesh of trees (a built-in domain, a Gmsh file, or arrays), whose cells are refined locally by
 *  halving in all directions. Neighbours across faces, edges and corners differ by one level at most (2:1 balance); a
 *  face or edge between two levels hangs. Cells are numbered tree by tree and along the Morton curve in
 *    each tree: the 2^dim children of a cell are consecutive, x fastest. Trees may stand in any positive orientation
 *    to each other, so "left" of a cell may meet "top" of its neighbour. Made by the library p4est (Burstedde,
 *    Wilcox, Ghattas: p4est, SIAM J. Sci. Comput. 33, 2011), an optional part of a build and GPL-2+: TES_MISSING
 *    without it. If the program has not initialised MPI, the first forest does, and MPI is finalised at exit.
 *  - cells: any set of cells, which can be neither refined nor coarsened: deformed boxes, and trees in a build without
 *  p4est.
 *
 *  Faces of a cell are numbered as in TesFace, vertices by bits (bit 0: x, bit 1: y, bit 2: z).
 *  Meshes are immutable and reference-counted: refinement and coarsening make new ones, which share the coarse mesh.
 */
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include <stdbool.h>
#include "function.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesMesh TesMesh;

/** Faces of a cell and of a box: x = lower, x = upper, y = lower, ... In 2D the last two do not exist. */
typedef enum TesFace { TES_LEFT, TES_RIGHT, TES_BOTTOM, TES_TOP, TES_BACK, TES_FRONT } TesFace;

/** auto: kind box for a box that is not periodic, not deformed and not locally refined; kind cells for a deformed box,
 *  and in a build without p4est if nothing is refined; else forest. A periodic box of kind box serves all elements,
 *  continuous elements up to degree 8. */
typedef enum TesMeshKind { TES_MESH_AUTO, TES_MESH_BOX, TES_MESH_FOREST, TES_MESH_CELLS } TesMeshKind;

/** Where the coarse mesh comes from. Names of boundaries in brackets, in the order of their numbers. */
typedef enum TesDomain {
  TES_DOMAIN_BOX,     /**< rectangle or cuboid [left right bottom top (back front)] */
  TES_DOMAIN_BALL,    /**< disk of 5, ball of 7 trees [surface] */
  TES_DOMAIN_SHELL,   /**< ring of 8, spherical shell of 6 trees [inner outer] */
  TES_DOMAIN_L_SHAPE, /**< (-1, 1)^2 without [0, 1] x [-1, 0]; in 3D times (0, 1) [outer notch (back front)] */
  TES_DOMAIN_FICHERA, /**< (-1, 1)^3 without [0, 1]^3; in 2D (-1, 1)^2 without [0, 1]^2 [outer notch] */
  TES_DOMAIN_CHANNEL, /**< channel round a cylinder along z [inflow outflow walls cylinder] */
  TES_DOMAIN_FILE,    /**< a Gmsh file; its physical groups name boundaries and materials */
  TES_DOMAIN_CELLS    /**< arrays */
} TesDomain;

/** A coarse mesh by arrays. */
/** An edge (3D) or a corner of a tree, or a face that two trees share. at = t_x + 3 t_y + 9 t_z, where t_d is 0 on the
 *  lower side in direction d, 2 on the upper side and 1 if the part extends along d. A face that its other tree lists
 *  too has at + 27 in one of the two entries. */
typedef struct TesTreePart {
  int32_t tree, at, boundary;
} TesTreePart;

typedef struct TesCellsDesc {
  int64_t trees;
  int degree; /**< degree m of the map Q_m of each tree, 1..8; 0 means 1 */
  /** [trees][(m+1)^dim][dim] at the Gauss-Lobatto points of degree m, x fastest; m = 1: the vertices. Copied. */
  const double *nodes;
  const int32_t *vertices; /**< [trees][2^dim] numbers of the vertices; trees that share a vertex give the same
                            *   number */
  const int32_t *boundary; /**< [trees][2 dim] number of the face's name, -1: none; NULL: no face has one */
  int boundaries;
  const char *const *boundary_names; /**< [boundaries] */
  /** Groups of edges and corners, where supports of elasticity hold, and of inner faces; such boundaries have no face
   *  on the hull. All trees that have a part should list it. Inner faces with a number in `boundary` become parts. */
  int64_t parts;
  const TesTreePart *part; /**< [parts] in any order; copied */
  const int32_t *material; /**< [trees] number of the tree's name, -1: none; NULL: no tree has one */
  int materials;
  const char *const *material_names; /**< [materials] */
} TesCellsDesc;

/** Zero means default everywhere. Curved boundaries of the built-in domains are exact under refinement. */
typedef struct TesMeshDesc {
  TesDomain domain;
  TesMeshKind kind;
  int dim; /**< 2 or 3; 0 means 3, or the dimension of the file */
  /** number of uniform refinements: of trees 0..29 (2D), 0..18 (3D); a mesh of kind box gets twice the cells per
   *  direction each time */
  int refine;
  /** Forests: after `refine`, cells in which the function is positive at a vertex or at the centre are halved,
   *  refine_times times (0 means 1). NULL: none. */
  const TesFunction *refine_where;
  int refine_times;
  /** Box: cells per direction (kind box: at least 1; trees of a forest: 0 means 1), corners (both 0: 0 and 1), and the
   *  directions in which the box is periodic. */
  int cells[3];
  double lower[3], upper[3];
  bool periodic[3];
  /** Kinds box and cells: vertex coordinates [cells[d] + 1] of direction d, strictly ascending; NULL: equal cells
   *  from lower to upper.
   *  When given, lower[d] and upper[d] are ignored. Copied. */
  const double *coordinates[3];
  /** Kind box on several ranks: how many of them there are along each direction, which is cut into as many parts; their
   *  product is the number of ranks. All 0: the last direction alone is cut. Other than the last direction is cut for
   *  poisson with element q. */
  int ranks_along[3];
  /** Ball, shell: centre, radius (0 means 1), inner radius of the shell (0 means half the radius). */
  double centre[3], radius, inner_radius;
  /** Channel (0, length) x (0, height) (x (0, height)) with defaults 2.2 (3D: 2.5) and 0.41. The axis of the cylinder
   *  is at (0.2, 0.2) (3D: (0.5, 0.2)), its radius is 0.05: the benchmark of Schaefer and Turek (1996). */
  double length, height, cylinder[2], cylinder_radius;
  const char *file; /**< of TES_DOMAIN_FILE */
  /** All cells of the file, of degree 1 or 2, are split at the middles of edges, faces and cells: triangles become 3
   *  quadrilaterals, tetrahedra 4 hexahedra, prisms 6, hexahedra 8. If the file has pyramids, all cells become
   *  tetrahedra first. */
  bool split;
  bool file_periodic; /**< faces that the file's $Periodic section pairs are identified */
  /** Named groups of curves (3D) and points of the file are boundaries without faces, where elasticity has supports.
   *  If a group of faces has the same name, the group is left out with a message. */
  bool file_groups;
  const TesCellsDesc *trees; /**< of TES_DOMAIN_CELLS; copied */
  const char *rest; /**< name for faces of the boundary that have none, e.g. "rest"; NULL: they stay without a name */
  /** Degree m of the polynomials Q_m that describe a forest's cells. Q_m interpolates the map of the tree at the
   *  Gauss-Lobatto points of each cell. On a hanging face or edge the polynomial of the coarse side is used for both
   *  sides. 1..8;
   *  0 means 2. */
  int geometry_degree;
  /** Kind cells: the box is deformed. Inner vertices are moved by up to this fraction of the smallest edge in each
   *  direction; 0..0.49 (from 0.3 on cells may be inverted; they are found and refused). */
  double perturbation;
  uint64_t seed; /**< of the perturbation */
  /** Map of the domain, x_d <- map[d](x, y, z); all of the first dim functions are given, or none (NULL). Forests: the
   *  map is applied to the points of the trees, at every refinement, and cells are polynomials of degree
   *  geometry_degree. Expressions and callbacks are allowed. Kind cells: the map is applied after the perturbation.
   *  With geometry_degree 0 the cells have the map itself, which must be an expression, since its derivatives are
   *  needed; with m >= 1 they have the polynomial Q_m through its values, and callbacks are allowed. */
  const TesFunction *map[3];
  /** Forests of a box that stand for a mesh of kind box: files for ParaView are as of kind box, without the field
   *  `level`. */
  bool as_grid;
  uint64_t shuffle; /**< not 0: seed of a random order of the cells */
} TesMeshDesc;

/** Makes the mesh. Gmsh files: formats 1, 2.0 to 2.2, 4.0 and 4.1, ASCII or binary; quadrilaterals and hexahedra, up to
 *  degree 8 or serendipity of degree 2; with `split` triangles, tetrahedra, prisms, pyramids too. Errors:
 *  TES_INVALID_INPUT (arguments; coordinates that do not ascend: the index is named; a kind that cannot
 *  have what is asked: the reason; a file that is damaged or holds what is not allowed: file, line or element, what
 *  was found and what is allowed; cells that are inverted or degenerate: the first, with the point and |J| there),
 *  TES_NAN, TES_IO, TES_OUT_OF_MEMORY (found before the allocation; the message gives GiB), TES_MISSING (a forest in a
 *  build
 *  without p4est). */
TesStatus tes_mesh_create(TesContext *context, const TesMeshDesc *desc, TesMesh **mesh);
void tes_mesh_destroy(TesMesh **mesh);

/** The next coarser mesh. Box: every second vertex of a direction is left out. If the number of cells is odd, the last
 *  cell stays as it is if it is at least as wide as its neighbour; else the last coarse cell covers three cells. So 2^l
 *  cells coarsen to 2 (one vertex patch, for which the patch smoother is exact) and any number to 2 or 3. If the cells
 *  are equal, the last coarse cell has between 1/2 and 3/2 of the width of the others. A direction is coarsened if it
 *  has more than 3 cells and its mean width is at most 1.5 times the smallest mean width among such directions:
 *  stretched cells become nearly square before all directions are coarsened together. Forest: every family becomes its
 *  parent where the balance allows; the forest keeps the result, and later calls give it again. *coarse is NULL (with
 *  TES_OK) when nothing can be coarsened. */
TesStatus tes_mesh_coarsen(const TesMesh *mesh, TesMesh **coarse);
/** Forests: cells with a mark > 0 are refined once; families (all 2^dim children of a cell) whose marks are all < 0
 *  become their parent; then the 2:1 balance refines further cells. mark[cells]. A new cell is the same as a cell of
 *  the old mesh, one level finer or one level coarser. Errors as above, TES_INVALID_INPUT for other kinds; the largest
 *  memory that the new mesh can need is computed first. All ranks call it, and keep the descendants of their cells. */
TesStatus tes_mesh_adapt(const TesMesh *mesh, const int8_t *mark, TesMesh **adapted);

/** How a cell of a forest `to` came from a forest `from`. */
typedef enum TesKinship {
  TES_KIN_SAME,  /**< it is cell `from` */
  TES_KIN_CHILD, /**< it is child number `child` of cell `from` */
  TES_KIN_PARENT /**< its children are the cells from .. from + 2^dim - 1 */
} TesKinship;
typedef struct TesRelation {
  int32_t from;
  int8_t kinship; /**< TesKinship */
  int8_t child;   /**< bit d: upper half in direction d; 0 unless TES_KIN_CHILD */
} TesRelation;
/** relation[cells of `to`], caller's. Errors: TES_INVALID_INPUT (no forests, other coarse meshes, more than
 * one level between them). */
TesStatus tes_mesh_relate(const TesMesh *from, const TesMesh *to, TesRelation *relation);

/** Numbers of cells and coordinates of a mesh. Arrays are owned by the mesh. */
typedef struct TesMeshInfo {
  TesMeshKind kind;             /**< never auto */
  int dim;                      /**< 2 or 3 */
  int64_t cells, trees;         /**< cells of the mesh and of the coarse mesh; equal without trees */
  int max_level;                /**< level of the finest cell; 0: the trees */
  const int8_t *levels;         /**< [cells]; NULL except for forests */
  int cells_along[3];           /**< kind box: cells in each direction, 1 from dim on; other kinds: 0 */
  const double *coordinates[3]; /**< kind box: coordinates of the vertices, [cells_along[d] + 1]; other kinds: NULL */
  int64_t all_cells;            /**< cells of all ranks; the other numbers are this rank's, but for: */
  int all_along[3];             /**< kind box: cells of all ranks in each direction; other kinds: 0 */
  int ranks_along[3]; /**< kind box: the parts into which ranks cut each direction; other kinds: 0 */
} TesMeshInfo;
TesMeshInfo tes_mesh_info(const TesMesh *mesh);

/** Boundaries and materials have numbers and names; faces and cells without a name have number -1 - no name. Leaves
 *  inherit from their tree. A box has the boundaries left right bottom top (back front), in the order of TesFace,
 *  and no materials. */
int tes_mesh_boundaries(const TesMesh *mesh);
const char *tes_mesh_boundary_name(const TesMesh *mesh, int boundary);
int tes_mesh_materials(const TesMesh *mesh);
const char *tes_mesh_material_name(const TesMesh *mesh, int material);
/** Number of a name; TES_INVALID_INPUT, with the known names in the message, if there is none. */
TesStatus tes_mesh_find_boundary(const TesMesh *mesh, const char *name, int *boundary);
TesStatus tes_mesh_find_material(const TesMesh *mesh, const char *name, int *material);
/** Whether face `face` of the cell lies on the boundary, and the number of its name (may be NULL; -1: none). */
bool tes_mesh_on_boundary(const TesMesh *mesh, int64_t cell, int face, int *boundary);
int tes_mesh_material(const TesMesh *mesh, int64_t cell);

/** The point F_K(xi) of each of n reference points [n][dim] in [0, 1]^dim of cell K, to x[n][dim]; J (may be NULL):
 *  [n][dim][dim], J[r][c] = d x_r / d xi_c. Errors: TES_INVALID_INPUT (no such cell), and the errors of
 *  tes_mesh_create(), since the geometry of a forest is computed at the first call. */
TesStatus tes_mesh_evaluate(const TesMesh *mesh, int64_t cell, int n, const double *xi, double *x, double *J);
/** For n points x[n][dim]: the cell that contains each point, -1: none, and its reference coordinates xi[n][dim] in the
 *  cell (may be NULL; NaN outside), for which tes_mesh_evaluate() returns the point. A point on a face, an edge or a
 *  vertex gets the cell with the smallest number; a point outside by at most 1e-9 of a cell's length counts as on it.
 *  Kind box: by
 *  bisection. Other kinds: one pass over all cells serves all points, and Newton's method solves F_K(xi) = x in
 *  cells near a point; so ask for many points at once. Errors: TES_INVALID_INPUT (a point that is not finite), and
 *  the errors of tes_mesh_create(). */
TesStatus tes_mesh_locate(const TesMesh *mesh, int64_t n, const double *x, int64_t *cell, double *xi);

#ifdef __cplusplus
}
#endif
#endif
