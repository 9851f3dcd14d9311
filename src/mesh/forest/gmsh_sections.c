/* Nodes and elements of a Gmsh file. */
#include <stdlib.h>
#include <string.h>
#include "mesh/forest/gmsh.h"
#include "base/ascending.h"

static TesStatus find_type(const TesiGmshCursor *c, int64_t number, int64_t element,
                           const TesiGmshType **type) {
  static const char allowed[] = "lines, quadrilaterals of 4, 8 or 9 nodes, hexahedra of 8, 20 or 27 nodes, "
                                "and complete ones up to degree 8 are read";
  *type = tesi_gmsh_type(number);
  if (!*type)
    return tesi_gmsh_fail(c, "element %lld is of Gmsh's type %lld; %s", (long long)element, (long long)number,
                          allowed);
  const TesiGmshShape shape = (*type)->shape;
  const bool can_split = shape != TESI_GMSH_OTHER && (*type)->degree <= 2;
  if (c->options.split && !can_split)
    return tesi_gmsh_fail(c,
                          "element %lld is a %s; mesh.split splits elements of first and second degree "
                          "(Mesh.ElementOrder)",
                          (long long)element, (*type)->name);
  if (!c->options.split && shape >= TESI_GMSH_TRIANGLE)
    return tesi_gmsh_fail(c, "element %lld is a %s; %s%s", (long long)element, (*type)->name, allowed,
                          can_split ? ", and mesh.split: true splits others" : "");
  return TES_OK;
}

static TesStatus read_node(TesiGmshCursor *c, double x[3]) {
  for (int d = 0; d < 3; d++) {
    const TesStatus status = tesi_gmsh_number(c, "a coordinate of a node", &x[d]);
    if (status != TES_OK) return status;
  }
  return TES_OK;
}

typedef struct Place {
  int64_t number, at;
} Place;

int64_t tesi_gmsh_find_node(const TesiGmsh *mesh, int64_t number) {
  const int64_t last = mesh->nodes - 1;
  if (number < mesh->node_number[0] || number > mesh->node_number[last]) return -1;
  if (mesh->node_at) return mesh->node_at[number - mesh->node_number[0]];
  const int64_t *found =
      bsearch(&number, mesh->node_number, (size_t)mesh->nodes, sizeof number, tesi_ascending_int64);
  return found ? found - mesh->node_number : -1;
}

/* The table for numbers with few gaps, which is the usual case. */
static TesStatus index_nodes(TesiGmsh *mesh) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  const int64_t first = mesh->node_number[0];
  int64_t span;
  if (__builtin_sub_overflow(mesh->node_number[mesh->nodes - 1], first, &span)) return TES_OK;
  if (span > 8 * mesh->nodes || mesh->nodes > INT32_MAX) return TES_OK;
  TES_ALLOC(&mesh->node_at, span + 1);
  for (int64_t i = 0; i <= span; i++) mesh->node_at[i] = -1;
  for (int64_t i = 0; i < mesh->nodes; i++) mesh->node_at[mesh->node_number[i] - first] = (int32_t)i;
done:
  return status;
}

/* Sorts nodes by their numbers, which must differ. */
static TesStatus sort_nodes(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  Place *place = NULL;
  double(*node)[3] = NULL;
  TesiGmshHome *home = NULL;
  TES_ALLOC(&place, mesh->nodes);
  if (mesh->home) TES_ALLOC(&home, mesh->nodes);
  TES_ALLOC(&node, mesh->nodes);
  for (int64_t i = 0; i < mesh->nodes; i++) place[i] = (Place){mesh->node_number[i], i};
  bool sorted = true;
  for (int64_t i = 1; i < mesh->nodes && sorted; i++) sorted = place[i].number > place[i - 1].number;
  if (!sorted) qsort(place, (size_t)mesh->nodes, sizeof *place, tesi_ascending_int64);
  for (int64_t i = 0; i < mesh->nodes; i++) {
    if (i && place[i].number == place[i - 1].number)
      TES_TRY(tesi_gmsh_fail(c, "node %lld stands twice", (long long)place[i].number));
    mesh->node_number[i] = place[i].number;
    memcpy(node[i], mesh->node[place[i].at], sizeof node[i]);
    if (home) home[i] = mesh->home[place[i].at];
  }
  if (home) {
    tesi_free(ctx, &mesh->home);
    mesh->home = home, home = NULL;
  }
  tesi_free(ctx, &mesh->node);
  mesh->node = node;
  node = NULL;
  TES_TRY(index_nodes(mesh));
done:
  tesi_free(ctx, &place);
  tesi_free(ctx, &node);
  tesi_free(ctx, &home);
  return status;
}

