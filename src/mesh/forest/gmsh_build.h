/* Trees from the elements of a Gmsh file: declarations shared by the files gmsh*.c. */
#ifndef TESI_GMSH_BUILD_H
#define TESI_GMSH_BUILD_H

#include "mesh/forest/gmsh.h"

/* Tables for cells of one type, computed again when the type changes. */
typedef struct TesiGmshCells {
  int dim, degree;
  const double (*node)[3]; /* of the file */
  const TesiGmshType *type;
  int16_t position[TESI_GMSH_NODES][3];
  double to_lobatto[(TESI_TREES_DEGREE + 1) * (TESI_TREES_DEGREE + 1)]; /* from equally spaced nodes */
} TesiGmshCells;

void tesi_gmsh_cells_begin(int dim, int degree, const double (*node)[3], TesiGmshCells *cells);
/* Fills vertices[2^dim] and to[(m+1)^dim][dim] of a cell with `nodes` in Gmsh's order, or with the nodes bent[3^dim]
 * (NULL: the cell is not part of a split curved cell). Returns true if the cell was left-handed and has been
 * mirrored. */
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
  int32_t *in_file;   /* [trees] elements of the trees, in the order in which names are numbered */
  TesiGmshSide *side; /* [sides] elements of dimension dim - 1 */
  TesCellsDesc desc;  /* points to the following */
  double *nodes;
  int32_t *vertices; /* [trees][2^dim] indices of nodes */
  int32_t *number_of; /* the same, numbered by first use as trees need them; nodes that $Periodic identifies have one
                       * number */
  int32_t *boundary, *material;
  TesTreePart *part; /* [desc.parts] */
  int64_t part_room;
  char **names[2]; /* of boundaries and materials */
  int32_t *tags[2], *number[2], name_count[2];
} TesiGmshBuilder;

/* "FILE: element N (a hexahedron, line L): message". */
TesStatus tesi_gmsh_refuse(const TesiGmshBuilder *b, int64_t element, const char *format, ...)
    TESI_PRINTF(3, 4);
/* The index of node i of an element. */
int64_t tesi_gmsh_node_of(const TesiGmshBuilder *b, int64_t element, int i);

/* Puts cells in an order that does not depend on the file: along a Hilbert curve through their centres, so that
 * neighbours are close to one another. Then numbers vertices as the cells meet them (gmsh_order.c). */
TesStatus tesi_gmsh_order_cells(TesiGmshBuilder *b);
TesStatus tesi_gmsh_number_vertices(TesiGmshBuilder *b);
/* Checks the mesh as a whole (gmsh_checks.c): two vertices at one point, two cells with the same vertices, cells out of
 * the plane. Reports separate parts. */
TesStatus tesi_gmsh_check_duplicates(const TesiGmshBuilder *b);
TesStatus tesi_gmsh_check_doubles(const TesiGmshBuilder *b);
TesStatus tesi_gmsh_check_plane(const TesiGmshBuilder *b);
/* Refuses hanging nodes: a vertex in the middle of an edge or face of a neighbour that does not have this vertex. */
TesStatus tesi_gmsh_check_middles(const TesiGmshBuilder *b, const TesiTrees *trees);
/* Refuses two cells that give a shared edge or face different curves (gmsh_shared.c). */
TesStatus tesi_gmsh_check_shared(const TesiGmshBuilder *b);
TesStatus tesi_gmsh_tell_parts(const TesiGmshBuilder *b);
/* *number <- the number of a boundary (kind 0) or material (1), new or known, by its name; tag 0: none. */
TesStatus tesi_gmsh_add_name(TesiGmshBuilder *b, int kind, int32_t tag, const char *name, int32_t *number);
/* Edges and corners of cells that are in named groups of curves and points (gmsh_parts.c). Names of faces are not
 * changed. */
TesStatus tesi_gmsh_find_parts(TesiGmshBuilder *b);
/* Refuses cells and directions that are too narrow after $Periodic has identified vertices in b->number_of
 * (gmsh_periodic.c). */
TesStatus tesi_gmsh_check_periodic(const TesiGmshBuilder *b);
/* Finds two cells with the same vertices[trees][2^dim], -1: none. */
TesStatus tesi_gmsh_find_doubles(const TesiGmshBuilder *b, const int32_t *vertices, int64_t *first,
                                 int64_t *second);

#endif
