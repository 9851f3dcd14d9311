/* Loops of mapped_fill.h. */
#include "operator/mapped/mapped_fill.h"
#include "tensor/simd.h"

typedef double V __attribute__((vector_size(8 * TESI_LANES), may_alias));
typedef int64_t Truth __attribute__((vector_size(8 * TESI_LANES), may_alias));

/* rows[c] = |J| times row c of J^-1: the cofactors. j: the entries of J, n apart. */
TESI_INLINE void cofactors(int dim, int64_t n, const V *j, V rows[3][3]) {
  if (dim == 2) {
    rows[0][0] = j[3 * n], rows[0][1] = -j[n];
    rows[1][0] = -j[2 * n], rows[1][1] = j[0];
    return;
  }
  TESI_UNROLL for (int c = 0; c < 3; c++) {
    const int d = (c + 1) % 3, e = (c + 2) % 3; /* columns of J: row c is column d x column e */
    TESI_UNROLL for (int r = 0; r < 3; r++) {
      const int s = (r + 1) % 3, t = (r + 2) % 3;
      rows[c][r] = j[(s * 3 + d) * n] * j[(t * 3 + e) * n] - j[(t * 3 + d) * n] * j[(s * 3 + e) * n];
    }
  }
}

/* out[entry] = w / |J| times adj(J) a adj(J)'. */
TESI_INLINE void point_metric(int dim, bool scalar, int64_t n, double weight, const V *j, const V *det,
                              const V *a, V *out) {
  const V factor = weight / *det;
  V rows[3][3], flux[3][3];
  cofactors(dim, n, j, rows);
  TESI_UNROLL for (int c = 0; c < dim; c++) TESI_UNROLL for (int r = 0; r < dim; r++) {
    flux[c][r] = (V){0};
    TESI_UNROLL for (int s = 0; s < dim; s++) {
      const int low = r < s ? r : s, high = r < s ? s : r;
      if (scalar && r != s) continue;
      flux[c][r] += a[scalar ? 0
                             : (dim == 2   ? low + high
                                : low == 0 ? high
                                           : low + high + 1) *
                                   n] *
                    rows[c][s];
    }
  }
  int at = 0;
  TESI_UNROLL for (int c = 0; c < dim; c++) TESI_UNROLL for (int d = c; d < dim; d++) {
    V sum = {0};
    TESI_UNROLL for (int r = 0; r < dim; r++) sum += flux[c][r] * rows[d][r];
    out[at++ * n] = factor * sum;
  }
}

TESI_INLINE void all_metrics(int dim, bool scalar, int64_t n, const double *weight, const V *J, const V *det,
                             const V *a, V *out) {
  for (int64_t p = 0; p < n; p++) point_metric(dim, scalar, n, weight[p], J + p, det + p, a + p, out + p);
}

static void metric(int dim, bool scalar, int64_t n, const double *weight, const double *J, const double *det,
                   const double *a, double *out) {
  if (dim == 3 && scalar)
    all_metrics(3, true, n, weight, (const V *)J, (const V *)det, (const V *)a, (V *)out);
  else if (dim == 3)
    all_metrics(3, false, n, weight, (const V *)J, (const V *)det, (const V *)a, (V *)out);
  else
    all_metrics(2, scalar, n, weight, (const V *)J, (const V *)det, (const V *)a, (V *)out);
}

static void weights(int64_t n, const double *weight, const double *determinant, const double *coefficient,
                    double *out) {
  const V *det = (const V *)determinant, *a = (const V *)coefficient;
  for (int64_t p = 0; p < n; p++) ((V *)out)[p] = weight[p] / det[p] * a[p];
}

static void mass(int64_t n, const double *weight, const double *determinant, const double *coefficient,
                 double *out) {
  const V *det = (const V *)determinant, *c = (const V *)coefficient;
  for (int64_t p = 0; p < n; p++) ((V *)out)[p] = weight[p] * det[p] * c[p];
}

/* Leading minors. */
static unsigned indefinite(int dim, bool scalar, int64_t n, const double *coefficient) {
  const V *a = (const V *)coefficient;
  Truth good = (Truth){0} - 1;
  unsigned bits = 0;
  for (int64_t p = 0; p < n; p++, a++) {
    good &= a[0] > 0;
    if (scalar)
      good &= (a[0] * a[0] > 0) & (dim == 2 ? a[0] > 0 : a[0] * (a[0] * a[0]) > 0);
    else if (dim == 2)
      good &= a[0] * a[2 * n] - a[n] * a[n] > 0;
    else
      good &= (a[0] * a[3 * n] - a[n] * a[n] > 0) & (a[0] * (a[3 * n] * a[5 * n] - a[4 * n] * a[4 * n]) -
                                                         a[n] * (a[n] * a[5 * n] - a[4 * n] * a[2 * n]) +
                                                         a[2 * n] * (a[n] * a[4 * n] - a[3 * n] * a[2 * n]) >
                                                     0);
  }
  for (int l = 0; l < TESI_LANES; l++) bits |= good[l] ? 0 : 1u << l;
  return bits;
}

/* Direction by direction from the values at the nodes 0, (1/2,) 1. */
static void monomials(int dim, int m, const double *nodes, double *monomial) {
  static const double to[2][3][3] = {{{1, 0}, {-1, 1}}, {{1, 0, 0}, {-3, 4, -1}, {2, -4, 2}}};
  const int numbers = dim * (m + 1) * (m + 1) * (dim == 3 ? m + 1 : 1);
  V x[3 * 27], *c = (V *)monomial;
  memcpy(c, nodes, (size_t)numbers * sizeof *c);
  for (int d = 0, stride = dim; d < dim; d++, stride *= m + 1) {
    memcpy(x, c, (size_t)numbers * sizeof *x);
    for (int p = 0; p < numbers; p++) {
      const int i = p / stride % (m + 1), base = p - i * stride;
      V sum = {0};
      for (int s = 0; s <= m; s++) sum += to[m - 1][i][s] * x[base + s * stride];
      c[p] = sum;
    }
  }
}

