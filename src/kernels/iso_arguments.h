/* Arguments by value of the kernels of iso.cu; the host includes this text too. Formulas: src/operator/iso/iso.h. */
#ifndef TESK_ISO_ARGUMENTS_H
#define TESK_ISO_ARGUMENTS_H

/* Numbers of a direction. Arrays of `fine` numbers, one after the other: M, K, C with the entries left, own and
 * right, then 1 / row sums. Arrays of `coarse` numbers: I' M and I' C' with five entries each, 1 / row sums. */
enum { TESK_ISO_M = 0, TESK_ISO_K = 3, TESK_ISO_C = 6, TESK_ISO_DIVIDED = 9, TESK_ISO_FINE = 10 };
enum { TESK_ISO_RM = 0, TESK_ISO_RC = 5, TESK_ISO_COARSE_DIVIDED = 10, TESK_ISO_COARSE = 11 };

typedef struct TeskIso {
  int fine[3], coarse[3];
  long long nodes, pressures;
  const double *of_fine[3], *of_coarse[3];
  int given[6];          /* bits of components by face */
  int tile[2], tiles[2]; /* nodes of a block across, blocks across */
  int planes;            /* of z that a block writes */
} TeskIso;

#endif
