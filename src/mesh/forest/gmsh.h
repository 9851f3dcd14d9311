/* The contents of Gmsh files, and the trees made from them. */
#ifndef TESI_GMSH_H
#define TESI_GMSH_H

#include "base/grow.h"
#include "mesh/forest/trees.h"

enum { TESI_GMSH_NODES = 729 }; /* largest number of nodes of an element */

typedef enum TesiGmshShape {
  TESI_GMSH_POINT,
  TESI_GMSH_LINE,
  TESI_GMSH_QUADRILATERAL,
  TESI_GMSH_HEXAHEDRON,
  TESI_GMSH_TRIANGLE, /* these four only if they are split, degree 1 and 2 */
  TESI_GMSH_TETRAHEDRON,
  TESI_GMSH_PRISM,
  TESI_GMSH_PYRAMID,
  TESI_GMSH_OTHER /* known by name, but refused */
} TesiGmshShape;

/* A type of elements. Quadrilaterals and hexahedra are complete, or of second degree and serendipity. */
typedef struct TesiGmshType {
  int type; /* Gmsh's number */
  int dim, degree, nodes;
  TesiGmshShape shape;
  const char *name;
} TesiGmshType;

/* NULL: the number of an unknown type. */
const TesiGmshType *tesi_gmsh_type(int64_t number);
/* The positions of the nodes of a quadrilateral or hexahedron, in Gmsh's order: {0..degree}^dim. */
void tesi_gmsh_positions(const TesiGmshType *type, int16_t at[TESI_GMSH_NODES][3]);

struct TesiGmsh;
/* The index of the node with a number, -1: none. */
int64_t tesi_gmsh_find_node(const struct TesiGmsh *mesh, int64_t number);

/* Options of the reader beside the cells. */
typedef struct TesiGmshOptions {
  bool split;    /* triangles, tetrahedra and prisms are split, and with them all other cells */
  bool periodic; /* $Periodic is obeyed */
  bool groups;   /* named groups of curves and points become boundaries */
} TesiGmshOptions;

typedef struct TesiGmshElement {
  int64_t number, line; /* Gmsh's number; line or byte of the file, for messages */
  int64_t first;        /* in TesiGmsh.element_node */
  const TesiGmshType *type,
      *part_of;     /* part_of: the type of the element before it was split; NULL: it was not split */
  int64_t bent;     /* part of a split cell of degree 2: its nodes in TesiGmsh.bent; else -1 */
  int32_t physical; /* tag of its physical group; 0: none */
  int32_t entity;   /* tag of its entity */
} TesiGmshElement;

typedef struct TesiGmshName {
  int dim;
  int32_t tag;
  char *name;
} TesiGmshName;

enum { TESI_GMSH_ANY = -1 }; /* dimension of names in format 2.0 */

/* Entities of format 4, which give the physical group of their elements. */
typedef struct TesiGmshEntity {
  int dim;
  int32_t tag, physical;
} TesiGmshEntity;

/* The place of a node or an element in the file. */
typedef struct TesiGmshHome {
  int32_t dim, tag;
} TesiGmshHome;

/* Entity `to` is periodic: a map, three rows and a fourth row of the file, takes nodes of entity `from` to its nodes.
 * Both have this dimension. */
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
  int32_t *node_at; /* places of nodes, by number - node_number[0]; -1: none; NULL: the numbers have large gaps */
  double (*node)[3];        /* [nodes] */
  TesiGmshElement *element; /* [elements]: points of groups, lines, .. */
  int64_t *element_node;    /* numbers of nodes, later their places in `node` */
  TesiGmshName *name;
  TesiGmshEntity *entity;
  /* nodes of parts of split cells of degree 2, 3^dim per part, lexicographic; NULL: none */
  double (*bent)[3];
  int64_t pairs, pair_room;
  int64_t (*pair)[2]; /* [pairs] numbers of nodes that $Periodic identifies */
  int64_t maps, map_room;
  TesiGmshMap *map; /* [maps] without pairs */
  TesiGmshHome *home; /* [nodes] entities of the nodes, if $Periodic is obeyed and the file has entities; else NULL */
  int64_t node_room, element_room, element_node_room, name_room, entity_room;
} TesiGmsh;

