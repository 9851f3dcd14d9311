/** \file forest.h
 *  Forests: locally refined meshes of quadrilaterals or hexahedra. A coarse mesh of trees (a built-in domain, a Gmsh file, or
 *  arrays) whose cells are halved in all directions where that is wanted. Neighbours over faces, edges and corners
 *  differ by one level at most (2:1 balance); a face or edge between two levels hangs.
 *
 *  Cells are numbered tree by tree and along the Morton curve in each tree: the 2^dim children of a cell are consecutive, x
 *  fastest. Faces of a cell are numbered as TesFace does (left, right, bottom, top, back, front), vertices by bits (bit 0: x).
 *  Trees may stand in any positive orientation to each other, so "left" of a cell may meet "top" of its neighbour.
 *
 *  Forests are immutable and reference-counted: refinement and coarsening make new ones, which share the coarse mesh.
 *  They are one rank's, and made by the library p4est (Burstedde, Wilcox, Ghattas: p4est, SIAM J. Sci. Comput. 33, 2011), an optional part
 *  of a build and GPL-2+: without it every function that makes a forest returns TES_MISSING. MPI is initialised with
 *  the first forest when the program has not done so, and then finalised at exit.
 */
#ifndef TESSERA_FOREST_H
#define TESSERA_FOREST_H

#include <stdbool.h>
#include "geometry.h"
#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TesForest TesForest;

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
typedef struct TesCellsDesc {
  int64_t trees;
  int degree; /**< m of the trees' map Q_m, 1..8; 0 means 1 */
  /** [trees][(m+1)^dim][dim] at the Gauss-Lobatto points of degree m, x fastest, as in TesGeometryDesc. */
  const double *nodes;
  const int32_t *vertices; /**< [trees][2^dim] numbers of the vertices, the same for the same vertex */
  const int32_t *boundary; /**< [trees][2 dim] number of the face's name, -1: none; NULL: no face has one */
  int boundaries;
  const char *const *boundary_names; /**< [boundaries] */
  const int32_t *material; /**< [trees] number of the tree's name, -1: none; NULL: no tree has one */
  int materials;
  const char *const *material_names; /**< [materials] */
} TesCellsDesc;

/** Zero means default everywhere. Curved boundaries of the built-in domains are exact under refinement. */
typedef struct TesForestDesc {
  TesDomain domain;
  int dim;   /**< 2 or 3; 0 means 3, or what the file has */
  int level; /**< uniform refinements of all trees, 0..29 (2D), 0..18 (3D) */
  /** Box: trees a direction (0 means 1), corners (both 0: 0 and 1), directions in which it is periodic. */
  int cells[3];
  double lower[3], upper[3];
  bool periodic[3];
  /** Ball, shell: centre, radius (0 means 1), inner radius of the shell (0 means half the radius). */
  double centre[3], radius, inner_radius;
  /** Channel (0, length) x (0, height) (x (0, height)): defaults 2.2 (3D 2.5), 0.41; axis of the cylinder (0.2, 0.2) (3D (0.5,
   *  0.2)), its radius 0.05: the benchmark of Schaefer and Turek (1996). */
  double length, height, cylinder[2], cylinder_radius;
  const char *file;          /**< of TES_DOMAIN_FILE */
  const TesCellsDesc *trees; /**< of TES_DOMAIN_CELLS; copied */
  const char
      *rest; /**< name for those faces of the boundary that have none, e.g. "rest"; NULL: they keep none */
} TesForestDesc;

/** Makes the coarse mesh and refines it uniformly. Gmsh files: formats 2.2 and 4.1, ASCII or binary; quadrilaterals of 4, 8 or 9
 *  nodes and hexahedra of 8, 20 or 27.
 *  Errors: TES_INVALID_INPUT (arguments; a file that is damaged or holds what is not allowed: file, line or element, what was
 *  found and what is allowed; trees that are inverted or degenerate), TES_IO, TES_OUT_OF_MEMORY (told in GiB before it is
 *  allocated), TES_MISSING (built without p4est). */
TesStatus tes_forest_create(TesContext *context, const TesForestDesc *desc, TesForest **forest);
void tes_forest_destroy(TesForest **forest);

