/* Spaces as the other folders see them: over a box 1D axes, over any mesh the nodes of its cells. */
#ifndef TESI_SPACE_H
#define TESI_SPACE_H

#include "basis/gauss.h"
#include "device/vector.h"
#include "geometry/lanes.h"
#include "mesh/forest/hanging.h"
#include "parallel/layout.h"
#include "space/axes.h"
#include "space/element.h"
#include "tessera/space.h"

enum { TESI_FOREST_DEGREE = 8, TESI_COMPONENTS = 6, TESI_SCALARS = TES_COMPONENTS, TESI_RT_PARTS = 4 };

/* The nodes of the cells, as tessera/space.h tells: of meshes of any kind. */
typedef struct TesiCellView {
  atomic_int references;
  TesContext *context;
  TesMesh *mesh;
  int dim, degree, n, cell_nodes;
  uint8_t *given; /* [boundaries + 1], the last for faces without a name */
  int64_t cells, length, dofs, hanging;
  int32_t *index;       /* [cells][n^dim] */
  int32_t *constrained; /* [length - dofs] Dirichlet nodes, ascending */
  TesiLayout *layout;   /* its sums are over nodes that are not Dirichlet nodes */
  const uint16_t *mask; /* [cells]: the mesh's, or no_mask, zeros */
  uint16_t *no_mask;
  double node[TESI_MAX_POINTS], halves[2 * TESI_HANGING_NODES * TESI_HANGING_NODES]; /* halves: to degree 8 */
} TesiCellView;

/* Of one component, or put together of such spaces: then axes and cell view are theirs, and degree is that of the
 * first one. */
struct TesSpace {
  atomic_int references;
  TesContext *context;
  TesMesh *mesh;
  int dim, degree;
  const TesiElement *element;
  uint8_t *given;        /* [boundaries + 1], the last for faces without a name: bit s for scalar s */
  bool *slips;           /* [boundaries + 1]; NULL: nowhere */
  struct TesiSlip *slip; /* slip.h; NULL: no node has it */
  TesiAxis axis[3];      /* of one scalar over a box */
  int64_t length, dofs;  /* in memory here, copies of other ranks' entries included */
  int64_t all_dofs;      /* of all ranks, each once */
  TesiLayout *layout;    /* of vectors */
  TesiCellView *view;    /* one component; over a box NULL until it is asked for */
  bool product;          /* made by tes_space_create_product() */
  int parts;             /* components, or the parts of a product; 1: itself */
  TesSpace *part[TESI_SCALARS];
  int64_t part_first[TESI_SCALARS + 1]; /* entries of part p: part_first[p] .. part_first[p + 1] - 1 */
  /* The same down to spaces of one scalar; equal ones may be one object. Of element rt: the components, then the
   * pressure, each of which is its own part. */
  int scalars;
  const TesSpace *scalar[TESI_SCALARS];
  int64_t first[TESI_SCALARS + 1];
};

TesSpace *tesi_space_retain(const TesSpace *space);
/* The entries of a part; by value: to be used while the vector is there, and not destroyed. */
static inline TesVector tesi_space_range(const TesSpace *space, const TesVector *vector, int part) {
  TesVector range = tesi_vector_range(vector, space->part_first[part], space->part[part]->length);
  range.layout = space->part[part]->layout;
  return range;
}
/* The same of one component. */
static inline TesVector tesi_space_scalar_range(const TesSpace *space, const TesVector *vector, int scalar) {
  TesVector range = tesi_vector_range(vector, space->first[scalar], space->scalar[scalar]->length);
  range.layout = space->scalar[scalar]->layout;
  return range;
}
/* The axes [3] of a space of one component over a box without periodic directions; NULL for others, and for no space.
 * What asks for them treats periodic boxes as any mesh, by their cell view. */
const TesiAxis *tesi_space_box(const TesSpace *space);
/* The same of any box: some axes may be periodic. */
const TesiAxis *tesi_space_axes(const TesSpace *space);
/* Whether a space of one component is over a box with periodic directions. */
bool tesi_space_is_periodic(const TesSpace *space);
/* The box of such a space cut open: the same cells and boundaries, the first nodes of a periodic direction once more
 * behind its last ones, nothing known there. */
TesStatus tesi_space_create_open(const TesSpace *space, TesSpace **open);
/* Direction d of element rt: the axis of component d, which has nodes. */
static inline const TesiAxis *tesi_nodal(const TesSpace *space, int d) {
  return &space->scalar[d]->axis[d];
}
/* Of elements rt and dg: the axis of the other components, or of the unknown, which have modes. */
static inline const TesiAxis *tesi_modal(const TesSpace *space, int d) {
  return &space->scalar[d == 0 && space->scalars > 1]->axis[d];
}
/* The pressure of element rt, the unknown of element dg. */
static inline const TesSpace *tesi_space_last(const TesSpace *space) {
  return space->scalar[space->scalars - 1];
}
/* Of element rt: whether nothing fixes the constant of the pressure, the normal component is given on all faces. All
 * ranks call it. */
bool tesi_space_closed(const TesSpace *space);
/* Of one component over a box: whether another rank owns the entries at a face. */
bool tesi_space_lends(const TesSpace *space, int face);
/* Of one component over a box: the number of an entry among those of all ranks, at its place in each direction. */
int64_t tesi_space_number(const TesSpace *space, const int64_t at[3]);
/* The degree of the polynomials that functions are in a cell: every scalar of elements rt and dg is one of Q_(k+1). */
static inline int tesi_space_shape(const TesSpace *space) {
  return space->degree + !space->element->nodal;
}
/* The cell view of a space of one component; owned by the space, made under a lock when first asked for. */
TesStatus tesi_space_cells(const TesSpace *space, const TesiCellView **cells);

