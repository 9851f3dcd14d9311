/* The loops of iso.h over rows of x: three entries per row of each matrix, products of values computed as needed. */
#include "operator/iso/iso.h"
#include "tensor/simd.h"

enum { KINDS = 4 /* what a row of x gives for each component */, SUMS = 3 /* and a row of y */ };

typedef struct Rows {
  const TesiIsoHost *host;
  int64_t row;
  double *u[3], *product[3][3], *w, *coarse; /* of one row, starting with entry -1 */
  double *ring[3];                           /* [component][KINDS][row] of rows y with y mod 3 = slot */
  int have[3];                               /* the y that each slot holds, at plane z */
  int z;
} Rows;

static double *take(double **memory, int64_t count) {
  double *p = *memory;
  *memory += count;
  return p;
}

TESI_APART void begin_rows(const TesiIsoHost *host, double **memory, Rows *r) {
  const int dim = host->iso->dim;
  r->host = host;
  r->row = tesi_iso_row(host->iso);
  for (int c = 0; c < dim; c++) r->u[c] = take(memory, r->row) + 8;
  for (int c = 0; c < dim; c++)
    for (int d = 0; d <= c; d++) r->product[c][d] = r->product[d][c] = take(memory, r->row) + 8;
  r->w = take(memory, r->row) + 8;
  r->coarse = take(memory, r->row) + 8;
  for (int s = 0; s < 3; s++) r->ring[s] = take(memory, r->row * dim * KINDS);
}

static void begin_plane(Rows *r, int z) {
  r->z = z;
  for (int s = 0; s < 3; s++) r->have[s] = -2;
}

/* w <- I s along the row (y, z) of the fine grid. */
TESI_INLINE void embed_row(const TesiIso *iso, const double *s, int y, int z, double *restrict coarse,
                           double *restrict w) {
  const int n = iso->axis[0].coarse;
  const int64_t ny = iso->axis[1].coarse;
  const int y0 = y / 2, y1 = (y + 1) / 2, z0 = z / 2, z1 = (z + 1) / 2;
  const double *a = s + (z0 * ny + y0) * n, *b = s + (z0 * ny + y1) * n, *c = s + (z1 * ny + y0) * n,
               *d = s + (z1 * ny + y1) * n;
#pragma omp simd
  for (int i = 0; i < n; i++) coarse[i] = 0.25 * ((a[i] + b[i]) + (c[i] + d[i]));
  coarse[n] = coarse[n - 1];
#pragma omp simd
  for (int i = 0; i < n; i++) {
    w[2 * i] = coarse[i];
    w[2 * i + 1] = 0.5 * (coarse[i] + coarse[i + 1]);
  }
}

/* to <- T v */
TESI_INLINE void line(int n, double *const T[3], const double *restrict v, double *restrict to) {
  const double *restrict left = T[0], *restrict own = T[1], *restrict right = T[2];
#pragma omp simd
  for (int i = 0; i < n; i++) to[i] = left[i] * v[i - 1] + own[i] * v[i] + right[i] * v[i + 1];
}

