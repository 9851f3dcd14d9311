/* Matrices in compressed rows: for kernels that fill them. */
#ifndef TESK_CSR_H
#define TESK_CSR_H

/* The place of `wanted` among the ascending columns begin .. end - 1 of a row. */
TESK_DEVICE int tesk_find(const int *column, int begin, int end, int wanted) {
  while (end - begin > 1) {
    const int middle = begin + (end - begin) / 2;
    if (column[middle] <= wanted)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

#endif
