/* The entries of vectors of a space on this rank: which entries are in memory here, which of them this rank owns, and
 * which other ranks have too. On one rank: all, all, none. A space has one such object, which its vectors share.
 *
 * Every entry has one owner. Sums over entries are sums over owned entries, which form blocks: in a forest's
 * component the owned nodes come first, then the copies of nodes of others. A space of several components has a block
 * per component. */
#ifndef TESI_LAYOUT_H
#define TESI_LAYOUT_H

#include <stdatomic.h>
#include "parallel/exchange.h"

enum { TESI_BLOCKS = 8 };

/* Owned entries, in runs of `run` that follow each other in memory and by number. In boxes of which ranks cut other
 * directions than the last one there are rows[1] planes of rows[0] runs; rows[0] = 0: one run of all. */
typedef struct TesiOwned {
  int64_t start, owned; /* the first of them, and how many they are */
  int64_t first; /* number of the first owned entry, if the entries of all ranks are counted block after block */
  int64_t run, rows[2];
  int64_t stride[2], step[2]; /* from a run to the next one, and from a plane: of entries, and of numbers */
} TesiOwned;

/* One run. */
static inline TesiOwned tesi_owned(int64_t start, int64_t owned, int64_t first) {
  return (TesiOwned){.start = start, .owned = owned, .first = first};
}

typedef struct TesiLayout {
  atomic_int references;
  TesContext *context;
  int64_t length; /* in memory here, copies included */
  int64_t owned;  /* of these */
  int64_t global; /* entries of all ranks, each once */
  int blocks;
  TesiOwned block[TESI_BLOCKS];
  /* NULL: nothing is shared. `sum` covers entries that are unknowns, `shared` all shared entries. */
  TesiExchange *shared, *sum;
} TesiLayout;

/* All entries are owned. */
TesStatus tesi_layout_create_plain(TesContext *ctx, int64_t length, TesiLayout **layout);
/* A layout of one block. sharers (NULL: nothing is shared) is only read; the caller makes `sum`. */
TesStatus tesi_layout_create(TesContext *ctx, int64_t length, TesiOwned block, const TesiSharers *sharers,
                             TesiLayout **layout);
/* For vectors that consist of the vectors of parts, one after the other. */
TesStatus tesi_layout_put_together(TesContext *ctx, int parts, const TesiLayout *const *part,
                                   TesiLayout **layout);
/* Number of runs of all blocks, and one of them: start, owned and first. */
int64_t tesi_layout_runs(const TesiLayout *layout);
TesiOwned tesi_layout_run(const TesiLayout *layout, int64_t i);
/* *start .. : the entries of other ranks before run i, and behind the last one for the number of runs. Returns how
 * many. */
int64_t tesi_layout_others(const TesiLayout *layout, int64_t i, int64_t *start);
static inline int64_t tesi_owned_runs(const TesiOwned *own) {
  return own->rows[0] ? own->rows[0] * own->rows[1] : 1;
}
TesiOwned tesi_owned_run(const TesiOwned *own, int64_t i);
/* The first run that does not end before an entry; the number of runs: there is none. */
int64_t tesi_owned_run_at(const TesiOwned *own, int64_t entry);

TesiLayout *tesi_layout_retain(const TesiLayout *layout);
void tesi_layout_destroy(TesiLayout **layout);

/* *number [length]: for each entry the number of this entry among the owned entries of all ranks, the same in all
 * copies. Integers below 2^53, so that they are exact. The caller frees it. Every rank calls it. */
TesStatus tesi_layout_numbers(const TesiLayout *layout, double **number);

/* x[length], host memory: entries that other ranks own <- 0, so that a sum counts only the owner's copy. */
void tesi_layout_clear_others(const TesiLayout *layout, double *x);

bool tesi_layout_owns(const TesiLayout *layout, int64_t entry);
/* Sum of x_i y_i over the owned entries of all ranks; y NULL: of x_i. Host memory, on one thread: for small
 * levels. */
double tesi_layout_product(const TesiLayout *layout, const double *x, const double *y);

#endif
