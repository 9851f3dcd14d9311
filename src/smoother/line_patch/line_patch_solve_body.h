/* The solve of line_patch_body.h, included by it twice, as cell_patch_solve_body.h before it. */

/* u[positions][modes] <- A_l^-1 u; S[dim - 1][n][n], factor[positions][modes][n]. A position is coupled with the
 * earlier positions of its cell: k positions for an end of a cell, i % k for an inner position i. */
TESI_INLINE void BODY(solve_line)(int dim, int n, int64_t positions, const V *S, const V *factor, V *u) {
  const int k = n - 1, modes = dim == 3 ? n * n : n;
  for (int64_t i = 0; i < positions; i++) {
    V *at = u + i * modes;
    const int before = i == 0 ? 0 : (int)((i - 1) % k) + 1;
    for (int t = 0; t < dim - 1; t++) BODY(multiply)(n, modes, t ? n : 1, true, S + t * n * n, at);
    for (int m = 0; m < modes; m++) {
      const V *f = factor + (i * modes + m) * n;
      V sum = at[m];
      for (int j = 1; j <= before; j++) sum -= f[j] * at[m - j * modes];
      at[m] = sum;
    }
  }
  for (int64_t i = positions - 1; i >= 0; i--) {
    V *at = u + i * modes;
    const int after = i == positions - 1 ? 0 : k - (int)(i % k);
    for (int m = 0; m < modes; m++) {
      V sum = at[m] * factor[(i * modes + m) * n];
      for (int j = 1; j <= after; j++) sum -= factor[((i + j) * modes + m) * n + j] * at[m + j * modes];
      at[m] = sum;
    }
  }
  for (int64_t i = 0; i < positions; i++)
    for (int t = 0; t < dim - 1; t++)
      BODY(multiply)(n, modes, t ? n : 1, false, S + t * n * n, u + i * modes);
}
