/* Identified nodes of a Gmsh file: by the pairs of $Periodic, or by the affine map of an entity without pairs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/integer.h"
#include "mesh/forest/gmsh_build.h"
#include "mesh/forest/gmsh_places.h"

/* Moves to the next word, if this line has another word. */
static bool stays_on_line(TesiGmshCursor *c) {
  while (c->at < c->end && strchr(" \t\r", *c->at)) c->at++;
  return c->at < c->end && *c->at != '\n';
}

/* Reads the affine map: "Affine" and numbers up to the end of the line, or a count and numbers; *known: there are
 * 16. */
static TesStatus read_affine(TesiGmshCursor *c, double entry[16], bool *known) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t count = 0;
  double number;
  *known = false;
  if (c->version == 2 || (c->minor == 0 && !c->binary)) {
    if (!tesi_gmsh_accept(c, "Affine")) return TES_OK;
    while (stays_on_line(c)) {
      TES_TRY(tesi_gmsh_number(c, "an entry of an affine map", &number));
      if (count < 16) entry[count] = number;
      count++;
    }
  } else {
    TES_TRY(tesi_gmsh_count_of(c, "the number of entries of an affine map", 8, &count));
    for (int64_t i = 0; i < count; i++) {
      TES_TRY(tesi_gmsh_number(c, "an entry of an affine map", &number));
      if (i < 16) entry[i] = number;
    }
  }
  *known = count == 16;
done:
  return status;
}

static TesStatus read_link(TesiGmshCursor *c, TesiGmsh *mesh) {
  static const char *const what[] = {"the dimension of a periodic entity", "a periodic entity",
                                     "the entity that it is copied from"};
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  int64_t nodes, head[3];
  TesiGmshMap map;
  bool known;
  for (int k = 0; k < 3; k++) TES_TRY(tesi_gmsh_integer(c, what[k], &head[k]));
  TES_TRY(read_affine(c, map.entry, &known));
  TES_TRY(tesi_gmsh_count_of(c, "the number of periodic nodes", 8, &nodes));
  TES_GROW(&mesh->pair, mesh->pairs, mesh->pairs + nodes, &mesh->pair_room);
  for (int64_t k = 0; k < nodes; k++, mesh->pairs++)
    for (int s = 0; s < 2; s++) TES_TRY(tesi_gmsh_tag(c, "a periodic node", &mesh->pair[mesh->pairs][s]));
  if (nodes || !known) return TES_OK;
  map.dim = (int)head[0], map.to = (int32_t)head[1], map.from = (int32_t)head[2];
  TES_GROW(&mesh->map, mesh->maps, mesh->maps + 1, &mesh->map_room);
  mesh->map[mesh->maps++] = map;
done:
  return status;
}

/* Format 2 has this section as text in binary files too. */
TesStatus tesi_gmsh_periodic(TesiGmshCursor *c, TesiGmsh *mesh) {
  TesContext *ctx = c->ctx;
  TesStatus status = TES_OK;
  const bool binary = c->binary;
  int64_t links;
  c->binary = binary && c->version == 4;
  TES_TRY(tesi_gmsh_count_of(c, "the number of periodic entities", 12, &links));
  for (int64_t i = 0; i < links; i++) TES_TRY(read_link(c, mesh));
done:
  c->binary = binary;
  return status;
}

/* ---- pairs by maps --------------------------------------------------------------------------------------- */

/* Marks the nodes of an entity: the nodes that the file lists for it, or else the nodes of its elements. If the file
 * has neither, all nodes are marked, and the map sorts them out. *known: the file has such nodes or elements. */
static void mark_nodes(const TesiGmsh *mesh, int dim, int32_t tag, bool *known, char *mark) {
  *known = mesh->home != NULL;
  for (int64_t i = 0; i < mesh->nodes; i++)
    mark[i] = mesh->home && mesh->home[i].dim == dim && mesh->home[i].tag == tag;
  for (int64_t i = 0; i < mesh->elements && !mesh->home; i++) {
    const TesiGmshElement *e = &mesh->element[i];
    if (e->type->dim != dim || e->entity != tag) continue;
    *known = true;
    for (int k = 0; k < e->type->nodes; k++) mark[mesh->element_node[e->first + k]] = 1;
  }
  if (!*known) memset(mark, 1, (size_t)mesh->nodes);
}

static double size_of(const TesiGmsh *mesh) {
  double size = 0;
  for (int d = 0; d < 3; d++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < mesh->nodes; i++)
      low = fmin(low, mesh->node[i][d]), high = fmax(high, mesh->node[i][d]);
    size = fmax(size, high - low);
  }
  return size;
}

