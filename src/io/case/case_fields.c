/* Functions that are fields of checkpoints: data.initial.file and data.b.file. */
#include <stdio.h>
#include <string.h>
#include "io/case/case_reader.h"
#include "mesh/mesh.h"
#include "space/space.h"
#include "tessera/checkpoint.h"

static const char *const letters[] = {"u", "v", "w"}, *const rates[] = {"ut", "vt", "wt"};

/* What the file cannot give is told at its key; other failures as they are. */
static TesStatus told(TesiCaseReader *r, int row, TesStatus status) {
  char message[1000];
  if (status != TES_INVALID_INPUT && status != TES_IO) return status;
  snprintf(message, sizeof message, "%s", tes_context_message(r->ctx));
  tesi_context_forget(r->ctx);
  return tesi_case_error(r, row, r->node[row], "%s", message);
}

/* *to <- a field, with the place of the key. */
static TesStatus take(TesiCaseReader *r, int row, const TesCheckpoint *checkpoint, const char *name,
                      TesFunction **to) {
  tes_function_destroy(to);
  if (r->error_count) return TES_OK;
  const TesStatus status = told(r, row, tes_checkpoint_function(checkpoint, name, to));
  return status == TES_OK && *to ? tesi_case_mark(r, row, r->node[row], *to) : status;
}

static TesStatus open_file(TesiCaseReader *r, int row, char **path, TesCheckpoint **checkpoint) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  const int dim = tesi_case_dim(r);
  TES_TRY(tesi_case_beside(r, r->node[row], path));
  TES_TRY(told(r, row, tes_checkpoint_read(ctx, *path, 0, checkpoint)));
  if (!*checkpoint) return TES_OK;
  const int found = tes_checkpoint_space(*checkpoint)->mesh->dim;
  if (dim != found)
    TES_TRY(
        tesi_case_error(r, row, r->node[row], "%s is of %d dimensions, the mesh has %d", *path, found, dim));
done:
  return status;
}

static TesStatus read_velocity(TesiCaseReader *r) {
  TesContext *ctx = r->ctx;
  TesStatus status = TES_OK;
  TesCheckpoint *checkpoint = NULL;
  const int row = tesi_case_row("data.b.file");
  if (!r->node[row]) return TES_OK;
  TES_TRY(open_file(r, row, &r->draft.c.b_file, &checkpoint));
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
  TES_TRY(open_file(r, row, &d->c.initial_file, &checkpoint));
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

/* Beside the file nothing else is given. */
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
