#include "parallel/exchange.h"
#include <math.h>
#include <string.h>

struct TesiExchange {
  TesContext *context;
  TesiSharers sharers;
  int own;               /* the position of this rank among them */
  TesiMessage *message;  /* [ranks - 1] */
  double *sent, *copies; /* [entries of all lists]; float32 numbers use the first half of a list's room */
  TesiExchangeDevice device;
};

void tesi_sharers_free(TesContext *ctx, TesiSharers *sharers) {
  tesi_free(ctx, &sharers->rank);
  tesi_free(ctx, &sharers->first);
  tesi_free(ctx, &sharers->entry);
}

void tesi_exchange_destroy(TesiExchange **exchange) {
  TesiExchange *e = *exchange;
  if (!e) return;
  TesContext *ctx = e->context;
  *exchange = NULL;
  if (e->device.state) e->device.destroy(ctx, e->device.state);
  tesi_sharers_free(ctx, &e->sharers);
  tesi_free(ctx, &e->message);
  tesi_free(ctx, &e->sent);
  tesi_free(ctx, &e->copies);
  tesi_free(ctx, &e);
}

/* The lists without the entries left out, and without ranks whose list is then empty. */
static TesStatus take_lists(TesiExchange *e, const TesiSharers *from, const bool *left_out) {
  TesContext *ctx = e->context;
  TesStatus status = TES_OK;
  TesiSharers *to = &e->sharers;
  const int rank = tesi_context_communicator(ctx)->rank;
  TES_ALLOC(&to->rank, from->ranks);
  TES_ALLOC(&to->first, from->ranks + 1);
  TES_ALLOC(&to->entry, from->first[from->ranks]);
  for (int r = 0; r < from->ranks; r++) {
    int64_t at = to->first[to->ranks];
    for (int64_t i = from->first[r]; i < from->first[r + 1]; i++)
      if (!left_out || !left_out[from->entry[i]]) to->entry[at++] = from->entry[i];
    if (at == to->first[to->ranks]) continue;
    if (from->rank[r] == rank) e->own = to->ranks;
    to->rank[to->ranks++] = from->rank[r];
    to->first[to->ranks] = at;
  }
done:
  return status;
}

TesStatus tesi_exchange_create(TesContext *ctx, const TesiSharers *sharers, const bool *left_out,
                               TesiExchange **exchange) {
  TesStatus status = TES_OK;
  TesiExchange *e = NULL;
  *exchange = NULL;
  if (!sharers->ranks) return TES_OK;
  TES_NEW(&e);
  e->context = ctx;
  TES_TRY(take_lists(e, sharers, left_out));
  if (e->sharers.ranks < 2) goto done;
  const int64_t entries = e->sharers.first[e->sharers.ranks];
  TES_ALLOC(&e->message, e->sharers.ranks);
  TES_ALLOC(&e->sent, entries);
  TES_ALLOC(&e->copies, entries);
  *exchange = e;
  e = NULL;
done:
  tesi_exchange_destroy(&e);
  return status;
}

/* Appends the part's list of a rank to the list of `to`, from entry `first` on. */
static void add_list(TesiSharers *to, const TesiSharers *from, int rank, int64_t first) {
  int64_t at = to->first[to->ranks + 1];
  for (int r = 0; r < from->ranks; r++)
    for (int64_t i = from->first[r]; from->rank[r] == rank && i < from->first[r + 1]; i++)
      to->entry[at++] = (int32_t)(first + from->entry[i]);
  to->first[to->ranks + 1] = at;
}

TesStatus tesi_exchange_put_together(TesContext *ctx, int parts, const TesiExchange *const *part,
                                     const int64_t *first, TesiExchange **exchange) {
  TesStatus status = TES_OK;
  TesiSharers all = {0};
  int64_t entries = 0, last = -1;
  *exchange = NULL;
  for (int p = 0; p < parts; p++) entries += part[p] ? part[p]->sharers.first[part[p]->sharers.ranks] : 0;
  if (!entries) return TES_OK;
  const int ranks = tesi_ranks(ctx);
  TES_ALLOC(&all.rank, ranks);
  TES_ALLOC(&all.first, ranks + 1);
  TES_ALLOC(&all.entry, entries);
  for (;;) {
    int64_t next = ranks; /* the lowest rank after the last rank that a part has */
    for (int p = 0; p < parts; p++)
      for (int r = 0; part[p] && r < part[p]->sharers.ranks; r++)
        if (part[p]->sharers.rank[r] > last && part[p]->sharers.rank[r] < next)
          next = part[p]->sharers.rank[r];
    if (next == ranks) break;
    all.rank[all.ranks] = (int)next;
    all.first[all.ranks + 1] = all.first[all.ranks];
    for (int p = 0; p < parts; p++)
      if (part[p]) add_list(&all, &part[p]->sharers, (int)next, first[p]);
    all.ranks++;
    last = next;
  }
  TES_TRY(tesi_exchange_create(ctx, &all, NULL, exchange));
done:
  tesi_sharers_free(ctx, &all);
  return status;
}

int64_t tesi_exchange_entries(const TesiExchange *e, const int32_t **entry) {
  if (!e) return 0;
  *entry = e->sharers.entry + e->sharers.first[e->own];
  return e->sharers.first[e->own + 1] - e->sharers.first[e->own];
}

