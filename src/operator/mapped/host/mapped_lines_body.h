/* Products with 1D tables along one line of vectors, by even-odd splitting (compare quadrature_lines_body.h; here
 * tables have `rows` points and `columns` nodes). Included with LINE(name), which names the functions, and
 * LINE_UNROLL, which stands before loops of literal length. */

/* e, o <- sums and differences of u[0], u[stride], ...; the middle one of an odd n is its own sum. */
TESI_INLINE void LINE(split)(int n, const V *u, int stride, V *e, V *o) {
  LINE_UNROLL for (int i = 0; i < n / 2; i++) {
    const V a = u[i * stride], b = u[(n - 1 - i) * stride];
    e[i] = a + b;
    o[i] = a - b;
  }
  if (n % 2) e[n / 2] = u[n / 2 * stride];
}

/* The entries of e + o and, mirrored, e - o: to u, or added to it. */
TESI_INLINE void LINE(join)(int n, bool adds, const V *e, const V *o, V *u, int stride) {
  LINE_UNROLL for (int i = 0; i < n / 2; i++) {
    V *const a = u + i * stride, *const b = u + (n - 1 - i) * stride;
    const V up = e[i] + o[i], down = e[i] - o[i];
    if (adds)
      *a += up, *b += down;
    else
      *a = up, *b = down;
  }
  if (n % 2 && adds)
    u[n / 2 * stride] += e[n / 2];
  else if (n % 2)
    u[n / 2 * stride] = e[n / 2];
}

/* Two lines at a time where sums and entries of both fit into registers: then each entry of a table is loaded once
 * for both. */
TESI_INLINE bool LINE(pairs)(int rows, int columns) {
  return SPECIALISED && rows <= 6 && columns <= 6;
}

#if SPECIALISED
/* out[l][i] <- sum over j of t[i][j] in[l][j], for `count` lines l. The loop goes column by column, so that `rows`
 * sums run side by side. */
TESI_INLINE void LINE(multiply)(int count, int rows, int columns, const Real *t, V (*in)[MAPPED_N],
                                V (*out)[MAPPED_N]) {
  LINE_UNROLL for (int j = 0; j < columns; j++) {
    LINE_UNROLL for (int i = 0; i < rows; i++) {
      const V entry = t[i * columns + j] - (V){0};
      LINE_UNROLL for (int l = 0; l < count; l++) out[l][i] =
          j ? out[l][i] + entry * in[l][j] : entry * in[l][j];
    }
  }
}
#else
/* The same for a literal number of rows and any number of columns: the sums stay in registers. */
TESI_INLINE void LINE(multiply_rows)(int rows, int columns, const Real *t, const V *in, V *out) {
  V sum[MAPPED_ROWS];
  TESI_UNROLL for (int i = 0; i < rows; i++) sum[i] = t[i * columns] * in[0];
  for (int j = 1; j < columns; j++)
    TESI_UNROLL for (int i = 0; i < rows; i++) sum[i] += t[i * columns + j] * in[j];
  TESI_UNROLL for (int i = 0; i < rows; i++) out[i] = sum[i];
}

static void LINE(multiply_line)(int rows, int columns, const Real *t, const V *in, V *out) {
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

TESI_INLINE void LINE(multiply)(int count, int rows, int columns, const Real *t, V (*in)[MAPPED_N],
                                V (*out)[MAPPED_N]) {
  for (int l = 0; l < count; l++) LINE(multiply_line)(rows, columns, t, in[l], out[l]);
}
#endif

/* `count` <= 2 lines at once: out <- T u, or out <- out + T u, by halves. changes: T maps even to odd. */
TESI_INLINE void LINE(product)(int count, bool changes, bool adds, int rows, int columns, const Real *tables,
                               int table, const V *u, int stride, int next, V *out, int out_stride,
                               int out_next) {
  V e[2][MAPPED_N], o[2][MAPPED_N], oe[2][MAPPED_N], oo[2][MAPPED_N];
  const Real *even = tables + table * TESI_MAPPED_HALF, *odd = even + TESI_MAPPED_HALF;
  LINE_UNROLL for (int l = 0; l < count; l++) LINE(split)(columns, u + l * next, stride, e[l], o[l]);
  LINE(multiply)(count, changes ? rows / 2 : (rows + 1) / 2, (columns + 1) / 2, even, e, changes ? oo : oe);
  LINE(multiply)(count, changes ? (rows + 1) / 2 : rows / 2, columns / 2, odd, o, changes ? oe : oo);
  LINE_UNROLL for (int l = 0; l < count; l++)
      LINE(join)(rows, adds, oe[l], oo[l], out + l * out_next, out_stride);
}

/* The same for any number of lines. */
TESI_INLINE void LINE(products)(int count, bool changes, bool adds, int rows, int columns, const Real *tables,
                                int table, const V *u, int stride, int next, V *out, int out_stride,
                                int out_next) {
  int l = 0;
  for (; LINE(pairs)(rows, columns) && l + 1 < count; l += 2) LINE(product)
  (2, changes, adds, rows, columns, tables, table, u + l * next, stride, next, out + l * out_next, out_stride,
   out_next);
  for (; l < count; l++) LINE(product)
  (1, changes, adds, rows, columns, tables, table, u + l * next, stride, next, out + l * out_next, out_stride,
   out_next);
}

/* out <- I u (or I' u, with rows and columns exchanged) */
TESI_INLINE void LINE(interpolate)(int count, int rows, int columns, const Real *tables, int table,
                                   const V *u, int stride, int next, V *out, int out_stride, int out_next) {
  LINE(products)
  (count, false, false, rows, columns, tables, table, u, stride, next, out, out_stride, out_next);
}

/* out <- D u or D' u */
TESI_INLINE void LINE(differentiate)(int count, int q, const Real *tables, int table, const V *u, int stride,
                                     int next, V *out, int out_stride, int out_next) {
  LINE(products)(count, true, false, q, q, tables, table, u, stride, next, out, out_stride, out_next);
}

/* out <- out + D' u */
TESI_INLINE void LINE(add_transposed)(int count, int q, const Real *tables, const V *u, int stride, int next,
                                      V *out, int out_stride, int out_next) {
  LINE(products)(count, true, true, q, q, tables, TESI_DMT_EVEN, u, stride, next, out, out_stride, out_next);
}
