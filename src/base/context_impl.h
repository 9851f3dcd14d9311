/* The fields of a context, for the files of base/ only. */
#ifndef TESI_CONTEXT_IMPL_H
#define TESI_CONTEXT_IMPL_H

#include <signal.h>
#include "base.h"
#include "base/memory_kept.h"

enum { TESI_MESSAGE_SIZE = 2048, TESI_TRACE_SIZE = 4096 };

struct TesContext {
  atomic_int references;
  TesAllocator allocator;
  bool maps; /* the allocator is not the caller's, so that large blocks come from the system */
  atomic_size_t memory, memory_peak, memory_high; /* high: largest value since tesi_memory_mark() */
  TesContext *lender; /* the context whose device this context uses, and which counts its memory; NULL: none */
  TesiKept kept;
  TesVerbosity verbosity;
  int threads, simd_bits;
  bool unordered, deterministic;
  void (*log)(void *user, TesLogLevel level, const char *line);
  void *log_user;
  TesStatus failure;
  char message[TESI_MESSAGE_SIZE], trace[TESI_TRACE_SIZE];
  volatile sig_atomic_t interrupted;
  bool heard;                          /* some call has ended with TES_INTERRUPTED */
  int work;                            /* depth of tesi_work_begin() */
  bool work_waits;                     /* the present work goes on after an interruption */
  char work_title[32];                 /* of the outermost work */
  char work_part[96];                  /* the present part */
  double work_since;                   /* when that began */
  const TesCommunicator *communicator; /* NULL: one rank */
  bool silent;                         /* another rank speaks */
  void *words;                         /* NULL: none */
  void (*words_release)(void *words);
  const struct TesiDevice *device;
  void *device_state;
  void (*device_destroy)(void *state);
};

#endif
