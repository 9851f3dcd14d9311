/* Stiffness at Gauss points of trilinear hexahedra with few nodes, y = sum over cells of I' (D' G D + mass W) I x,
 * with factors from the cell's polynomial. Such a cell has so few lines that one thread per line (mapped.cu) would
 * leave lanes idle. Here a thread owns a layer of points: thread (c, k) of a warp has cell c of CELLS and layer k of
 * Q, z = point k.
 *   read    the z-lines k, k + Q, ... of the cell's N^2 lines of nodes, to shared memory
 *   | in    u and du/dz on the thread's layer, [N][N] each
 *     rows  for each row j of the layer: its values and its derivatives by y, [N] each;
 *           for each point of the row: gradient, factors, back to the row; then back to the layer
 *   | out   layers to shared memory
 *   | sum   over layers, for the same z-lines; added to the result
 * "|" is a barrier of the warp; nothing else is shared. Shared memory: 2 Q N^2 numbers per cell. Registers: 4 N^2
 * numbers of the layer, 6 N of the row, 25 of its geometry.
 * Geometry at fixed y and z: A = dx/dxi is constant, B = dx/deta and C = dx/dzeta linear in xi. With s = C x A,
 * t = A x B, p = A.B / A.A, q = A.C / A.A, D = B.s = |J|: G11 = s.s / D, G12 = s.t / D, G22 = t.t / D (times
 * weights), and with h1 = g1 - p g0, h2 = g2 - q g0
 *   w1 = G11 h1 + G12 h2, w2 = G12 h1 + G22 h2, w0 = D / A.A g0 - p w1 - q w2.
 * These are quadratic and linear polynomials of xi: 26 operations per point and 106 per row.
 * Flops (multiply-adds) per cell: 4 Q^2 N (Q + N) + 2 Q N^3 + Q^2 (3 N^2 + 106) + 26 Q^3; bytes as in mapped.cu.
 * Macros: those of mapped.cu; a group is a warp of CELLS = 32 / Q cells; PC: the pitch of a cell in shared memory. */
#include "kernel.h"
#include "mapped_arguments.h"
#include "tables.h"

#define ELEMENT 0 /* OUTPUT */
#define ATOMIC 1
#define THREADS (GROUP * GROUPS)
#define NODES (N * N * N)
#define LINES (N * N)                  /* of nodes along z */
#define PLACES (CELLS + (32 % Q != 0)) /* in shared memory, of a group */
#define OWN ((LINES + Q - 1) / Q)      /* of a thread */

#include "mapped_nodes.h"
#include "mapped_zeros.h"

TESK_DEVICE real dot3(const real u[3], const real v[3]) {
  return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

TESK_DEVICE void cross(const real u[3], const real v[3], real w[3]) {
  w[0] = u[1] * v[2] - u[2] * v[1];
  w[1] = u[2] * v[0] - u[0] * v[2];
  w[2] = u[0] * v[1] - u[1] * v[0];
}

/* ---- geometry ------------------------------------------------------------------------------------------ */
/* At fixed z: A = a0 + a1 eta, B = b0 + a1 xi; C is computed from the coefficients. */
typedef struct Layer {
  const real *c; /* c_1 c_2 c_3 c_12 c_13 c_23 c_123 (mapped_geometry.h) */
  real a0[3], a1[3], b0[3], t1[3], tt, weight;
} Layer;

/* At the point xi of a row: s.s, s.t, t.t and D are ss[0] + xi (ss[1] + xi ss[2]), ...; p and q are linear. */
typedef struct Row {
  real ss[3], st[3], tt[3], D[3], p[2], q[2], weight, inverse; /* 1 / A.A, times weight */
} Row;

TESK_DEVICE Layer make_layer(const TeskMapped *a, Cell cell, int k) {
  Layer layer;
  const real z = (real)a->point[k];
  const real *const c = layer.c = (const real *)a->geometry + cell.number * 21;
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    layer.a0[d] = TESK_READ(c + d) + z * TESK_READ(c + 12 + d);
    layer.a1[d] = TESK_READ(c + 9 + d) + z * TESK_READ(c + 18 + d);
    layer.b0[d] = TESK_READ(c + 3 + d) + z * TESK_READ(c + 15 + d);
  }
  cross(layer.a0, layer.a1, layer.t1);
  layer.tt = dot3(layer.t1, layer.t1);
  layer.weight = (real)a->weight[k];
  return layer;
}