/* The results of row (y, z) per component: C_x F_xc - nu K_x u_c, M_x F_yc, M_x u_c, M_x F_zc. */
TESI_INLINE const double *row_of(Rows *r, int dim, int y) {
  const TesiIsoHost *h = r->host;
  const TesiIso *iso = h->iso;
  const TesiIsoAxis *x = &iso->axis[0];
  const int n = x->fine, slot = (y + 3) % 3;
  const int64_t ny = iso->axis[1].fine, row = r->row;
  double *ring = r->ring[slot];
  if (r->have[slot] == y) return ring;
  r->have[slot] = y;
  if (y < 0 || y >= ny || r->z < 0 || r->z >= iso->axis[2].fine) {
    memset(ring, 0, (size_t)(row * dim * KINDS) * sizeof *ring);
    return ring;
  }
  embed_row(iso, h->s, y, r->z, r->coarse, r->w);
  for (int c = 0; c < dim; c++) {
    double *u = r->u[c];
    memcpy(u, h->u + c * iso->nodes + (r->z * ny + y) * n, (size_t)n * sizeof *u);
    u[-1] = u[n] = 0;
  }
  for (int c = 0; c < dim; c++)
    for (int d = 0; d <= c; d++) {
      double *restrict F = r->product[c][d];
      const double *restrict u = r->u[c], *restrict v = r->u[d], *restrict w = r->w;
      if (c == d) {
#pragma omp simd
        for (int i = 0; i < n; i++) F[i] = u[i] * u[i] + w[i];
      } else {
#pragma omp simd
        for (int i = 0; i < n; i++) F[i] = u[i] * v[i];
      }
      F[-1] = F[n] = 0;
    }
  for (int c = 0; c < dim; c++) {
    double *to = ring + c * KINDS * row;
    const double *restrict F = r->product[0][c], *restrict u = r->u[c], nu = h->nu;
    const double *restrict C0 = x->C[0], *restrict C1 = x->C[1], *restrict C2 = x->C[2],
                           *restrict K0 = x->K[0], *restrict K1 = x->K[1], *restrict K2 = x->K[2];
    double *restrict a = to;
#pragma omp simd
    for (int i = 0; i < n; i++)
      a[i] = C0[i] * F[i - 1] + C1[i] * F[i] + C2[i] * F[i + 1] -
             nu * (K0[i] * u[i - 1] + K1[i] * u[i] + K2[i] * u[i + 1]);
    line(n, x->M, r->product[1][c], to + row);
    line(n, x->M, u, to + 2 * row);
    if (dim == 3) line(n, x->M, r->product[2][c], to + 3 * row);
  }
  return ring;
}

/* Row y of the plane: per component C_x + C_y parts - nu (K_x + K_y) u and, in 3D, M F_z and M u. */
TESI_INLINE void sum_rows(Rows *r, int dim, int y, double *out, int64_t stride) {
  const TesiIsoAxis *axis = &r->host->iso->axis[1];
  const int n = r->host->iso->axis[0].fine;
  const int64_t row = r->row;
  const double *from[3] = {row_of(r, dim, y - 1), row_of(r, dim, y), row_of(r, dim, y + 1)};
  const double M0 = axis->M[0][y], M1 = axis->M[1][y], M2 = axis->M[2][y], C0 = axis->C[0][y],
               C1 = axis->C[1][y], C2 = axis->C[2][y], nu = r->host->nu, K0 = nu * axis->K[0][y],
               K1 = nu * axis->K[1][y], K2 = nu * axis->K[2][y];
  for (int c = 0; c < dim; c++) {
    const double *restrict p = from[0] + c * KINDS * row, *restrict q = from[1] + c * KINDS * row,
                           *restrict s = from[2] + c * KINDS * row;
    double *restrict A = out + c * SUMS * stride, *restrict B = A + stride, *restrict E = B + stride;
#pragma omp simd
    for (int i = 0; i < n; i++)
      A[i] = M0 * p[i] + M1 * q[i] + M2 * s[i] + C0 * p[row + i] + C1 * q[row + i] + C2 * s[row + i] -
             (K0 * p[2 * row + i] + K1 * q[2 * row + i] + K2 * s[2 * row + i]);
    if (dim == 3) {
#pragma omp simd
      for (int i = 0; i < n; i++) {
        B[i] = M0 * p[3 * row + i] + M1 * q[3 * row + i] + M2 * s[3 * row + i];
        E[i] = M0 * p[2 * row + i] + M1 * q[2 * row + i] + M2 * s[2 * row + i];
      }
    }
  }
}

