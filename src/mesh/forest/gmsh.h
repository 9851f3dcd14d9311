/* Gmsh files: what stands in them, and trees made of that. */
#ifndef TESI_GMSH_H
#define TESI_GMSH_H

#include "mesh/forest/trees.h"

/* A kind of element that can be a cell or the side of one. */
typedef struct TesiGmshType {
  int type; /* Gmsh's number */
  int dim, degree, nodes;
  const char *name;
} TesiGmshType;

typedef struct TesiGmshElement {
  int64_t number, line; /* Gmsh's number; line or byte of the file, for messages */
  int64_t first;        /* in TesiGmsh.element_node */
  const TesiGmshType *type;
  int32_t physical; /* tag of its physical group; 0: none */
} TesiGmshElement;

typedef struct TesiGmshName {
  int dim;
  int32_t tag;
  char *name;
} TesiGmshName;

/* Entities of format 4, which say the physical group of their elements. */
typedef struct TesiGmshEntity {
  int dim;
  int32_t tag, physical;
} TesiGmshEntity;

typedef struct TesiGmsh {
  TesContext *ctx;
  const char *file;
  bool binary;
  int64_t nodes, elements, element_nodes, names, entities;
  int64_t *node_number;     /* [nodes] ascending */
  double (*node)[3];        /* [nodes] */
  TesiGmshElement *element; /* [elements]: lines, quadrilaterals, hexahedra */
  int64_t *element_node;    /* numbers of nodes, later their places in `node` */
  TesiGmshName *name;
  TesiGmshEntity *entity;
  int64_t node_room, element_room, element_node_room, name_room, entity_room;
} TesiGmsh;

/* Reads text[length], which has a 0 behind it; `file` stands in messages. mesh may be freed after failure too. */
TesStatus tesi_gmsh_parse(TesContext *ctx, const char *text, size_t length, const char *file, TesiGmsh *mesh);
void tesi_gmsh_free(TesiGmsh *mesh);
/* The trees; dim 0: 3 when there are hexahedra. Every cell is checked. */
TesStatus tesi_gmsh_trees(const TesiGmsh *mesh, int dim, TesiTrees **trees);

/* ---- the parts of the reader ---- */

typedef struct TesiGmshCursor {
  TesContext *ctx;
  const char *file, *begin, *at, *end;
  int64_t line;
  bool binary, swap; /* swap: the other order of bytes */
  int version;       /* 2 or 4 */
} TesiGmshCursor;

/* Records "FILE:LINE: message" (binary files: "FILE: byte N: "). */
TesStatus tesi_gmsh_fail(const TesiGmshCursor *c, const char *format, ...) TESI_PRINTF(2, 3);
/* One number; `what` is told when there is none. Counts of format 4 are 8 bytes in binary files, others 4. */
TesStatus tesi_gmsh_integer(TesiGmshCursor *c, const char *what, int64_t *value);
TesStatus tesi_gmsh_count(TesiGmshCursor *c, const char *what, int64_t *value);
TesStatus tesi_gmsh_number(TesiGmshCursor *c, const char *what, double *value);
/* A count of things that take `bytes` each at least: one that the rest of the file cannot hold is refused. */
TesStatus tesi_gmsh_count_of(TesiGmshCursor *c, const char *what, size_t bytes, int64_t *value);
/* The same at the head of a section, where format 2 has text in binary files too. */
TesStatus tesi_gmsh_total(TesiGmshCursor *c, const char *what, size_t bytes, int64_t *value);
/* The section $Nodes or $Elements behind its first line. */
TesStatus tesi_gmsh_nodes(TesiGmshCursor *c, TesiGmsh *mesh);
TesStatus tesi_gmsh_elements(TesiGmshCursor *c, TesiGmsh *mesh);
/* Room for `count` of array *pointer, doubled when it is too small. */
TesStatus tesi_gmsh_grow(TesContext *ctx, void *pointer_to_pointer, size_t size, int64_t used, int64_t need,
                         int64_t *room);

#endif