TESK_DEVICE Row make_row(const TeskMapped *a, const Layer *layer, int j) {
  Row row;
  const real y = (real)a->point[j];
  real A[3], c0[3], c1[3], s0[3], s1[3], t0[3];
  TESK_UNROLL
  for (int d = 0; d < 3; d++) {
    A[d] = layer->a0[d] + y * layer->a1[d];
    c0[d] = TESK_READ(layer->c + 6 + d) + y * TESK_READ(layer->c + 15 + d);
    c1[d] = TESK_READ(layer->c + 12 + d) + y * TESK_READ(layer->c + 18 + d);
  }
  cross(c0, A, s0);
  cross(c1, A, s1);
  cross(A, layer->b0, t0);
  row.ss[0] = dot3(s0, s0);
  row.ss[1] = 2 * dot3(s0, s1);
  row.ss[2] = dot3(s1, s1);
  row.st[0] = dot3(s0, t0);
  row.st[1] = dot3(s0, layer->t1) + dot3(s1, t0);
  row.st[2] = dot3(s1, layer->t1);
  row.tt[0] = dot3(t0, t0);
  row.tt[1] = 2 * dot3(t0, layer->t1);
  row.tt[2] = layer->tt;
  row.D[0] = dot3(layer->b0, s0);
  row.D[1] = dot3(layer->b0, s1) + dot3(layer->a1, s0);
  row.D[2] = dot3(layer->a1, s1);
  const real inverse = TESK_RECIPROCAL(dot3(A, A));
  row.p[0] = inverse * dot3(A, layer->b0);
  row.p[1] = inverse * dot3(A, layer->a1);
  row.q[0] = inverse * dot3(A, c0);
  row.q[1] = inverse * dot3(A, c1);
  row.weight = layer->weight * (real)a->weight[j];
  row.inverse = row.weight * inverse;
  return row;
}

TESK_DEVICE real quadratic(const real c[3], real x) {
  return c[0] + x * (c[1] + x * c[2]);
}

/* Multiplies the gradient g by G at point i of the row; returns the factor of the mass. */
TESK_DEVICE real apply_factors(const TeskMapped *a, const Row *row, int i, real g[3]) {
  const real x = (real)a->point[i], w = (real)a->weight[i];
  const real p = row->p[0] + x * row->p[1], q = row->q[0] + x * row->q[1], D = quadratic(row->D, x),
             st = quadratic(row->st, x);
  const real h1 = g[1] - p * g[0], h2 = g[2] - q * g[0], f = w * (row->weight * TESK_RECIPROCAL(D));
  g[1] = f * (quadratic(row->ss, x) * h1 + st * h2);
  g[2] = f * (st * h1 + quadratic(row->tt, x) * h2);
  g[0] = w * (row->inverse * D) * g[0] - p * g[1] - q * g[2];
  return (real)a->mass * (row->weight * w * D);
}

/* ---- contractions -------------------------------------------------------------------------------------- */
/* out[N] (+)= sum over m of table(at * N + m) u[m][N] */
#define ADD_ROWS(table, at, u, out)                                                                          \
  TESK_UNROLL                                                                                                \
  for (int m = 0; m < N; m++) {                                                                              \
    const real tesk_w = table((at)*N + m);                                                                   \
    TESK_UNROLL                                                                                              \
    for (int i = 0; i < N; i++) (out)[i] += tesk_w * (u)[m * N + i];                                         \
  }
/* u[m][N] += table(at * N + m) in[N] */
#define ADD_ROWS_BACK(table, at, in, u)                                                                      \
  TESK_UNROLL                                                                                                \
  for (int m = 0; m < N; m++) {                                                                              \
    const real tesk_w = table((at)*N + m);                                                                   \
    TESK_UNROLL                                                                                              \
    for (int i = 0; i < N; i++) (u)[m * N + i] += tesk_w * (in)[i];                                          \
  }

TESK_DEVICE void set_zero(real *v, int count) {
  TESK_UNROLL
  for (int i = 0; i < count; i++) v[i] = 0;
}

/* A row of points. u[3][N] holds the row's nodes: values, derivatives by y, derivatives by z; the results of the
 * points replace them. */
TESK_DEVICE void at_row(const TeskMapped *a, const Row *row, real u[3 * N]) {
  real out[3 * N];
  set_zero(out, 3 * N);
  TESK_UNROLL
  for (int i = 0; i < Q; i++) {
    real g[3] = {0, 0, 0}, v = 0;
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      g[0] += tesk_g(i * N + l) * u[l];
      g[1] += tesk_i(i * N + l) * u[N + l];
      g[2] += tesk_i(i * N + l) * u[2 * N + l];
      if (MASS) v += tesk_i(i * N + l) * u[l];
    }
    v *= apply_factors(a, row, i, g);
    if (!MASS) v = 0;
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      out[l] += tesk_g(i * N + l) * g[0];
      if (MASS) out[l] += tesk_i(i * N + l) * v;
      out[N + l] += tesk_i(i * N + l) * g[1];
      out[2 * N + l] += tesk_i(i * N + l) * g[2];
    }
  }
  TESK_UNROLL
  for (int l = 0; l < 3 * N; l++) u[l] = out[l];
}