/* next <- u + k m^-1 (sum + load) of one row and component, then given values. */
TESI_INLINE void finish_row(const TesiIsoHost *h, int c, int y, int z, const double *restrict sum) {
  const TesiIso *iso = h->iso;
  const int n = iso->axis[0].fine;
  const int64_t at = c * iso->nodes + ((int64_t)z * iso->axis[1].fine + y) * n;
  const double *restrict u = h->u + at, *restrict divided = iso->axis[0].divided;
  const double k = h->k * iso->axis[1].divided[y] * iso->axis[2].divided[z];
  double *restrict next = h->next + at;
  if (tesi_iso_is_given(iso, c, (int[3]){1, y, z})) {
    memcpy(next, h->given + at, (size_t)n * sizeof *next);
    return;
  }
  if (h->load) {
    const double *restrict load = h->load + at;
#pragma omp simd
    for (int i = 0; i < n; i++) next[i] = u[i] + k * divided[i] * (sum[i] + load[i]);
  } else {
#pragma omp simd
    for (int i = 0; i < n; i++) next[i] = u[i] + k * divided[i] * sum[i];
  }
  for (int side = 0; side < 2; side++)
    if (iso->given[side] >> c & 1) next[side * (n - 1)] = h->given[at + side * (n - 1)];
}

TESI_INLINE void momentum_2d(const TesiIsoHost *h, int first, int end, double *memory) {
  Rows r;
  begin_rows(h, &memory, &r);
  double *sum = take(&memory, 2 * SUMS * r.row);
  begin_plane(&r, 0);
  for (int y = first; y < end; y++) {
    sum_rows(&r, 2, y, sum, r.row);
    for (int c = 0; c < 2; c++) finish_row(h, c, y, 0, sum + c * SUMS * r.row);
  }
}

TESI_INLINE void momentum_3d(const TesiIsoHost *h, int first, int end, double *memory) {
  const TesiIsoAxis *axis = &h->iso->axis[2];
  const int n = h->iso->axis[0].fine, ny = h->iso->axis[1].fine;
  Rows r;
  begin_rows(h, &memory, &r);
  const int64_t stride = ny * r.row;
  double *plane[3], *sum = take(&memory, r.row);
  for (int s = 0; s < 3; s++) plane[s] = take(&memory, 3 * SUMS * stride);
  for (int z = first - 1; z <= end; z++) {
    begin_plane(&r, z);
    for (int y = 0; y < ny; y++) sum_rows(&r, 3, y, plane[(z + 3) % 3] + y * r.row, stride);
    const int at = z - 1;
    if (at < first) continue;
    const double *const P = plane[(at + 2) % 3], *const Q = plane[at % 3], *const S = plane[(at + 1) % 3];
    const double M0 = axis->M[0][at], M1 = axis->M[1][at], M2 = axis->M[2][at], C0 = axis->C[0][at],
                 C1 = axis->C[1][at], C2 = axis->C[2][at], K0 = h->nu * axis->K[0][at],
                 K1 = h->nu * axis->K[1][at], K2 = h->nu * axis->K[2][at];
    for (int y = 0; y < ny; y++)
      for (int c = 0; c < 3; c++) {
        const int64_t o = c * SUMS * stride + y * r.row;
        const double *restrict p = P + o, *restrict q = Q + o, *restrict s = S + o;
        double *restrict to = sum;
#pragma omp simd
        for (int i = 0; i < n; i++)
          to[i] = M0 * p[i] + M1 * q[i] + M2 * s[i] + C0 * p[stride + i] + C1 * q[stride + i] +
                  C2 * s[stride + i] -
                  (K0 * p[2 * stride + i] + K1 * q[2 * stride + i] + K2 * s[2 * stride + i]);
        finish_row(h, c, y, at, sum);
      }
  }
}

TesiIsoMomentum TESI_SIMD(tesi_iso_momentum);
TesiIsoDivergence TESI_SIMD(tesi_iso_divergence);

void TESI_SIMD(tesi_iso_momentum)(const TesiIsoHost *host, int first, int end, double *memory) {
  if (host->iso->dim == 3)
    momentum_3d(host, first, end, memory);
  else
    momentum_2d(host, first, end, memory);
}

/* ---- divergence ------------------------------------------------------------------------------------------------- */

