/* Tables of stokes_lanes.cu, in its order. */
#include <math.h>
#include <string.h>
#include "kernels/stokes_arguments.h"
#include "smoother/stokes_patch/stokes_lanes.h"

static int padded(int count) {
  return (count + 3) / 4 * 4;
}

/* ---- even and odd modes -------------------------------------------------------------------------------- */

/* The mirror image of entry i of a column: of nodes, or of modes of both cells. */
static double mirrored(int n, bool nodes, const double *Z, int size, int i, int column) {
  if (nodes) return Z[(size - 1 - i) * size + column];
  const int j = i % n, other = i < n ? i + n : i - n;
  return (j % 2 ? -1 : 1) * Z[other * size + column];
}

/* 1, -1: the column is even or odd; 0: it is neither. */
static int parity_of(int n, bool nodes, const double *Z, int size, int column) {
  double even = 0, odd = 0, largest = 0;
  for (int i = 0; i < size; i++) {
    const double v = Z[i * size + column], w = mirrored(n, nodes, Z, size, i, column);
    even = fmax(even, fabs(v - w));
    odd = fmax(odd, fabs(v + w));
    largest = fmax(largest, fabs(v));
  }
  return even <= 1e-9 * largest ? 1 : odd <= 1e-9 * largest ? -1 : 0;
}

/* place[size]: columns, even columns first. False if some are neither even nor odd. */
static bool sort_columns(int n, bool nodes, const double *Z, int size, int *place) {
  int count = 0;
  for (int sign = 1; sign >= -1; sign -= 2)
    for (int c = 0; c < size; c++)
      if (parity_of(n, nodes, Z, size, c) == sign) place[count++] = c;
  return count == size && parity_of(n, nodes, Z, size, place[n - 1]) == 1 &&
         parity_of(n, nodes, Z, size, place[n]) == -1;
}

TesStatus tesi_lanes_sort(TesContext *ctx, int n, const TesiStokesLocalAxis *from, TesiStokesLocalAxis *to,
                          bool *split) {
  TesStatus status = TES_OK;
  const int P = from->nodes, Q = from->modes;
  int *node = NULL, *mode = NULL;
  *to = (TesiStokesLocalAxis){.nodes = P, .modes = Q};
  TES_ALLOC(&node, P);
  TES_ALLOC(&mode, Q);
  TES_ALLOC(&to->Zc, P * P);
  TES_ALLOC(&to->Zd, Q * Q);
  TES_ALLOC(&to->lc, P);
  TES_ALLOC(&to->ld, Q);
  TES_ALLOC(&to->G, Q * P);
  TES_ALLOC(&to->e, Q);
  TES_ALLOC(&to->matrices, 2 * P * P + Q * Q + Q * P);
  memcpy(to->matrices, from->matrices, sizeof *to->matrices * (size_t)(2 * P * P + Q * Q + Q * P));
  *split = sort_columns(n, true, from->Zc, P, node) && sort_columns(n, false, from->Zd, Q, mode);
  to->symmetric = *split;
  for (int i = 0; i < P && !*split; i++) node[i] = i;
  for (int i = 0; i < Q && !*split; i++) mode[i] = i;
  for (int c = 0; c < P; c++) {
    to->lc[c] = from->lc[node[c]];
    for (int i = 0; i < P; i++) to->Zc[i * P + c] = from->Zc[i * P + node[c]];
  }
  for (int c = 0; c < Q; c++) {
    to->ld[c] = from->ld[mode[c]];
    to->e[c] = from->e[mode[c]];
    for (int i = 0; i < Q; i++) to->Zd[i * Q + c] = from->Zd[i * Q + mode[c]];
    for (int i = 0; i < P; i++) to->G[c * P + i] = from->G[mode[c] * P + node[i]];
  }
done:
  tesi_free(ctx, &node);
  tesi_free(ctx, &mode);
  return status;
}

/* ---- tables of a kind ---------------------------------------------------------------------------------- */

int tesi_lanes_table_size(int n) {
  const int N = 2 * n, M = N - 1, row_n = padded(N), row_m = padded(M), row_1 = padded(n);
  return 2 * N * row_n + 2 * M * row_m + N * row_m + M * row_n + 3 * n * row_1 + 4 * M + 4 * N + row_m + row_n;
}

