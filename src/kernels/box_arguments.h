/* Cells of a box, as arguments by value of kernels that evaluate functions at Gauss points; the host includes this text
 * too. */
#ifndef TESK_BOX_ARGUMENTS_H
#define TESK_BOX_ARGUMENTS_H

/* Cells of a block in kernels with one thread per cell. */
enum { TESK_LOAD_X = 32, TESK_LOAD_Y = 8 };

typedef struct TeskBox {
  int cells[3], there[3]; /* 0: the direction has one point, at `level` */
  int parity[3], step[3]; /* cells of one colour: parity + step i */
  double level[3];
  const double *x[3], *h[3]; /* lower ends and widths of the cells */
  long long stride[3];       /* between nodes */
  long long first;           /* of the node in directions that do not exist */
} TeskBox;

typedef struct TeskFace {
  int nodes[3], axis, side;
  const double *x[3]; /* of the nodes */
} TeskFace;

#endif
