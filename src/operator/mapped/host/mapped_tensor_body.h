/* Between nodes and points of a batch, direction by direction: common to all operators on mapped cells. Included after
 * mapped_lines_body.h with the same LINE and LINE_UNROLL. */

/* u[n^dim] -> values[n][mid][q]: x and, in 3D, y. */
TESI_INLINE void LINE(in)(int dim, int n, int q, const Real *tables, const V *u, V *values, V *plane) {
  if (dim == 2) {
    LINE(interpolate)(n, q, n, tables, TESI_I_EVEN, u, 1, n, values, 1, q);
    return;
  }
  for (int s = 0; s < n; s++) {
    LINE(interpolate)(n, q, n, tables, TESI_I_EVEN, u + s * n * n, 1, n, plane, 1, q);
    LINE(interpolate)(q, q, n, tables, TESI_I_EVEN, plane, q, 1, values + s * q * q, q, 1);
  }
}

TESI_INLINE void LINE(out)(int dim, int n, int q, const Real *tables, const V *values, V *u, V *plane) {
  if (dim == 2) {
    LINE(interpolate)(n, n, q, tables, TESI_IT_EVEN, values, 1, q, u, 1, n);
    return;
  }
  for (int s = 0; s < n; s++) {
    LINE(interpolate)(q, n, q, tables, TESI_IT_EVEN, values + s * q * q, q, 1, plane, q, 1);
    LINE(interpolate)(n, n, q, tables, TESI_IT_EVEN, plane, 1, q, u + s * n * n, 1, n);
  }
}

/* Slow lines: values [n or q][count] -> values [q][count], and their derivatives. */
TESI_INLINE void LINE(lines_few)(int few, int n, int q, int count, bool interpolates, const Real *tables,
                                 V *values, V *d) {
  V u[2 * MAPPED_N]; /* [few][MAPPED_N] */
  if (interpolates) {
    LINE(product)(few, false, false, q, n, tables, TESI_I_EVEN, values, count, 1, u, 1, MAPPED_N);
    LINE_UNROLL for (int l = 0; l < few; l++) LINE_UNROLL for (int s = 0; s < q; s++) values[s * count + l] =
        u[l * MAPPED_N + s];
    LINE(product)(few, true, false, q, q, tables, TESI_DM_EVEN, u, 1, MAPPED_N, d, count, 1);
  } else {
    LINE(product)(few, true, false, q, q, tables, TESI_DM_EVEN, values, count, 1, d, count, 1);
  }
}

TESI_INLINE void LINE(lines)(int n, int q, int count, bool interpolates, const Real *tables, V *values, V *d) {
  int i = 0;
  for (; LINE(pairs)(n, q) && i + 1 < count; i += 2)
    LINE(lines_few)(2, n, q, count, interpolates, tables, values + i, d + i);
  for (; i < count; i++) LINE(lines_few)(1, n, q, count, interpolates, tables, values + i, d + i);
}

TESI_INLINE void LINE(lines_out_few)(int few, int n, int q, int count, bool interpolates, const Real *tables,
                                     V *values, const V *d) {
  V u[2 * MAPPED_N];
  LINE(product)(few, true, false, q, q, tables, TESI_DMT_EVEN, d, count, 1, u, 1, MAPPED_N);
  LINE_UNROLL for (int l = 0; l < few; l++) LINE_UNROLL for (int s = 0; s < q; s++) u[l * MAPPED_N + s] +=
      values[s * count + l];
  if (interpolates)
    LINE(product)(few, false, false, n, q, tables, TESI_IT_EVEN, u, 1, MAPPED_N, values, count, 1);
  else
    LINE_UNROLL for (int l = 0; l < few; l++) LINE_UNROLL for (int s = 0; s < q; s++) values[s * count + l] =
        u[l * MAPPED_N + s];
}

TESI_INLINE void LINE(lines_out)(int n, int q, int count, bool interpolates, const Real *tables, V *values,
                                 const V *d) {
  int i = 0;
  for (; LINE(pairs)(n, q) && i + 1 < count; i += 2)
    LINE(lines_out_few)(2, n, q, count, interpolates, tables, values + i, d + i);
  for (; i < count; i++) LINE(lines_out_few)(1, n, q, count, interpolates, tables, values + i, d + i);
}
