/* Elasticity of degree 1 over cells along the axes with one lambda and mu per cell, all components at once, y += sign
 * A x; formulas: elasticity.h in operator/elasticity. Each thread has a cell, each block BLOCK cells and a list of
 * their nodes (operator/elasticity/elasticity_blocks.h). Each node is read once per block, and added to once per
 * block and component.
 *
 * On a cell u_c = sum over m of U_c[m] times the product over d of (2 xi_d - 1)^(bit d of m): means and half
 * differences along each direction. These functions are orthogonal, int = 3^-(bits of m), and a derivative along d
 * takes bit d away: d_d u_c = sum over m with bit d of (2 / h_d) U_c[m] in m without it. So stresses and derivatives
 * of test functions are sums of few terms, and the integrals are exact, as they are with two Gauss points per
 * direction.
 *   nodes of the block to shared memory | corners of a cell, hanging ones, U, stresses, back: in registers, results to
 *   shared memory | one thread per node: the sum over its corners in the block, in their order, and one atomic
 *   addition per component. The last blocks do the rows of given entries.
 * Shared: DIM (MOST + CORNERS BLOCK) numbers, MOST nodes of a block at most: 15 KiB of float32 in 3D where cells come
 * in the order of trees, 225 nodes for 128 cells.
 * Registers: 2 DIM CORNERS numbers and about ten more; sm_90, 3D: 56 to 80 of float32, 91 to 152 of float64, none
 * spill. Flops per cell: about 500 in 3D. Bytes per cell in the order of trees, 3D: 1.8 nodes with DIM numbers each,
 * read and added to; 8 for its number and list; 32 for corners, read and written; its numbers.
 * Macros: real, DIM, MASS, HANGING; N = 2, NUMBERS = ALIGNED. */
#include "kernel.h"
#include "elasticity_arguments.h"

#define BLOCK TESK_ELASTIC_BLOCK
#define CORNERS (1 << DIM)
#define ENTRIES (DIM + 2 + MASS)
#define BITS(m) (((m)&1) + ((m) >> 1 & 1) + ((m) >> 2 & 1))
#define WEIGHT(m)                                                                                            \
  (BITS(m) == 0 ? (real)1 : BITS(m) == 1 ? (real)(1. / 3) : BITS(m) == 2 ? (real)(1. / 9) : (real)(1. / 27))

#if HANGING
/* Corner `high` of a line of direction d and the corner below it. The corner that hangs becomes the mean of both; or
 * its value is distributed to both. */
TESK_DEVICE void hang_line(int mask, const int d, const int high, int transposed, real u[DIM][CORNERS]) {
  const int low = high - (1 << d), e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  const int first = (high >> e & 1) == (mask >> e & 1),
            second = DIM == 3 && (high >> f & 1) == (mask >> f & 1);
  if (!((first && (mask >> (3 + e) & 1)) || (second && (mask >> (3 + f) & 1)) ||
        (first && second && (mask >> (6 + d) & 1))))
    return;
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    const real a = u[c][low], b = u[c][high];
    if (mask >> d & 1) {
      u[c][low] = (real)0.5 * (transposed ? a : a + b);
      u[c][high] = transposed ? b + (real)0.5 * a : b;
    } else {
      u[c][high] = (real)0.5 * (transposed ? b : a + b);
      u[c][low] = transposed ? a + (real)0.5 * b : a;
    }
  }
}

TESK_DEVICE void hang(int mask, int transposed, real u[DIM][CORNERS]) {
  if (!(mask >> 3)) return;
  TESK_UNROLL
  for (int i = 0; i < DIM; i++) {
    const int d = transposed ? DIM - 1 - i : i;
    TESK_UNROLL
    for (int high = 0; high < CORNERS; high++)
      if (high >> d & 1) hang_line(mask, d, high, transposed, u);
  }
}
#endif

/* Transforms values at corners to U, or back by the transpose. */
TESK_DEVICE void halve(int transposed, real u[DIM][CORNERS]) {
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    TESK_UNROLL
    for (int d = 0; d < DIM; d++) {
      TESK_UNROLL
      for (int m = 0; m < CORNERS; m++) {
        if (m >> d & 1) continue;
        const real a = u[c][m], b = u[c][m | 1 << d];
        u[c][m] = (real)0.5 * (transposed ? a - b : a + b);
        u[c][m | 1 << d] = (real)0.5 * (transposed ? a + b : b - a);
      }
    }
  }
}

