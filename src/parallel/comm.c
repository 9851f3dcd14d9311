#include "parallel/comm.h"

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