/* A, or A' [columns][rows] with `transposed`, rows padded. */
static double *put(int rows, int columns, bool transposed, const double *A, double *to) {
  const int row = padded(columns);
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < row; c++)
      to[r * row + c] = c >= columns ? 0 : transposed ? A[c * rows + r] : A[r * columns + c];
  return to + rows * row;
}

/* Zc' M: Zc' M Zc = 1. */
static double *put_nodes(const TesiStokesLocalAxis *l, double *to) {
  const int P = l->nodes, row = padded(P);
  const double *mass = l->matrices + P * P;
  for (int m = 0; m < P; m++)
    for (int c = 0; c < row; c++) {
      double sum = 0;
      for (int i = 0; i < P && c < P; i++) sum += l->Zc[i * P + m] * mass[i * P + c];
      to[m * row + c] = sum;
    }
  return to + P * row;
}

/* nu Ld between a cell of the patch and its neighbour outside, zero beside walls. */
static double *put_coupling(const TesiStokes *s, int d, int cell, int beside, double *to) {
  const TesiAxis *a = &s->axis[d].nodal;
  const int n = a->step, row = padded(n);
  const bool exists = a->periodic || (beside >= 0 && beside < a->cells);
  const int other = (beside + a->cells) % a->cells;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < row; j++)
      to[i * row + j] =
          exists && j < n ? s->nu * tesi_band_entry(&s->axis[d].penalty, cell * n + i, other * n + j) : 0;
  return to + n * row;
}

/* nu times Ld of the cell that replaces a cell beyond a wall, minus the term of the local matrix in its place. */
static double *put_own(const TesiStokes *s, int d, int vertex, TesiStokesFar far,
                       const TesiStokesLocalAxis *l, double *to) {
  const int n = s->space->degree + 1, row = padded(n), P = l->nodes, Q = l->modes, in = far * n,
            at = (vertex + (int)far) * n;
  const double *Ld = l->matrices + 2 * P * P;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < row; j++) {
      to[i * row + j] = 0;
      if (far != TESI_STOKES_FAR_NONE && j < n)
        to[i * row + j] =
            s->nu * (tesi_band_entry(&s->axis[d].penalty, at + i, at + j) - Ld[(in + i) * Q + in + j]);
    }
  return to + n * row;
}

/* Node i of the interval round a vertex, 0 .. 2 n. */
static int node_at(const TesiAxis *a, int vertex, int i) {
  return (vertex * a->step + i) % a->nodes;
}

/* Whether the end of an interval is a wall: known zeros. */
static bool is_wall(const TesiAxis *a, int vertex, int end) {
  return !a->periodic && (end ? vertex == a->cells - 2 : vertex == 0);
}

static double *put_ends(const TesiStokes *s, int d, int vertex, const TesiStokesLocalAxis *l, double *to) {
  const TesiAxis *a = &s->axis[d].nodal;
  const int P = l->nodes;
  for (int m = 0; m < P; m++)
    for (int end = 0; end < 2; end++) {
      double mass = 0, stiffness = 0;
      const int outer = node_at(a, vertex, end * 2 * a->step);
      for (int i = 0; i < P && !is_wall(a, vertex, end); i++) {
        const int inner = node_at(a, vertex, 1 + i);
        mass += l->Zc[i * P + m] * tesi_band_entry(&s->axis[d].mass, inner, outer);
        stiffness += l->Zc[i * P + m] * tesi_band_entry(&s->axis[d].stiffness, inner, outer);
      }
      to[4 * m + end] = mass;
      to[4 * m + 2 + end] = s->nu * stiffness;
    }
  return to + 4 * P;
}

static double *put_end_gradients(const TesiStokes *s, int d, int vertex, const TesiStokesLocalAxis *l,
                                 double *to) {
  const TesiAxis *a = &s->axis[d].nodal;
  const int Q = l->modes;
  for (int q = 0; q < Q; q++)
    for (int end = 0; end < 2; end++) {
      double sum = 0;
      for (int i = 0; i < Q && !is_wall(a, vertex, end); i++)
        sum += l->Zd[i * Q + q] * tesi_band_entry(&s->axis[d].derivative,
                                                  (vertex * a->step + i) % (a->cells * a->step),
                                                  node_at(a, vertex, end * 2 * a->step));
      to[4 * q + end] = sum;
      to[4 * q + 2 + end] = 0;
    }
  return to + 4 * Q;
}