/* V <- the cell's A U, both as coefficients of those functions. number: 1 / h_d, then |J| lambda, |J| mu, (|J| c). */
TESK_DEVICE void multiply(real number[ENTRIES], real U[DIM][CORNERS], real V[DIM][CORNERS]) {
  const real lambda = number[DIM], mu = number[DIM + 1];
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    TESK_UNROLL
    for (int m = 0; m < CORNERS; m++) V[c][m] = MASS ? number[ENTRIES - 1] * WEIGHT(m) * U[c][m] : 0;
  }
  TESK_UNROLL
  for (int m = 0; m < CORNERS; m++) {
    real trace = 0;
    TESK_UNROLL
    for (int e = 0; e < DIM; e++)
      if (!(m >> e & 1)) trace += number[e] * U[e][m | 1 << e];
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) {
      TESK_UNROLL
      for (int d = 0; d < DIM; d++) {
        if (m >> d & 1) continue;
        real strain = number[d] * U[c][m | 1 << d];
        if (!(m >> c & 1)) strain += number[c] * U[d][m | 1 << c];
        V[c][m | 1 << d] += 4 * WEIGHT(m) * number[d] * (mu * strain + (c == d ? lambda * trace : 0));
      }
    }
  }
}

TESK_DEVICE void add_rows(const TeskElastic *a, const real *x, real *y) {
  const long long i = ((long long)blockIdx.x - a->blocks) * BLOCK + threadIdx.x;
  if (i < a->rows) y[a->row[i]] += (real)a->sign * x[a->row[i]];
}

/* Whether component c of a node in a list is given: bit c of `given`. */
TESK_DEVICE int given_of(const TeskElastic *a, int index) {
  return index < 0 && !a->every ? a->given[~index] : 0;
}

TESK_KERNEL(tesk_elasticity_corners, BLOCK, 1, (const real *TESK_RESTRICT)x, (real *)y, (TeskElastic)a,
            (TeskElasticBlocks)l) {
  TESK_SHARED(memory);
  real *const values = memory, *const results = memory + DIM * l.most;
  const int t = (int)threadIdx.x;
  if (blockIdx.x >= a.blocks) {
    add_rows(&a, x, y);
    return;
  }
  const long long block = blockIdx.x, cell = block * BLOCK + t;
  const int first = l.first[block], count = l.first[block + 1] - first;
  const unsigned short *const corner = l.corner + block * (CORNERS * BLOCK) + t;
  real u[DIM][CORNERS], v[DIM][CORNERS], number[ENTRIES];
  int at[CORNERS];
  TESK_UNROLL
  for (int k = 0; k < CORNERS; k++) at[k] = corner[k * BLOCK];
  TESK_UNROLL
  for (int i = 0; i < ENTRIES; i++)
    number[i] = cell < a.cells ? TESK_READ((const real *)a.numbers + cell * ENTRIES + i) : 0;
#if HANGING
  const int mask = cell < a.cells ? a.masks[cell] : 0;
#endif
  for (int i = t; i < count; i += BLOCK) {
    const int index = l.node[first + i], given = given_of(&a, index);
    const long long node = index < 0 ? ~index : index;
    TESK_UNROLL
    for (int c = 0; c < DIM; c++)
      values[c * l.most + i] = given >> c & 1 ? 0 : TESK_READ(x + c * a.length + node);
  }
  __syncthreads();
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    TESK_UNROLL
    for (int k = 0; k < CORNERS; k++) u[c][k] = values[c * l.most + at[k]];
  }
#if HANGING
  hang(mask, 0, u);
#endif
  halve(0, u);
  multiply(number, u, v);
  halve(1, v);
#if HANGING
  hang(mask, 1, v);
#endif
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    TESK_UNROLL
    for (int k = 0; k < CORNERS; k++) results[(c * CORNERS + k) * BLOCK + t] = v[c][k];
  }
  __syncthreads();
  for (int i = t; i < count; i += BLOCK) {
    const int index = l.node[first + i], given = given_of(&a, index);
    const unsigned short *const range = l.place_first + first + block + i;
    const unsigned short *const place = l.place + block * (CORNERS * BLOCK);
    const long long node = index < 0 ? ~index : index;
    real sum[DIM];
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) sum[c] = 0;
    for (int p = range[0]; p < range[1]; p++) {
      const int from = place[p];
      TESK_UNROLL
      for (int c = 0; c < DIM; c++) sum[c] += results[c * (CORNERS * BLOCK) + from];
    }
    TESK_UNROLL
    for (int c = 0; c < DIM; c++)
      if (!(given >> c & 1)) TESK_ADD(y + c * a.length + node, (real)a.sign * sum[c]);
  }
}
