/* Gmsh files: what stands in them, and trees made of that. */
#ifndef TESI_GMSH_H
#define TESI_GMSH_H

#include "mesh/forest/trees.h"

enum { TESI_GMSH_NODES = 729 }; /* of an element, at most */

typedef enum TesiGmshShape {
  TESI_GMSH_POINT,
  TESI_GMSH_LINE,
  TESI_GMSH_QUADRILATERAL,
  TESI_GMSH_HEXAHEDRON,
  TESI_GMSH_TRIANGLE, /* these four only to be split, of degree 1 and 2 */
  TESI_GMSH_TETRAHEDRON,
  TESI_GMSH_PRISM,
  TESI_GMSH_PYRAMID,
  TESI_GMSH_OTHER /* known by name, and refused */
} TesiGmshShape;

/* A type of elements. Quadrilaterals and hexahedra are complete, or of second degree and serendipity. */
typedef struct TesiGmshType {
  int type; /* Gmsh's number */
  int dim, degree, nodes;
  TesiGmshShape shape;
  const char *name;
} TesiGmshType;

/* NULL: a number that is not known. */
const TesiGmshType *tesi_gmsh_type(int64_t number);
/* Where the nodes of a quadrilateral or hexahedron lie, in Gmsh's order: {0..degree}^dim. */
void tesi_gmsh_positions(const TesiGmshType *type, int16_t at[TESI_GMSH_NODES][3]);

struct TesiGmsh;
/* The place of the node of a number, -1: there is none. */
int64_t tesi_gmsh_find_node(const struct TesiGmsh *mesh, int64_t number);

/* What is asked of a file beside its cells. */
typedef struct TesiGmshOptions {
  bool split;    /* triangles, tetrahedra, prisms are split, and all other cells with them */
  bool periodic; /* $Periodic is obeyed */
  bool groups;   /* named groups of curves and points become boundaries */
} TesiGmshOptions;

typedef struct TesiGmshElement {
  int64_t number, line;               /* Gmsh's number; line or byte of the file, for messages */
  int64_t first;                      /* in TesiGmsh.element_node */
  const TesiGmshType *type, *part_of; /* part_of: what was split; NULL: it is as in the file */
  int64_t bent;     /* a part of a cell of second degree: its nodes in TesiGmsh.bent; else -1 */
  int32_t physical; /* tag of its physical group; 0: none */
  int32_t entity;   /* tag of its entity */
} TesiGmshElement;

typedef struct TesiGmshName {
  int dim;
  int32_t tag;
  char *name;
} TesiGmshName;

enum { TESI_GMSH_ANY = -1 }; /* dimension of names in format 2.0 */

/* Entities of format 4, which say the physical group of their elements. */
typedef struct TesiGmshEntity {
  int dim;
  int32_t tag, physical;
} TesiGmshEntity;

/* Where a node or an element stands. */
typedef struct TesiGmshHome {
  int32_t dim, tag;
} TesiGmshHome;

/* Nodes of entity `to` lie where the map, three rows and a fourth of the file, takes nodes of entity `from`, both of
 * this dimension. */
typedef struct TesiGmshMap {
  int dim;
  int32_t to, from;
  double entry[16];
} TesiGmshMap;

typedef struct TesiGmsh {
  TesContext *ctx;
  const char *file;
  TesiGmshOptions options;
  bool binary;
  int64_t nodes, elements, element_nodes, names, entities;
  int64_t *node_number; /* [nodes] ascending */
  int32_t *node_at;     /* their places, by number - node_number[0]; -1: none; NULL: numbers are far apart */
  double (*node)[3];    /* [nodes] */
  TesiGmshElement *element; /* [elements]: points of groups, lines, .. */
  int64_t *element_node;    /* numbers of nodes, later their places in `node` */
  TesiGmshName *name;
  TesiGmshEntity *entity;
  /* nodes of parts of cells of second degree, 3^dim each, lexicographic; NULL: there are none */
  double (*bent)[3];
  int64_t pairs, pair_room;
  int64_t (*pair)[2]; /* [pairs] numbers of nodes that $Periodic calls one */
  int64_t maps, map_room;
  TesiGmshMap *map;   /* [maps] without pairs */
  TesiGmshHome *home; /* [nodes] entities of the nodes, where $Periodic is obeyed and the file has them; NULL */
  int64_t node_room, element_room, element_node_room, name_room, entity_room;
} TesiGmsh;

/* Reads text[length], which has a 0 behind it; `file` stands in messages. mesh may be freed after failure too. */
TesStatus tesi_gmsh_parse(TesContext *ctx, const char *text, size_t length, const char *file,
                          TesiGmshOptions options, TesiGmsh *mesh);
void tesi_gmsh_free(TesiGmsh *mesh);
/* The whole file, with a 0 behind it. */
TesStatus tesi_gmsh_load(TesContext *ctx, const char *path, char **text, size_t *length);
/* The trees; dim 0: 3 when there are hexahedra. Every cell is checked. */
TesStatus tesi_gmsh_trees(const TesiGmsh *mesh, int dim, TesiTrees **trees);

/* ---- the parts of the reader ---- */

typedef struct TesiGmshCursor {
  TesContext *ctx;
  const char *file, *begin, *at, *end;
  int64_t line;
  bool binary, swap;  /* swap: the other order of bytes */
  int version, minor; /* 1; 2, 0..2; 4, 0..1 */
  TesiGmshOptions options;
} TesiGmshCursor;

/* The first section: $MeshFormat, or $NOD of format 1, which has no number; comments may stand before it. */
TesStatus tesi_gmsh_format(TesiGmshCursor *c);
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
/* A number of a node or an element: as a count, but in format 4.0, which is before. */
TesStatus tesi_gmsh_tag(TesiGmshCursor *c, const char *what, int64_t *value);
/* A word of text, where it stands there. */
bool tesi_gmsh_accept(TesiGmshCursor *c, const char *word);
/* The section $PhysicalNames, $Entities, $PartitionedEntities (gmsh_groups.c) or $Periodic (gmsh_periodic.c) behind its
 * first line. */
TesStatus tesi_gmsh_names(TesiGmshCursor *c, TesiGmsh *mesh);
TesStatus tesi_gmsh_entities(TesiGmshCursor *c, bool partitioned, TesiGmsh *mesh);
int32_t tesi_gmsh_physical_of(const TesiGmsh *mesh, int64_t dim, int64_t tag);
TesStatus tesi_gmsh_periodic(TesiGmshCursor *c, TesiGmsh *mesh);
/* Pairs of the nodes of entities for which the file has a map alone, once all is read. */
TesStatus tesi_gmsh_pair_by_maps(TesiGmsh *mesh);
/* root[nodes]: nodes that $Periodic calls one have one. */
TesStatus tesi_gmsh_periodic_roots(const TesiGmsh *mesh, int32_t *root);
/* Splits all elements at the middles of their edges, faces and cells (gmsh_split.c). */
TesStatus tesi_gmsh_split(TesiGmsh *mesh);
/* The section $Nodes or $Elements behind its first line; parametric: $ParametricNodes of format 2. */
TesStatus tesi_gmsh_nodes(TesiGmshCursor *c, bool parametric, TesiGmsh *mesh);
TesStatus tesi_gmsh_elements(TesiGmshCursor *c, TesiGmsh *mesh);
/* Room for `count` of array *pointer, doubled when it is too small. */
TesStatus tesi_gmsh_grow(TesContext *ctx, void *pointer_to_pointer, size_t size, int64_t used, int64_t need,
                         int64_t *room);

#endif