const TesiSharers *tesi_exchange_sharers(const TesiExchange *e, int *own) {
  *own = e->own;
  return &e->sharers;
}

TesiExchangeDevice *tesi_exchange_device(TesiExchange *e) {
  return &e->device;
}

void tesi_exchange_begin(TesiExchange *e, TesPrecision precision, void *x) {
  if (!e) return;
  const TesiSharers *s = &e->sharers;
  const TesCommunicator *communicator = tesi_context_communicator(e->context);
  int messages = 0;
  for (int r = 0; r < s->ranks; r++) {
    const int64_t first = s->first[r], count = s->first[r + 1] - first;
    const int32_t *entry = s->entry + first;
    double *sent = e->sent + first;
    float *single = (float *)sent;
    for (int64_t i = 0; i < count && precision == TES_DOUBLE; i++) sent[i] = ((const double *)x)[entry[i]];
    for (int64_t i = 0; i < count && precision == TES_SINGLE; i++) single[i] = ((const float *)x)[entry[i]];
    const size_t size = precision == TES_DOUBLE ? sizeof(double) : sizeof(float);
    if (r == e->own)
      memcpy(e->copies + first, sent, (size_t)count * size);
    else
      e->message[messages++] = (TesiMessage){s->rank[r], count * (int64_t)size, sent, e->copies + first};
  }
  communicator->table->begin(communicator, messages, e->message);
}

/* Starts from `nothing` and combines the copies rank by rank. */
#define TAKE_COPIES(Real)                                                                                    \
  do {                                                                                                       \
    Real *const to = x;                                                                                      \
    for (int64_t i = s->first[e->own]; i < s->first[e->own + 1]; i++) to[s->entry[i]] = nothing;             \
    for (int r = 0; r < s->ranks; r++) {                                                                     \
      const int32_t *entry = s->entry + s->first[r];                                                         \
      const Real *copy = (const Real *)(e->copies + s->first[r]);                                            \
      for (int64_t i = 0; i < s->first[r + 1] - s->first[r]; i++)                                            \
        to[entry[i]] = sum ? to[entry[i]] + copy[i] : to[entry[i]] < copy[i] ? copy[i] : to[entry[i]];       \
    }                                                                                                        \
  } while (0)

void tesi_exchange_end(TesiExchange *e, TesiReduction reduction, TesPrecision precision, void *x) {
  if (!e) return;
  const TesiSharers *s = &e->sharers;
  const TesCommunicator *communicator = tesi_context_communicator(e->context);
  const bool sum = reduction == TESI_SUM;
  const float nothing = sum ? 0 : -INFINITY;
  communicator->table->end(communicator);
  if (precision == TES_DOUBLE)
    TAKE_COPIES(double);
  else
    TAKE_COPIES(float);
}

void tesi_exchange_mean(TesiExchange *e, double *known, double *x) {
  const int32_t *entry = NULL;
  const int64_t entries = tesi_exchange_entries(e, &entry);
  for (int64_t i = 0; i < entries; i++)
    if (known[entry[i]] == 0) x[entry[i]] = 0;
  tesi_exchange_sum(e, TES_DOUBLE, x);
  tesi_exchange_sum(e, TES_DOUBLE, known);
  for (int64_t i = 0; i < entries; i++)
    if (known[entry[i]] > 0) x[entry[i]] /= known[entry[i]];
}

/* A message starts with the number of its records, and has the length of the longest list. */
TesStatus tesi_exchange_records(TesContext *ctx, const TesiExchange *e, int64_t count, size_t size,
                                const void *records, int64_t *total, void *received) {
  TesStatus status = TES_OK;
  const TesCommunicator *communicator = tesi_context_communicator(ctx);
  const int ranks = e ? e->sharers.ranks : 0;
  char *sent = NULL, *lists = NULL, **all = received;
  TesiMessage *message = NULL;
  double most = (double)count;
  int messages = 0;
  *total = 0, *all = NULL;
  if (tesi_ranks(ctx) == 1) return TES_OK;
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &most);
  const size_t bytes = sizeof count + (size_t)most * size;
  TES_ALLOC(&sent, bytes);
  TES_ALLOC(&lists, (size_t)ranks * bytes);
  TES_ALLOC(&message, ranks);
  TES_ALLOC(all, (size_t)ranks * (size_t)most * size);
  memcpy(sent, &count, sizeof count);
  if (count) memcpy(sent + sizeof count, records, (size_t)count * size);
  for (int r = 0; r < ranks; r++) {
    if (r == e->own) continue;
    message[messages] =
        (TesiMessage){e->sharers.rank[r], (int64_t)bytes, sent, lists + (size_t)messages * bytes};
    messages++;
  }
  communicator->table->begin(communicator, messages, message);
  communicator->table->end(communicator);
  for (int i = 0; i < messages; i++) {
    const char *list = lists + (size_t)i * bytes;
    int64_t told;
    memcpy(&told, list, sizeof told);
    memcpy(*all + (size_t)*total * size, list + sizeof told, (size_t)told * size);
    *total += told;
  }
done:
  tesi_free(ctx, &sent);
  tesi_free(ctx, &lists);
  tesi_free(ctx, &message);
  return status;
}
