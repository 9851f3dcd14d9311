/* What ranks say to each other: one table, of which a context has one or none. None is one rank, where every call
 * below returns at once. A rank is a process with a part of the mesh.
 *
 * Copies of a shared node agree at all times, so vectors are added and scaled over all of their memory; what needs the
 * others are sums over entries, and they go through tesi_reduce() alone: device/vector.c, and the few loops that sum
 * on their way (residuals that are measured in one pass, errors). */
#ifndef TESI_COMM_H
#define TESI_COMM_H

#include "base/base.h"

typedef enum TesiReduction { TESI_SUM, TESI_MAXIMUM } TesiReduction;

typedef struct TesiCommTable {
  /* values[n] <- the sum over ranks, added in their order, or the largest, NaN where one is: the same bits on every
   * rank. It cannot fail: a rank that is lost ends all of them. */
  void (*reduce)(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values);
} TesiCommTable;

struct TesCommunicator {
  const TesiCommTable *table;
  int rank, size;
  void *state; /* of the table's implementation */
};

/* Set-up and iteration alike; every rank calls it, with the same n. */
void tesi_reduce(const TesContext *ctx, TesiReduction reduction, int n, double *values);
/* Entries of all ranks where each has `length`: lengths of vectors in formulas, such as means. */
double tesi_reduce_length(const TesContext *ctx, int64_t length);
/* Sum over ranks of x_i y_i, y NULL: of x_i; host memory, on one thread: of levels that are small. */
double tesi_reduce_product(const TesContext *ctx, int64_t n, const double *x, const double *y);

#endif