/* The pairs of one map; mark[2][nodes]: workspace. */
static TesStatus pair_by(TesiGmsh *mesh, const TesiGmshMap *map, double near, char *mark, TesiGmshPlace *list) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  char *const from = mark, *const to = mark + mesh->nodes;
  bool from_known, to_known;
  int64_t count = 0, made = 0;
  mark_nodes(mesh, map->dim, map->from, &from_known, from);
  mark_nodes(mesh, map->dim, map->to, &to_known, to);
  for (int64_t i = 0; i < mesh->nodes; i++)
    if (to[i]) list[count++] = tesi_gmsh_place(mesh, (int32_t)i);
  tesi_gmsh_sort_places(count, list);
  for (int64_t i = 0; i < mesh->nodes; i++) {
    double x[3];
    if (!from[i]) continue;
    for (int d = 0; d < 3; d++) {
      const double *row = map->entry + 4 * d, *y = mesh->node[i];
      x[d] = row[0] * y[0] + row[1] * y[1] + row[2] * y[2] + row[3];
    }
    const int32_t partner = tesi_gmsh_node_at(mesh, count, list, x, near);
    TES_CHECK(partner >= 0 || !from_known || !to_known,
              "%s: $Periodic: no node of %s %d lies at (%g, %g, %g), where its map takes node %lld of %s %d",
              mesh->file, map->dim == 2 ? "surface" : "curve", map->to, x[0], x[1], x[2],
              (long long)mesh->node_number[i], map->dim == 2 ? "surface" : "curve", map->from);
    if (partner < 0 || partner == i) continue;
    TES_GROW(&mesh->pair, mesh->pairs, mesh->pairs + 1, &mesh->pair_room);
    mesh->pair[mesh->pairs][0] = mesh->node_number[partner];
    mesh->pair[mesh->pairs++][1] = mesh->node_number[i];
    made++;
  }
  TES_CHECK(made || (from_known && to_known), "%s: $Periodic: the map of entity %d joins no nodes",
            mesh->file, map->to);
done:
  return status;
}

TesStatus tesi_gmsh_pair_by_maps(TesiGmsh *mesh) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  char *mark = NULL;
  TesiGmshPlace *list = NULL;
  const double near = 1e-7 * size_of(mesh);
  TES_ALLOC(&mark, 2 * mesh->nodes);
  TES_ALLOC(&list, mesh->nodes);
  for (int64_t i = 0; i < mesh->maps; i++) TES_TRY(pair_by(mesh, &mesh->map[i], near, mark, list));
done:
  tesi_free(ctx, &mark);
  tesi_free(ctx, &list);
  return status;
}

/* ---- what is one ----------------------------------------------------------------------------------------- */

TesStatus tesi_gmsh_periodic_roots(const TesiGmsh *mesh, int32_t *parent) {
  TesContext *ctx = mesh->ctx;
  TesStatus status = TES_OK;
  for (int64_t i = 0; i < mesh->nodes; i++) parent[i] = (int32_t)i;
  for (int64_t i = 0; i < mesh->pairs; i++) {
    int32_t at[2] = {0};
    for (int s = 0; s < 2; s++) {
      const int64_t found = tesi_gmsh_find_node(mesh, mesh->pair[i][s]);
      TES_CHECK(found >= 0, "%s: $Periodic names node %lld, which does not exist", mesh->file,
                (long long)mesh->pair[i][s]);
      at[s] = (int32_t)found;
    }
    parent[tesi_root_of(parent, at[0])] = tesi_root_of(parent, at[1]);
  }
  for (int64_t i = 0; i < mesh->nodes; i++) parent[i] = tesi_root_of(parent, (int32_t)i);
done:
  return status;
}

TesStatus tesi_gmsh_check_periodic(const TesiGmshBuilder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  static const char narrow[] = "$Periodic joins vertices of %s: a periodic direction needs 3 cells at least";
  int64_t first, second;
  for (int64_t t = 0; t < b->trees; t++) {
    const int32_t *v = b->number_of + (t << b->dim);
    for (int i = 0; i < 1 << b->dim; i++)
      for (int j = 0; j < i; j++)
        if (v[i] == v[j]) TES_TRY(tesi_gmsh_refuse(b, b->cell[t], narrow, "this cell"));
  }
  TES_TRY(tesi_gmsh_find_doubles(b, b->number_of, &first, &second));
  if (first >= 0) TES_TRY(tesi_gmsh_refuse(b, b->cell[second], narrow, "two cells"));
done:
  return status;
}
