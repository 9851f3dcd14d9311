/* Meshes: kinds, references, and queries of all kinds. */
#include "mesh/mesh.h"
#include "parallel/comm.h"

TesMesh *tesi_mesh_retain(const TesMesh *mesh) {
  TesMesh *m = (TesMesh *)mesh;
  atomic_fetch_add(&m->references, 1);
  return m;
}

TesStatus tesi_mesh_new(TesContext *ctx, TesMeshKind kind, int dim, int geometry_degree, TesMesh **mesh) {
  TesStatus status = TES_OK;
  TES_NEW(mesh);
  atomic_init(&(*mesh)->references, 1);
  (*mesh)->context = tesi_context_retain(ctx);
  (*mesh)->kind = kind;
  (*mesh)->dim = dim;
  (*mesh)->geometry_degree = geometry_degree;
done:
  return status;
}

void tes_mesh_destroy(TesMesh **mesh) {
  if (!mesh || !*mesh) return;
  TesMesh *m = *mesh;
  *mesh = NULL;
  if (atomic_fetch_sub(&m->references, 1) != 1) return;
  TesContext *ctx = m->context;
  tes_mesh_destroy(&m->coarser);
  tesi_geometry_destroy(&m->geometry);
  tesi_kept_destroy(ctx, &m->kept);
  if (m->forest) m->p4est->destroy(m->forest);
  tesi_trees_release(&m->coarse);
  for (int d = 0; d < 3; d++) tesi_free(ctx, &m->coordinates[d]);
  tesi_free(ctx, &m->leaves.tree);
  tesi_free(ctx, &m->leaves.level);
  tesi_free(ctx, &m->leaves.child);
  tesi_free(ctx, &m->leaves.origin);
  tesi_free(ctx, &m->mask);
  tesi_free(ctx, &m);
  tes_context_destroy(&ctx);
}

/* Whether the mesh is deformed by more than a map; trees can have a map too. */
static bool is_shaken(const TesMeshDesc *desc) {
  return desc->perturbation != 0 || desc->shuffle;
}

static bool is_deformed(const TesMeshDesc *desc) {
  return is_shaken(desc) || desc->map[0] || desc->map[1] || desc->map[2];
}

static bool is_graded(const TesMeshDesc *desc) {
  return desc->coordinates[0] || desc->coordinates[1] || desc->coordinates[2];
}

static bool is_periodic(const TesMeshDesc *desc) {
  return desc->periodic[0] || desc->periodic[1] || desc->periodic[2];
}

/* The reason why a mesh of this description cannot be of a kind; NULL: it can. */
static const char *refuses(const TesMeshDesc *desc, TesMeshKind kind) {
  const bool box = desc->domain == TES_DOMAIN_BOX;
  if (!box && is_shaken(desc)) return "only a box is perturbed or shuffled";
  if (!box && is_graded(desc)) return "only a box has coordinates of its vertices";
  if (kind == TES_MESH_BOX) {
    if (!box) return "a mesh of kind box needs the domain box";
    if (is_deformed(desc)) return "a deformed box is of kind cells or forest";
    if (desc->refine_where) return "a mesh of kind box is not refined in places: a forest is";
  } else if (kind == TES_MESH_FOREST) {
    if (is_shaken(desc)) return "a perturbed or shuffled box is of kind cells";
    if (is_graded(desc)) return "a forest's box has equal trees: coordinates need kind box";
  } else {
    if (is_periodic(desc)) return "a periodic box is of kind forest";
    if (desc->refine_where) return "cells of kind cells are not refined: a forest is";
    if (!box && desc->refine) return "cells of kind cells are not refined: a forest is";
  }
  return NULL;
}

