#include "parallel/comm.h"

void tesi_reduce(const TesContext *ctx, TesiReduction reduction, int n, double *values) {
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  if (communicator) communicator->table->reduce(communicator, reduction, n, values);
}

double tesi_reduce_length(const TesContext *ctx, int64_t length) {
  double sum = (double)length;
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  return sum;
}

double tesi_reduce_product(const TesContext *ctx, int64_t n, const double *x, const double *y) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * (y ? y[i] : 1);
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  return sum;
}
