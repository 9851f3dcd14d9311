#include "operator/trial.h"
#include "basis/kernel_tables.h"

TesStatus tesi_trial_create(TesContext *ctx, const TesOperator *op, const int cells[3], TesiTrial *trial) {
  TesStatus status = TES_OK;
  TesMesh *mesh = NULL;
  TesSpace *space = NULL;
  const TesMeshDesc box = {.dim = 3, .cells = {cells[0], cells[1], cells[2]}};
  TES_TRY(tes_mesh_create(ctx, &box, &mesh));
  TES_TRY(tes_space_create(ctx, &(TesSpaceDesc){.mesh = mesh, .degree = op->space->degree}, &space));
  trial->op.context = ctx;
  trial->op.precision = op->precision;
  trial->op.kind = op->kind;
  trial->op.length = space->length;
  trial->diffusion.a = 1;
  trial->op.data = &trial->diffusion;
  trial->op.space = space;
  space = NULL;
  TES_TRY(tes_vector_create(ctx, trial->op.length, op->precision, &trial->x));
  TES_TRY(tes_vector_create(ctx, trial->op.length, op->precision, &trial->y));
  TES_TRY(tes_vector_fill(trial->x, 0.7));
done:
  tes_mesh_destroy(&mesh);
  tes_space_destroy(&space);
  return status;
}

void tesi_trial_destroy(TesiTrial *trial) {
  tes_vector_destroy(&trial->x);
  tes_vector_destroy(&trial->y);
  tes_space_destroy(&trial->op.space);
}

void tesi_trial_prepare(const TesiTrial *trial, int programs,
                        void (*describe)(const void *data, int program, const char *tables,
                                         TesiProgramDesc *desc),
                        const void *data) {
  TesContext *ctx = trial->op.context;
  char *tables = NULL;
  TesStatus status = tesi_kernel_tables(
      ctx, trial->op.space->degree, trial->op.precision == TES_SINGLE ? "float" : "double", &tables, NULL);
  for (int i = 0; i < programs && status == TES_OK; i++) {
    TesiProgramDesc desc;
    TesiProgram *program;
    describe(data, i, tables, &desc);
    status = tesi_program_get(ctx, &desc, &program);
  }
  if (status != TES_OK) tesi_context_forget(ctx);
  tesi_free(ctx, &tables);
}