/* Kind cells cannot be distributed over ranks; trees can. */
static TesMeshKind choose(const TesMeshDesc *desc, bool cut) {
  if (desc->kind != TES_MESH_AUTO) return desc->kind;
  const bool adapted = is_periodic(desc) || desc->refine_where;
  if (desc->domain == TES_DOMAIN_BOX && is_deformed(desc) && !(cut && !is_shaken(desc) && !is_graded(desc)))
    return TES_MESH_CELLS;
  if (desc->domain == TES_DOMAIN_BOX && !adapted && !is_deformed(desc)) return TES_MESH_BOX;
  return !tesi_p4est_is_built() && !desc->refine && !adapted ? TES_MESH_CELLS : TES_MESH_FOREST;
}

TesStatus tes_mesh_create(TesContext *context, const TesMeshDesc *desc, TesMesh **mesh) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TES_REFUSE_NULL(context, desc, mesh);
  *mesh = NULL;
  tesi_work_begin(ctx, "the mesh");
  TES_CHECK(desc->kind >= TES_MESH_AUTO && desc->kind <= TES_MESH_CELLS,
            "the mesh's kind is %d, expected 0..3", (int)desc->kind);
  TES_CHECK(desc->domain >= TES_DOMAIN_BOX && desc->domain <= TES_DOMAIN_CELLS, "domain is %d, expected 0..7",
            (int)desc->domain);
  TES_CHECK(desc->refine_times >= 0, "%d refinements by a function, expected 0 or more", desc->refine_times);
  TES_CHECK(desc->geometry_degree >= 0 && desc->geometry_degree <= TESI_TREES_DEGREE,
            "the geometry's degree is %d, expected 1..%d", desc->geometry_degree, TESI_TREES_DEGREE);
  const TesMeshKind kind = choose(desc, tesi_ranks(ctx) > 1);
  const char *reason = refuses(desc, kind);
  TES_CHECK(!reason, "%s", reason);
  TES_CHECK(kind != TES_MESH_CELLS || tesi_ranks(ctx) == 1,
            "a mesh of kind cells is for one rank, there are %d; kind forest is cut between ranks",
            tesi_ranks(ctx));
  if (kind == TES_MESH_BOX) TES_TRY(tesi_mesh_create_grid(ctx, kind, desc, mesh));
  if (kind == TES_MESH_CELLS) TES_TRY(tesi_mesh_create_cells(ctx, desc, mesh));
  if (kind == TES_MESH_FOREST) TES_TRY(tesi_mesh_create_forest(ctx, desc, mesh));
  if (desc->refine_where) TES_TRY(tesi_mesh_refine_where(desc, mesh));
  (*mesh)->as_grid = kind == TES_MESH_FOREST && desc->as_grid;
done:
  tesi_work_end(ctx);
  return tesi_agree(ctx, status);
}

TesStatus tes_mesh_coarsen(const TesMesh *mesh, TesMesh **coarse) {
  *coarse = NULL;
  if (mesh->kind == TES_MESH_BOX) return tesi_mesh_coarsen_box(mesh, coarse);
  return mesh->kind == TES_MESH_FOREST ? tesi_mesh_coarsen_forest(mesh, coarse) : TES_OK;
}

TesMeshInfo tes_mesh_info(const TesMesh *mesh) {
  TesMeshInfo info = {.kind = mesh->kind,
                      .dim = mesh->dim,
                      .cells = mesh->cells,
                      .all_cells = mesh->forest ? mesh->p4est->all_cells(mesh->forest) : mesh->cells,
                      .trees = mesh->coarse ? mesh->coarse->trees : mesh->cells,
                      .max_level = mesh->max_level,
                      .levels = mesh->kind == TES_MESH_FOREST ? mesh->leaves.level : NULL};
  for (int d = 0; d < 3 && mesh->kind == TES_MESH_BOX; d++) {
    info.cells_along[d] = mesh->box[d];
    info.coordinates[d] = mesh->coordinates[d];
    info.all_along[d] = mesh->window[d].cells;
    info.ranks_along[d] = mesh->window[d].parts;
    info.all_cells = d ? info.all_cells * mesh->window[d].cells : mesh->window[d].cells;
  }
  return info;
}