static double *put_eigenvalues(double nu, const double *lambda, int count, double *to) {
  for (int i = 0; i < padded(count); i++) to[i] = i < count ? nu * lambda[i] : 0;
  return to + padded(count);
}

void tesi_lanes_fill_table(const TesiStokes *s, int d, int vertex, TesiStokesFar far,
                           const TesiStokesLocalAxis *l, double *table) {
  const int P = l->nodes, Q = l->modes, last = (vertex + 1) % s->axis[d].modal.cells;
  double *at = put(Q, Q, true, l->Zd, table);
  at = put(Q, Q, false, l->Zd, at);
  at = put_nodes(l, at);
  at = put(P, P, false, l->Zc, at);
  at = put(Q, P, false, l->G, at);
  at = put(P, Q, true, l->G, at);
  at = put_coupling(s, d, vertex, vertex - 1, at);
  at = put_coupling(s, d, last, vertex + 2, at);
  at = put_own(s, d, vertex, far, l, at);
  at = put_ends(s, d, vertex, l, at);
  at = put_end_gradients(s, d, vertex, l, at);
  at = put_eigenvalues(s->nu, l->lc, P, at);
  put_eigenvalues(s->nu, l->ld, Q, at);
}

/* M^-1 = Zc Zc'. */
void tesi_lanes_fill_mass(const TesiStokesLocalAxis *l, double *inverse) {
  const int P = l->nodes, row = padded(P);
  for (int i = 0; i < P; i++)
    for (int j = 0; j < row; j++) {
      inverse[i * row + j] = 0;
      for (int m = 0; m < P && j < P; m++) inverse[i * row + j] += l->Zc[i * P + m] * l->Zc[j * P + m];
    }
}

/* ---- S^+ ----------------------------------------------------------------------------------------------- */

static int rows_of(TesiLanesShape shape, const bool split[3], int extent[3]) {
  int rows = 1;
  for (int d = 0; d < 3; d++) rows *= extent[d] = split[d] ? shape.n : 2 * shape.n;
  return rows;
}

int64_t tesi_lanes_inverse_size(TesiLanesShape shape, const bool split[3]) {
  int extent[3];
  const int64_t rows = rows_of(shape, split, extent), all = 8 * shape.n * shape.n * shape.n;
  return all / shape.plain * rows * padded(shape.plain);
}

/* Number of row `row` of a parity block, z fastest, where x is. */
static int pressure_of(const int extent[3], int row) {
  const int m[3] = {row / extent[2] / extent[1], row / extent[2] % extent[1], row % extent[2]};
  return m[0] + extent[0] * (m[1] + extent[1] * m[2]);
}

void tesi_lanes_fill_inverse(TesiLanesShape shape, const bool split[3], const double *S, double *to) {
  int extent[3];
  const int rows = rows_of(shape, split, extent), all = 8 * shape.n * shape.n * shape.n,
            tiles = rows / shape.plain;
  for (int tile = 0; tile < all / shape.plain; tile++) {
    const double *block = S + (int64_t)(tile / tiles) * rows * rows;
    for (int c = 0; c < rows; c++) {
      const double *column = block + (int64_t)pressure_of(extent, c) * rows;
      for (int r = 0; r < padded(shape.plain); r++)
        *to++ = r < shape.plain ? column[pressure_of(extent, tile % tiles * shape.plain + r)] : 0;
    }
  }
}

/* ---- S^+ by sums and differences of what is swapped ------------------------------------------------------- */

/* Numbers (i, a, b) of a parity block, of those that are swapped into each other one: a = b, then a < b. */
static int list_swapped(int n, int (*number)[3]) {
  int count = 0;
  for (int half = 0; half < 2; half++)
    for (int i = 0; i < n; i++)
      for (int a = 0; a < n; a++)
        for (int b = half ? a + 1 : a; b < (half ? n : a + 1); b++) {
          const int q[3] = {i, a, b};
          memcpy(number[count++], q, sizeof q);
        }
  return count;
}