/** A new forest: cells with a mark > 0 are refined once; families (all 2^dim children of a cell) whose marks are all < 0 become their
 *  parent; then the balance refines what it must. mark[tes_forest_cells()]. Compared with the old forest a cell is the same, one
 *  level finer or one level coarser. Errors as above; the memory the new forest can need is computed first. */
TesStatus tes_forest_adapt(const TesForest *forest, const int8_t *mark, TesForest **adapted);
/** Every family becomes its parent where the balance allows: the next level of a multigrid method by global coarsening. *coarse is NULL
 *  (TES_OK) when nothing can be coarsened. */
TesStatus tes_forest_coarsen(const TesForest *forest, TesForest **coarse);

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

/** relation[tes_forest_cells(to)], caller's. Errors: TES_INVALID_INPUT (other coarse meshes, more than one level between them). */
TesStatus tes_forest_relate(const TesForest *from, const TesForest *to, TesRelation *relation);

/** What it consists of. Arrays are owned by the forest. */
TesContext *tes_forest_context(const TesForest *forest);
int tes_forest_dim(const TesForest *forest);
int64_t tes_forest_cells(const TesForest *forest);
int64_t tes_forest_trees(const TesForest *forest);
/** Of the finest cell; 0: the trees. */
int tes_forest_max_level(const TesForest *forest);
/** [cells] */
const int8_t *tes_forest_levels(const TesForest *forest);
/** [cells] tree of each cell, ascending. */
const int32_t *tes_forest_tree_of(const TesForest *forest);
/** [cells] number of the child among its siblings, bit d: upper half in direction d; 0 for trees. */
const int8_t *tes_forest_child_of(const TesForest *forest);
/** Lower corner of a cell in its tree's reference cell [0, 1]^dim; its edges are 2^-level long. */
void tes_forest_origin(const TesForest *forest, int64_t cell, double origin[3]);
/** Points of the tree's own map (not the polynomial of a geometry): xi[n][dim] in [0, 1]^dim of the cell, x[n][dim]. */
void tes_forest_evaluate(const TesForest *forest, int64_t cell, int n, const double *xi, double *x);

/** Boundaries and materials have numbers and names; faces and trees without a name have number -1 - no name.
 *  Leaves inherit from their tree. */
int tes_forest_boundaries(const TesForest *forest);
const char *tes_forest_boundary_name(const TesForest *forest, int boundary);
int tes_forest_materials(const TesForest *forest);
const char *tes_forest_material_name(const TesForest *forest, int material);
/** Faces of trees on the boundary that have this name; 0 where all of them lie between trees. */
int64_t tes_forest_boundary_faces(const TesForest *forest, int boundary);
/** Number of a name; TES_INVALID_INPUT with the known ones where there is none. */
TesStatus tes_forest_find_boundary(const TesForest *forest, const char *name, int *boundary);
TesStatus tes_forest_find_material(const TesForest *forest, const char *name, int *material);
/** Whether face `face` of the cell lies on the boundary, and the number of its name (may be NULL; -1: none). */
bool tes_forest_on_boundary(const TesForest *forest, int64_t cell, int face, int *boundary);
int tes_forest_material(const TesForest *forest, int64_t cell);
/** Faces of trees on the boundary that have no name; *tree and *face (may be NULL) are the first. */
int64_t tes_forest_unnamed(const TesForest *forest, int64_t *tree, int *face);

/** Bytes of host memory that a space of this degree over `cells` cells of a forest and its geometry of degree m need
 *  about (degree 0: the forest alone). */
int64_t tes_forest_memory(int dim, int64_t cells, int degree, int geometry_degree);

/** The cells as a geometry of degree m (0 means 2): values of the trees' map at the Gauss-Lobatto points of each cell, made conforming:
 *  on a hanging face or edge the polynomial of the coarse side holds for both. Cells in the forest's order; no vertices. The kind is
 *  found (a box is affine). Errors as tes_geometry_create(). */
TesStatus tes_geometry_create_forest(const TesForest *forest, int degree, TesGeometry **geometry);

#ifdef __cplusplus
}
#endif
#endif
