/* Entries of vectors that several ranks share, and the sums over their copies. An operator applied to the cells of
 * this rank leaves partial sums at the nodes of its cuts. An exchange sets each copy of a shared entry to the sum of
 * all copies, added in the order of the ranks, so that all copies have the same bits. An exchange is one batch of
 * messages, in which all ranks take part. */
#ifndef TESI_EXCHANGE_H
#define TESI_EXCHANGE_H

#include "parallel/comm.h"

/* For each rank that shares entries, ascending and including this rank: entry[first[i]] .. entry[first[i + 1] - 1], in
 * the same order on both ranks. This rank's own list has all shared entries. */
typedef struct TesiSharers {
  int ranks;
  int *rank;
  int64_t *first; /* [ranks + 1] */
  int32_t *entry;
} TesiSharers;

typedef struct TesiExchange TesiExchange;

/* Replaces an exchange for vectors in the memory of a device (device/copies.h); owned by the exchange. */
typedef struct TesiExchangeDevice {
  void *state; /* NULL: none yet */
  void (*destroy)(TesContext *ctx, void *state);
} TesiExchangeDevice;

/* For the shared entries that are not in `left_out` (NULL: none is left out). *exchange is NULL if no rank shares an
 * entry with this rank. */
TesStatus tesi_exchange_create(TesContext *ctx, const TesiSharers *sharers, const bool *left_out,
                               TesiExchange **exchange);
/* For vectors that consist of the vectors of parts; entries of a part begin at first[part]. One message carries all
 * parts. The exchange of a part may be NULL. */
TesStatus tesi_exchange_put_together(TesContext *ctx, int parts, const TesiExchange *const *part,
                                     const int64_t *first, TesiExchange **exchange);
void tesi_exchange_destroy(TesiExchange **exchange);
/* The entries that other ranks have too. */
int64_t tesi_exchange_entries(const TesiExchange *exchange, const int32_t **entry);

/* The lists of an exchange; list *own belongs to this rank. */
const TesiSharers *tesi_exchange_sharers(const TesiExchange *exchange, int *own);
TesiExchangeDevice *tesi_exchange_device(TesiExchange *exchange);
/* x: host memory; for a vector, which may be on a device, call tesi_sum_copies() (device/copies.h). Between the two
 * calls shared entries must not be read or written. exchange NULL: nothing is done. */
void tesi_exchange_begin(TesiExchange *exchange, TesPrecision precision, void *x);
void tesi_exchange_end(TesiExchange *exchange, TesiReduction reduction, TesPrecision precision, void *x);
static inline void tesi_exchange_sum(TesiExchange *exchange, TesPrecision precision, void *x) {
  tesi_exchange_begin(exchange, precision, x);
  tesi_exchange_end(exchange, TESI_SUM, precision, x);
}

/* Values x of entries that only some ranks know (known: 1, else 0; overwritten). Every copy becomes the mean of the
 * known values. */
void tesi_exchange_mean(TesiExchange *exchange, double *known, double *x);

/* Sends `count` records of `size` bytes from each rank to the ranks that it shares entries with. *received <- all
 * records for this rank, *total of them; the caller frees them. Every rank calls it, also ranks whose exchange is
 * NULL. */
TesStatus tesi_exchange_records(TesContext *ctx, const TesiExchange *exchange, int64_t count, size_t size,
                                const void *records, int64_t *total, void *received);

void tesi_sharers_free(TesContext *ctx, TesiSharers *sharers);

#endif