/* Reads text[length], which ends with a 0; messages use the name `file`. `mesh` must be freed after failure too. */
TesStatus tesi_gmsh_parse(TesContext *ctx, const char *text, size_t length, const char *file,
                          TesiGmshOptions options, TesiGmsh *mesh);
void tesi_gmsh_free(TesiGmsh *mesh);
/* The whole file, with a 0 at its end. */
TesStatus tesi_gmsh_load(TesContext *ctx, const char *path, char **text, size_t *length);
/* The trees; dim 0: 3 if there are hexahedra, else 2. Every cell is checked. */
TesStatus tesi_gmsh_trees(const TesiGmsh *mesh, int dim, TesiTrees **trees);

/* ---- the parts of the reader ---- */

typedef struct TesiGmshCursor {
  TesContext *ctx;
  const char *file, *begin, *at, *end;
  int64_t line;
  bool binary, swap;  /* swap: the file has the opposite byte order */
  int version, minor; /* 1; 2, 0..2; 4, 0..1 */
  TesiGmshOptions options;
} TesiGmshCursor;

/* The first section: $MeshFormat, or $NOD of format 1, which has no number; comments may stand before it. */
TesStatus tesi_gmsh_format(TesiGmshCursor *c);
/* Records "FILE:LINE: message" (binary files: "FILE: byte N: "). */
TesStatus tesi_gmsh_fail(const TesiGmshCursor *c, const char *format, ...) TESI_PRINTF(2, 3);
/* The text ends with 0, which ends a number too. */
static inline bool tesi_gmsh_is_end(char c) {
  return c == 0 || c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
/* As strtoll() and strtod(); the end of the number. */
const char *tesi_gmsh_parse_integer(const char *at, int64_t *value);
const char *tesi_gmsh_parse_number(const char *at, double *value);
/* One number; the message names `what` if there is no number. Counts of format 4 have 8 bytes in binary files, other
 * counts 4. */
TesStatus tesi_gmsh_integer(TesiGmshCursor *c, const char *what, int64_t *value);
TesStatus tesi_gmsh_count(TesiGmshCursor *c, const char *what, int64_t *value);
TesStatus tesi_gmsh_number(TesiGmshCursor *c, const char *what, double *value);
/* A count of items of at least `bytes` bytes each. A count that is too large for the rest of the file is refused. */
TesStatus tesi_gmsh_count_of(TesiGmshCursor *c, const char *what, size_t bytes, int64_t *value);
/* The same at the head of a section, which is text in binary files of format 2 too. */
TesStatus tesi_gmsh_total(TesiGmshCursor *c, const char *what, size_t bytes, int64_t *value);
/* The number of a node or an element: the size of a count, but in format 4.0 the size of an integer. */
TesStatus tesi_gmsh_tag(TesiGmshCursor *c, const char *what, int64_t *value);
/* Skips `word` if it is the next text; false: it is not. */
bool tesi_gmsh_accept(TesiGmshCursor *c, const char *word);
/* Reads the section $PhysicalNames, $Entities, $PartitionedEntities (gmsh_groups.c) or $Periodic (gmsh_periodic.c)
 * after its first line. */
TesStatus tesi_gmsh_names(TesiGmshCursor *c, TesiGmsh *mesh);
TesStatus tesi_gmsh_entities(TesiGmshCursor *c, bool partitioned, TesiGmsh *mesh);
int32_t tesi_gmsh_physical_of(const TesiGmsh *mesh, int64_t dim, int64_t tag);
TesStatus tesi_gmsh_periodic(TesiGmshCursor *c, TesiGmsh *mesh);
/* After all sections are read: finds the pairs of nodes of entities for which the file has only a map. */
TesStatus tesi_gmsh_pair_by_maps(TesiGmsh *mesh);
/* root[nodes]: nodes that $Periodic identifies have the same root. */
TesStatus tesi_gmsh_periodic_roots(const TesiGmsh *mesh, int32_t *root);
/* Splits all elements at the middles of their edges, faces and cells (gmsh_split.c). */
TesStatus tesi_gmsh_split(TesiGmsh *mesh);
/* Reads the section $Nodes or $Elements after its first line; parametric: $ParametricNodes of format 2. */
TesStatus tesi_gmsh_nodes(TesiGmshCursor *c, bool parametric, TesiGmsh *mesh);
TesStatus tesi_gmsh_elements(TesiGmshCursor *c, TesiGmsh *mesh);

#endif
