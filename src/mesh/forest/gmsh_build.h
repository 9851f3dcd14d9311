/* From the elements of a Gmsh file to trees: what the files gmsh*.c share. */
#ifndef TESI_GMSH_BUILD_H
#define TESI_GMSH_BUILD_H

#include "mesh/forest/gmsh.h"

/* Tables for cells of one degree; they change with the type that was asked for last. */
typedef struct TesiGmshCells {
  int dim, degree;
  const double (*node)[3]; /* of the file */
  const TesiGmshType *type;
  int16_t position[TESI_GMSH_NODES][3];
  double to_lobatto[(TESI_TREES_DEGREE + 1) * (TESI_TREES_DEGREE + 1)]; /* from equally spaced nodes */
} TesiGmshCells;

void tesi_gmsh_cells_begin(int dim, int degree, const double (*node)[3], TesiGmshCells *cells);
/* vertices[2^dim], to[(m+1)^dim][dim] of a cell through `nodes` in Gmsh's order, or through bent[3^dim] between them
 * (NULL: it is not a part of a curved one); true where it was left-handed and is turned. */
bool tesi_gmsh_cell(TesiGmshCells *cells, const TesiGmshType *type, const int64_t *nodes,
                    const double (*bent)[3], int32_t *vertices, double *to);

typedef struct TesiGmshSide {
  int32_t vertex[4]; /* ascending; 2D: the last two are -1 */
  int32_t element;
} TesiGmshSide;

typedef struct TesiGmshBuilder {
  TesContext *ctx;
  const TesiGmsh *mesh;
  int dim, degree;
  int64_t trees, sides;
  int32_t *cell;      /* [trees] element */
  int32_t *in_file;   /* [trees] trees in the order of their elements: names are numbered in it */
  TesiGmshSide *side; /* [sides] elements of dimension dim - 1 */
  TesCellsDesc desc;  /* points to the following */
  double *nodes;
  int32_t *vertices;  /* [trees][2^dim] places of nodes */
  int32_t *number_of; /* the same by first touch, as trees have them; what $Periodic calls one is one */
  int32_t *boundary, *material;
  TesTreePart *part; /* [desc.parts] */
  int64_t part_room;
  char **names[2]; /* of boundaries and materials */
  int32_t *tags[2], *number[2], name_count[2];
} TesiGmshBuilder;

/* "FILE: element N (a hexahedron, line L): message". */
TesStatus tesi_gmsh_refuse(const TesiGmshBuilder *b, int64_t element, const char *format, ...)
    TESI_PRINTF(3, 4);
/* Node i of an element, its place among the nodes. */
int64_t tesi_gmsh_node_of(const TesiGmshBuilder *b, int64_t element, int i);

/* Cells in an order that does not depend on the file: along a Hilbert curve through their middles, so that
 * neighbours stand near one another; then numbers of vertices as the cells meet them (gmsh_order.c). */
TesStatus tesi_gmsh_order_cells(TesiGmshBuilder *b);
TesStatus tesi_gmsh_number_vertices(TesiGmshBuilder *b);
/* The root of v in a forest of parents, whose ways become shorter. */
static inline int32_t tesi_gmsh_root(int32_t *parent, int32_t v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}
/* What is wrong with the whole (gmsh_checks.c): two vertices at one point, two cells on one another, cells out of the
 * plane; parts are told. */
TesStatus tesi_gmsh_check_duplicates(const TesiGmshBuilder *b);
TesStatus tesi_gmsh_check_doubles(const TesiGmshBuilder *b);
TesStatus tesi_gmsh_check_plane(const TesiGmshBuilder *b);
/* Refuses hanging nodes: a vertex in the middle of an edge or face that no other cell shares. */
TesStatus tesi_gmsh_check_middles(const TesiGmshBuilder *b, const TesiTrees *trees);
/* Refuses cells that bend an edge or a face in two ways (gmsh_shared.c). */
TesStatus tesi_gmsh_check_shared(const TesiGmshBuilder *b);
TesStatus tesi_gmsh_tell_parts(const TesiGmshBuilder *b);
/* *number <- the number of a boundary (kind 0) or material (1), new or known, by its name; tag 0: none. */
TesStatus tesi_gmsh_add_name(TesiGmshBuilder *b, int kind, int32_t tag, const char *name, int32_t *number);
/* Edges and corners of cells that are in named groups of curves and points (gmsh_parts.c); faces have their names. */
TesStatus tesi_gmsh_find_parts(TesiGmshBuilder *b);
/* Refuses what is too narrow after vertices that $Periodic calls one became one in b->number_of (gmsh_periodic.c). */
TesStatus tesi_gmsh_check_periodic(const TesiGmshBuilder *b);
/* Two cells of the same vertices[trees][2^dim], -1: there are none. */
TesStatus tesi_gmsh_find_doubles(const TesiGmshBuilder *b, const int32_t *vertices, int64_t *first,
                                 int64_t *second);

#endif
