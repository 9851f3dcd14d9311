/* A box that represents its class of sizes, with an operator over it, for the choice of cuts by timing
 * (device/tuning.h). */
#ifndef TESI_TRIAL_H
#define TESI_TRIAL_H

#include "device/kernel.h"
#include "operator/operator.h"

typedef struct TesiTrial {
  TesOperator op; /* not set up itself */
  TesiDiffusion diffusion;
  TesVector *x, *y; /* x has values */
} TesiTrial;

/* Makes a trial with the form of op, in a context of the caller. It must be destroyed after failure too. */
TesStatus tesi_trial_create(TesContext *ctx, const TesOperator *op, const int cells[3], TesiTrial *trial);
void tesi_trial_destroy(TesiTrial *trial);
/* Asks for all programs of the candidates, so that the compiler gets them before the first is waited for. tables: for
 * the degree, by tesi_kernel_tables. Failures appear again when the candidate is timed. */
void tesi_trial_prepare(const TesiTrial *trial, int programs,
                        void (*describe)(const void *data, int program, const char *tables,
                                         TesiProgramDesc *desc),
                        const void *data);

#endif
