/* Boundaries and materials of a mesh: their numbers and names, and their faces. */
#include <string.h>
#include "base/nearest.h"
#include "mesh/mesh.h"

static const char *const sides[6] = {"left", "right", "bottom",
                                     "top",  "back",  "front"}; /* of a box, as TesFace */

int tes_mesh_boundaries(const TesMesh *mesh) {
  return mesh->coarse ? mesh->coarse->boundaries : 2 * mesh->dim;
}

const char *tes_mesh_boundary_name(const TesMesh *mesh, int boundary) {
  if (boundary < 0 || boundary >= tes_mesh_boundaries(mesh)) return "";
  return mesh->coarse ? mesh->coarse->boundary_name[boundary] : sides[boundary];
}

int tes_mesh_materials(const TesMesh *mesh) {
  return mesh->coarse ? mesh->coarse->materials : 0;
}

const char *tes_mesh_material_name(const TesMesh *mesh, int material) {
  return material >= 0 && material < tes_mesh_materials(mesh) ? mesh->coarse->material_name[material] : "";
}

/* Number of a name in a list; the message lists the known ones. */
static TesStatus find(TesContext *ctx, const char *what, int count, const char *const *known,
                      const char *name, int *number) {
  TesStatus status = TES_OK;
  char text[800];
  for (int i = 0; i < count; i++)
    if (!strcmp(known[i], name)) {
      *number = i;
      return TES_OK;
    }
  tesi_mesh_lacks(what, name, count, known, text, sizeof text);
  TES_FAIL(TES_INVALID_INPUT, "%s", text);
done:
  return status;
}

TesStatus tes_mesh_find_boundary(const TesMesh *mesh, const char *name, int *boundary) {
  return find(mesh->context, "boundary", tes_mesh_boundaries(mesh),
              mesh->coarse ? (const char *const *)mesh->coarse->boundary_name : sides, name, boundary);
}

TesStatus tes_mesh_find_material(const TesMesh *mesh, const char *name, int *material) {
  return find(mesh->context, "material", tes_mesh_materials(mesh),
              mesh->coarse ? (const char *const *)mesh->coarse->material_name : NULL, name, material);
}

bool tesi_mesh_on_hull(const TesMesh *mesh, int64_t cell, int face, int *boundary) {
  const int d = face / 2;
  int32_t name = face;
  if (!mesh->coarse) {
    int at[3];
    tesi_mesh_at(mesh, tesi_mesh_box_cell(mesh, cell), at);
    if (at[d] != (face & 1 ? mesh->box[d] - 1 : 0) || tesi_mesh_inside(mesh, face)) return false;
  } else {
    const int32_t at = mesh->leaves.origin[3 * cell + d],
                  length = (int32_t)1 << (mesh->depth - mesh->leaves.level[cell]);
    name = mesh->coarse->boundary[(int64_t)mesh->leaves.tree[cell] * 2 * mesh->dim + face];
    if (at != (face & 1 ? ((int32_t)1 << mesh->depth) - length : 0) || name == TESI_TREES_INSIDE)
      return false;
  }
  if (boundary) *boundary = name;
  return true;
}

bool tes_mesh_on_boundary(const TesMesh *mesh, int64_t cell, int face, int *boundary) {
  return !mesh->box_periodic[face / 2] && tesi_mesh_on_hull(mesh, cell, face, boundary);
}

bool tesi_mesh_is_group(const TesMesh *mesh, int boundary) {
  const TesiTrees *c = mesh->coarse;
  for (int64_t i = 0; c && i < c->parts; i++)
    if (c->part[i].boundary == boundary) return true;
  return false;
}

/* The first part of a tree, or the place where it would be. */
static int64_t first_part(const TesiTrees *c, int32_t tree) {
  int64_t low = 0, high = c->parts;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (c->part[middle].tree < tree)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t tesi_mesh_next_part(const TesMesh *mesh, int64_t cell, int64_t i) {
  const TesiTrees *c = mesh->coarse;
  if (!c || !c->parts) return -1;
  const int32_t tree = mesh->leaves.tree[cell], size = (int32_t)1 << mesh->depth,
                length = (int32_t)1 << (mesh->depth - mesh->leaves.level[cell]);
  const int32_t *origin = &mesh->leaves.origin[3 * cell];
  for (i = i < 0 ? first_part(c, tree) : i + 1; i < c->parts && c->part[i].tree == tree; i++) {
    bool at = true;
    for (int d = 0, t = c->part[i].at; d < mesh->dim; d++, t /= 3)
      at = at && (t % 3 == 1 || origin[d] == (t % 3 ? size - length : 0));
    if (at) return i;
  }
  return -1;
}

int tes_mesh_material(const TesMesh *mesh, int64_t cell) {
  return mesh->coarse ? mesh->coarse->material[mesh->leaves.tree[cell]] : -1;
}

int64_t tesi_mesh_boundary_faces(const TesMesh *mesh, int boundary) {
  const TesiTrees *c = mesh->coarse;
  int64_t faces = 0;
  if (!c) return boundary >= 0 && boundary < 2 * mesh->dim ? mesh->cells / mesh->box[boundary / 2] : 0;
  for (int64_t i = 0; boundary >= 0 && i < c->trees * 2 * c->dim; i++) faces += c->boundary[i] == boundary;
  return faces;
}

int64_t tesi_mesh_unnamed(const TesMesh *mesh, int64_t *tree, int *face) {
  const TesiTrees *c = mesh->coarse;
  int64_t unnamed = 0;
  for (int64_t i = c ? c->trees * 2 * c->dim - 1 : -1; i >= 0; i--) {
    if (c->boundary[i] != TESI_TREES_UNNAMED) continue;
    unnamed++;
    if (tree) *tree = i / (2 * c->dim);
    if (face) *face = (int)(i % (2 * c->dim));
  }
  return unnamed;
}

/* A name of a file can stand for a boundary and for a material, and can be "domain". */
TesStatus tesi_mesh_refuse_two(const TesMesh *mesh, const char *name) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  const bool domain = !strcmp(name, "domain");
  bool boundary = false, material = false;
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++)
    boundary = boundary || !strcmp(tes_mesh_boundary_name(mesh, i), name);
  for (int i = 0; i < tes_mesh_materials(mesh); i++)
    material = material || !strcmp(tes_mesh_material_name(mesh, i), name);
  TES_CHECK(domain + boundary + material < 2,
            "%s is the name of %s and of %s: give %s another name in the mesh", name,
            domain ? "the whole domain" : "a boundary", material ? "a material" : "a boundary",
            domain ? "that" : "one of them");
done:
  return status;
}
