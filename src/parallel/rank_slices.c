#include "parallel/rank_slices.h"
#include <string.h>

TesStatus tesi_slices_create(TesContext *ctx, int64_t count, TesiSlices *p) {
  TesStatus status = TES_OK;
  const int ranks = tesi_ranks(ctx),
            rank = ranks > 1 ? tes_communicator_rank(tesi_context_communicator(ctx)) : 0;
  *p = (TesiSlices){.context = ctx, .count = count};
  status = tesi_alloc(ctx, (size_t)ranks + 1, sizeof *p->begin, &p->begin);
  TES_TRY(tesi_agree(ctx, status));
  p->begin[rank + 1] = (double)count;
  if (ranks > 1) tesi_reduce(ctx, TESI_SUM, ranks + 1, p->begin);
  for (int r = 0; r < ranks; r++) p->begin[r + 1] += p->begin[r];
  p->first = (int64_t)p->begin[rank], p->all = (int64_t)p->begin[ranks];
done:
  return status;
}

void tesi_slices_free(TesiSlices *p) {
  if (p->context) tesi_free(p->context, &p->begin);
}

/* The number of a rank's entries among first .. first + count - 1; *from <- the first of them. */
static int64_t overlap(const TesiSlices *p, int rank, int64_t first, int64_t count, int64_t *from) {
  const int64_t begin = (int64_t)p->begin[rank], end = (int64_t)p->begin[rank + 1];
  *from = begin > first ? begin : first;
  const int64_t last = end < first + count ? end : first + count;
  return last > *from ? last - *from : 0;
}

/* Messages have the same length in both directions, so the data returned to the senders have no meaning. */
TesStatus tesi_slices_collect(const TesiSlices *p, size_t size, const void *part, int64_t first,
                              int64_t count, void *slice) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const int ranks = tesi_ranks(ctx), rank = ranks > 1 ? tes_communicator_rank(communicator) : 0;
  int64_t from, longest = 0;
  TesiMessage *message = NULL;
  char *back = NULL;
  for (int r = 1; r < ranks; r++) {
    const int64_t n = overlap(p, r, first, count, &from);
    if (rank == 0 || rank == r) longest = n > longest ? n : longest;
  }
  status = tesi_alloc(ctx, (size_t)ranks, sizeof *message, &message);
  if (status == TES_OK) status = tesi_alloc(ctx, (size_t)longest + 1, size, &back);
  TES_TRY(tesi_agree(ctx, status));
  const int64_t own = overlap(p, rank, first, count, &from), bytes = own * (int64_t)size;
  const char *sent = (const char *)part + (size_t)(from - p->first) * size;
  int messages = 0;
  if (rank == 0 && own) memcpy((char *)slice + (size_t)(from - first) * size, sent, (size_t)bytes);
  if (rank > 0 && own) message[messages++] = (TesiMessage){0, bytes, sent, back};
  for (int r = 1; r < ranks && rank == 0; r++) {
    const int64_t n = overlap(p, r, first, count, &from);
    if (n)
      message[messages++] =
          (TesiMessage){r, n * (int64_t)size, back, (char *)slice + (size_t)(from - first) * size};
  }
  if (ranks == 1) goto done;
  communicator->table->begin(communicator, messages, message);
  communicator->table->end(communicator);
done:
  tesi_free(ctx, &message);
  tesi_free(ctx, &back);
  return status;
}
