#include "tensor/face.h"

enum { N = TESI_TENSOR_FACE_NODES, Q = TESI_TENSOR_FACE_POINTS };

/* out[j][p] <- sum over i of T[p][i] in[j][i] */
static void along_first(int lines, int n, int q, const double *T, const double *in, double *out) {
  for (int j = 0; j < lines; j++)
    for (int p = 0; p < q; p++) {
      double sum = 0;
      for (int i = 0; i < n; i++) sum += T[p * n + i] * in[j * n + i];
      out[j * q + p] = sum;
    }
}

/* out[s][p] <- sum over j of T[s][j] in[j][p]; one line is copied. */
static void along_second(int lines, int q, const double *T, const double *in, double *out) {
  for (int p = 0; lines == 1 && p < q; p++) out[p] = in[p];
  for (int s = 0; lines > 1 && s < q; s++)
    for (int p = 0; p < q; p++) {
      double sum = 0;
      for (int j = 0; j < lines; j++) sum += T[s * lines + j] * in[j * q + p];
      out[s * q + p] = sum;
    }
}

/* The face's own nodes, and the derivative along the normal at them. */
static void take_face(int dim, int face, const TesiFaceTables *t, const double *u, int stride, double *own,
                      double *normal) {
  const int n = t->n, d = face / 2, end = face & 1, lines = dim == 3 ? n : 1;
  const int step[3] = {stride, n * stride, n * n * stride}, e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  for (int j = 0; j < lines; j++)
    for (int i = 0; i < n; i++) {
      const double *line = u + i * step[e] + (dim == 3 ? j * step[f] : 0);
      double sum = 0;
      for (int k = 0; k < n; k++) sum += t->ends[end * n + k] * line[k * step[d]];
      own[j * n + i] = line[end * (n - 1) * step[d]];
      normal[j * n + i] = sum;
    }
}

void tesi_tensor_face(int dim, int face, const TesiFaceTables *t, const double *u, int stride, double *value,
                      double *derivative, int between) {
  const int n = t->n, q = t->q, d = face / 2, lines = dim == 3 ? n : 1;
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
  double own[N * N], normal[N * N], rows[N * Q], slopes[N * Q];
  take_face(dim, face, t, u, stride, own, normal);
  along_first(lines, n, q, t->B[0], own, rows);
  along_first(lines, n, q, t->G[0], own, slopes);
  if (value) along_second(lines, q, t->B[1], rows, value);
  if (dim == 3) along_second(lines, q, t->G[1], rows, derivative + f * between);
  along_second(lines, q, t->B[1], slopes, derivative + e * between);
  along_first(lines, n, q, t->B[0], normal, rows);
  along_second(lines, q, t->B[1], rows, derivative + d * between);
}