static void eliminate(int q, const double *point, double *monomial, double *weights) {
  V *c = (V *)monomial, *weight = (V *)weights;
  for (int bit = 1; bit < 8; bit *= 2)
    for (int v = 0; v < 8; v++)
      for (int r = 0; !(v & bit) && r < 3; r++) c[3 * v + r] += 0.5 * c[3 * (v + bit) + r];
  for (int row = 0; row < q * q; row++) {
    const double y = point[row % q] - 0.5, z = point[row / q] - 0.5;
    V square = {0};
    for (int r = 0; r < 3; r++) {
      const V jx = c[3 + r] + y * c[9 + r] + z * (c[15 + r] + y * c[21 + r]);
      square += jx * jx;
    }
    for (int p = 0; p < q; p++) *weight++ *= square;
  }
}

/* Contracted from the first direction to the last. */
TESI_INLINE void add_squares(int dim, int n, int q, const double *const t[3], double factor, const double *g,
                             double *work, double *d) {
  const V *in = (const V *)g;
  V *out = (V *)work, *const other = out + q * q * (dim == 3 ? q : 1);
  int inner = 1, outer = dim == 3 ? q * q : q; /* contracted so far, still to do */
  TESI_UNROLL for (int e = 0; e < dim; e++) {
    for (int o = 0; o < outer; o++)
      for (int i = 0; i < n; i++)
        for (int l = 0; l < inner; l++) {
          V sum = {0};
          for (int p = 0; p < q; p++) sum += t[e][p * n + i] * in[(o * q + p) * inner + l];
          out[(o * n + i) * inner + l] = sum;
        }
    in = out;
    out = out == other ? (V *)work : other;
    inner *= n;
    outer /= q;
  }
  for (int i = 0; i < inner; i++) ((V *)d)[i] += factor * in[i];
}

/* 3D with as many points as nodes is compiled separately, since operators of problems have this. */
static void squares(int dim, int n, int q, const double *const t[3], double factor, const double *g,
                    double *work, double *d) {
  switch (dim == 3 && n == q ? n : 0) {
  case 3:
    add_squares(3, 3, 3, t, factor, g, work, d);
    break;
  case 4:
    add_squares(3, 4, 4, t, factor, g, work, d);
    break;
  case 5:
    add_squares(3, 5, 5, t, factor, g, work, d);
    break;
  case 6:
    add_squares(3, 6, 6, t, factor, g, work, d);
    break;
  case 7:
    add_squares(3, 7, 7, t, factor, g, work, d);
    break;
  default:
    add_squares(dim, n, q, t, factor, g, work, d);
  }
}

/* flux[1 + dim][nodes] <- the mass times the functions, and the metric times their derivatives, at one point. */
TESI_INLINE void point_flux(int dim, int nodes, int64_t points, bool stiffness, bool mass, double mass_factor,
                            const double *f, const V *in, V *flux) {
  const int entries = stiffness ? dim * (dim + 1) / 2 : 0;
  for (int a = 0; mass && a < nodes; a++) flux[a] = mass_factor * in[entries * points] * f[a];
  for (int c = 0; stiffness && c < dim; c++)
    for (int a = 0; a < nodes; a++) {
      V sum = {0};
      for (int e = 0; e < dim; e++) {
        const int low = c < e ? c : e, high = c < e ? e : c;
        const int at = dim == 2 ? low + high : low == 0 ? high : low + high + 1;
        sum += in[at * points] * f[(e + 1) * nodes + a];
      }
      flux[(c + 1) * nodes + a] = sum;
    }
}

TESI_INLINE void add_triangles(int dim, int nodes, int64_t points, bool stiffness, bool mass,
                               double mass_factor, const double *f, const double *in, double *work,
                               double *out) {
  const int size = (dim + 1) * nodes, first = mass ? 0 : 1, last = stiffness ? dim : 0;
  V *const flux = (V *)work, *to = (V *)out;
  for (int64_t p = 0; p < points; p++)
    point_flux(dim, nodes, points, stiffness, mass, mass_factor, f + p * size, (const V *)in + p,
               flux + p * size);
  for (int a = 0; a < nodes; a++)
    for (int b = 0; b < a + mass; b++) {
      V sum = {0};
      for (int64_t p = 0; p < points; p++)
        for (int c = first; c <= last; c++)
          sum += f[p * size + c * nodes + a] * flux[p * size + c * nodes + b];
      *to++ = sum;
    }
}

/* Diffusion in 3D of degree 1 is compiled separately, since meshes with many cells have it. */
static void triangles(int dim, int nodes, int64_t points, bool stiffness, bool mass, double mass_factor,
                      const double *f, const double *in, double *work, double *out) {
  if (dim == 3 && nodes == 8 && points == 8 && stiffness && !mass)
    add_triangles(3, 8, 8, true, false, 0, f, in, work, out);
  else
    add_triangles(dim, nodes, points, stiffness, mass, mass_factor, f, in, work, out);
}

extern const TesiFillLoops TESI_SIMD(tesi_fill_loops);
const TesiFillLoops TESI_SIMD(tesi_fill_loops) = {metric,    weights,   mass,    indefinite,
                                                  monomials, eliminate, squares, triangles};
