/* Banded matrices of one direction (src/tensor/band.h) as kernel arguments; the host includes this text too. */
#ifndef TESK_BAND_ARGUMENTS_H
#define TESK_BAND_ARGUMENTS_H

typedef struct TeskBand {
  const int *first, *count; /* [rows] */
  const void *value;        /* real: [rows][width] */
  int rows, columns, width, unused;
} TeskBand;

#endif
