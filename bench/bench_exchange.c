/* The cost of an exchange between ranks: each rank shares n entries with all other ranks, and the copies are summed.
 *   mpirun -n 2 bench_exchange [--device cuda|emulator|cpu] [--csv FILE]
 * Columns: entries, bytes of a message, microseconds per exchange in a loop of exchanges, the same in a loop with a
 * dot product after each exchange (which waits for the device). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/copies.h"
#include "device/vector.h"
#include "parallel/comm.h"
#include "tessera/tessera.h"

enum { TIMES = 1000, WARM = 20 };

static TesStatus make_exchange(TesContext *ctx, const TesCommunicator *ranks, int64_t n,
                               TesiExchange **exchange) {
  TesStatus status = TES_OK;
  TesiSharers s = {.ranks = tes_communicator_size(ranks)};
  TES_ALLOC(&s.rank, s.ranks);
  TES_ALLOC(&s.first, s.ranks + 1);
  TES_ALLOC(&s.entry, s.ranks * n);
  for (int r = 0; r < s.ranks; r++) {
    s.rank[r] = r;
    s.first[r + 1] = (r + 1) * n;
    for (int64_t i = 0; i < n; i++) s.entry[r * n + i] = (int32_t)i;
  }
  TES_TRY(tesi_exchange_create(ctx, &s, NULL, exchange));
done:
  tesi_sharers_free(ctx, &s);
  return status;
}

/* microseconds[2] */
static TesStatus measure(TesContext *ctx, const TesCommunicator *ranks, int64_t n, double microseconds[2]) {
  TesStatus status = TES_OK;
  TesiExchange *exchange = NULL;
  TesVector *x = NULL;
  double start = 0, dot;
  TES_TRY(make_exchange(ctx, ranks, n, &exchange));
  TES_TRY(tes_vector_create(ctx, n, TES_DOUBLE, &x));
  for (int kind = 0; kind < 2; kind++) {
    for (int i = 0; i < WARM + TIMES; i++) {
      if (i == WARM) {
        TES_TRY(tes_vector_dot(x, x, &dot)); /* all are here */
        start = tesi_now();
      }
      TES_TRY(tesi_sum_copies(ctx, exchange, TES_DOUBLE, x->data));
      if (kind) TES_TRY(tes_vector_dot(x, x, &dot));
    }
    TES_TRY(tesi_context_device(ctx)->synchronize(ctx));
    microseconds[kind] = (tesi_now() - start) / TIMES * 1e6;
  }
done:
  tes_vector_destroy(&x);
  tesi_exchange_destroy(&exchange);
  return status;
}

int main(int argc, char **argv) {
  const struct option options[] = {
      {"device", required_argument, NULL, 'd'}, {"csv", required_argument, NULL, 'c'}, {0}};
  const char *device = "auto", *csv = NULL;
  TesCommunicator *ranks;
  TesContext *ctx;
  char message[512];
  for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (c == '?') return 2;
    *(c == 'd' ? &device : &csv) = optarg;
  }
  if (tes_communicator_of_all(&ranks) != TES_OK) return 3;
  const TesContextDesc desc = {.device = device, .threads = 1, .verbosity = TES_QUIET, .communicator = ranks};
  if (tes_context_create(&desc, &ctx, message, sizeof message) != TES_OK) {
    fprintf(stderr, "%s\n", message);
    return 3;
  }
  const bool tells = tes_communicator_rank(ranks) == 0;
  FILE *file = tells && csv ? fopen(csv, "w") : NULL;
  if (tells) printf("%10s %12s %14s %14s\n", "entries", "bytes", "exchange us", "with dot us");
  if (file) fprintf(file, "entries,bytes,exchange_us,with_dot_us\n");
  for (int64_t n = 128; n <= 1 << 21; n *= 4) {
    double us[2];
    if (measure(ctx, ranks, n, us) != TES_OK) {
      fprintf(stderr, "%s\n", tes_context_message(ctx));
      return 1;
    }
    if (tells) printf("%10lld %12lld %14.2f %14.2f\n", (long long)n, (long long)n * 8, us[0], us[1]);
    if (file) fprintf(file, "%lld,%lld,%.3f,%.3f\n", (long long)n, (long long)n * 8, us[0], us[1]);
  }
  if (file) fclose(file);
  tes_context_destroy(&ctx);
  tes_communicator_destroy(&ranks);
  return 0;
}
