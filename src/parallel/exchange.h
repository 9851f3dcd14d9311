/* Entries of vectors that several ranks have, and how their copies come to agree: of each shared entry every copy
 * becomes the sum of all copies, added in the order of the ranks, which gives the same bits in each. An operator
 * applied to the cells of this rank leaves such parts of a sum in the nodes at its cuts. An exchange is one batch of
 * messages, in which all ranks take part. */
#ifndef TESI_EXCHANGE_H
#define TESI_EXCHANGE_H

#include "parallel/comm.h"

/* For each rank that shares entries, this one among them, ascending: entry[first[i]] .. entry[first[i + 1] - 1], in an
 * order that both ranks have; this rank's own list holds all that are shared. */
typedef struct TesiSharers {
  int ranks;
  int *rank;
  int64_t *first; /* [ranks + 1] */
  int32_t *entry;
} TesiSharers;

typedef struct TesiExchange TesiExchange;

/* What stands for an exchange where vectors are in the memory of a device (device/copies.h), which it owns. */
typedef struct TesiExchangeDevice {
  void *state; /* NULL: none yet */
  void (*destroy)(TesContext *ctx, void *state);
} TesiExchangeDevice;

/* Of the shared entries that `left_out` (NULL: none) does not hold, an entry of all of the vector; ranks agree in that.
 * *exchange is NULL where no rank shares anything with this one. */
TesStatus tesi_exchange_create(TesContext *ctx, const TesiSharers *sharers, const bool *left_out,
                               TesiExchange **exchange);
/* Of vectors that consist of the vectors of parts, one after the other, entries first[part] on: one message carries
 * all of them. A part's exchange may be NULL. */
TesStatus tesi_exchange_put_together(TesContext *ctx, int parts, const TesiExchange *const *part,
                                     const int64_t *first, TesiExchange **exchange);
void tesi_exchange_destroy(TesiExchange **exchange);
/* The entries that others have too. */
int64_t tesi_exchange_entries(const TesiExchange *exchange, const int32_t **entry);

/* Its lists; list *own is this rank's. */
const TesiSharers *tesi_exchange_sharers(const TesiExchange *exchange, int *own);
TesiExchangeDevice *tesi_exchange_device(TesiExchange *exchange);
/* x: host memory; where x is a vector's, which may be on a device: tesi_sum_copies() (device/copies.h). Between the two
 * calls shared entries are neither read nor written; NULL: nothing. */
void tesi_exchange_begin(TesiExchange *exchange, TesPrecision precision, void *x);
void tesi_exchange_end(TesiExchange *exchange, TesiReduction reduction, TesPrecision precision, void *x);
static inline void tesi_exchange_sum(TesiExchange *exchange, TesPrecision precision, void *x) {
  tesi_exchange_begin(exchange, precision, x);
  tesi_exchange_end(exchange, TESI_SUM, precision, x);
}

/* Values x of entries that some ranks know (known: 1 there, else 0; overwritten) and others only have: every copy
 * becomes the mean of what is known. */
void tesi_exchange_mean(TesiExchange *exchange, double *known, double *x);

/* Sends `count` records of `size` bytes from each rank to the ranks that it shares entries with. *received <- all
 * records for this rank, *total of them; the caller frees them. Every rank calls it, also ranks whose exchange is
 * NULL. */
TesStatus tesi_exchange_records(TesContext *ctx, const TesiExchange *exchange, int64_t count, size_t size,
                                const void *records, int64_t *total, void *received);

void tesi_sharers_free(TesContext *ctx, TesiSharers *sharers);

#endif
