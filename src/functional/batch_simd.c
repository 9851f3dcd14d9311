/* The loops of batch.h: eight cells at once whatever the width of the registers. */
#include <stdbool.h>
#include "functional/batch.h"
#include "tensor/face.h"
#include "tensor/simd.h"

typedef double Lanes __attribute__((vector_size(64), may_alias));
enum { LITERAL = 10 }; /* inputs of a contraction with loops of their own: to this number */

void TESI_SIMD(tesi_batch_contract)(const int size[3], int d, int rows, int columns, bool transposed,
                                    const double *T, const double *in, double *out);
void TESI_SIMD(tesi_batch_face)(int dim, int face, bool swapped, const TesiFaceTables *t, const double *u,
                                int stride, double *value, double *derivative, int64_t between);
void TESI_SIMD(tesi_batch_weigh)(int dim, int64_t points, const double *J, const double *w, double *out);
void TESI_SIMD(tesi_batch_turn)(int dim, int64_t points, const double *J, double *const g[3]);
void TESI_SIMD(tesi_batch_squares)(int64_t points, const double *w, const double *v, double sums[8]);
void TESI_SIMD(tesi_batch_add_product)(int64_t points, double factor, const double *a, const double *b,
                                       double *out);
void TESI_SIMD(tesi_batch_invert)(int dim, int64_t points, double *J, double *det);
void TESI_SIMD(tesi_batch_to_space)(int dim, int fields, int64_t points, const TesiBatchInverse *by,
                                    double *g);
void TESI_SIMD(tesi_batch_to_cell)(int dim, int fields, int64_t points, const TesiBatchInverse *by, double *F);
void TESI_SIMD(tesi_batch_divide)(int dim, int64_t points, const TesiBatchInverse *by, const double *in,
                                  double *out);

/* out[o][r][i] <- sum over c of T[r next_output + c next_input] in[o][c][i]; `inputs` literal: each line of `in` is
 * kept in registers. */
TESI_INLINE void lines(const int inputs, int outputs, int outer, int inner, int next_output, int next_input,
                       const double *T, const Lanes *in, Lanes *out) {
  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++) {
      const Lanes *from = in + (int64_t)o * inputs * inner + i;
      Lanes *to = out + (int64_t)o * outputs * inner + i, line[LITERAL];
      TESI_UNROLL
      for (int c = 0; c < inputs; c++) line[c] = from[c * inner];
      for (int r = 0; r < outputs; r++, to += inner) {
        const double *t = T + r * next_output;
        Lanes sum = {0}; /* else a compiler may choose which of the first two products it fuses with the sum */
        TESI_UNROLL
        for (int c = 0; c < inputs; c++) sum += t[c * next_input] * line[c];
        *to = sum;
      }
    }
}

/* The same for any number of inputs. */
TESI_APART void many_lines(int inputs, int outputs, int outer, int inner, int next_output, int next_input,
                           const double *T, const Lanes *in, Lanes *out) {
  for (int o = 0; o < outer; o++)
    for (int i = 0; i < inner; i++)
      for (int r = 0; r < outputs; r++) {
        const Lanes *from = in + (int64_t)o * inputs * inner + i;
        const double *t = T + r * next_output;
        Lanes sum = {0};
        for (int c = 0; c < inputs; c++) sum += t[c * next_input] * from[c * inner];
        out[((int64_t)o * outputs + r) * inner + i] = sum;
      }
}

#define LINES(N) lines(N, outputs, outer, inner, next_output, next_input, T, in, out)

static void contract(int inputs, int outputs, int outer, int inner, int next_output, int next_input,
                     const double *T, const Lanes *in, Lanes *out) {
  switch (inputs) {
  case 2:
    LINES(2);
    break;
  case 3:
    LINES(3);
    break;
  case 4:
    LINES(4);
    break;
  case 5:
    LINES(5);
    break;
  case 6:
    LINES(6);
    break;
  case 7:
    LINES(7);
    break;
  case 8:
    LINES(8);
    break;
  case 9:
    LINES(9);
    break;
  case 10:
    LINES(10);
    break;
  default:
    many_lines(inputs, outputs, outer, inner, next_output, next_input, T, in, out);
  }
}

void TESI_SIMD(tesi_batch_contract)(const int size[3], int d, int rows, int columns, bool transposed,
                                    const double *T, const double *in, double *out) {
  const int inner = d == 0   ? 1
                    : d == 1 ? size[0]
                             : size[0] * size[1],
            outer = size[0] * size[1] * size[2] / inner / size[d];
  contract(transposed ? rows : columns, transposed ? columns : rows, outer, inner, transposed ? 1 : columns,
           transposed ? columns : 1, T, (const Lanes *)in, (Lanes *)out);
}