enum { MOST = 75 }; /* of them */

/* Of a = b, and of a < b. */
static int alike_of(int n) {
  return n * n;
}
static int pairs_of(int n) {
  return n * n * (n - 1) / 2;
}

int tesi_lanes_swapped_rows(int n) {
  return alike_of(n) + pairs_of(n);
}

int64_t tesi_lanes_swapped_size(TesiLanesShape shape) {
  const int n = shape.n, sums = tesi_lanes_swapped_rows(n), pairs = pairs_of(n);
  const bool together = TESK_LANES_TOGETHER(n);
  return 4 *
         ((int64_t)((together ? alike_of(n) : sums) / shape.tile) * sums +
          (int64_t)(pairs / shape.tile) * (together ? n * n * n : pairs)) *
         padded(shape.tile);
}

/* Of a parity block. */
static double swapped_entry(int n, const double *block, const int row[3], const int column[3], int sign) {
  const int extent[3] = {n, n, n}, at = pressure_of(extent, (row[0] * n + row[1]) * n + row[2]),
            straight = pressure_of(extent, (column[0] * n + column[1]) * n + column[2]),
            crossed = pressure_of(extent, (column[0] * n + column[2]) * n + column[1]);
  const int64_t rows = n * n * n;
  return (block[straight * rows + at] + sign * block[crossed * rows + at]) / 2;
}

/* A tile from row `first` on; which columns: of sums, of differences; those of a pair come one after the other. */
static double *fill_swapped_tile(TesiLanesShape shape, const double *block, int (*rows)[3], bool sums,
                                 bool differences, double *to) {
  const int n = shape.n;
  for (int c = 0; c < n * n * n; c++) {
    const int column[3] = {c / n / n, c / n % n, c % n};
    if (column[1] > column[2]) continue;
    for (int half = sums ? 0 : 1; half <= (differences && column[1] < column[2] ? 1 : 0); half++)
      for (int r = 0; r < padded(shape.tile); r++)
        *to++ = r < shape.tile ? swapped_entry(n, block, rows[r], column, half ? -1 : 1) : 0;
  }
  return to;
}

void tesi_lanes_fill_swapped(TesiLanesShape shape, const double *S, double *to) {
  int number[MOST][3];
  const int n = shape.n, count = list_swapped(n, number), alike = alike_of(n), t = shape.tile;
  static const int blocks[4] = {0, 1, 6, 7}; /* with 0 to 3 odd directions, unlike the others: x */
  const bool together = TESK_LANES_TOGETHER(n);
  for (int type = 0; type < 4; type++) {
    const double *block = S + (int64_t)blocks[type] * n * n * n * n * n * n;
    for (int first = 0; first < (together ? alike : count); first += t)
      to = fill_swapped_tile(shape, block, number + first, true, false, to);
    for (int first = alike; first < count; first += t)
      to = fill_swapped_tile(shape, block, number + first, together, true, to);
  }
}

void tesi_lanes_fill_places(int n, int *places) {
  const int N = 2 * n, step[3] = {N * (N + 1) + 1, N + 1, 1};
  int number[MOST][3];
  const int count = list_swapped(n, number);
  for (int block = 0; block < 8; block++) {
    const int odd[3] = {block & 1, block >> 1 & 1, block >> 2}, all = odd[0] + odd[1] + odd[2];
    int unlike = 0, first = 0;
    for (int d = 0; d < 3; d++) {
      if ((all == 1 && odd[d]) || (all == 2 && !odd[d])) unlike = d;
      first += odd[d] * n * step[d];
    }
    const int si = step[unlike], sa = step[(unlike + 1) % 3], sb = step[(unlike + 2) % 3];
    for (int r = 0; r < count; r++) {
      const int *q = number[r], low = first + q[0] * si + q[1] * sa + q[2] * sb,
                high = first + q[0] * si + q[2] * sa + q[1] * sb;
      *places++ = low | high << 16;
    }
  }
}
