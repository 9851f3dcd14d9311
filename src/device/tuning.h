/* Choices by timing. If the work of a kernel can be cut in several ways, these are its candidates. At the first use on
 * a GPU model, for a class of sizes, all candidates are timed. The fastest is remembered on disk beside the compiled
 * kernels (cache.h: written completely or not at all, checked when read; otherwise it is timed again). Candidates
 * differ in speed and rounding only.
 *
 * TESSERA_TUNE: off: always the first candidate; on: timing on the emulator too; else on GPUs only. */
#ifndef TESI_TUNING_H
#define TESI_TUNING_H

#include "device/device.h"

enum { TESI_TUNING_CANDIDATES = 12 };

typedef struct TesiTuning {
  const char *name;                              /* "operator-3d-q7-float64-large" */
  const char *candidate[TESI_TUNING_CANDIDATES]; /* description of each candidate, the default first; NULL ends the
                                                  * list */
  void (*prepare)(
      void *data); /* NULL, or called before the timing: requests all programs, which are then compiled in parallel */
  TesStatus (*time)(void *data, int candidate,
                    double *seconds); /* time of one run; a candidate that fails is skipped */
  void *data;
} TesiTuning;

/* The number of the fastest candidate; 0 if nothing is timed or all fail. Reported in verbose mode. */
int tesi_tune(TesContext *ctx, const TesiTuning *tuning);
/* Whether tesi_tune would time or remember anything in this context. */
bool tesi_tuning_is_on(const TesContext *ctx);
/* Seconds of the work that `queue` queues on the device: one run first, then the smallest of five batches of about a
 * millisecond. */
TesStatus tesi_tuning_time(TesContext *ctx, TesStatus (*queue)(void *data), void *data, double *seconds);

/* Classes of sizes by unknowns: the name, and the nodes per direction of the box that represents it. */
const char *tesi_tuning_class(int64_t length, int *nodes);
/* Cells per direction of that box. Large numbers can be divided into blocks without a remainder, as is usual for large
 * boxes. */
int tesi_tuning_cells(int nodes, int degree);

#endif