/* The nodes of a face, and the derivatives along its normal at them; `step`: from node to node along the normal and
 * along both directions of the face. */
TESI_INLINE void take_face(int n, int lines, bool end, const int step[3], const double *slope, const Lanes *u,
                           Lanes *own, Lanes *normal) {
  for (int j = 0; j < lines; j++)
    for (int i = 0; i < n; i++) {
      const Lanes *line = u + i * step[1] + j * step[2];
      Lanes sum = slope[0] * line[0];
      for (int k = 1; k < n; k++) sum += slope[k] * line[k * step[0]];
      own[j * n + i] = line[end ? (n - 1) * step[0] : 0];
      normal[j * n + i] = sum;
    }
}

/* out[s][p] <- values at the points of a face, by tables along its first and its second direction. */
static void over_face(int dim, int n, int q, const double *first, const double *second, const Lanes *in,
                      Lanes *out) {
  Lanes rows[TESI_TENSOR_FACE_NODES * TESI_TENSOR_FACE_POINTS];
  contract(n, q, dim == 3 ? n : 1, 1, n, 1, first, in, dim == 3 ? rows : out);
  if (dim == 3) contract(n, q, 1, q, n, 1, second, rows, out);
}

void TESI_SIMD(tesi_batch_face)(int dim, int face, bool swapped, const TesiFaceTables *t, const double *u,
                                int stride, double *value, double *derivative, int64_t between) {
  enum { N = TESI_TENSOR_FACE_NODES };
  const int n = t->n, d = face / 2, along[2] = {d == 0 ? 1 : 0, d == 2 ? 1 : 2};
  const int e = along[swapped], f = along[!swapped], power[3] = {stride, n * stride, n * n * stride};
  const double *const B[2] = {t->B[swapped], t->B[!swapped]}, *const G[2] = {t->G[swapped], t->G[!swapped]};
  Lanes own[N * N], normal[N * N];
  take_face(n, dim == 3 ? n : 1, face & 1, (const int[3]){power[d], power[e], power[f]},
            t->ends + (face & 1) * n, (const Lanes *)u, own, normal);
  if (value) over_face(dim, n, t->q, B[0], B[1], own, (Lanes *)value);
  if (!derivative) return;
  over_face(dim, n, t->q, G[0], B[1], own, (Lanes *)(derivative + e * between));
  if (dim == 3) over_face(dim, n, t->q, B[0], G[1], own, (Lanes *)(derivative + f * between));
  over_face(dim, n, t->q, B[0], B[1], normal, (Lanes *)(derivative + d * between));
}

/* c <- the cofactors of J at a point: J^-1 is c' / det J, column by row; *det <- det J. */
TESI_INLINE void cofactors(int dim, const Lanes *J, int64_t stride, Lanes c[9], Lanes *det) {
  if (dim == 2) {
    c[0] = J[3 * stride], c[1] = -J[2 * stride], c[2] = -J[stride], c[3] = J[0];
    *det = J[0] * c[0] + J[stride] * c[1];
    return;
  }
  TESI_UNROLL
  for (int r = 0; r < 3; r++) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    TESI_UNROLL
    for (int e = 0; e < 3; e++) {
      const int f = (e + 1) % 3, g = (e + 2) % 3;
      c[r * 3 + e] = J[(s * 3 + f) * stride] * J[(t * 3 + g) * stride] -
                     J[(s * 3 + g) * stride] * J[(t * 3 + f) * stride];
    }
  }
  *det = J[0] * c[0] + J[stride] * c[1] + J[2 * stride] * c[2];
}

TESI_INLINE void weigh(int dim, int64_t points, const double *J, const double *w, double *out) {
  for (int64_t p = 0; p < points; p++) {
    Lanes c[9], det;
    cofactors(dim, (const Lanes *)J + p, points, c, &det);
    ((Lanes *)out)[p] = w[p] * det;
  }
}

void TESI_SIMD(tesi_batch_weigh)(int dim, int64_t points, const double *J, const double *w, double *out) {
  if (dim == 3)
    weigh(3, points, J, w, out);
  else
    weigh(2, points, J, w, out);
}

