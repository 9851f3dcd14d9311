/* Arguments by value of the separable operator's kernels; the host includes this text too.
 *
 * Equal cells, widths h, matrices of width 1: with s = a hy hz / hx (scale),
 *   A = s [ My (Mx f2 + Kx f1) + Ky (xr Mx f1) ],  f1 = Mz x,  f2 = zk Kz x + zc Mz x,
 *   xr = (hx/hy)^2, zk = (hx/hz)^2, zc = c hx^2 / a;  end terms alpha: robin = alpha hx / a (x), alpha hy / a (y,
 *   of xr g1), alpha hx^2 / (a hz) (z).
 * Graded: mass[d] = widths, stiffness[d] = a / widths, per cell; scale 1, zc = c (of f1), robin = alpha. */
#ifndef TESK_SEPARABLE_ARGUMENTS_H
#define TESK_SEPARABLE_ARGUMENTS_H

typedef struct TeskLaplace {
  int cells[3];
  int dirichlet[6];
  int layers,
      layers_total; /* cell layers per block; layers in all: one more than cells where the upper face is natural */
  int pitch;
  long long plane;
  long long block_faces; /* separable_tiles.cu: how many numbers a block may leave on its upper faces */
  double sign;           /* separable_tiles.cu: 1, or -1 for a residual */
  double scale, xr, zk, zc, robin[6];
  const void *mass[3], *stiffness[3]; /* real [cells], graded only */
} TeskLaplace;

#endif
