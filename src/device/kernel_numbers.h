/* The text of tables.h of a program: tables of numbers, each TESK_TABLE(type, tesk_name, {...}). */
#ifndef TESI_KERNEL_NUMBERS_H
#define TESI_KERNEL_NUMBERS_H

#include "base/base.h"

typedef struct TesiKernelNumbers {
  const char *name;
  int count, columns;
  const double *values, *weights; /* weights (NULL: none): factors of the rows */
} TesiKernelNumbers;

/* *text: to be freed. */
TesStatus tesi_kernel_numbers(TesContext *ctx, const char *type, int tables, const TesiKernelNumbers *table,
                              char **text);

#endif
