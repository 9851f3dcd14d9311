/* The local solves of cell_patch_body.h, included by it twice: for literal sizes (UNROLL unrolls wholly, small
 * arrays are registers) and for a size known at run time. BODY(name) names them. */

/* u <- S u, or S' u, on lines of distance `step`. */
TESI_INLINE void BODY(multiply)(int n, int nodes, int step, bool transposed, const V *S, V *u) {
  for (int outer = 0; outer < nodes; outer += step * n)
    for (int inner = 0; inner < step; inner++) {
      V *line = u + outer + inner, own[N];
      UNROLL for (int i = 0; i < n; i++) own[i] = line[i * step];
      for (int i = 0; i < n; i++) {
        V sum = S[transposed ? i : i * n] * own[0];
        UNROLL for (int j = 1; j < n; j++) sum += S[transposed ? j * n + i : i * n + j] * own[j];
        line[i * step] = sum;
      }
    }
}

TESI_INLINE void BODY(solve)(int dim, int n, V (*const S)[N * N], V (*const lambda)[N], V mass, V *u) {
  const int nodes = dim == 3 ? n * n * n : n * n, step[3] = {1, n, n * n};
  for (int d = 0; d < dim; d++) BODY(multiply)(n, nodes, step[d], true, S[d], u);
  for (int at = 0, k = 0; at < nodes; k++)
    for (int j = 0; j < n; j++) {
      V slow = mass + lambda[1][j];
      if (dim == 3) slow += lambda[2][k];
      for (int i = 0; i < n; i++, at++) u[at] /= slow + lambda[0][i];
    }
  for (int d = 0; d < dim; d++) BODY(multiply)(n, nodes, step[d], false, S[d], u);
}
