/* Arguments by value of stokes_box.cu and stokes_schur.cu; the host includes this text too. */
#ifndef TESK_STOKES_BOX_ARGUMENTS_H
#define TESK_STOKES_BOX_ARGUMENTS_H

#include "stokes_arguments.h"

enum {
  TESK_BOX_MOST = 512,      /* threads of a block of lines */
  TESK_BOX_PARTS = 16,      /* of a row of S^+: threads */
  TESK_BOX_AHEAD = 16,      /* numbers of that row that a thread loads at once */
  TESK_SCHUR_THREADS = 256, /* of a block of stokes_schur.cu */
};
/* Modes of the outer direction in a block of lines. */
#define TESK_BOX_OUTER(dim) ((dim) == 2 ? 2 : 1)

/* The counts of a direction: unknown nodes, modes, entries of its component. */
enum { TESK_BOX_NODES, TESK_BOX_MODES, TESK_BOX_ALL, TESK_BOX_KINDS };

/* Numbers of a direction (real), M unknown nodes and N modes, one after the other, (row, column):
 *   Zc [M][M] (node, eigenvector)  Zc' [M][M]  Zd [N][N] (mode, eigenvector)  Zd' [N][N]  G' [M][N]  G [N][M]
 *   nu lc [M]  nu ld [N]
 * A direction that does not exist counts one node and one mode.
 * Parity blocks: a direction that is its own mirror image has its even eigenvectors of modes first, extent[d] of them,
 * then as many odd ones, else extent[d] is all of them; S has no entries between blocks. Bit d of a block's number:
 * odd in direction d. All have `size` pressures. Blocks that differ only by a permutation of equal directions have
 * one matrix S^+: pressures of vector v stand at v size + sum of stride[block][d] times the place in direction d;
 * base [block] = v size. */
typedef struct TeskStokesBox {
  TeskParts parts;
  int nodes[3], first[3], modes[3], extent[3];
  int size, matrices;
  int base[8], stride[8][3];
  int vector[9]; /* matrix m multiplies vectors vector[m] .. vector[m + 1] - 1 */
  int block[8];  /* whose order its rows have: x fastest */
  int unused;
  unsigned long long over[TESK_BOX_KINDS][3]; /* 2^32 / count + 1: i / count is i over / 2^32 */
  double alpha;
  const void *numbers[3];
  const void *inverse; /* real: S^+ of each matrix */
  void *F[3];          /* real: [outer mode][inner mode][node]; u^ */
  void *q[4];          /* real: parts of q by component, then Zd' g */
  void *p;             /* real: pressures */
  void *lines[4];      /* real: [outer mode][inner mode][entry along the own direction] */
} TeskStokesBox;

#endif