/* A layer of points: v[LINES] has the values at its nodes, d[LINES] the derivatives by z; both are replaced by
 * results. */
TESK_DEVICE void at_layer(const TeskMapped *a, const Layer *layer, real v[LINES], real d[LINES]) {
  real v_out[LINES], d_out[LINES];
  set_zero(v_out, LINES);
  set_zero(d_out, LINES);
  TESK_ROLL
  for (int j = 0; j < Q; j++) {
    const Row row = make_row(a, layer, j);
    real u[3 * N];
    set_zero(u, 3 * N);
    ADD_ROWS(tesk_i, j, v, u)
    ADD_ROWS(tesk_g, j, v, u + N)
    ADD_ROWS(tesk_i, j, d, u + 2 * N)
    at_row(a, &row, u);
    ADD_ROWS_BACK(tesk_i, j, u, v_out)
    ADD_ROWS_BACK(tesk_g, j, u + N, v_out)
    ADD_ROWS_BACK(tesk_i, j, u + 2 * N, d_out)
  }
  TESK_UNROLL
  for (int l = 0; l < LINES; l++) v[l] = v_out[l], d[l] = d_out[l];
}

/* From the nodes of a cell at s[NODES] to layer k, and back: layers in [value, derivative][Q][LINES]. */
TESK_DEVICE void to_layer(const real *s, int k, real v[LINES], real d[LINES]) {
  set_zero(v, LINES);
  set_zero(d, LINES);
  TESK_UNROLL
  for (int m = 0; m < N; m++) {
    const real value = tesk_i(k * N + m), derivative = tesk_g(k * N + m);
    TESK_UNROLL
    for (int l = 0; l < LINES; l++) {
      v[l] += value * s[m * LINES + l];
      d[l] += derivative * s[m * LINES + l];
    }
  }
}

TESK_DEVICE void from_layers(const real *s, int line, real out[N]) {
  set_zero(out, N);
  TESK_UNROLL
  for (int k = 0; k < Q; k++) {
    const real v = s[k * LINES + line], d = s[(Q + k) * LINES + line];
    TESK_UNROLL
    for (int m = 0; m < N; m++) out[m] += tesk_i(k * N + m) * v + tesk_g(k * N + m) * d;
  }
}

/* One component of a thread's cell. */
TESK_DEVICE real work(const TeskMapped *a, const real *x, real *y, int round, Cell cell, int k, int component,
                      const Layer *layer, const Line line[OWN], real *s) {
  real v[LINES], d[LINES], io[N], dot = 0;
  TESK_UNROLL
  for (int o = 0; o < OWN; o++) {
    const int l = k + o * Q;
    if (l >= LINES) break;
    load_line(x, cell, component, l, LINES, &line[o], io);
    TESK_UNROLL
    for (int m = 0; m < N; m++) s[m * LINES + l] = io[m];
  }
  TESK_WARP_BARRIER();
  to_layer(s, k, v, d);
  TESK_WARP_BARRIER();
  at_layer(a, layer, v, d);
  TESK_UNROLL
  for (int l = 0; l < LINES; l++) s[k * LINES + l] = v[l], s[(Q + k) * LINES + l] = d[l];
  TESK_WARP_BARRIER();
  await_zeros(a, round);
  TESK_UNROLL
  for (int o = 0; o < OWN; o++) {
    const int l = k + o * Q;
    if (l >= LINES) break;
    from_layers(s, l, io);
    dot += store_line(x, y, cell, component, l, LINES, &line[o], io, 0);
  }
  TESK_WARP_BARRIER();
  return dot;
}

TESK_KERNEL(tesk_mapped, THREADS, MIN_BLOCKS, (const real *TESK_RESTRICT)x, (real *)y, (TeskMapped)a) {
  TESK_SHARED(memory);
  Line line[OWN];
  real dot = 0;
  /* lanes without work have separate memory */
  const int t = (int)threadIdx.x % GROUP, group = (int)threadIdx.x / GROUP, spare = t >= CELLS * Q,
            c = spare ? 0 : t / Q, k = spare ? 0 : t % Q;
  Cell cell = find_cell(&a, ((long long)blockIdx.x * GROUPS + group) * CELLS, c);
  if (spare) cell.valid = 0;
  TESK_UNROLL
  for (int o = 0; o < OWN; o++)
    if (k + o * Q < LINES) find_line(&a, cell, k + o * Q, LINES, &line[o]);
  const int round = make_zeros(&a, y);
  const Layer layer = make_layer(&a, cell, k);
  for (int component = 0; component < COMPONENTS; component++)
    dot += work(&a, x, y, round, cell, k, component, &layer, line,
                memory + (group * PLACES + (spare ? CELLS : c)) * PC);
#if DOT
  TESK_ADD_WARP(a.parts + blockIdx.x % TESK_MAPPED_PARTS, (double)dot);
#endif
  (void)dot;
}
