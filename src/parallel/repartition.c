#include "parallel/repartition.h"
#include <string.h>

/* Owned numbers of a block, first[rank] .. end[rank] - 1. */
typedef struct Ranges {
  double *first, *end;
} Ranges;

typedef struct Move {
  TesContext *context;
  int ranks, rank;
  double *values; /* of the ranges */
  Ranges old, new;
  TesiMessage *message;
  double *sent, *received;
} Move;

static double least(double a, double b) {
  return a < b ? a : b;
}

/* The count of numbers that go from one rank to the other; *first <- the first of them. */
static int64_t common(const Move *m, int from, int to, double *first) {
  const double a = m->old.first[from], b = m->new.first[to];
  *first = a > b ? a : b;
  const double end = least(m->old.end[from], m->new.end[to]);
  return end > *first ? (int64_t)(end - *first) : 0;
}

static int64_t longest(const Move *m, int other) {
  double first;
  const int64_t out = common(m, m->rank, other, &first), in = common(m, other, m->rank, &first);
  return out > in ? out : in;
}

static void find_ranges(Move *m, const TesiOwned *from, const TesiOwned *to) {
  const int n = m->ranks;
  memset(m->values, 0, 4 * (size_t)n * sizeof *m->values);
  m->old = (Ranges){m->values, m->values + n}, m->new = (Ranges){m->values + 2 * n, m->values + 3 * n};
  m->old.first[m->rank] = (double)from->first, m->old.end[m->rank] = (double)(from->first + from->owned);
  m->new.first[m->rank] = (double)to->first, m->new.end[m->rank] = (double)(to->first + to->owned);
  tesi_reduce(m->context, TESI_SUM, 4 * n, m->values);
}

/* Both directions of a message have the length of the longer direction. */
static TesStatus exchange(Move *m, const TesiOwned *from, const double *x, const TesiOwned *to, double *y) {
  TesContext *ctx = m->context;
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  int messages = 0;
  int64_t all = 0, at = 0;
  double first;
  for (int r = 0; r < m->ranks; r++) all += longest(m, r);
  TES_ALLOC(&m->sent, all);
  TES_ALLOC(&m->received, all);
  for (int r = 0; r < m->ranks; at += longest(m, r), r++) {
    const int64_t count = common(m, m->rank, r, &first);
    const double *own = x + from->start + (int64_t)(first - m->old.first[m->rank]);
    if (count) memcpy(m->sent + at, own, (size_t)count * sizeof *own);
    if (r == m->rank)
      memcpy(m->received + at, m->sent + at, (size_t)count * sizeof *own);
    else if (longest(m, r))
      m->message[messages++] =
          (TesiMessage){r, longest(m, r) * (int64_t)sizeof *own, m->sent + at, m->received + at};
  }
  communicator->table->begin(communicator, messages, m->message);
  communicator->table->end(communicator);
  at = 0;
  for (int r = 0; r < m->ranks; at += longest(m, r), r++) {
    const int64_t count = common(m, r, m->rank, &first);
    double *own = y + to->start + (int64_t)(first - m->new.first[m->rank]);
    if (count) memcpy(own, m->received + at, (size_t)count * sizeof *own);
  }
done:
  tesi_free(ctx, &m->sent);
  tesi_free(ctx, &m->received);
  return status;
}

TesStatus tesi_layout_move(const TesiLayout *from, const double *x, const TesiLayout *to, double *y) {
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  Move m = {.context = ctx, .ranks = tesi_ranks(ctx), .rank = tes_communicator_rank(communicator)};
  TES_CHECK(from->blocks == to->blocks && from->global == to->global, "vectors of %lld and of %lld entries",
            (long long)from->global, (long long)to->global);
  memset(y, 0, (size_t)to->length * sizeof *y);
  if (m.ranks == 1) {
    memcpy(y, x, (size_t)to->length * sizeof *y);
    return TES_OK;
  }
  TES_ALLOC(&m.values, 4 * m.ranks);
  TES_ALLOC(&m.message, m.ranks);
  for (int b = 0; b < from->blocks; b++) {
    find_ranges(&m, &from->block[b], &to->block[b]);
    TES_TRY(exchange(&m, &from->block[b], x, &to->block[b], y));
  }
  tesi_exchange_sum(to->shared, TES_DOUBLE, y);
done:
  tesi_free(ctx, &m.values);
  tesi_free(ctx, &m.message);
  return status;
}
