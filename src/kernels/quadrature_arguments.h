/* Arguments by value of the kernels of the quadrature form; the host includes this text too. */
#ifndef TESK_QUADRATURE_ARGUMENTS_H
#define TESK_QUADRATURE_ARGUMENTS_H

typedef struct TeskDiffusion {
  int cells[3]; /* of the box; 1 where a direction does not exist */
  int dirichlet[6];
  int first[3], step[3], count[3]; /* cells of this launch: first + i step, i < count */
  int layers;                      /* layers of cells a block marches through (quadrature_tiles.cu) */
  int pitch;
  long long plane;
  long long block_faces; /* how many numbers a block may leave on its upper faces */
  double constant;       /* a, if it is constant */
  double sign;           /* 1, or -1 for a residual */
  const void *h[3];      /* real: widths of the cells of each direction */
  const void *a,
      *c; /* real: a w |J| and c w |J| at the points, [cell][z][y][x], x fastest everywhere; NULL: none */
} TeskDiffusion;

#endif
