/* See lanes.h. */
#include "geometry/lanes.h"
#include "tensor/simd.h"

typedef double V __attribute__((vector_size(8 * TESI_LANES), may_alias));
typedef int64_t Truth __attribute__((vector_size(8 * TESI_LANES), may_alias));

/* out[q][inner] <- sum over j of T[q][j] in[j][inner] */
TESI_INLINE void contract(int q, int n, int inner, const double *T, const V *in, V *out) {
  for (int p = 0; p < q; p++)
    for (int i = 0; i < inner; i++) {
      V sum = {0};
      for (int j = 0; j < n; j++) sum += T[p * n + j] * in[j * inner + i];
      out[p * inner + i] = sum;
    }
}

/* One coordinate: values, and derivatives d[c][points]. Directions are contracted from the last to the first. */
TESI_INLINE void coordinate(int dim, int n, int q, const double *B, const double *G, const V *u, V *value,
                            V *d) {
  enum { N = TESI_GEOMETRY_DEGREE + 1, Q = TESI_GEOMETRY_POINTS };
  const int plane = dim == 3 ? n * n : n, stride = dim == 3 ? q * q * q : q * q;
  V a[2][Q * N * N], b[3][Q * N];
  contract(q, n, plane, B, u, a[0]);
  contract(q, n, plane, G, u, a[1]);
  for (int s = 0; s < q; s++) {
    if (dim == 2) {
      contract(q, n, 1, B, a[0] + s * n, value + s * q);
      contract(q, n, 1, G, a[0] + s * n, d + s * q);
      contract(q, n, 1, B, a[1] + s * n, d + stride + s * q);
      continue;
    }
    contract(q, n, n, B, a[0] + s * plane, b[0]);
    contract(q, n, n, G, a[0] + s * plane, b[1]);
    contract(q, n, n, B, a[1] + s * plane, b[2]);
    for (int j = 0; j < q; j++) {
      const int at = (s * q + j) * q;
      contract(q, n, 1, B, b[0] + j * n, value + at);
      contract(q, n, 1, G, b[0] + j * n, d + at);
      contract(q, n, 1, B, b[1] + j * n, d + stride + at);
      contract(q, n, 1, B, b[2] + j * n, d + 2 * stride + at);
    }
  }
}

TESI_INLINE void tensor(int dim, int n, int q, const double *B, const double *G, const V *nodes, V *x, V *J) {
  enum { N = TESI_GEOMETRY_DEGREE + 1 };
  const int points = dim == 3 ? q * q * q : q * q, count = dim == 3 ? n * n * n : n * n;
  V u[N * N * N];
  for (int r = 0; r < dim; r++) {
    for (int p = 0; p < count; p++) u[p] = nodes[p * dim + r];
    coordinate(dim, n, q, B, G, u, x + r * points, J + r * dim * points);
  }
}

static void any_tensor(int dim, int n, int q, const double *B, const double *G, const double *nodes,
                       double *x, double *J) {
  const V *u = (const V *)nodes;
  if (dim == 3 && n == 2)
    tensor(3, 2, q, B, G, u, (V *)x, (V *)J);
  else if (dim == 3 && n == 3)
    tensor(3, 3, q, B, G, u, (V *)x, (V *)J);
  else
    tensor(dim, n, q, B, G, u, (V *)x, (V *)J);
}

static void determinant(int dim, int64_t n, const double *jacobians, double *det) {
  const V *j = (const V *)jacobians;
  V *to = (V *)det;
  for (int64_t p = 0; p < n; p++, j++)
    if (dim == 2)
      to[p] = j[0] * j[3 * n] - j[n] * j[2 * n];
    else
      to[p] = j[0] * (j[4 * n] * j[8 * n] - j[5 * n] * j[7 * n]) -
              j[n] * (j[3 * n] * j[8 * n] - j[5 * n] * j[6 * n]) +
              j[2 * n] * (j[3 * n] * j[7 * n] - j[4 * n] * j[6 * n]);
}

static unsigned faulty(int64_t count, bool above, const double *values) {
  const V *v = (const V *)values;
  const V infinity = (V){0} + __builtin_inf();
  Truth good = (Truth){0} - 1;
  unsigned bits = 0;
  for (int64_t i = 0; i < count; i++) good &= (above ? v[i] > 0 : v[i] >= 0) & (v[i] < infinity);
  for (int l = 0; l < TESI_LANES; l++) bits |= good[l] ? 0 : 1u << l;
  return bits;
}

extern const TesiLanes TESI_SIMD(tesi_lanes);
const TesiLanes TESI_SIMD(tesi_lanes) = {any_tensor, determinant, faulty};
