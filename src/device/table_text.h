/* The text of tables.h of a program: constant numbers, read by TESK_TABLE of kernels/kernel.h, and functions. */
#ifndef TESI_TABLE_TEXT_H
#define TESI_TABLE_TEXT_H

#include "base/base.h"

/* Begins with a context and a type ("float", "double", "real"), or with a text besides, whose length is `used`. A
 * failure is kept until the end. */
typedef struct TesiTableText {
  TesContext *context;
  const char *type;
  char *text;
  int64_t used, room;
  TesStatus status;
} TesiTableText;

/* Adds tesk_<name>(i); a table without numbers gets one number, 0. */
void tesi_table_text_add(TesiTableText *text, const char *name, const double *values, int count);
/* The same of values[rows][columns], each row times its weight. */
void tesi_table_text_weigh(TesiTableText *text, const char *name, const double *values, const double *weights,
                           int rows, int columns);
/* Adds other text. */
void tesi_table_text_put(TesiTableText *text, const char *more);
/* *result: to be freed; NULL after a failure. */
TesStatus tesi_table_text_end(TesiTableText *text, char **result);

#endif
