/* A ball refined towards a sphere inside it, a function on it, a VTU file and a checkpoint that is read again.
 *
 *   cc refine.c -o refine $(pkg-config --cflags --libs tessera) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>

/* Cells whose middle is near the sphere of radius 0.6 are refined. */
static TesStatus refine(TesMesh **forest) {
  const int64_t cells = tes_mesh_info(*forest).cells;
  TesMesh *refined = NULL;
  int8_t *mark = calloc((size_t)cells, 1);
  TesStatus status = mark ? TES_OK : TES_OUT_OF_MEMORY;
  for (int64_t c = 0; status == TES_OK && c < cells; c++) {
    double x[3];
    status = tes_mesh_evaluate(*forest, c, 1, (const double[3]){0.5, 0.5, 0.5}, x, NULL);
    mark[c] = fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 0.6) < 0.1;
  }
  if (status == TES_OK) status = tes_mesh_adapt(*forest, mark, &refined);
  free(mark);
  tes_mesh_destroy(forest);
  *forest = refined;
  return status;
}

/* Values of the function at the nodes. */
static TesStatus interpolate(TesContext *ctx, const TesSpace *space, TesVector **u) {
  TesFunction *f = NULL;
  TesStatus status = tes_function_create_expression(ctx, "tanh(20*(sqrt(x*x + y*y + z*z) - 0.6))", &f);
  if (!status) status = tes_vector_create(ctx, tes_space_length(space), TES_DOUBLE, u);
  if (!status) status = tes_space_interpolate(space, (const TesFunction *[]){f}, *u);
  tes_function_destroy(&f);
  return status;
}

int main(void) {
  TesContext *ctx;
  TesMesh *forest = NULL;
  TesSpace *space = NULL;
  TesVector *u = NULL;
  TesCheckpoint *checkpoint = NULL;
  if (tes_context_create(NULL, &ctx, NULL, 0) != TES_OK) return 1;
  TesStatus status = tes_mesh_create(ctx, &(TesMeshDesc){.domain = TES_DOMAIN_BALL, .refine = 1}, &forest);
  for (int i = 0; i < 2 && !status; i++) status = refine(&forest);
  if (!status) status = tes_space_create(ctx, &(TesSpaceDesc){.mesh = forest, .degree = 3}, &space);
  if (!status) status = interpolate(ctx, space, &u);
  if (!status) {
    printf("%lld cells on %d levels, %lld nodes, %lld hanging\n", (long long)tes_mesh_info(forest).cells,
           tes_mesh_info(forest).max_level + 1, (long long)tes_space_length(space),
           (long long)tes_space_hanging(space));
    status = tes_vtu_write_fields(space, 1, &(TesVtuField){.name = "u", .vector = u}, 0, NULL, "refine.vtu");
  }
  if (!status)
    status = tes_checkpoint_write(
        ctx, &(TesCheckpointDesc){.space = space, .count = 1, .fields = &(TesCheckpointField){"u", u}},
        "refine.h5");
  if (!status) status = tes_checkpoint_read(ctx, "refine.h5", 0, &checkpoint);
  if (!status)
    printf("read again: %lld nodes\n", (long long)tes_space_length(tes_checkpoint_space(checkpoint)));
  if (status) printf("%s\n", tes_context_message(ctx));
  tes_checkpoint_destroy(&checkpoint);
  tes_vector_destroy(&u);
  tes_space_destroy(&space);
  tes_mesh_destroy(&forest);
  tes_context_destroy(&ctx);
  return status == TES_MISSING ? 0 : tes_status_exit(status); /* built without p4est or HDF5: said above */
}
