/* Vectors as the other folders see them. */
#ifndef TESI_VECTOR_H
#define TESI_VECTOR_H

#include "device/device.h"
#include "kernels/owned.h"
#include "parallel/layout.h"
#include "tessera/vector.h"

struct TesVector {
  TesContext *context;
  int64_t length;
  TesPrecision precision;
  void *data;         /* device address */
  bool borrow;        /* another vector owns the data */
  TesiLayout *layout; /* NULL: all entries are owned; vector objects hold a reference, ranges by value do not */
};

static inline size_t tesi_precision_size(TesPrecision precision) {
  return precision == TES_DOUBLE ? sizeof(double) : sizeof(float);
}

/* Entries first .. first + length - 1 of a vector, without a copy. The range is a value: it must not be destroyed, and
 * is valid while the vector exists. */
static inline TesVector tesi_vector_range(const TesVector *vector, int64_t first, int64_t length) {
  TesVector range = *vector;
  range.data = (char *)vector->data + (size_t)first * tesi_precision_size(vector->precision);
  range.length = length;
  range.borrow = true;
  range.layout = NULL;
  return range;
}
/* Zeros; sums over the vector are over the entries that the layout says are owned. */
/* The entries of a layout of at most TESK_OWNED blocks that this rank owns, for kernels. */
TeskOwned tesi_layout_ranges(const TesiLayout *layout);
TesStatus tesi_vector_create_on(const TesiLayout *layout, TesPrecision precision, TesVector **vector);
/* Number of entries of all ranks, each counted once. */
int64_t tesi_vector_global(const TesVector *vector);
/* *values <- the numbers of v in a new array of the host, to be freed after failure too. */
TesStatus tesi_vector_read(const TesVector *v, double **values);
/* v <- 1 / v, entry by entry. */
TesStatus tesi_vector_invert(TesVector *v);
/* y <- sum over i < count of a_i x_i in one pass; y may be one of x. float64, of one length, count 1 ..
 * TESI_COMBINED. */
TesStatus tesi_vector_combine(int count, const double *a, const TesVector *const *x, TesVector *y);
/* y <- sum over i < count of a_i x_i and z <- sum over i < count of b_i x_i in one pass; neither is one of x.
 * float64, of one length, count 1 .. TESI_PAIRED. */
TesStatus tesi_vector_combine_pair(int count, const double *a, const double *b, const TesVector *const *x,
                                   TesVector *y, TesVector *z);
/* r <- x - y and its norm in one pass; float64, of one rank. */
TesStatus tesi_vector_difference(const TesVector *x, const TesVector *y, TesVector *r, double *norm);
/* The same as an object, to be destroyed before the vector. */
TesStatus tesi_vector_view(const TesVector *vector, int64_t first, int64_t length, TesVector **view);

#endif
