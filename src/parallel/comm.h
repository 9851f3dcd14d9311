/* What ranks say to each other: one table, of which a context has one or none. None is one rank, where every call
 * below returns at once. A rank is a process with a part of the mesh.
 *
 * Copies of a shared node agree at all times, so vectors are added and scaled over all of their memory; what needs the
 * others are sums over entries, which go through tesi_reduce() alone (device/vector.c, and the few loops that sum on
 * their way: residuals that are measured in one pass, errors), and sums of the parts of one entry (exchange.h). */
#ifndef TESI_COMM_H
#define TESI_COMM_H

#include "base/base.h"

typedef enum TesiReduction { TESI_SUM, TESI_MAXIMUM } TesiReduction;

/* To another rank and from it, as many bytes each way. */
typedef struct TesiMessage {
  int rank;
  int64_t bytes;
  const void *sent;
  void *received;
} TesiMessage;

/* None of it can fail: a rank that is lost ends all of them. */
typedef struct TesiCommTable {
  /* values[n] <- the sum over ranks, added in their order, or the largest, NaN where one is: the same bits on every
   * rank. */
  void (*reduce)(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values);
  /* Sets messages off, one at most with a rank; the end waits for all. One batch at a time, all ranks take part. Both
   * NULL: ranks that share nothing. */
  void (*begin)(const TesCommunicator *communicator, int n, const TesiMessage *message);
  void (*end)(const TesCommunicator *communicator);
} TesiCommTable;

struct TesCommunicator {
  const TesiCommTable *table;
  int rank, size;
  void *state; /* of the table's implementation */
};

/* All processes that mpirun began. Its functions are called by the thread that began MPI. Errors: TES_MISSING (a build
 * without MPI), TES_OUT_OF_MEMORY. */
TesStatus tesi_communicator_create_mpi(TesCommunicator **communicator);
void tesi_communicator_destroy(TesCommunicator **communicator);

/* How many ranks hold the mesh together; 1 where they share nothing. */
int tesi_ranks(const TesContext *ctx);
/* Refuses `what` ("a value at a point") where there are several: every rank calls it. TES_INVALID_INPUT. */
TesStatus tesi_one_rank(TesContext *ctx, const char *what);
/* Set-up and iteration alike; every rank calls it, with the same n. */
void tesi_reduce(const TesContext *ctx, TesiReduction reduction, int n, double *values);
/* Of a count: the sum over all ranks. */
int64_t tesi_reduce_count(const TesContext *ctx, int64_t count);
/* Whether it is so on any rank. */
bool tesi_reduce_any(const TesContext *ctx, bool here);

#endif
