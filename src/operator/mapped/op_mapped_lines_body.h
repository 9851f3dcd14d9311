/* Products with 1D tables along one line of vectors, by even-odd splitting (compare op_quadrature_lines_body.h; here tables have
 * `rows` points and `columns` nodes). Included with LINE(name) and LINE_UNROLL: what names the functions, and stands before loops of
 * literal length. */

/* e, o <- sums and differences of u[0], u[stride], ...; the middle one of an odd n is its own sum. */
TESI_INLINE void LINE(split)(int n, const V *u, int stride, V *e, V *o) {
  LINE_UNROLL for (int i = 0; i < n / 2; i++) {
    const V a = u[i * stride], b = u[(n - 1 - i) * stride];
    e[i] = a + b;
    o[i] = a - b;
  }
  if (n % 2) e[n / 2] = u[n / 2 * stride];
}

TESI_INLINE void LINE(join)(int n, const V *e, const V *o, V *u, int stride) {
  LINE_UNROLL for (int i = 0; i < n / 2; i++) {
    u[i * stride] = e[i] + o[i];
    u[(n - 1 - i) * stride] = e[i] - o[i];
  }
  if (n % 2) u[n / 2 * stride] = e[n / 2];
}

#if SPECIALISED
/* out[i] <- sum over j of t[i][j] in[j]. Column by column, so that as many sums as there are rows are under way. */
TESI_INLINE void LINE(multiply)(int rows, int columns, const Real *t, const V *in, V *out) {
  LINE_UNROLL for (int i = 0; i < rows; i++) out[i] = t[i * columns] * in[0];
  LINE_UNROLL for (int j = 1; j < columns; j++) {
    LINE_UNROLL for (int i = 0; i < rows; i++) out[i] += t[i * columns + j] * in[j];
  }
}
#else
/* The same for so many rows, a literal, and any number of columns: the sums stay in registers. */
TESI_INLINE void LINE(multiply_rows)(int rows, int columns, const Real *t, const V *in, V *out) {
  V sum[MAPPED_ROWS];
  TESI_UNROLL for (int i = 0; i < rows; i++) sum[i] = t[i * columns] * in[0];
  for (int j = 1; j < columns; j++)
    TESI_UNROLL for (int i = 0; i < rows; i++) sum[i] += t[i * columns + j] * in[j];
  TESI_UNROLL for (int i = 0; i < rows; i++) out[i] = sum[i];
}

static void LINE(multiply)(int rows, int columns, const Real *t, const V *in, V *out) {
  for (; rows > MAPPED_ROWS; rows -= MAPPED_ROWS, t += MAPPED_ROWS * columns, out += MAPPED_ROWS)
    LINE(multiply_rows)(MAPPED_ROWS, columns, t, in, out);
#define ROWS(n)                                                                                              \
  case n:                                                                                                    \
    LINE(multiply_rows)(n, columns, t, in, out);                                                             \
    break
  switch (rows) {
    ROWS(1);
    ROWS(2);
    ROWS(3);
    ROWS(4);
    ROWS(5);
    ROWS(6);
    ROWS(7);
    ROWS(8);
    ROWS(9);
  }
#undef ROWS
}
#endif

/* Halves of T u from halves of u: through a table that keeps parity (I), or changes it (D). */
TESI_INLINE void LINE(keep)(int rows, int columns, const Real *tables, int table, const V *e, const V *o,
                            V *oe, V *oo) {
  LINE(multiply)((rows + 1) / 2, (columns + 1) / 2, tables + table * TESI_MAPPED_HALF, e, oe);
  LINE(multiply)(rows / 2, columns / 2, tables + (table + 1) * TESI_MAPPED_HALF, o, oo);
}

TESI_INLINE void LINE(change)(int q, const Real *tables, int table, const V *e, const V *o, V *oe, V *oo) {
  LINE(multiply)(q / 2, (q + 1) / 2, tables + table * TESI_MAPPED_HALF, e, oo);
  LINE(multiply)((q + 1) / 2, q / 2, tables + (table + 1) * TESI_MAPPED_HALF, o, oe);
}

/* out <- I u (or I' u, with rows and columns exchanged) */
TESI_INLINE void LINE(interpolate)(int rows, int columns, const Real *tables, int table, const V *u,
                                   int stride, V *out, int out_stride) {
  V e[MAPPED_N], o[MAPPED_N], oe[MAPPED_N], oo[MAPPED_N];
  LINE(split)(columns, u, stride, e, o);
  LINE(keep)(rows, columns, tables, table, e, o, oe, oo);
  LINE(join)(rows, oe, oo, out, out_stride);
}

/* out <- D u or D' u */
TESI_INLINE void LINE(differentiate)(int q, const Real *tables, int table, const V *u, int stride, V *out,
                                     int out_stride) {
  V e[MAPPED_N], o[MAPPED_N], oe[MAPPED_N], oo[MAPPED_N];
  LINE(split)(q, u, stride, e, o);
  LINE(change)(q, tables, table, e, o, oe, oo);
  LINE(join)(q, oe, oo, out, out_stride);
}

/* out <- out + D' u */
TESI_INLINE void LINE(add_transposed)(int q, const Real *tables, const V *u, int stride, V *out,
                                      int out_stride) {
  V d[MAPPED_N];
  LINE(differentiate)(q, tables, TESI_DMT_EVEN, u, stride, d, 1);
  LINE_UNROLL for (int i = 0; i < q; i++) out[i * out_stride] += d[i];
}
