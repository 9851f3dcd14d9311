/* Meshes as the other folders see them. */
#ifndef TESI_MESH_H
#define TESI_MESH_H

#include "base/base.h"
#include "mesh/forest/forest_p4est.h"
#include "tessera/mesh.h"

/* Which cells of a direction of a box are here: `box[d]` of them, of all ranks' `cells`, from number `first` on. The
 * direction is cut into `parts` parts; this rank has part number `part`. On one rank: all, one part. */
typedef struct TesiWindow {
  int first, cells, parts, part;
} TesiWindow;

enum { TESI_MESH_VIEWS = 21 /* degrees to 20 */ };

struct TesMesh {
  atomic_int references;
  TesContext *context;
  TesMeshKind kind; /* never auto */
  int dim, max_level;
  int64_t cells;
  /* Cells per direction of a box, deformed or not; 0: the mesh is no box. */
  int box[3];
  double *coordinates[3]; /* [box[d] + 1]; {0, 1} in directions that do not exist */
  bool box_periodic[3];   /* of kind box: opposite faces are one */
  TesiWindow window[3];   /* of kind box */
  /* The coarse mesh of a forest, or of cells made of trees, which are their own leaves; NULL: there are no trees. */
  TesiTrees *coarse;
  const TesiP4est *p4est; /* the functions; NULL: cells of trees */
  void *forest;           /* of p4est */
  bool as_grid;           /* files show it as a mesh of kind box */
  int depth;              /* a tree is 2^depth long */
  TesiLeaves leaves;
  TesMesh *coarser; /* of tesi_mesh_coarsen_forest(); NULL until then */
  uint16_t *mask;   /* [cells] TesMask of a forest: what hangs; NULL until tesi_forest_masks() */
  struct TesiCellView *view[TESI_MESH_VIEWS]; /* by degree: the last one of trees that somebody has (space_cells.c) */
  /* See tesi_mesh_geometry(). */
  struct TesiGeometry *geometry;
  int geometry_degree;
  struct TesiKept *kept; /* sets of points with their cells: geometry/kept.h */
};

TesMesh *tesi_mesh_retain(const TesMesh *mesh);
/* Points of tes_mesh_evaluate() by the map of the cell's own tree, which on curved domains its polynomials approach. */
void tesi_mesh_map(const TesMesh *mesh, int64_t cell, int n, const double *xi, double *x);
/* Lower corner of a cell in its tree's reference cell [0, 1]^dim; its edges are 2^-level long. */
void tesi_mesh_origin(const TesMesh *mesh, int64_t cell, double origin[3]);
/* Whether cell c of a forest `inner` lies in cell d of `outer`, or is it; both stand on the same trees. */
bool tesi_mesh_lies_in(const TesMesh *inner, int64_t c, const TesMesh *outer, int64_t d);
/* Refuses a place whose name is that of a boundary and of a material, or of one of them and of the domain. */
TesStatus tesi_mesh_refuse_two(const TesMesh *mesh, const char *name);
/* As tes_mesh_on_boundary(), but a periodic box has a boundary at its periodic faces too: pictures end there. */
bool tesi_mesh_on_hull(const TesMesh *mesh, int64_t cell, int face, int *boundary);
/* Whether a boundary is a group of edges and corners, without faces. */
bool tesi_mesh_is_group(const TesMesh *mesh, int boundary);
/* Walks through the parts of groups, mesh->coarse->part, that an edge or a corner of the cell lies on, at the same
 * place as in its tree: returns the number of the next part after number i (-1: of the first part), or -1 if there
 * is no more. */
int64_t tesi_mesh_next_part(const TesMesh *mesh, int64_t cell, int64_t i);
/* Faces of trees on the boundary that have this name; 0 where all of them lie between trees. */
int64_t tesi_mesh_boundary_faces(const TesMesh *mesh, int boundary);
/* Faces of trees on the boundary that have no name; *tree and *face (may be NULL) are the first. */
int64_t tesi_mesh_unnamed(const TesMesh *mesh, int64_t *tree, int *face);
/* An object without cells; the kinds fill it in. */
TesStatus tesi_mesh_new(TesContext *ctx, TesMeshKind kind, int dim, int geometry_degree, TesMesh **mesh);

