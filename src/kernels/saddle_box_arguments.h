/* What saddle_box.cu gets by value; the host includes this text too. */
#ifndef TESK_SADDLE_BOX_ARGUMENTS_H
#define TESK_SADDLE_BOX_ARGUMENTS_H

#include "saddle_arguments.h"

/* Numbers of a direction (real), M unknown nodes and N modes, one after the other, (row, column):
 *   Zc [M][M] (node, eigenvector)  Zc' [M][M]  Zd [N][N] (mode, eigenvector)  Zd' [N][N]  G' [M][N]  G [N][M]
 *   nu lc [M]  nu ld [N]
 * split: eigenvectors of its modes are even, the first half, or odd, and S has no entries between them. */
typedef struct TeskSaddleBox {
  TeskParts parts;
  int nodes[2], first[2], modes[2], split[2];
  double alpha;
  const void *numbers[2];
  const void *inverse; /* real: S^+ of each parity block, x fastest, one after the other */
  void *F[2];          /* real: [mode across][node]; u^ */
  void *q[3];          /* real: parts of q by component, then Zd' g */
  void *p;             /* real: pressures by parity block */
  void *lines[3];      /* real: [mode across][entry along the own direction] */
} TeskSaddleBox;

#endif
