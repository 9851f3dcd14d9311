/* Matrices of cells by sum factorization: with P = n^2 pairs of 1D functions,
 *   K[pair z][pair y][pair x] = sum over z of T_z (sum over y of T_y (sum over x of T_x G)),
 * T[q][n][n] products of values or derivatives. The terms G_ce that agree in z are summed before the last step, which
 * costs most: about 8 n^6 q flops per cell in 3D, where the sum point by point would take 8 n^6 q^3. */
#include "operator/mapped/mapped_matrix.h"
#include <string.h>
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"

struct TesiCellMatrix {
  const TesiMapped *m;
  TesiMatmul multiply;
  int pairs;          /* n^2 */
  int64_t work;       /* numbers per thread */
  double *T;          /* [2][2][q][n][n]: derivative of the first, of the second */
  double *transposed; /* [2][2][n][n][q] */
  double *halves;     /* W of space.h */
};

static void fill_tables(const TesiMapped *m, TesiCellMatrix *c) {
  const int n = m->n, q = m->q, size = q * c->pairs;
  for (int p = 0; p < q; p++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const double value[2] = {m->I[p * n + i], m->I[p * n + j]};
        double slope[2] = {0, 0};
        for (int s = 0; s < q; s++) {
          slope[0] += m->D[p * q + s] * m->I[s * n + i];
          slope[1] += m->D[p * q + s] * m->I[s * n + j];
        }
        for (int a = 0; a < 2; a++)
          for (int b = 0; b < 2; b++) {
            const double product = (a ? slope[0] : value[0]) * (b ? slope[1] : value[1]);
            c->T[(2 * a + b) * size + p * c->pairs + i * n + j] = product;
            c->transposed[(2 * a + b) * size + (i * n + j) * q + p] = product;
          }
      }
}

TesStatus tesi_cell_matrix_create(const TesiMapped *m, TesiCellMatrix **matrix) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  TES_NEW(matrix);
  TesiCellMatrix *c = *matrix;
  const int64_t n = m->n, q = m->q;
  c->m = m;
  c->multiply = tesi_matmul(tes_context_simd_bits(ctx));
  c->pairs = (int)(n * n);
  const int64_t size = m->dim == 3 ? n * n * n * n : n * n; /* over all directions but the last */
  c->work = (m->dim == 3 ? q * q : q) * n * n + (4 * q + 1 + n * n) * size;
  TES_ALLOC(&c->T, 4 * q * c->pairs);
  TES_ALLOC(&c->transposed, 4 * q * c->pairs);
  TES_ALLOC(&c->halves, 2 * n * n);
  fill_tables(m, c);
  if (m->mask) tesi_hanging_halves(m->n, c->halves);
done:
  return status;
}

void tesi_cell_matrix_destroy(TesiCellMatrix **matrix) {
  if (!*matrix) return;
  TesContext *ctx = (*matrix)->m->geometry->context;
  tesi_free(ctx, &(*matrix)->T);
  tesi_free(ctx, &(*matrix)->transposed);
  tesi_free(ctx, &(*matrix)->halves);
  tesi_free(ctx, matrix);
}

int64_t tesi_cell_matrix_work(const TesiCellMatrix *matrix) {
  return matrix->work;
}

/* T in direction d for the term with derivatives in r (test function) and s (-1: none). */
static const double *table(const TesiCellMatrix *c, const double *tables, int d, int r, int s) {
  return tables + (2 * (d == r) + (d == s)) * c->m->q * c->pairs;
}

/* sums[last flags][q][P] (2D) or [..][q][P][P] (3D) += the term g[points] with derivatives in r and s, contracted in
 * all directions but the last. */
static void add_term(const TesiCellMatrix *c, const double *g, int r, int s, double factor, double *rows,
                     double *plane, double *sums) {
  const int q = c->m->q, P = c->pairs, dim = c->m->dim, last = dim - 1;
  const int lines = dim == 3 ? q * q : q, size = dim == 3 ? P * P : P;
  double *to = sums + (int64_t)(2 * (last == r) + (last == s)) * q * size;
  c->multiply(lines, P, q, g, q, table(c, c->T, 0, r, s), P, rows, P);
  if (dim == 2) {
    for (int i = 0; i < q * P; i++) to[i] += factor * rows[i];
    return;
  }
  for (int z = 0; z < q; z++) {
    c->multiply(P, P, q, table(c, c->transposed, 1, r, s), q, rows + z * q * P, P, plane, P);
    for (int i = 0; i < P * P; i++) to[(int64_t)z * P * P + i] += factor * plane[i];
  }
}

/* K[b][a] <- pairs[z][y][x], pair = test n + trial; the matrix is symmetric. */
static void put_pairs(const TesiCellMatrix *c, const double *pairs, bool add, double *K) {
  const int n = c->m->n, nz = c->m->dim == 3 ? n : 1;
  const int64_t N = c->m->cell_nodes;
  for (int az = 0; az < nz; az++)
    for (int bz = 0; bz < nz; bz++)
      for (int ay = 0; ay < n; ay++)
        for (int by = 0; by < n; by++)
          for (int ax = 0; ax < n; ax++, pairs += n) {
            double *to = K + ((int64_t)(az * n + ay) * n + ax) * N + (bz * n + by) * n;
            for (int bx = 0; bx < n; bx++) to[bx] = add ? to[bx] + pairs[bx] : pairs[bx];
          }
}

static void hang(const TesiCellMatrix *c, unsigned mask, double *K) {
  const TesiMapped *m = c->m;
  const int64_t N = m->cell_nodes;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t a = 0; a < N; a++) tesi_hanging_write(m->dim, m->n, c->halves, mask, K + a * N);
    for (int64_t a = 0; a < N; a++)
      for (int64_t b = 0; b < a; b++) {
        const double swap = K[a * N + b];
        K[a * N + b] = K[b * N + a];
        K[b * N + a] = swap;
      }
  }
}

void tesi_cell_matrix(const TesiCellMatrix *c, int64_t cell, const double *g, double *work, double *K) {
  const TesiMapped *m = c->m;
  const int q = m->q, P = c->pairs, dim = m->dim, size = dim == 3 ? P * P : P;
  double *rows = work, *plane = rows + (dim == 3 ? q * q * P : q * P), *sums = plane + (dim == 3 ? P * P : 0),
         *pairs = sums + (int64_t)4 * q * size;
  memset(sums, 0, (size_t)(4 * q * size) * sizeof *sums);
  const double *at = g;
  for (int r = 0; m->stiffness && r < dim; r++)
    for (int s = r; s < dim; s++, at += m->cell_points) {
      add_term(c, at, r, s, 1, rows, plane, sums);
      if (r != s) add_term(c, at, s, r, 1, rows, plane, sums);
    }
  if (m->mass) add_term(c, at, -1, -1, m->lambda, rows, plane, sums);
  for (int flags = 0; flags < 4; flags++) {
    c->multiply(P, size, q, c->transposed + flags * q * P, q, sums + (int64_t)flags * q * size, size, pairs,
                size);
    put_pairs(c, pairs, flags > 0, K);
  }
  if (tesi_mapped_hangs(m, cell)) hang(c, m->mask[cell], K);
}
