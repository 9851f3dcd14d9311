/* Checkpoints of solves over meshes of trees: mesh and solution after each step, with which --restart goes on. */
#include <string.h>
#include "io/store.h"
#include "mesh/forest/forest.h"
#include "solve.h"
#include "tessera/adapt.h"
#include "tessera/checkpoint.h"

static const char field[] = "u";

/* A store that is never committed leaves nothing behind. */
static TesStatus solve_checkpoint_check(const Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TesiStore *store = NULL;
  const bool trees = s->input->forest.used;
  TES_CHECK(trees || !s->input->checkpoint,
            "output.checkpoint: only meshes of trees have checkpoints; a box becomes one with mesh.refine");
  TES_CHECK(trees || !s->options->restart,
            "--restart: only meshes of trees have checkpoints; a box becomes one with mesh.refine");
  if (s->input->checkpoint) TES_TRY(tesi_store_create(ctx, s->input->checkpoint, &store));
done:
  tesi_store_close(&store);
  return status;
}

TesStatus solve_outputs_check(const Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  TES_TRY(cli_check_output(ctx, s->options->vtu ? s->options->vtu : s->input->vtu));
  TES_TRY(cli_check_output(ctx, s->options->common.json ? s->options->common.json : s->input->json));
  TES_TRY(solve_checkpoint_check(s));
done:
  return status;
}

TesStatus solve_checkpoint_write(Solve *s, const TesForestPoisson *poisson, int step) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const TesSpace *space = tes_forest_poisson_space(poisson);
  TesVector *u = NULL;
  if (!s->input->checkpoint) return TES_OK;
  TES_TRY(tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, &u));
  TES_TRY(tes_vector_set(u, tes_forest_poisson_solution(poisson)));
  TES_TRY(tes_checkpoint_write(
      ctx,
      &(TesCheckpointDesc){
          .space = space, .count = 1, .fields = &(TesCheckpointField){field, u}, .step = step},
      s->input->checkpoint));
done:
  tes_vector_destroy(&u);
  return status;
}

/* Names and numbers that the case's data refer to must be the same, and the cells of the coarse mesh at the same places. */
static TesStatus compare(const Solve *s, const TesMesh *found) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  const char *path = s->options->restart;
  const TesMesh *mesh = s->forest->mesh;
  TES_CHECK(tes_mesh_dim(found) == tes_mesh_dim(mesh) && tes_mesh_trees(found) == tes_mesh_trees(mesh),
            "%s is of another mesh than the case: %dD with %lld trees, not %dD with %lld", path,
            tes_mesh_dim(found), (long long)tes_mesh_trees(found), tes_mesh_dim(mesh),
            (long long)tes_mesh_trees(mesh));
  TES_CHECK(tes_mesh_boundaries(found) == tes_mesh_boundaries(mesh) &&
                tes_mesh_materials(found) == tes_mesh_materials(mesh),
            "%s is of another mesh than the case: numbers of boundaries or materials differ", path);
  for (int i = 0; i < tes_mesh_boundaries(mesh); i++)
    TES_CHECK(!strcmp(tes_mesh_boundary_name(found, i), tes_mesh_boundary_name(mesh, i)),
              "%s is of another mesh than the case: boundary %d is '%s', not '%s'", path, i,
              tes_mesh_boundary_name(found, i), tes_mesh_boundary_name(mesh, i));
  TES_CHECK(
      found->coarse->identity == mesh->coarse->identity,
      "%s is of another mesh than the case: as many cells and boundaries, but nodes, materials or where the "
      "boundaries lie differ (another file, size or centre?)",
      path);
done:
  return status;
}

TesStatus solve_checkpoint_read(Solve *s) {
  TesContext *ctx = s->context;
  TesStatus status = TES_OK;
  SolveForest *f = s->forest;
  TesCheckpoint *checkpoint = NULL;
  TesSpace *space = NULL;
  TES_TRY(tes_checkpoint_read(ctx, s->options->restart, s->input->forest.geometry_degree, &checkpoint));
  const TesSpace *from = tes_checkpoint_space(checkpoint);
  const TesMesh *found = tes_space_mesh(from);
  const double *u = tes_checkpoint_values(checkpoint, field);
  TES_TRY(compare(s, found));
  TES_CHECK(u, "%s holds no solution '%s'", s->options->restart, field);
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = found, .degree = s->input->degree}, &space));
  TES_ALLOC(&f->guess, tes_space_length(space));
  TES_TRY(tes_space_carry(from, u, space, f->guess));
  tes_mesh_destroy(&f->mesh);
  f->mesh = tesi_mesh_retain(found);
  f->first_step = (int)tes_checkpoint_step(checkpoint);
  tesi_log(ctx, TES_LOG_INFO, "restart   from step %d of %s", f->first_step, s->options->restart);
done:
  tes_space_destroy(&space);
  tes_checkpoint_destroy(&checkpoint);
  return status;
}
