#include "parallel/comm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tesi_ranks(const TesContext *ctx) {
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  return communicator && communicator->table->begin ? communicator->size : 1;
}

TesStatus tesi_one_rank(TesContext *ctx, const char *what) {
  TesStatus status = TES_OK;
  TES_CHECK(tesi_ranks(ctx) == 1, "%s is for one rank, there are %d", what, tesi_ranks(ctx));
done:
  return status;
}

void tesi_reduce(const TesContext *ctx, TesiReduction reduction, int n, double *values) {
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  if (communicator) communicator->table->reduce(communicator, reduction, n, values);
}

int64_t tesi_reduce_count(const TesContext *ctx, int64_t count) {
  double sum = (double)count;
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  return (int64_t)sum;
}

bool tesi_reduce_any(const TesContext *ctx, bool here) {
  double any = here;
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &any);
  return any > 0;
}

bool tesi_any_interrupted(const TesContext *ctx) {
  const bool here = tesi_context_interrupted(ctx);
  return tesi_ranks(ctx) > 1 ? tesi_reduce_any(ctx, here) : here;
}

void tesi_broadcast(const TesContext *ctx, int root, int64_t bytes, void *data) {
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  if (tesi_ranks(ctx) > 1) communicator->table->broadcast(communicator, root, bytes, data);
}

/* ---- agreement ----------------------------------------------------------------------------------------- */

enum { MESSAGE = 2048 };
static const double PATIENCE = 2, STAGGER = 0.05; /* seconds; the lowest rank times out first */

int tes_communicator_rank(const TesCommunicator *communicator) {
  return communicator ? communicator->rank : 0;
}

int tes_communicator_size(const TesCommunicator *communicator) {
  return communicator ? communicator->size : 1;
}

static void end_all(const TesCommunicator *c, TesStatus status, const char *message) {
  fprintf(stderr, "tessera: rank %d of %d: %s\n", c->rank, c->size,
          message && *message ? message : tes_status_text(status));
  fflush(NULL);
  c->table->stop(c, tes_status_exit(status));
}

/* Copies the message of the first rank with that status to all ranks. */
static void share_message(const TesCommunicator *c, const int *all, TesStatus worst, char *message,
                          size_t size) {
  char text[MESSAGE] = "";
  int first = -1, count = 0;
  for (int r = c->size - 1; r >= 0; r--)
    if (all[r] == (int)worst) first = r, count++;
  if (c->rank == first && message) snprintf(text, sizeof text, "%s", message);
  c->table->broadcast(c, first, sizeof text, text);
  if (!message || !size) return;
  if (count == c->size || !*text || !strncmp(text, "rank ", 5)) /* or the message has a rank's number already */
    snprintf(message, size, "%s", text);
  else
    snprintf(message, size, "rank %d of %d: %s", first, c->size, text);
}

TesStatus tes_communicator_agree(const TesCommunicator *c, TesStatus status, char *message, size_t size) {
  if (!c || c->size == 1 || !c->table->meet) return status;
  int *all = malloc((size_t)c->size * sizeof *all);
  const double seconds = status == TES_OK ? INFINITY : PATIENCE + STAGGER * c->rank;
  TesStatus worst = TES_OK;
  if (!all || !c->table->meet(c, seconds, (int)status, all))
    end_all(c, all ? status : TES_OUT_OF_MEMORY, all ? message : NULL);
  for (int r = 0; r < c->size; r++)
    if (all[r] > (int)worst) worst = (TesStatus)all[r];
  if (worst != TES_OK) share_message(c, all, worst, message, size);
  free(all);
  return worst;
}

TesStatus tesi_agree(TesContext *ctx, TesStatus status) {
  if (tesi_ranks(ctx) == 1) return status;
  char message[MESSAGE];
  snprintf(message, sizeof message, "%s", tes_context_message(ctx));
  const TesStatus worst =
      tes_communicator_agree(tesi_context_communicator(ctx), status, message, sizeof message);
  if (worst == TES_OK || !strcmp(message, tes_context_message(ctx))) return worst;
  tesi_context_forget(ctx);
  return tesi_fail(ctx, worst, __FILE__, __LINE__, __func__, "%s", message);
}

double tes_communicator_first(const TesCommunicator *c, double value) {
  if (c && c->size > 1 && c->table->broadcast) c->table->broadcast(c, 0, sizeof value, &value);
  return value;
}

/* ---- the launcher -------------------------------------------------------------------------------------- */

/* The variables of PMIX, and SLURM_PROCID, give only the rank; srun has the size in another variable. */
int tes_communicator_launched(const char **launcher) {
  static const struct {
    const char *size, *with, *name; /* with: set too */
  } known[] = {{"OMPI_COMM_WORLD_SIZE", NULL, "mpirun"},
               {"PMI_SIZE", "PMI_RANK", "mpirun"},
               {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"}};
  if (launcher) *launcher = NULL;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const char *size = getenv(known[i].size);
    const int count = size && (!known[i].with || getenv(known[i].with)) ? atoi(size) : 0;
    if (count < 1) continue;
    if (launcher) *launcher = known[i].name;
    return count;
  }
  return 1;
}