/* Nodes of one entity in format 4: first all numbers, then all coordinates; in format 4.0 node by node. */
static TesStatus read_node_block(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t dim, tag, parametric, count, room = mesh->node_room, homes = room;
  double parameter;
  TES_TRY(tesi_gmsh_integer(c, "the dimension of an entity", c->minor ? &dim : &tag));
  TES_TRY(tesi_gmsh_integer(c, "the tag of an entity", c->minor ? &tag : &dim));
  TES_TRY(tesi_gmsh_integer(c, "0 or 1", &parametric));
  TES_TRY(tesi_gmsh_count_of(c, "the number of nodes", 32, &count));
  if (dim < 0 || dim > 3 || parametric < 0 || parametric > 1)
    TES_TRY(tesi_gmsh_fail(c, "a block of nodes of dimension %lld, parametric %lld", (long long)dim,
                           (long long)parametric));
  TES_GROW(&mesh->node_number, mesh->nodes, mesh->nodes + count, &room);
  TES_GROW(&mesh->node, mesh->nodes, mesh->nodes + count, &mesh->node_room);
  if (c->options.periodic) TES_GROW(&mesh->home, mesh->nodes, mesh->nodes + count, &homes);
  for (int64_t i = 0; c->options.periodic && i < count; i++)
    mesh->home[mesh->nodes + i] = (TesiGmshHome){(int32_t)dim, (int32_t)tag};
  for (int64_t i = 0; i < count && c->minor; i++)
    TES_TRY(tesi_gmsh_count(c, "the number of a node", &mesh->node_number[mesh->nodes + i]));
  for (int64_t i = 0; i < count; i++) {
    if (!c->minor) TES_TRY(tesi_gmsh_tag(c, "the number of a node", &mesh->node_number[mesh->nodes + i]));
    TES_TRY(read_node(c, mesh->node[mesh->nodes + i]));
    for (int64_t d = 0; parametric && d < dim; d++)
      TES_TRY(tesi_gmsh_number(c, "a parameter of a node", &parameter));
  }
  mesh->nodes += count;
done:
  return status;
}

/* After a node of $ParametricNodes: the dimension and the tag of its entity, and parameters on curves and surfaces. */
static TesStatus skip_parameters(TesiGmshCursor *c) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t dim, tag;
  double parameter;
  TES_TRY(tesi_gmsh_integer(c, "the dimension of an entity", &dim));
  TES_TRY(tesi_gmsh_integer(c, "the tag of an entity", &tag));
  if (dim < 0 || dim > 3) TES_TRY(tesi_gmsh_fail(c, "a node of an entity of dimension %lld", (long long)dim));
  for (int64_t d = 0; dim < 3 && d < dim; d++)
    TES_TRY(tesi_gmsh_number(c, "a parameter of a node", &parameter));
done:
  return status;
}

TesStatus tesi_gmsh_nodes(TesiGmshCursor *c, bool parametric, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t count, total;
  if (c->version == 4) {
    TES_TRY(tesi_gmsh_total(c, "the number of blocks of nodes", 20, &count));
    for (int i = 0; i < (c->minor ? 3 : 1); i++) TES_TRY(tesi_gmsh_count(c, "a number of nodes", &total));
    for (int64_t i = 0; i < count; i++) TES_TRY(read_node_block(c, mesh));
  } else {
    TES_TRY(tesi_gmsh_total(c, "the number of nodes", 28, &count));
    TES_ALLOC(&mesh->node_number, count);
    TES_ALLOC(&mesh->node, count);
    for (; mesh->nodes < count; mesh->nodes++) {
      TES_TRY(tesi_gmsh_integer(c, "the number of a node", &mesh->node_number[mesh->nodes]));
      TES_TRY(read_node(c, mesh->node[mesh->nodes]));
      if (parametric) TES_TRY(skip_parameters(c));
    }
  }
  if (mesh->nodes) TES_TRY(sort_nodes(c, mesh));
done:
  return status;
}

/* The nodes of an element whose head has been read. Points without a group, or in unwanted groups, are skipped. */
static TesStatus read_element(TesiGmshCursor *c, const TesiGmshType *type, int64_t number, int64_t physical,
                              int64_t entity, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t node;
  TES_GROW(&mesh->element, mesh->elements, mesh->elements + 1, &mesh->element_room);
  TES_GROW(&mesh->element_node, mesh->element_nodes, mesh->element_nodes + type->nodes,
           &mesh->element_node_room);
  mesh->element[mesh->elements] = (TesiGmshElement){.number = number,
                                                    .line = c->binary ? c->at - c->begin : c->line,
                                                    .first = mesh->element_nodes,
                                                    .type = type,
                                                    .bent = -1,
                                                    .physical = (int32_t)physical,
                                                    .entity = (int32_t)entity};
  for (int i = 0; i < type->nodes; i++) {
    TES_TRY(tesi_gmsh_tag(c, "the node of an element", &node));
    const int64_t found = tesi_gmsh_find_node(mesh, node);
    if (found < 0)
      TES_TRY(tesi_gmsh_fail(c, "element %lld has node %lld, which does not exist", (long long)number,
                             (long long)node));
    mesh->element_node[mesh->element_nodes + i] = found;
  }
  if (type->dim == 0 && (!physical || !c->options.groups)) return TES_OK;
  mesh->elements++;
  mesh->element_nodes += type->nodes;
done:
  return status;
}

