/* Choices by timing. A kernel that can be cut in several ways lists them; the first time they are asked for on a
 * GPU model, for a class of sizes, all are timed, and the fastest is remembered on disk beside the compiled kernels
 * (cache.h: written at once or not at all, checked when read, anything else is timed anew). What differs between
 * candidates is speed and rounding.
 *
 * TESSERA_TUNE: off: always the first candidate; on: on the emulator too; else on GPUs alone. */
#ifndef TESI_TUNING_H
#define TESI_TUNING_H

#include "device/device.h"

enum { TESI_TUNING_CANDIDATES = 12 };

typedef struct TesiTuning {
  const char *name;                              /* "operator-3d-q7-float64-large" */
  const char *candidate[TESI_TUNING_CANDIDATES]; /* what each is, first the default; NULL ends them */
  void (*prepare)(
      void *data); /* NULL, or called before any is timed: asks for all programs, which then compile side by side */
  TesStatus (*time)(void *data, int candidate,
                    double *seconds); /* of one run; a candidate that fails is passed over */
  void *data;
} TesiTuning;

/* The number of the fastest candidate; 0 where nothing is timed or all fail. Told in verbose mode. */
int tesi_tune(TesContext *ctx, const TesiTuning *tuning);
/* Whether tesi_tune would time or remember anything in this context. */
bool tesi_tuning_is_on(const TesContext *ctx);
/* Seconds of what `queue` queues on the device: after one run the least of five batches of about a millisecond. */
TesStatus tesi_tuning_time(TesContext *ctx, TesStatus (*queue)(void *data), void *data, double *seconds);

/* Classes of sizes by unknowns: the name, and nodes a direction of the box that stands for it. */
const char *tesi_tuning_class(int64_t length, int *nodes);
/* Cells a direction of that box; large ones can be cut into blocks without a rest, as large boxes mostly can. */
int tesi_tuning_cells(int nodes, int degree);

#endif
