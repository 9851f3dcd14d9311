/* 1D matrices whose rows have a few consecutive entries, and their products along one direction of a tensor. */
#ifndef TESI_BAND_H
#define TESI_BAND_H

#include "base/base.h"

/* Entry j of row r is in column (first[r] + j) mod columns: in a periodic direction rows continue at the beginning. */
typedef struct TesiBand {
  int rows, columns, width; /* width: entries per row; shorter rows are padded with zeros */
  int *first, *count;       /* [rows]; count: entries that are not zero padding, after tesi_band_finish() */
  double *value;            /* [rows][width] */
  float *single;            /* the same in float32, after tesi_band_finish() */
} TesiBand;

/* A matrix of zeros. */
TesStatus tesi_band_create(TesContext *ctx, int rows, int columns, int width, TesiBand *band);
void tesi_band_free(TesContext *ctx, TesiBand *band);
/* Adds to an entry, which the row must have. */
void tesi_band_add(TesiBand *band, int row, int column, double value);
/* The entry; 0 if the row does not have it. */
double tesi_band_entry(const TesiBand *band, int row, int column);
/* Zeros in a row. */
void tesi_band_clear(TesiBand *band, int row);
/* t <- b', with rows of `width` entries; the width must be sufficient. */
TesStatus tesi_band_transpose(TesContext *ctx, const TesiBand *b, int width, TesiBand *t);
/* To be called when all entries are added: removes zeros at both ends of the rows. */
void tesi_band_finish(TesiBand *band);

/* y[o][r][i] <- keep y[o][r][i] + factor sum_c band[r][c] x[o][c][i], keep 0 or 1; with keep = 0 y is not read. x
 * and y differ. */
typedef struct TesiBandProduct {
  const TesiBand *band;
  int64_t outer, inner;
  double factor;
  bool keep;
} TesiBandProduct;
void tesi_band_product(const TesContext *ctx, const TesiBandProduct *p, bool single, const void *x, void *y);

/* The kernels: outer from .. to, inner begin .. end. */
typedef struct TesiBandTask {
  int64_t from, to, begin, end;
} TesiBandTask;
#define TESI_BAND_KERNELS(bits)                                                                              \
  void tesk_band_double_##bits(const TesiBandProduct *p, const TesiBandTask *t, const double *x, double *y); \
  void tesk_band_float_##bits(const TesiBandProduct *p, const TesiBandTask *t, const float *x, float *y);
TESI_BAND_KERNELS(128)
TESI_BAND_KERNELS(256)
TESI_BAND_KERNELS(512)

#endif
