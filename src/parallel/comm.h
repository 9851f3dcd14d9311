/* What ranks say to each other: one table, of which a context has one or none. None is one rank, where every call
 * below returns at once. A rank is a process with a part of the mesh.
 *
 * Copies of a shared node agree at all times, so vectors are added and scaled over all of their memory; what needs the
 * others are sums over entries, which go through tesi_reduce() alone (device/vector.c, and the few loops that sum on
 * their way: residuals that are measured in one pass, errors), and sums of the parts of one entry (exchange.h). */
#ifndef TESI_COMM_H
#define TESI_COMM_H

#include "base/base.h"
#include "tessera/communicator.h"

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
  /* From one rank to all. */
  void (*broadcast)(const TesCommunicator *communicator, int root, int64_t bytes, void *data);
  /* all[size] <- what each rank says; false: not all of them came within that time. Its messages meet no others, so
   * that a rank may call it where others wait for something else. */
  bool (*meet)(const TesCommunicator *communicator, double seconds, int own, int *all);
  /* Ends all ranks. */
  void (*stop)(const TesCommunicator *communicator, int exit_status);
} TesiCommTable;

struct TesCommunicator {
  const TesiCommTable *table;
  int rank, size;
  void *state; /* of the table's implementation */
};

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
/* Whether any rank is interrupted: ranks leave an iteration together. */
bool tesi_any_interrupted(const TesContext *ctx);
/* data of rank `root` -> data of all. */
void tesi_broadcast(const TesContext *ctx, int root, int64_t bytes, void *data);
/* The end of a function that all ranks call and some may fail in: all return the largest status, with the message of
 * the lowest rank that has it. A rank whose others do not come prints its message and ends all ranks. Nothing
 * between a failure and this call waits for others. */
TesStatus tesi_agree(TesContext *ctx, TesStatus status);

#endif
