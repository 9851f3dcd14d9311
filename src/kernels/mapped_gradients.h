/* Nodes to gradients at the points and back where points are not nodes, for mapped.cu, which includes this. The 1D
 * matrices, values I and derivatives G = D I, are applied on the way, so that only n layers of q x q numbers go
 * through shared memory, three per node:
 *   y-lines (k, i) [n^2]  u -> I u, G u
 *   x-lines (k, j) [n q]  I I u, G I u, I G u
 *   z-lines (j, i) [q^2]  the gradient in registers, and the same way back
 * This takes 4 barriers per cell and 8 n^2 q + 12 n q^2 numbers written or read. With interpolation first and
 * derivatives at the points it would be 8 barriers and 4 n^2 q + 4 n q^2 + 15 q^3 numbers, which is more while q is
 * small; arithmetic is then about the same. */
#ifndef TESK_MAPPED_GRADIENTS_H
#define TESK_MAPPED_GRADIENTS_H

/* Derivatives at the points of a line of nodes; even turns into odd. */
TESK_DEVICE void derive(const real in[N], real out[Q]) {
  real e[HN], o[GN];
  FOLD(N, in, e, o)
  UNFOLD(Q, ADD_TERMS(even, GN, tesk_go, r * GN + l, o), ADD_TERMS(sum, HN, tesk_ge, r * HN + l, e), SET_OUT)
}

/* out <- G' g */
TESK_DEVICE void derive_transposed(const real g[Q], real out[N]) {
  real e[HQ], o[GQ];
  FOLD(Q, g, e, o)
  UNFOLD(N, ADD_TERMS(even, GQ, tesk_ge, l * HN + r, o), ADD_TERMS(sum, HQ, tesk_go, l * GN + r, e), SET_OUT)
}

/* out <- I' v + G' g, whose even and odd parts are summed before they are unfolded */
TESK_DEVICE void both_transposed(const real v[Q], const real g[Q], real out[N]) {
  real e[HQ], o[GQ], eg[HQ], og[GQ];
  FOLD(Q, v, e, o)
  FOLD(Q, g, eg, og)
  UNFOLD(N, ADD_TERMS(even, HQ, tesk_ie, l * HN + r, e) ADD_TERMS(even, GQ, tesk_ge, l * HN + r, og),
         ADD_TERMS(sum, GQ, tesk_io, l * GN + r, o) ADD_TERMS(sum, HQ, tesk_go, l * GN + r, eg), SET_OUT)
}

/* The start of a thread's line in the first of three buffers. */
TESK_DEVICE real *x_row(real *s, int t) {
  return s + t / (N * Q) * PC + x_line(t % (N * Q), N);
}
TESK_DEVICE real *z_column(real *s, int t) {
  return s + t / (Q * Q) * PC + t % (Q * Q) / Q * PY + t % Q;
}

/* g[3][Q] <- gradient on the thread's z-line of points, v[Q] <- values (with mass), of the y-line `in`. */
TESK_DEVICE void to_gradients(const real in[N], int t, real *s, real g[3][Q], real v[Q]) {
  real out[Q];
  if (t < CELLS * LINES) {
    real *const line = OWN_LINE(s, t);
    interpolate(in, out);
    WRITE_LINE(Q, line, PY, out)
    derive(in, out);
    WRITE_LINE(Q, line + PB, PY, out)
  }
  BARRIER();
  if (t < CELLS * N * Q) {
    real *const line = x_row(s, t);
    real u[N], uy[N];
    READ_LINE(N, line, 1, u)
    READ_LINE(N, line + PB, 1, uy)
    interpolate(u, out);
    WRITE_LINE(Q, line, 1, out)
    interpolate(uy, out);
    WRITE_LINE(Q, line + PB, 1, out)
    derive(u, out);
    WRITE_LINE(Q, line + 2 * PB, 1, out)
  }
  BARRIER();
  if (t < CELLS * Q * Q) {
    const real *const line = z_column(s, t);
    real u[N];
    READ_LINE(N, line, PZ, u)
    derive(u, g[2]);
    if (MASS) interpolate(u, v);
    READ_LINE(N, line + PB, PZ, u)
    interpolate(u, g[1]);
    READ_LINE(N, line + 2 * PB, PZ, u)
    interpolate(u, g[0]);
  }
}

/* The transposed: out[N] <- the thread's y-line. */
TESK_DEVICE void from_gradients(real g[3][Q], const real v[Q], const TeskMapped *a, const Staging *staging,
                                int t, real *s, real out[N]) {
  real u[N];
  if (t < CELLS * Q * Q) {
    real *const line = z_column(s, t);
    if (MASS)
      both_transposed(v, g[2], u);
    else
      derive_transposed(g[2], u);
    WRITE_LINE(N, line, PZ, u)
    interpolate_transposed(g[1], u);
    WRITE_LINE(N, line + PB, PZ, u)
    interpolate_transposed(g[0], u);
    WRITE_LINE(N, line + 2 * PB, PZ, u)
  }
  BARRIER();
  stage_next(a, staging, t);
  if (t < CELLS * N * Q) {
    real *const line = x_row(s, t);
    real in[Q], in_x[Q];
    READ_LINE(Q, line, 1, in)
    READ_LINE(Q, line + 2 * PB, 1, in_x)
    both_transposed(in, in_x, u);
    WRITE_LINE(N, line, 1, u)
    READ_LINE(Q, line + PB, 1, in)
    interpolate_transposed(in, u);
    WRITE_LINE(N, line + PB, 1, u)
  }
  BARRIER();
  if (t < CELLS * LINES) {
    const real *const line = OWN_LINE(s, t);
    real in[Q], in_y[Q];
    READ_LINE(Q, line, PY, in)
    READ_LINE(Q, line + PB, PY, in_y)
    both_transposed(in, in_y, out);
  }
}

/* Multiplies by the factors at the thread's points. */
TESK_DEVICE void at_gradients(const TeskMapped *a, long long first, int t, const Staging *staging,
                              real g[3][Q], real v[Q]) {
  const int c = t / (Q * Q);
  if (t >= CELLS * Q * Q) return;
  if (STAGE && first < a->cells) TESK_ARRIVED(staging->arrival, staging->phase);
  const Column column = make_column(a, find_cell(a, first, c), first, c, t % (Q * Q), staging->memory);
  TESK_UNROLL
  for (int k = 0; k < Q; k++) {
    real h[3] = {g[0][k], g[1][k], g[2][k]};
    const real m = apply_factors(a, &column, k, h);
    g[0][k] = h[0];
    g[1][k] = h[1];
    g[2][k] = h[2];
    if (MASS) v[k] *= m;
  }
}

#endif
