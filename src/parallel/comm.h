/* Communication between ranks: a table of functions. A context without a table is one rank; every call below then
 * returns at once. A rank is a process with a part of the mesh.
 *
 * Copies of a shared node always agree, so vectors are added and scaled without communication. Communication is
 * needed for sums over entries and for sums of the contributions to an entry (exchange.h). Sums over entries use
 * tesi_reduce() only (device/vector.c, and a few loops that sum while they compute: norms of residuals in one pass,
 * errors). */
#ifndef TESI_COMM_H
#define TESI_COMM_H

#include "base/base.h"
#include "tessera/communicator.h"

typedef enum TesiReduction { TESI_SUM, TESI_MAXIMUM } TesiReduction;

/* A message to another rank and a message from it, of equal length. */
typedef struct TesiMessage {
  int rank;
  int64_t bytes;
  const void *sent;
  void *received;
} TesiMessage;

/* None of these functions can fail: if a rank is lost, all ranks end. */
typedef struct TesiCommTable {
  /* values[n] <- the sum over ranks, added in their order, or the maximum (NaN if a value is NaN). The bits are the
   * same on every rank. */
  void (*reduce)(const TesCommunicator *communicator, TesiReduction reduction, int n, double *values);
  /* Starts messages, at most one with each rank; `end` waits for all of them. One batch at a time, in which all ranks
   * take part. Both NULL: ranks that share nothing. */
  void (*begin)(const TesCommunicator *communicator, int n, const TesiMessage *message);
  void (*end)(const TesCommunicator *communicator);
  /* From one rank to all. */
  void (*broadcast)(const TesCommunicator *communicator, int root, int64_t bytes, void *data);
  /* all[size] <- the value of each rank; false: some values did not arrive in time. Its messages are separate from
   * all others, so that a rank may call it while other ranks wait for something else. */
  bool (*meet)(const TesCommunicator *communicator, double seconds, int own, int *all);
  /* Ends all ranks. */
  void (*stop)(const TesCommunicator *communicator, int exit_status);
} TesiCommTable;

struct TesCommunicator {
  const TesiCommTable *table;
  int rank, size;
  void *state; /* of the table's implementation */
};

/* Number of ranks that hold the mesh together; 1 if they share nothing. */
int tesi_ranks(const TesContext *ctx);
/* Refuses `what` ("a value at a point") on several ranks; every rank calls it. TES_INVALID_INPUT. */
TesStatus tesi_one_rank(TesContext *ctx, const char *what);
/* For set-up and iteration; every rank calls it with the same n. */
void tesi_reduce(const TesContext *ctx, TesiReduction reduction, int n, double *values);
/* The sum of a count over all ranks. */
int64_t tesi_reduce_count(const TesContext *ctx, int64_t count);
/* Whether the condition holds on any rank. */
bool tesi_reduce_any(const TesContext *ctx, bool here);
/* Whether any rank is interrupted; so all ranks leave an iteration together. */
bool tesi_any_interrupted(const TesContext *ctx);
/* Copies the data of rank `root` to all ranks. */
void tesi_broadcast(const TesContext *ctx, int root, int64_t bytes, void *data);
/* The end of a function that all ranks call and that may fail on some ranks. All return the largest status, with the
 * message of the lowest rank that has this status. If the other ranks do not come, a rank prints its message and ends
 * all ranks. Between a failure and this call nothing may wait for other ranks. */
TesStatus tesi_agree(TesContext *ctx, TesStatus status);

#endif
