/* The diagonal of C' K C of one cell at its hanging nodes.
 *
 * Column C e_p of the interpolation is a product of functions of one direction each, except where hanging faces
 * and edges meet. Let A be the directions in which node p stands on the side where the child touches its parent's
 * boundary. Then
 *   C e_p = product over d outside A of w_(i_d)(x_d)  times  s_A,
 * w_i: column i of W of the child in d (it vanishes on the side for nodes inside), and s_A, with e the basis
 * function of the side and h = w - e of it:
 *   |A| = 1 (face)    e
 *   |A| = 2 (edge)    e e + [face of normal 1 hangs] e h + [face of normal 2] h e
 *   |A| = 3 (corner)  e e e + sum over edges [line is interpolated] h e e + sum over faces [hangs] e h h
 * The form is summed first over the points in the directions A with the squares of s_A, then over the other
 * directions with the squares of w.
 * Cost: about q^dim multiply-adds for each entry of the form and each A, of which there are at most 7. This is as
 * much as the diagonal itself costs. */
#include <string.h>
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "operator/mapped/mapped.h"

enum { NODES = TESI_HANGING_NODES, POINTS = TESI_HANGING_NODES + 3, PLANE = POINTS * POINTS };

/* Products of values and derivatives at points, by the number of derivatives: [3][q][n]. */
typedef double Squares[3 * POINTS * NODES];

struct TesiHangingDiagonal {
  const TesiMapped *m;
  double side[2][2][POINTS], more[2][2][POINTS]; /* e and h of side (child) c: [c][value, derivative][q] */
  Squares squares[2];                            /* of w of child c */
};

/* Values and derivatives at the points of functions given by their nodal values, [n][n] by columns: f[2][q][n]. */
static void at_points(const TesiMapped *m, const double *columns, double *f) {
  const int n = m->n, q = m->q;
  for (int p = 0; p < q; p++)
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += m->I[p * n + j] * columns[j * n + i];
      f[p * n + i] = sum;
    }
  for (int p = 0; p < q; p++)
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int s = 0; s < q; s++) sum += m->D[p * q + s] * f[s * n + i];
      f[(q + p) * n + i] = sum;
    }
}

TesStatus tesi_hanging_diagonal_create(const TesiMapped *m, TesiHangingDiagonal **tables) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  double W[2 * NODES * NODES], one[NODES * NODES] = {0}, own[2 * POINTS * NODES], half[2 * POINTS * NODES];
  const int n = m->n, q = m->q, size = q * n;
  TES_NEW(tables);
  TesiHangingDiagonal *h = *tables;
  h->m = m;
  tesi_hanging_halves(n, W);
  for (int i = 0; i < n; i++) one[i * n + i] = 1;
  at_points(m, one, own);
  for (int c = 0; c < 2; c++) {
    at_points(m, W + c * n * n, half);
    for (int i = 0; i < size; i++) {
      h->squares[c][i] = half[i] * half[i];
      h->squares[c][size + i] = half[i] * half[size + i];
      h->squares[c][2 * size + i] = half[size + i] * half[size + i];
    }
    for (int k = 0; k < 2; k++)
      for (int p = 0; p < q; p++) {
        const int side = k * size + p * n + c * (n - 1);
        h->side[c][k][p] = own[side];
        h->more[c][k][p] = half[side] - own[side];
      }
  }
done:
  return status;
}

/* One function of s_A: e (side) or h in each direction of A, with the derivative in direction `along` (-1: none); it
 * is added to s[points of A]. */
static void add_term(const TesiHangingDiagonal *h, unsigned mask, unsigned A, unsigned more, int along,
                     double *s) {
  const int q = h->m->q;
  double one[1] = {1};
  const double *f[3] = {one, one, one};
  int size[3] = {1, 1, 1};
  for (int d = 0; d < h->m->dim; d++)
    if (A >> d & 1) f[d] = (more >> d & 1 ? h->more : h->side)[mask >> d & 1][d == along], size[d] = q;
  for (int k = 0; k < size[2]; k++)
    for (int j = 0; j < size[1]; j++)
      for (int i = 0; i < size[0]; i++) s[(k * size[1] + j) * size[0] + i] += f[0][i] * f[1][j] * f[2][k];
}

/* s_A or its derivative: the sum over all sets of directions with h for which the edges or faces at A hang. */
static void side_function(const TesiHangingDiagonal *h, unsigned mask, unsigned A, int along, double *s) {
  const int dim = h->m->dim;
  int points = 1;
  for (int d = 0; d < dim; d++) points *= A >> d & 1 ? h->m->q : 1;
  memset(s, 0, (size_t)points * sizeof *s);
  add_term(h, mask, A, 0, along, s);
  for (unsigned more = 1; more < 1u << dim; more++) {
    bool hangs = false;
    if (more & ~A || more == A) continue;
    for (int d = 0; d < dim; d++) /* the face with normal d has all directions of `more`; a line has one */
      hangs = hangs || (!(more >> d & 1) && mask >> (3 + d) & 1 && A >> d & 1);
    for (int d = 0; d < dim; d++) {
      const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
      if (more == 1u << d) hangs = tes_mask_line(mask, d, A >> e & 1, f < dim && A >> f & 1);
    }
    if (hangs) add_term(h, mask, A, more, along, s);
  }
}

