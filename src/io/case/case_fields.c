/* Functions that are fields of checkpoints: data.initial.file and data.b.file. */
#include <stdio.h>
#include "io/case/case_reader.h"
#include "io/checkpoint.h"
#include "mesh/mesh.h"
#include "parallel/comm.h"
#include "space/space.h"
#include "tessera/checkpoint.h"

static const char *const letters[] = {"u", "v", "w"}, *const rates[] = {"ut", "vt", "wt"};

/* The owner of the checkpoints. A function may be evaluated at points of any part of the mesh, so each of several
 * ranks has the whole field, in a context of its own. */
static TesStatus create_owner(TesContext *ctx, TesContext **owner) {
  TesStatus status = TES_OK;
  char message[200] = "";
  if (tesi_ranks(ctx) == 1) {
    *owner = tesi_context_retain(ctx);
    return TES_OK;
  }
  const TesContextDesc desc = {.device = "cpu",
                               .threads = tes_context_threads(ctx),
                               .verbosity = TES_QUIET,
                               .simd_bits = tes_context_simd_bits(ctx)};
  status = tes_context_create(&desc, owner, message, sizeof message);
  if (status != TES_OK) TES_FAIL(status, "%s", message);
done:
  return status;
}

/* Reports at the key what the file does not have; returns other failures unchanged. */
static TesStatus told(TesiCaseReader *r, int row, TesContext *owner, TesStatus status) {
  char message[1000];
  if (status == TES_OK) return status;
  snprintf(message, sizeof message, "%s", tes_context_message(owner));
  if (status != TES_INVALID_INPUT && status != TES_IO)
    return owner == r->ctx ? status : tesi_fail(r->ctx, status, __FILE__, __LINE__, __func__, "%s", message);
  tesi_context_forget(owner);
  return tesi_case_error(r, row, r->node[row], "%s", message);
}

/* *to <- a field, with the place of the key. */
static TesStatus take(TesiCaseReader *r, int row, const TesCheckpoint *checkpoint, const char *name,
                      TesFunction **to) {
  tes_function_destroy(to);
  if (r->error_count) return TES_OK;
  TesContext *owner = tes_checkpoint_space(checkpoint)->context;
  TesFunction *field = NULL;
  TesStatus status =
      told(r, row, owner, tes_checkpoint_function(checkpoint, name, owner == r->ctx ? to : &field));
  if (status == TES_OK && field) status = tesi_function_adopt(r->ctx, field, to);
  tes_function_destroy(&field);
  return status == TES_OK && *to ? tesi_case_mark(r, row, r->node[row], *to) : status;
}

static TesStatus open_file(TesiCaseReader *r, int row, const char *path, TesiSolutionKind kind,
                           TesCheckpoint **checkpoint) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int dim = tesi_case_dim(r);
  TesContext *owner = NULL;
  TES_TRY(create_owner(ctx, &owner));
  TES_TRY(told(r, row, owner, tes_checkpoint_read(owner, path, 0, checkpoint)));
  if (!*checkpoint) goto done;
  TES_TRY(told(r, row, owner, tesi_checkpoint_expect(*checkpoint, kind)));
  const int found = tes_checkpoint_space(*checkpoint)->mesh->dim;
  if (dim != found)
    TES_TRY(tesi_case_error(r, row, r->node[row], "%s is of %d dimensions, the mesh has %d", path, found, dim));
done:
  tes_context_destroy(&owner);
  return status;
}

static TesStatus read_series(TesiCaseReader *r, int row) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const TesTimeDesc *time = &r->draft.c.problem.time;
  const int dim = tesi_case_dim(r);
  for (int c = 0; c < 3; c++) tes_function_destroy(&r->draft.b[c]);
  TES_TRY(told(r, row, ctx,
               tesi_checkpoint_series(ctx, r->draft.c.b_file, dim, time->start, time->end, r->draft.b)));
  for (int c = 0; c < dim && r->draft.b[c]; c++) TES_TRY(tesi_case_mark(r, row, r->node[row], r->draft.b[c]));
done:
  return status;
}

static TesStatus read_velocity(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCheckpoint *checkpoint = NULL;
  const int row = tesi_case_row("data.b.file");
  if (!r->node[row]) return TES_OK;
  TES_TRY(tesi_case_beside(r, r->node[row], &r->draft.c.b_file));
  if (tesi_is_pattern(r->draft.c.b_file)) return read_series(r, row);
  TES_TRY(open_file(r, row, r->draft.c.b_file, TESI_SOLUTION_FLOW, &checkpoint));
  for (int c = 0; checkpoint && c < tes_checkpoint_space(checkpoint)->mesh->dim; c++)
    TES_TRY(take(r, row, checkpoint, letters[c], &r->draft.b[c]));
done:
  tes_checkpoint_destroy(&checkpoint);
  return status;
}

static TesStatus read_initial(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCheckpoint *checkpoint = NULL;
  TesiCaseDraft *d = &r->draft;
  const int row = tesi_case_row("data.initial.file");
  const bool flow = r->support->flow, elastic = r->support->vector && !flow;
  if (!r->node[row]) return TES_OK;
  TES_TRY(tesi_case_beside(r, r->node[row], &d->c.initial_file));
  TES_TRY(open_file(r, row, d->c.initial_file,
                    flow      ? TESI_SOLUTION_FLOW
                    : elastic ? TESI_SOLUTION_DISPLACEMENT
                              : TESI_SOLUTION_SCALAR,
                    &checkpoint));
  if (!checkpoint) goto done;
  const int components = flow || elastic ? tes_checkpoint_space(checkpoint)->mesh->dim : 1;
  const bool moves = elastic && tes_checkpoint_values(checkpoint, "u_t");
  for (int c = 0; c < components; c++)
    TES_TRY(take(r, row, checkpoint, letters[c], flow ? &d->initial_velocity[c] : &d->initial[c]));
  for (int c = 0; c < components && moves; c++)
    TES_TRY(take(r, row, checkpoint, rates[c], &d->initial_velocity[c]));
  if (flow) TES_TRY(take(r, row, checkpoint, "p", &d->initial_pressure));
done:
  tes_checkpoint_destroy(&checkpoint);
  return status;
}

/* Besides the file nothing else may be given. */
static TesStatus check_alone(TesiCaseReader *r) {
  static const char *const others[] = {"data.initial.displacement", "data.initial.velocity",
                                       "data.initial.pressure"};
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int file = tesi_case_row("data.initial.file");
  for (size_t i = 0; i < sizeof others / sizeof *others && r->node[file]; i++) {
    const int row = tesi_case_row(others[i]);
    if (r->node[row]) TES_TRY(tesi_case_error(r, row, r->node[row], "data.initial.file gives it"));
  }
done:
  return status;
}

TesStatus tesi_case_read_fields(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TES_TRY(check_alone(r));
  if (r->error_count) goto done;
  TES_TRY(read_velocity(r));
  TES_TRY(read_initial(r));
done:
  return status;
}
