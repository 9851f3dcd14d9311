/* The tables of a direction of a small box of Stokes: TeskStokesBox. Macros: real. */
#ifndef TESK_STOKES_BOX_TABLES_H
#define TESK_STOKES_BOX_TABLES_H

#include "stokes_box_arguments.h"

enum { ZC, ZC_BACK, ZD, ZD_BACK, G_DOWN, G_UP, LC, LD };
TESK_DEVICE const real *table(const TeskStokesBox *s, int d, int which) {
  const int M = s->nodes[d], N = s->modes[d];
  const real *at = (const real *)s->numbers[d];
  if (which > ZC) at += M * M;
  if (which > ZC_BACK) at += M * M;
  if (which > ZD) at += N * N;
  if (which > ZD_BACK) at += N * N;
  if (which > G_DOWN) at += M * N;
  if (which > G_UP) at += N * M;
  return which > LC ? at + M : at;
}

#endif
