/* The coarse mesh under a forest: trees, how they map to space, and the names of their faces and of themselves. */
#ifndef TESI_TREES_H
#define TESI_TREES_H

#include "base/base.h"
#include "tessera/mesh.h"

/* Whether float64 holds the volumes of cells so wide, and the squares of their inverses. */
#define TESI_MESH_WIDTHS "1e-70 to 1e70"
static inline bool tesi_mesh_is_width(double width) {
  return width >= 1e-70 && width <= 1e70;
}

enum { TESI_TREES_DEGREE = 8, TESI_TREES_INSIDE = -2, TESI_TREES_UNNAMED = -1 };

/* How a tree maps xi in [0, 1]^dim to space; `nodes` are its data.
 *   polynomial: Q_m through the nodes
 *   sector of a ball or a shell: the last direction is the radius s; the outer vertices say a patch y of the
 *   surface of the cube [-1, 1]^dim,
 *     whose points lie on the sphere at y* = tan(pi/4 y) / |tan(pi/4 y)| (equal angles); ball: x = centre + (1-s)
 *     core y + s radius y*,
 *     shell: x = centre + ((1-s) inner + s radius) y*
 *   ring round a cylinder: direction 0 along the circle, 1 outwards: (1-s) p + s q, p on the circle through the inner
 *     vertices, between their angles, q between the outer vertices; z is linear
 *   annulus: the same with q at the angle of p on the circle through the outer vertices */
typedef enum TesiTreeMap {
  TESI_MAP_POLYNOMIAL,
  TESI_MAP_BALL,
  TESI_MAP_SHELL,
  TESI_MAP_RING,
  TESI_MAP_ANNULUS
} TesiTreeMap;

typedef struct TesiTrees {
  atomic_int references;
  TesContext *context;
  int dim, degree; /* m of the nodes */
  int64_t trees, vertex_count, tree_nodes;
  double *nodes;                      /* [trees][(m+1)^dim][dim] */
  int32_t *vertices;                  /* [trees][2^dim] */
  int8_t *map;                        /* [trees] TesiTreeMap; NULL: all polynomial */
  double node[TESI_TREES_DEGREE + 1]; /* Gauss-Lobatto points */
  double centre[3], radius, inner, core;
  int32_t *boundary; /* [trees][2 dim]: number of a name, or one of the constants above */
  int32_t *material; /* [trees] */
  int64_t parts;
  TesTreePart *part; /* [parts] by trees; boundaries that stand here have no faces */
  int boundaries, materials;
  char **boundary_name, **material_name;
  int box[3]; /* a box of so many trees, whose connectivity p4est makes; 0: not a box */
  bool periodic[3];
  TesFunction *deform[3]; /* map of all points of the trees; NULL: none */
  int32_t same_side[2];   /* the first two trees that lie on the same side of a shared face; both 0: none */
  uint64_t identity;      /* by tesi_trees_identity(); 0: not yet known */
  void *connectivity;     /* of p4est */
} TesiTrees;

/* The name of a tree in messages, for trees that come from other objects; NULL: "tree 7". */
typedef struct TesiTreeLabel {
  const char *file; /* stands before the message */
  void (*write)(const void *user, int64_t tree, char *text, size_t size);
  const void *user;
} TesiTreeLabel;

/* The mesh of a description. Errors as tes_mesh_create(). */
TesStatus tesi_trees_create(TesContext *ctx, const TesMeshDesc *desc, TesiTrees **coarse);
TesStatus tesi_trees_from_cells(TesContext *ctx, int dim, const TesCellsDesc *cells,
                                const TesiTreeLabel *label, TesiTrees **coarse);
/* A copy of trees whose arrays were read from a file: shapes are right, contents are checked. */
TesStatus tesi_trees_restore(TesContext *ctx, const TesiTrees *image, TesiTrees **trees);
TesiTrees *tesi_trees_retain(TesiTrees *coarse);
void tesi_trees_release(TesiTrees **coarse);

/* A hash of all that stands in trees but the connectivity, to recognise a mesh; found when first asked for. */
uint64_t tesi_trees_identity(const TesiTrees *coarse);
static inline bool tesi_trees_are_same(const TesiTrees *a, const TesiTrees *b) {
  return a == b || tesi_trees_identity(a) == tesi_trees_identity(b);
}

/* x[n][dim] of points xi[n][dim] of a tree; the same before the deformation. */
void tesi_trees_evaluate(const TesiTrees *coarse, int64_t tree, int n, const double *xi, double *x);
void tesi_trees_evaluate_plain(const TesiTrees *coarse, int64_t tree, int n, const double *xi, double *x);

/* ---- steps of the above ---- */

/* The built-in domains but the box; coarse_domains.c. */
TesStatus tesi_trees_round(TesContext *ctx, const TesMeshDesc *desc, int dim, TesiTrees **coarse);
TesStatus tesi_trees_lattice(TesContext *ctx, const TesMeshDesc *desc, int dim, TesiTrees **coarse);
TesStatus tesi_trees_channel(TesContext *ctx, const TesMeshDesc *desc, int dim, TesiTrees **coarse);
/* A Gmsh file; dim 0: the dimension of the file. */
TesStatus tesi_trees_file(TesContext *ctx, const TesMeshDesc *desc, TesiTrees **coarse);
/* Which tree faces lie on the boundary: marks the entries of coarse->boundary that lie inside. `cells` may name
 * faces. */
TesStatus tesi_trees_match_faces(TesContext *ctx, const TesiTreeLabel *label, TesiTrees *coarse);
/* Refuses trees that meet others at a vertex or edge but share no face round it: p4est (2.2) balances cells across an
 * edge or vertex of trees only if a face there has a neighbour. If a tree without such a face is a single cell, p4est
 * reads beyond its arrays. */
TesStatus tesi_trees_check_pinches(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *coarse);
/* The name of a tree in messages. */
const char *tesi_trees_call(const TesiTreeLabel *label, int64_t tree, char text[48]);
/* The first tree with |J| <= 0 at a Gauss-Lobatto point of degree m + 1, -1: none. */
TesStatus tesi_trees_find_inverted(const TesiTrees *trees, int64_t *tree, double *J, double where[3]);
/* Refuses two trees on one side of a face, since they overlap. To be called when all trees are known to have |J| >
 * 0. */
TesStatus tesi_trees_check_sides(TesContext *ctx, const TesiTreeLabel *label, const TesiTrees *coarse);
/* |J| > 0 in all trees, at the Gauss-Lobatto points of degree m + 1 (TES_INVALID_INPUT naming tree and point). */
TesStatus tesi_trees_check_trees(TesContext *ctx, const TesiTrees *coarse);

#endif
