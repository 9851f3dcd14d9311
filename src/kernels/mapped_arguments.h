/* Arguments by value of the kernels of mapped cells; the host includes this text too. */
#ifndef TESK_MAPPED_ARGUMENTS_H
#define TESK_MAPPED_ARGUMENTS_H

enum { TESK_MAPPED_POINTS = 18, TESK_MAPPED_PARTS = 1024, TESK_DIRECTIONS = 9 };

typedef struct TeskMapped {
  long long cells;
  /* global form: [cell][n^dim], node, or ~node where it is constrained; rows of consecutive nodes: [cell][n^2], see
   * row_node() */
  const int *index;
  const int *order; /* [cells]: the cells of this launch; NULL: 0, 1, 2, ... */
  /* [cells] TesMask, of kernels made with hanging; the first cell of a block has, besides, the directions in which
   * anything is interpolated in the block: bit TESK_DIRECTIONS + d */
  const unsigned short *masks;
  /* stored: [cell][s][q^dim]; vertices: coefficients of the trilinear map, [cell][7][3] (mapped_geometry.h), 2D:
   * [cell][4][2], vertices; affine: [cell][s]; halves: [cell] (s + 1) / 2 words per point with two factors in float16
   * each, the first factor in the lower bits, [(s + 1) / 2][q^dim], then the float32 factor of all of them; weights:
   * [cell] w a / |J| [q^dim], with a mass c w |J| [q^dim], then the monomials of the cell's polynomial of degree
   * m = CELL_DEGREE but the constant, [(m+1)^dim - 1][dim], x fastest. Copies of whole 16 bytes reach up to 15 bytes
   * behind the last cell. */
  const void *geometry;
  double stiffness, mass; /* factors of the two terms: a (1 where the factors include it) and lambda c */
  long long ahead;        /* the index of block b + ahead is brought into the L2 cache by block b */
  long long zeros;        /* in kernels with MEET: the length of y */
  int *meeting;           /* [2], zero at the beginning */
  double *parts; /* [TESK_MAPPED_PARTS], added to: x . y in parts, where the kernel was made with dot */
  double point[TESK_MAPPED_POINTS], weight[TESK_MAPPED_POINTS]; /* the 1D quadrature rule on [0, 1] */
} TeskMapped;

#endif