/* to <- I' M v, or I' C' v: five entries per row; from row to row two nodes of the fine grid. */
TESI_INLINE void restricted_line(int n, double *const T[5], const double *restrict v, double *restrict to) {
  const double *restrict a = T[0], *restrict b = T[1], *restrict c = T[2], *restrict d = T[3], *restrict e = T[4];
#pragma omp simd
  for (int i = 0; i < n; i++)
    to[i] = a[i] * v[2 * i - 2] + b[i] * v[2 * i - 1] + c[i] * v[2 * i] + d[i] * v[2 * i + 1] +
            e[i] * v[2 * i + 2];
}

TESI_INLINE void add_row(int n, double a, const double *restrict from, double *restrict to) {
#pragma omp simd
  for (int i = 0; i < n; i++) to[i] += a * from[i];
}

/* Rows first .. end - 1 of P = (C_x and C_y parts of u_x, u_y) and Q = M M u_z (3D), over one plane; zeros before. */
TESI_INLINE void divergence_plane(const TesiIso *iso, const double *u, int z, int first, int end,
                                  double *line, double *P, double *Q) {
  const TesiIsoAxis *x = &iso->axis[0], *y = &iso->axis[1];
  const int n = x->fine, m = x->coarse;
  const int64_t row = tesi_iso_row(iso);
  double *padded = line + 8, *part[3] = {line + row, line + 2 * row, line + 3 * row};
  for (int j = tesi_max(2 * first - 2, 0); j < y->fine && j <= 2 * end; j++) {
    for (int c = 0; c < iso->dim; c++) {
      memcpy(padded, u + c * iso->nodes + ((int64_t)z * y->fine + j) * n, (size_t)n * sizeof *u);
      padded[-2] = padded[-1] = padded[n] = padded[n + 1] = 0;
      restricted_line(m, c == 0 ? x->RC : x->RM, padded, part[c]);
    }
    for (int J = tesi_max(first, (j - 1) / 2); J < end && 2 * J <= j + 2; J++) {
      const int t = j - 2 * J + 2;
      if (t < 0 || t > 4) continue;
      add_row(m, y->RM[t][J], part[0], P + (int64_t)(J - first) * m);
      add_row(m, y->RC[t][J], part[1], P + (int64_t)(J - first) * m);
      if (iso->dim == 3) add_row(m, y->RM[t][J], part[2], Q + (int64_t)(J - first) * m);
    }
  }
}

void TESI_SIMD(tesi_iso_divergence)(const TesiIso *iso, double scale, const double *u, int first, int end,
                                    double *memory, double *b) {
  const TesiIsoAxis *last = &iso->axis[iso->dim - 1];
  const int64_t m = iso->axis[0].coarse, row = tesi_iso_row(iso);
  double *line = take(&memory, 4 * row);
  if (iso->dim == 2) {
    memset(b + first * m, 0, (size_t)((end - first) * m) * sizeof *b);
    divergence_plane(iso, u, 0, first, end, line, b + first * m, NULL);
    for (int64_t i = first * m; i < end * m; i++) b[i] *= scale;
    return;
  }
  const int64_t plane = m * iso->axis[1].coarse;
  double *P = take(&memory, plane), *Q = take(&memory, plane);
  memset(b + first * plane, 0, (size_t)((end - first) * plane) * sizeof *b);
  for (int z = tesi_max(2 * first - 2, 0); z < last->fine && z <= 2 * end; z++) {
    memset(P, 0, (size_t)plane * sizeof *P);
    memset(Q, 0, (size_t)plane * sizeof *Q);
    divergence_plane(iso, u, z, 0, iso->axis[1].coarse, line, P, Q);
    for (int Z = tesi_max(first, (z - 1) / 2); Z < end && 2 * Z <= z + 2; Z++) {
      const int t = z - 2 * Z + 2;
      if (t < 0 || t > 4) continue;
      add_row((int)plane, scale * last->RM[t][Z], P, b + Z * plane);
      add_row((int)plane, scale * last->RC[t][Z], Q, b + Z * plane);
    }
  }
}