/* The degree of a description: the element's usual one where it gives none. */
int tesi_space_usual_degree(TesElement element, int degree);
/* The same components and boundary conditions and another degree, or over a mesh with the same boundaries; a
 * product keeps its degrees. */
TesStatus tesi_space_create_on(const TesSpace *space, const TesMesh *mesh, int degree, TesSpace **other);

/* ---- steps of tes_space_create() ---- */
/* Axes of one scalar, length and dofs; elements rt and dg: with nodes in direction `along`, -1: in none. */
TesStatus tesi_space_fill_axes(TesSpace *space, int along);
/* space->layout, of a box that ranks cut: each owns all of its nodes but those on its lower cuts. */
TesStatus tesi_space_lay_out(TesSpace *space);
/* A space of one component becomes its own only part. Its length must be set. */
void tesi_space_be_own_part(TesSpace *space);
TesStatus tesi_space_new(TesContext *ctx, const TesMesh *mesh, int degree, const TesiElement *element,
                         TesSpace **space);
/* A space of one scalar, its own part, whose mesh, degree and given are set; `along`: as tesi_space_fill_axes(). */
TesStatus tesi_space_be_scalar(TesSpace *space, int along);
/* The components of a space whose mesh, degree, parts and given are set, and the pressure of element rt. */
TesStatus tesi_space_create_scalars(TesSpace *space);
/* Length, dofs, offsets and scalars from the parts. */
TesStatus tesi_space_put_together(TesSpace *space);
/* v <- 0 at known nodes, of elements rt and dg (rt_device.c); host array. */
void tesi_rt_clear(const TesSpace *space, double *v);
/* v <- u, of another degree over the same cells: of elements rt and dg (rt_carry.c); host arrays. */
TesStatus tesi_rt_carry(const TesSpace *from, const double *u, const TesSpace *to, double *v);
TesStatus tesi_space_create_product_on(const TesSpace *space, const TesMesh *mesh, TesSpace **other);
TesStatus tesi_cells_create(const TesSpace *space, TesiCellView **cells);

TesiCellView *tesi_cells_retain(const TesiCellView *cells);
void tesi_cells_destroy(TesiCellView **cells);
static inline bool tesi_cells_given(const TesiCellView *cells, int boundary) {
  const int names = tes_mesh_boundaries(cells->mesh);
  return cells->given[boundary >= 0 && boundary < names ? boundary : names];
}
/* mark[length] <- the largest of itself and of number[boundary], not 0, of the groups of edges and corners that a node
 * is on. */
void tesi_cells_mark_groups(const TesiCellView *cells, const int32_t *number, int32_t *mark);
/* The node that an entry of index means, Dirichlet or not. */
static inline int32_t tesi_cells_node(int32_t index) {
  return index < 0 ? -1 - index : index;
}
/* Plain steps 1 and 2 for one cell: local[n^dim], Dirichlet nodes with the value that x has; and the transpose,
 * which adds to x. */
void tesi_cells_read(const TesiCellView *cells, int64_t cell, const double *x, double *local);
void tesi_cells_add(const TesiCellView *cells, int64_t cell, const double *local, double *x);
/* local[fields][n^dim][lane] <- tesi_cells_read() of TESI_LANES cells, from x[fields][length]. */
void tesi_cells_read_lanes(const TesiCellView *cells, const int32_t *cell, int fields, const double *x,
                           double *local);
/* The same of a space over a mesh of any kind: values at the cell's nodes, x fastest. */
void tesi_space_read_cell(const TesSpace *space, int64_t cell, const double *x, double *local);
void tesi_space_add_cell(const TesSpace *space, int64_t cell, const double *local, double *x);
/* value[(k+1)^dim] and gradient[dim][(k+1)^dim], reference (NULL: not wanted), of all functions of a cell at xi. */
void tesi_local_functions(int dim, int degree, const double *xi, double *value, double *gradient);
/* values[n] of a function of degree k by its cell's nodes local[(k+1)^dim] at points xi[n][dim]; gradient [n][dim],
 * reference (may be NULL). */
void tesi_local_values(int dim, int degree, const double *local, int n, const double *xi, double *values,
                       double *gradient);
/* As tes_space_coordinates(). */
TesStatus tesi_cells_coordinates(const TesiCellView *cells, double *x);

/* A name of a node of a cell, the same in all cells that have it: of its row of the interpolation of hanging nodes,
 * numbers to 2^-30, by the nodes index[n] of the cell. Numbers below TESI_CELLS_SMALL are round-off. */
#define TESI_CELLS_SMALL 1e-13
uint64_t tesi_cells_row_key(int n, const int32_t *index, const double *row);
/* That of a node that does not hang. */
uint64_t tesi_cells_node_key(int32_t index);

/* The values at all nodes of all cells from those at the unknowns, as a sparse matrix: row cell * n^dim + node.
 * Made for tests, from positions alone: which faces and edges hang on which, and what is one node, is found by
 * comparing coordinates. */
typedef struct TesiConstraints {
  int64_t rows, columns;
  int64_t *first; /* [rows + 1] */
  int32_t *column;
  double *value;
} TesiConstraints;

/* Columns are numbered in the order in which rows meet them. period[d] > 0: coordinates that differ by it are one. */
TesStatus tesi_constraints_ref(const TesMesh *forest, int degree, const double period[3], TesiConstraints *c);
void tesi_constraints_free(TesContext *ctx, TesiConstraints *c);

#endif
