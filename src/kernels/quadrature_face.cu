/* y <- y + sign M_alpha x on a natural face, or the diagonal of M_alpha without x: the Robin term of the quadrature
 * form,
 *   (B (x) B)' diag(alpha w |F|) (B (x) B), one thread per node of a cell's side.
 * The sides of a launch share no nodes. Work per node: 4 N multiply-adds; a face has little of it.
 * Macros: real, DIM, DEGREE, CELLS, THREADS. Tables: tesk_b [point][node], tesk_b2 its squares. */
#include "kernel.h"
#include "tables.h"

#define N (DEGREE + 1)
#define M (DIM == 3 ? N : 1) /* nodes in the second direction of the face */
#define SIDE (N * M)

typedef struct TeskFace {
  int cells[2], first[2], step[2], count[2]; /* sides of the face, of this launch */
  int dirichlet[4];
  long long base, stride[2]; /* of nodes */
  double sign;
  const void *alpha; /* real, [side][point][point] */
} TeskFace;

TESK_DEVICE int is_fixed(const TeskFace *f, int e, int cell, int i) {
  return (i == 0 && cell == 0 && f->dirichlet[2 * e]) ||
         (i == DEGREE && cell == f->cells[e] - 1 && f->dirichlet[2 * e + 1]);
}

TESK_KERNEL(tesk_quadrature_face, THREADS, 1, (const real *)x, (real *)y, (TeskFace)f) {
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, c = t / SIDE, number = (int)blockIdx.x * CELLS + c, i = t % N, j = t / N % M;
  const int on = c < CELLS && number < f.count[0] * f.count[1];
  const int s0 = on ? f.first[0] + number % f.count[0] * f.step[0] : 0,
            s1 = on ? f.first[1] + number / f.count[0] * f.step[1] : 0;
  real *const U = memory + (c < CELLS ? c : 0) * SIDE, *const V = U + CELLS * SIDE;
  const int fixed = is_fixed(&f, 0, s0, i) || (DIM == 3 && is_fixed(&f, 1, s1, j));
  const long long node =
      f.base + (s0 * DEGREE + i) * f.stride[0] + (DIM == 3 ? (s1 * DEGREE + j) * f.stride[1] : 0);
  const real alpha = on ? ((const real *)f.alpha)[((long long)s1 * f.cells[0] + s0) * SIDE + j * N + i]
                        : 0; /* at point (i, j) */
  real value = 0;
  if (!x) {
    if (on) U[j * N + i] = alpha;
  } else {
    if (on) V[j * N + i] = fixed ? 0 : x[node];
    __syncthreads();
    for (int p = 0; p < N && on; p++) value += tesk_b(i * N + p) * V[j * N + p];
    if (on) U[j * N + i] = value;
    __syncthreads();
#if DIM == 3
    value = 0;
    for (int p = 0; p < N && on; p++) value += tesk_b(j * N + p) * U[p * N + i];
#endif
    if (on) V[j * N + i] = alpha * value;
    __syncthreads();
    if (on) U[j * N + i] = V[j * N + i];
  }
  __syncthreads();
  value = 0;
  for (int q = 0; q < N && on; q++) value += (x ? tesk_b(q * N + i) : tesk_b2(q * N + i)) * U[j * N + q];
  if (on) V[j * N + i] = value;
  __syncthreads();
#if DIM == 3
  value = 0;
  for (int q = 0; q < N && on; q++) value += (x ? tesk_b(q * N + j) : tesk_b2(q * N + j)) * V[q * N + i];
#endif
  if (on && !fixed) y[node] += (real)f.sign * value;
}
