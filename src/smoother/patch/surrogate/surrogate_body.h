/* Local solves of surrogate patches, included with REAL, LANES and NAME(x): a lane per patch.
 *
 * Cost per patch of m^3 nodes: 6 m^4 multiply-adds (no even-odd splitting, since the eigenbases have no symmetry), m^3
 * divisions, 3 m^2 matrix entries read; r read and x updated on m^3 nodes. */

typedef REAL NAME(vec) __attribute__((vector_size(sizeof(REAL) * LANES)));

/* out[j*step] = sum_i S[j*sj + i*si] in[i*step] for one line of m entries, in blocks of four lines at distance
 * `next`. */
static inline void NAME(contract)(int m, int lines, int next, int step, const NAME(vec) * S, int sj, int si,
                                  const NAME(vec) * in, NAME(vec) * out) {
  const NAME(vec) zero = {0};
  int line = 0;
  for (; line + 4 <= lines; line += 4, in += 4 * next, out += 4 * next)
    for (int j = 0; j < m; j++) {
      NAME(vec) a = zero, b = zero, c = zero, d = zero;
      for (int i = 0; i < m; i++) {
        const NAME(vec) s = S[j * sj + i * si];
        a += s * in[i * step];
        b += s * in[i * step + next];
        c += s * in[i * step + 2 * next];
        d += s * in[i * step + 3 * next];
      }
      out[j * step] = a;
      out[j * step + next] = b;
      out[j * step + 2 * next] = c;
      out[j * step + 3 * next] = d;
    }
  for (; line < lines; line++, in += next, out += next)
    for (int j = 0; j < m; j++) {
      NAME(vec) a = zero;
      for (int i = 0; i < m; i++) a += S[j * sj + i * si] * in[i * step];
      out[j * step] = a;
    }
}

/* All lines of one direction; to modes, or back (transposed). */
static void NAME(transform)(const int m[3], int d, bool back, const NAME(vec) * S, const NAME(vec) * in,
                            NAME(vec) * out) {
  const int sj = back ? m[d] : 1, si = back ? 1 : m[d]; /* S[node][mode] */
  if (d == 0)
    NAME(contract)(m[0], m[1] * m[2], m[0], 1, S, sj, si, in, out);
  else if (d == 2)
    NAME(contract)(m[2], m[0] * m[1], 1, m[0] * m[1], S, sj, si, in, out);
  else
    for (int z = 0; z < m[2]; z++)
      NAME(contract)(m[1], m[0], 1, m[0], S, sj, si, in + z * m[0] * m[1], out + z * m[0] * m[1]);
}

static void NAME(divide)(const int m[3], double omega, const NAME(vec) *const lambda[3], NAME(vec) * u) {
  const NAME(vec) factor = (NAME(vec)){0} + (REAL)omega;
  for (int z = 0; z < m[2]; z++)
    for (int y = 0; y < m[1]; y++) {
      const NAME(vec) sum = lambda[2][z] + lambda[1][y];
      for (int x = 0; x < m[0]; x++, u++) *u *= factor / (sum + lambda[0][x]);
    }
}

static void NAME(solve)(const TesiPatchGroup *group, const void *tables, int64_t stride_y, int64_t stride_z,
                        double omega, const void *r_, void *x_, void *work) {
  const REAL *r = r_;
  REAL *x = x_;
  const int *m = group->m, size = m[0] * m[1] * m[2];
  NAME(vec) *u = work, *v = u + size;
  const NAME(vec) * S[3], *lambda[3], *table = (const NAME(vec) *)((const REAL *)tables + group->tables);
  for (int d = 0; d < 3; d++) {
    S[d] = table, lambda[d] = table + m[d] * m[d];
    table += m[d] * m[d] + m[d];
  }
  for (int l = 0; l < LANES; l++)
    for (int k = 0; k < m[2]; k++)
      for (int j = 0; j < m[1]; j++) {
        const REAL *row = r + group->node[l] + k * stride_z + j * stride_y;
        REAL *lane = (REAL *)(u + (k * m[1] + j) * m[0]) + l;
        for (int i = 0; i < m[0]; i++) lane[i * LANES] = row[i];
      }
  NAME(transform)(m, 2, false, S[2], u, v);
  NAME(transform)(m, 1, false, S[1], v, u);
  NAME(transform)(m, 0, false, S[0], u, v);
  NAME(divide)(m, omega, lambda, v);
  NAME(transform)(m, 0, true, S[0], v, u);
  NAME(transform)(m, 1, true, S[1], u, v);
  NAME(transform)(m, 2, true, S[2], v, u);
  for (int l = 0; l < group->count; l++)
    for (int k = 0; k < m[2]; k++)
      for (int j = 0; j < m[1]; j++) {
        REAL *row = x + group->node[l] + k * stride_z + j * stride_y;
        const REAL *lane = (const REAL *)(u + (k * m[1] + j) * m[0]) + l;
        for (int i = 0; i < m[0]; i++) row[i] += lane[i * LANES];
      }
}

/* tables <- S and lambda of eight lanes, from float64. */
static void NAME(store)(int m, const double *S, const double *lambda, int first, REAL *tables) {
  for (int i = 0; i < m * m; i++)
    for (int l = 0; l < TESI_EIGEN_LANES; l++)
      tables[i * LANES + first + l] = (REAL)S[i * TESI_EIGEN_LANES + l];
  tables += m * m * LANES;
  for (int i = 0; i < m; i++)
    for (int l = 0; l < TESI_EIGEN_LANES; l++)
      tables[i * LANES + first + l] = (REAL)lambda[i * TESI_EIGEN_LANES + l];
}

static bool NAME(fill)(const TesiSurrogateData *data, const TesiPatchFamily *family, int d,
                       const double *factors, const double *widths, int first, void *tables) {
  _Alignas(64) double S[SQUARE * TESI_EIGEN_LANES], lambda[SIZE * TESI_EIGEN_LANES];
  const bool right = solve_interval(data, family, d, factors, widths, S, lambda);
  if (right) NAME(store)(family->m, S, lambda, first, tables);
  return right;
}