/* The mesh of all ranks, in a context of one rank (tesi_context_create_alone()): of kinds box and forest. All ranks
 * call it. */
TesStatus tesi_mesh_gather(const TesMesh *mesh, TesContext *alone, TesMesh **whole);
/* *x <- the vertices of all ranks in a direction of a box. */
TesStatus tesi_mesh_gather_vertices(const TesMesh *mesh, int d, double **x);
/* *first [parts + 1] <- the first cell of each part of a direction of a box, and the number of all its cells. */
TesStatus tesi_mesh_gather_parts(const TesMesh *mesh, int d, int **first);
/* values[n] <- their sums over the parts of a direction of a box. All ranks call it. */
void tesi_mesh_sum_parts(const TesMesh *mesh, int d, int n, double *values);

/* The kinds; errors as tes_mesh_create(). */
/* The grid of a box, for the kinds box and cells. */
TesStatus tesi_mesh_create_grid(TesContext *ctx, TesMeshKind kind, const TesMeshDesc *desc, TesMesh **mesh);
TesStatus tesi_mesh_coarsen_box(const TesMesh *mesh, TesMesh **coarse);
TesStatus tesi_mesh_create_cells(TesContext *ctx, const TesMeshDesc *desc, TesMesh **mesh);
TesStatus tesi_mesh_create_forest(TesContext *ctx, const TesMeshDesc *desc, TesMesh **mesh);
TesStatus tesi_mesh_coarsen_forest(const TesMesh *mesh, TesMesh **coarse);
/* *mesh <- refined where the description says. On failure *mesh is NULL. */
TesStatus tesi_mesh_refine_where(const TesMeshDesc *desc, TesMesh **mesh);

/* Whether a face of this rank's part of a box lies inside the box. */
static inline bool tesi_mesh_inside(const TesMesh *m, int face) {
  const TesiWindow *w = &m->window[face / 2];
  return m->kind == TES_MESH_BOX && (face & 1 ? w->first + m->box[face / 2] < w->cells : w->first > 0);
}
/* Whether ranks cut a direction of a box. */
static inline bool tesi_mesh_parted(const TesMesh *m, int d) {
  return m->box[d] < m->window[d].cells;
}
/* Whether they cut any but the last one. */
static inline bool tesi_mesh_gridded(const TesMesh *m) {
  return m->kind == TES_MESH_BOX && (m->window[0].parts > 1 || (m->dim == 3 && m->window[1].parts > 1));
}
/* The rank that has a part of each direction of a box: ranks are counted x fastest. */
static inline int tesi_mesh_rank(const TesMesh *m, const int part[3]) {
  return part[0] + m->window[0].parts * (part[1] + m->window[1].parts * part[2]);
}
/* Whether ranks cut a periodic direction of a box: they form a ring. */
static inline bool tesi_mesh_ring(const TesMesh *m, int d) {
  return m->box_periodic[d] && tesi_mesh_parted(m, d);
}
/* Whether a face of a box is a cut between ranks: no boundary. */
static inline bool tesi_mesh_cut(const TesMesh *m, int face) {
  return tesi_mesh_inside(m, face) || tesi_mesh_ring(m, face / 2);
}

/* Grid position of a cell of a box. */
static inline void tesi_mesh_at(const TesMesh *m, int64_t cell, int at[3]) {
  at[0] = (int)(cell % m->box[0]), at[1] = (int)(cell / m->box[0] % m->box[1]),
  at[2] = (int)(cell / m->box[0] / m->box[1]);
}

/* The mesh owns its geometry, which folder geometry/ makes and knows. */
TesStatus tesi_mesh_deform(TesMesh *mesh, const TesMeshDesc *desc);
int64_t tesi_mesh_box_cell(const TesMesh *mesh, int64_t cell);
void tesi_geometry_destroy(struct TesiGeometry **geometry);
void tesi_kept_destroy(TesContext *ctx, struct TesiKept **kept);

#endif
