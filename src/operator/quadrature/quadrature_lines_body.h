/* Products with 1D tables along one line of n vectors, by even-odd splitting. Included with LINE(name), which names
 * the functions, and LINE_UNROLL, which stands before loops of literal length (empty where n is not literal).
 *
 * A table T for symmetric points of an interval has T[n-1-i][n-1-j] = +-T[i][j]: it maps the sums e_j = u_j +
 * u_(n-1-j) and the differences o_j to sums and differences (B), or crosswise (D). n^2 multiply-adds become n^2/2 and
 * 2n additions. */

/* e, o <- sums and differences of u; for odd n the sum of the middle entry is the entry itself. */
TESI_INLINE void LINE(split)(int n, const V *u, V *e, V *o) {
  LINE_UNROLL for (int i = 0; i < n / 2; i++) {
    e[i] = u[i] + u[n - 1 - i];
    o[i] = u[i] - u[n - 1 - i];
  }
  if (n % 2) e[n / 2] = u[n / 2];
}

TESI_INLINE void LINE(join)(int n, const V *e, const V *o, V *u) {
  LINE_UNROLL for (int i = 0; i < n / 2; i++) {
    u[i] = e[i] + o[i];
    u[n - 1 - i] = e[i] - o[i];
  }
  if (n % 2) u[n / 2] = e[n / 2];
}

/* out[i] <- sum over j of t[i][j] in[j] */
TESI_INLINE void LINE(multiply)(int rows, int columns, const Real *t, const V *in, V *out) {
  LINE_UNROLL for (int i = 0; i < rows; i++) {
    V sum = t[i * columns] * in[0];
    LINE_UNROLL for (int j = 1; j < columns; j++) sum += t[i * columns + j] * in[j];
    out[i] = sum;
  }
}

/* Even and odd part through a table that keeps parity (B), or changes it (D). */
TESI_INLINE void LINE(keep)(int n, const Real *even, const Real *odd, const V *e, const V *o, V *oe, V *oo) {
  LINE(multiply)((n + 1) / 2, (n + 1) / 2, even, e, oe);
  LINE(multiply)(n / 2, n / 2, odd, o, oo);
}

TESI_INLINE void LINE(change)(int n, const Real *even, const Real *odd, const V *e, const V *o, V *oe, V *oo) {
  LINE(multiply)(n / 2, (n + 1) / 2, even, e, oo);
  LINE(multiply)((n + 1) / 2, n / 2, odd, o, oe);
}

/* out <- B u or B' u */
TESI_INLINE void LINE(interpolate)(int n, const Real *even, const Real *odd, const V *u, V *out) {
  V e[TESI_QUAD_N], o[TESI_QUAD_N], oe[TESI_QUAD_N], oo[TESI_QUAD_N];
  LINE(split)(n, u, e, o);
  LINE(keep)(n, even, odd, e, o, oe, oo);
  LINE(join)(n, oe, oo, out);
}

/* Halves of D' diag(a) D u from halves of u; D by the given tables, a at a[0], a[stride], ... */
TESI_INLINE void LINE(stiffness)(int n, const Real *d_even, const Real *d_odd, const Real *tables, const V *a,
                                 int stride, const V *e, const V *o, V *re, V *ro) {
  V g[TESI_QUAD_N], ge[TESI_QUAD_N], go[TESI_QUAD_N];
  LINE(change)(n, d_even, d_odd, e, o, ge, go);
  LINE(join)(n, ge, go, g);
  LINE_UNROLL for (int i = 0; i < n; i++) g[i] *= a[i * stride];
  LINE(split)(n, g, ge, go);
  LINE(change)
  (n, tables + TESI_DT_EVEN * TESI_QUAD_HALF, tables + TESI_DT_ODD * TESI_QUAD_HALF, ge, go, re, ro);
}
