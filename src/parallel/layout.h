/* Which entries of the vectors of a space are here, which of them this rank owns, and which ones others have too. On
 * one rank: all, all, none. One object a space, which its vectors share.
 *
 * Every entry has one owner; sums over entries are sums over owned ones, and these are blocks: of a forest's component
 * its owned nodes stand first and copies of others' behind them, so that a space of several components has a block
 * each. */
#ifndef TESI_LAYOUT_H
#define TESI_LAYOUT_H

#include <stdatomic.h>
#include "parallel/exchange.h"

enum { TESI_BLOCKS = 8 };

typedef struct TesiOwned {
  int64_t start, owned; /* entries start .. start + owned - 1 are owned */
  int64_t first;        /* number of the first one among the owned entries of all ranks, block after block */
} TesiOwned;

typedef struct TesiLayout {
  atomic_int references;
  TesContext *context;
  int64_t length; /* in memory here, copies included */
  int64_t owned;  /* of these */
  int64_t global; /* entries of all ranks, each once */
  int blocks;
  TesiOwned block[TESI_BLOCKS];
  /* NULL: nothing is shared. `sum` is of entries that are unknowns, `shared` of all. */
  TesiExchange *shared, *sum;
} TesiLayout;

/* All entries are owned. */
TesStatus tesi_layout_create_plain(TesContext *ctx, int64_t length, TesiLayout **layout);
/* Of one block. sharers (NULL: nothing is shared) are read, `sum` is the caller's to make. */
TesStatus tesi_layout_create(TesContext *ctx, int64_t length, TesiOwned block, const TesiSharers *sharers,
                             TesiLayout **layout);
/* For vectors that consist of the vectors of parts, one after the other. */
TesStatus tesi_layout_put_together(TesContext *ctx, int parts, const TesiLayout *const *part,
                                   TesiLayout **layout);
TesiLayout *tesi_layout_retain(const TesiLayout *layout);
void tesi_layout_destroy(TesiLayout **layout);

/* *number [length]: of each entry that among the owned entries of all ranks, the same in all copies. The caller's to
 * free; exact, as integers below 2^53. Every rank calls it. */
TesStatus tesi_layout_numbers(const TesiLayout *layout, double **number);

/* x[length], host memory: entries of other ranks <- 0, so that the owner's copies alone count in a sum. */
void tesi_layout_clear_others(const TesiLayout *layout, double *x);

bool tesi_layout_owns(const TesiLayout *layout, int64_t entry);
/* Sum over owned entries of all ranks of x_i y_i, y NULL: of x_i; host memory, on one thread: of levels that are
 * small. */
double tesi_layout_product(const TesiLayout *layout, const double *x, const double *y);

#endif