/* rest[points outside A] <- sum over the points of A of g s t. */
static void sum_sides(const TesiMapped *m, unsigned A, const double *g, const double *s, const double *t,
                      double *rest) {
  const int q = m->q;
  int in[3] = {0}, out[3] = {0}, size[3] = {1, 1, 1}, inner = 1, outer = 1;
  for (int d = 0; d < m->dim; d++) {
    size[d] = q;
    if (A >> d & 1)
      in[d] = inner, inner *= q;
    else
      out[d] = outer, outer *= q;
  }
  memset(rest, 0, (size_t)outer * sizeof *rest);
  for (int k = 0; k < size[2]; k++)
    for (int j = 0; j < size[1]; j++)
      for (int i = 0; i < size[0]; i++) {
        const int at = i * in[0] + j * in[1] + k * in[2];
        rest[i * out[0] + j * out[1] + k * out[2]] += *g++ * s[at] * t[at];
      }
}

/* values[n or n^2] += factor times the sum over points of rest times the squares of each direction; the first
 * direction runs fastest. At most 2 directions. */
static void sum_rest(int n, int q, int directions, const double *const t[2], double factor,
                     const double *rest, double *values) {
  double lines[PLANE];
  if (directions == 0) values[0] += factor * rest[0];
  for (int j = 0; directions && j < (directions == 2 ? q : 1); j++)
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int p = 0; p < q; p++) sum += t[0][p * n + i] * rest[j * q + p];
      if (directions == 1)
        values[i] += factor * sum;
      else
        lines[j * n + i] = sum;
    }
  for (int j = 0; directions == 2 && j < n; j++)
    for (int i = 0; i < n; i++)
      for (int p = 0; p < q; p++) values[j * n + i] += factor * t[1][p * n + j] * lines[p * n + i];
}

/* One entry of the form: derivatives in c and e (-1: none). */
static void add_entry(const TesiHangingDiagonal *h, unsigned mask, unsigned A, int c, int e, double factor,
                      const double *g, const double *s, double *values) {
  const TesiMapped *m = h->m;
  const int size = m->q * m->n;
  const double *t[2] = {NULL, NULL}, *function[2];
  double rest[PLANE];
  int directions = 0;
  for (int d = 0; d < m->dim; d++)
    if (!(A >> d & 1)) t[directions++] = h->squares[mask >> d & 1] + size * ((d == c) + (d == e));
  for (int i = 0; i < 2; i++) {
    const int d = i == 0 ? c : e;
    function[i] = s + (d >= 0 && A >> d & 1 ? d + 1 : 0) * PLANE * POINTS;
  }
  sum_sides(m, A, g, function[0], function[1], rest);
  sum_rest(m->n, m->q, directions, t, factor, rest, values);
}

/* Adds to the nodes that are on the side in the directions of A and in no other direction. */
static void put_nodes(const TesiMapped *m, unsigned mask, unsigned A, const double *values, double *d) {
  const int n = m->n, step[3] = {1, n, n * n};
  int start = 0, free[2] = {0}, side[2] = {-1, -1}, count = 0;
  for (int e = 0; e < m->dim; e++) {
    const int end = mask >> e & 1 ? n - 1 : 0;
    if (A >> e & 1)
      start += end * step[e];
    else
      free[count] = step[e], side[count++] = end;
  }
  for (int j = 0; j < (count == 2 ? n : 1); j++)
    for (int i = 0; i < (count >= 1 ? n : 1); i++)
      if (i != side[0] && (count < 2 || j != side[1]))
        d[start + i * free[0] + j * free[1]] = values[j * n + i];
}

/* Whether the nodes of A are interpolated. */
static bool hangs(const TesiMapped *m, unsigned mask, unsigned A) {
  const int inside = m->n / 2; /* any node that is not on the side */
  int at[3] = {0};
  for (int d = 0; d < m->dim; d++) {
    const int side = mask >> d & 1 ? m->n - 1 : 0;
    at[d] = A >> d & 1 ? side : m->n == 2 ? 1 - side : inside;
  }
  return tesi_hanging_directions(m->dim, m->n, mask, at) != 0;
}

void tesi_hanging_diagonal_cell(const TesiHangingDiagonal *h, unsigned mask, const double *g, double *d) {
  const TesiMapped *m = h->m;
  for (unsigned A = 1; A < 1u << m->dim; A++) {
    double s[4 * PLANE * POINTS], values[NODES * NODES];
    const double *entry = g;
    if (!hangs(m, mask, A)) continue;
    memset(values, 0, sizeof values);
    side_function(h, mask, A, -1, s);
    for (int e = 0; e < m->dim; e++)
      if (A >> e & 1) side_function(h, mask, A, e, s + (e + 1) * PLANE * POINTS);
    for (int c = 0; m->stiffness && c < m->dim; c++)
      for (int e = c; e < m->dim; e++, entry += m->cell_points)
        add_entry(h, mask, A, c, e, c == e ? 1 : 2, entry, s, values);
    if (m->mass) add_entry(h, mask, A, -1, -1, m->lambda, entry, s, values);
    put_nodes(m, mask, A, values, d);
  }
}
