#include "io/checkpoint.h"
#include <string.h>
#include "mesh/mesh.h"

/* Boxes: the same cells at the same places. */
static TesStatus compare_boxes(const char *path, const TesMesh *found, const TesMesh *mesh) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  for (int d = 0; d < mesh->dim; d++) {
    TES_CHECK(found->box[d] == mesh->box[d],
              "%s is of another mesh than the case: %d cells in direction %c, not %d", path, found->box[d],
              "xyz"[d], mesh -> box[d]);
    TES_CHECK(!memcmp(found->coordinates[d], mesh->coordinates[d],
                      (size_t)(mesh->box[d] + 1) * sizeof *mesh->coordinates[d]),
              "%s is of another mesh than the case: as many cells, but they stand elsewhere in direction %c",
              path, "xyz"[d]);
    TES_CHECK(found->box_periodic[d] == mesh->box_periodic[d],
              "%s is of another mesh than the case: it is %speriodic in direction %c", path,
              found->box_periodic[d] ? "" : "not ", "xyz"[d]);
  }
done:
  return status;
}

TesStatus tesi_checkpoint_compare(const char *path, const TesMesh *found, const TesMesh *mesh) {
  TesContext *ctx = mesh->context;
  TesStatus status = TES_OK;
  TES_CHECK(found->kind == mesh->kind, "%s is of another mesh than the case: of kind %s, not %s", path,
            found->kind == TES_MESH_BOX ? "box" : "forest",
            mesh->kind == TES_MESH_BOX      ? "box"
            : mesh->kind == TES_MESH_FOREST ? "forest"
                                            : "cells");
  if (mesh->kind == TES_MESH_BOX && found->dim == mesh->dim) return compare_boxes(path, found, mesh);
  TES_CHECK(found->dim == mesh->dim && tes_mesh_info(found).trees == tes_mesh_info(mesh).trees,
            "%s is of another mesh than the case: %dD with %lld trees, not %dD with %lld", path, found->dim,
            (long long)tes_mesh_info(found).trees, mesh->dim, (long long)tes_mesh_info(mesh).trees);
  TES_CHECK(tes_mesh_boundaries(found) == tes_mesh_boundaries(mesh) &&
                tes_mesh_materials(found) == tes_mesh_materials(mesh),
            "%s is of another mesh than the case: numbers of boundaries or materials differ", path);
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++)
    TES_CHECK(!strcmp(tes_mesh_boundary_name(found, i), tes_mesh_boundary_name(mesh, i)),
              "%s is of another mesh than the case: boundary %d is '%s', not '%s'", path, i,
              tes_mesh_boundary_name(found, i), tes_mesh_boundary_name(mesh, i));
  TES_CHECK(
      tesi_trees_are_same(found->coarse, mesh->coarse),
      "%s is of another mesh than the case: as many cells and boundaries, but nodes, materials or where the "
      "boundaries lie differ (another file, size or centre?)",
      path);
done:
  return status;
}