TESI_INLINE void turn(int dim, int64_t points, const double *J, double *const g[3]) {
  const Lanes *j = (const Lanes *)J;
  for (int64_t p = 0; p < points; p++) {
    Lanes c[9], in[3], det;
    cofactors(dim, j + p, points, c, &det);
    const Lanes scale = 1 / det;
    TESI_UNROLL
    for (int e = 0; e < dim; e++) in[e] = ((const Lanes *)g[e])[p];
    TESI_UNROLL
    for (int r = 0; r < dim; r++) {
      Lanes sum = c[r * dim] * in[0];
      TESI_UNROLL
      for (int e = 1; e < dim; e++) sum += c[r * dim + e] * in[e];
      ((Lanes *)g[r])[p] = scale * sum;
    }
  }
}

void TESI_SIMD(tesi_batch_turn)(int dim, int64_t points, const double *J, double *const g[3]) {
  if (dim == 3)
    turn(3, points, J, g);
  else
    turn(2, points, J, g);
}

void TESI_SIMD(tesi_batch_squares)(int64_t points, const double *w, const double *v, double sums[8]) {
  const Lanes *weight = (const Lanes *)w, *value = (const Lanes *)v;
  Lanes sum;
  memcpy(&sum, sums, sizeof sum);
  for (int64_t p = 0; p < points; p++) sum += weight[p] * value[p] * value[p];
  memcpy(sums, &sum, sizeof sum);
}

void TESI_SIMD(tesi_batch_add_product)(int64_t points, double factor, const double *a, const double *b,
                                       double *out) {
  const Lanes *x = (const Lanes *)a, *y = (const Lanes *)b;
  Lanes *to = (Lanes *)out;
  for (int64_t p = 0; p < points; p++) to[p] += factor * x[p] * y[p];
}

TESI_INLINE void invert(int dim, int64_t points, Lanes *J, Lanes *det) {
  for (int64_t p = 0; p < points; p++) {
    Lanes c[9];
    cofactors(dim, J + p, points, c, &det[p]);
    const Lanes scale = 1 / det[p];
    TESI_UNROLL
    for (int r = 0; r < dim; r++)
      TESI_UNROLL for (int e = 0; e < dim; e++) J[(e * dim + r) * points + p] = scale * c[r * dim + e];
  }
}

void TESI_SIMD(tesi_batch_invert)(int dim, int64_t points, double *J, double *det) {
  if (dim == 3)
    invert(3, points, (Lanes *)J, (Lanes *)det);
  else
    invert(2, points, (Lanes *)J, (Lanes *)det);
}

/* v[fields][dim][points] <- at each point the matrix, or its transpose, times v. */
TESI_INLINE void multiply(int dim, bool transposed, int fields, int64_t points, const TesiBatchInverse *by,
                          Lanes *v) {
  const Lanes *matrix = (const Lanes *)by->matrix, *det = (const Lanes *)by->det;
  const int64_t between = by->step ? points : 1;
  for (int64_t p = 0; p < points; p++) {
    Lanes a[9];
    TESI_UNROLL
    for (int e = 0; e < dim * dim; e++) {
      a[e] = matrix[e * between + p * by->step];
      if (!transposed) a[e] *= det[p * by->step];
    }
    for (int f = 0; f < fields; f++) {
      Lanes in[3], *to = v + (int64_t)f * dim * points + p;
      TESI_UNROLL
      for (int c = 0; c < dim; c++) in[c] = to[c * points];
      TESI_UNROLL
      for (int r = 0; r < dim; r++) {
        Lanes sum = a[transposed ? r : r * dim] * in[0];
        TESI_UNROLL
        for (int c = 1; c < dim; c++) sum += a[transposed ? c * dim + r : r * dim + c] * in[c];
        to[r * points] = sum;
      }
    }
  }
}

void TESI_SIMD(tesi_batch_to_space)(int dim, int fields, int64_t points, const TesiBatchInverse *by,
                                    double *g) {
  if (dim == 3)
    multiply(3, true, fields, points, by, (Lanes *)g);
  else
    multiply(2, true, fields, points, by, (Lanes *)g);
}

void TESI_SIMD(tesi_batch_to_cell)(int dim, int fields, int64_t points, const TesiBatchInverse *by, double *F) {
  if (dim == 3)
    multiply(3, false, fields, points, by, (Lanes *)F);
  else
    multiply(2, false, fields, points, by, (Lanes *)F);
}

void TESI_SIMD(tesi_batch_divide)(int dim, int64_t points, const TesiBatchInverse *by, const double *in,
                                  double *out) {
  const Lanes *from = (const Lanes *)in, *det = (const Lanes *)by->det;
  Lanes *to = (Lanes *)out;
  for (int64_t p = 0; p < points; p++) {
    Lanes sum = from[p] + from[points + p];
    if (dim == 3) sum += from[2 * points + p];
    to[p] += sum / det[p * by->step];
  }
}
