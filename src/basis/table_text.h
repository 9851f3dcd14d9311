/* The text of constant numbers for kernels: tables.h, read by TESK_TABLE of kernels/kernel.h. */
#ifndef TESI_TABLE_TEXT_H
#define TESI_TABLE_TEXT_H

#include <stddef.h>

/* data[size], which the caller allocates: 28 bytes per number and 64 a table are enough. */
typedef struct TesiTableText {
  char *data;
  size_t used, size;
  const char *type;
} TesiTableText;

/* Adds tesk_<name>(i); a table without numbers gets one number, 0. */
void tesi_table_text_add(TesiTableText *text, const char *name, const double *values, int count);

#endif
