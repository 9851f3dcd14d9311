/* Arguments by value of the kernels of loads over discontinuous elements; the host includes this text too. */
#ifndef TESK_MODAL_LOAD_ARGUMENTS_H
#define TESK_MODAL_LOAD_ARGUMENTS_H

enum { TESK_MODAL_MODES = 16 };

typedef struct TeskModal {
  int cells[3], unused;
  const double *x[3], *h[3]; /* for the axes: ends of cells, widths */
} TeskModal;

/* One end of direction d: the number of its function, and the factors, by the mode along d in the last cell, of the
 * moments across. */
typedef struct TeskModalFace {
  int d, end, number, unused;
  double weight[TESK_MODAL_MODES];
} TeskModalFace;

#endif