static TesStatus read_element_block(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t dim, tag, number, count, element = 0;
  const TesiGmshType *type = NULL;
  TES_TRY(tesi_gmsh_integer(c, "the dimension of an entity", c->minor ? &dim : &tag));
  TES_TRY(tesi_gmsh_integer(c, "the tag of an entity", c->minor ? &tag : &dim));
  TES_TRY(tesi_gmsh_integer(c, "the type of an element", &number));
  TES_TRY(tesi_gmsh_count_of(c, "the number of elements", 16, &count));
  const int32_t physical = tesi_gmsh_physical_of(mesh, dim, tag);
  for (int64_t i = 0; i < count; i++) {
    TES_TRY(tesi_gmsh_tag(c, "the number of an element", &element));
    TES_TRY(find_type(c, number, element, &type));
    TES_TRY(read_element(c, type, element, physical, tag, mesh));
  }
done:
  return status;
}

/* Text of format 2: number type tags... nodes...; the first tag is the physical group. Format 1: number type group
 * entity count nodes... */
static TesStatus read_element_line(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t element, number, tags, tag, physical = 0, entity = 0;
  const TesiGmshType *type = NULL;
  TES_TRY(tesi_gmsh_integer(c, "the number of an element", &element));
  TES_TRY(tesi_gmsh_integer(c, "the type of an element", &number));
  TES_TRY(find_type(c, number, element, &type));
  if (c->version == 1)
    tags = 2;
  else
    TES_TRY(tesi_gmsh_count_of(c, "the number of tags", 4, &tags));
  for (int64_t i = 0; i < tags; i++) {
    TES_TRY(tesi_gmsh_integer(c, "a tag", &tag));
    if (i == 0) physical = tag;
    if (i == 1) entity = tag;
  }
  if (c->version == 1) {
    TES_TRY(tesi_gmsh_integer(c, "the number of nodes", &tag));
    if (tag != type->nodes)
      TES_TRY(tesi_gmsh_fail(c, "element %lld, a %s, has %lld nodes, expected %d", (long long)element,
                             type->name, (long long)tag, type->nodes));
  }
  TES_TRY(read_element(c, type, element, physical, entity, mesh));
done:
  return status;
}

/* Format 2, binary: type, how many, tags; then for each: number, tags, nodes. */
static TesStatus read_binary_elements(TesiGmshCursor *c, int64_t total, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t number, count, tags, element, tag, physical, entity;
  const TesiGmshType *type = NULL;
  while (total > 0) {
    TES_TRY(tesi_gmsh_integer(c, "the type of an element", &number));
    TES_TRY(tesi_gmsh_count_of(c, "the number of elements", 8, &count));
    TES_TRY(tesi_gmsh_count_of(c, "the number of tags", 4, &tags));
    if (!count) TES_TRY(tesi_gmsh_fail(c, "a block without elements"));
    for (int64_t i = 0; i < count; i++) {
      TES_TRY(tesi_gmsh_integer(c, "the number of an element", &element));
      TES_TRY(find_type(c, number, element, &type));
      physical = entity = 0;
      for (int64_t t = 0; t < tags; t++) {
        TES_TRY(tesi_gmsh_integer(c, "a tag", &tag));
        if (t == 0) physical = tag;
        if (t == 1) entity = tag;
      }
      TES_TRY(read_element(c, type, element, physical, entity, mesh));
    }
    total -= count;
  }
done:
  return status;
}

TesStatus tesi_gmsh_elements(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t count, total;
  if (!mesh->nodes) TES_TRY(tesi_gmsh_fail(c, "elements stand before nodes"));
  TES_TRY(tesi_gmsh_total(c, "the number of elements", 8, &count));
  if (c->version == 4) {
    for (int i = 0; i < (c->minor ? 3 : 1); i++) TES_TRY(tesi_gmsh_count(c, "a number of elements", &total));
    for (int64_t i = 0; i < count; i++) TES_TRY(read_element_block(c, mesh));
  } else if (c->binary) {
    TES_TRY(read_binary_elements(c, count, mesh));
  } else {
    for (int64_t i = 0; i < count; i++) TES_TRY(read_element_line(c, mesh));
  }
done:
  return status;
}
