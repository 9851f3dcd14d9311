/* Explicit steps with velocities of Q_1 on halved cells: src/operator/iso/iso.h has the formulas. All in float64.
 * Macros: DIM, THREADS (of tesk_iso_momentum: nodes of a tile), real=double.
 *
 * tesk_iso_momentum: a block has a tile of nodes across x and y and marches through `planes` planes of z; thread t has
 * node x = t mod tile, y = t / tile. A plane of u and of the pressure, embedded on the way, goes to shared memory with
 * a node around; the threads make the sums along x of all rows of the tile and of the two beside it, then each those
 * along y of its node, and adds them to the three planes of z that they belong to, in registers.
 * Shared memory, numbers: (DIM + 1) (x + 2) (y + 2) + 4 DIM x (y + 2), 43 KB with 33 x 8 nodes in 3D. Registers:
 * about 100. Flops a node in 3D: 270; bytes: u read and next written once, 48, and what tiles share read again. */
#include "kernel.h"
#include "iso_arguments.h"

#define KINDS 4
#define PARTS (DIM + 1)

/* I s at a node of the fine grid. */
TESK_DEVICE double embedded(const TeskIso *iso, const double *TESK_RESTRICT s, int x, int y, int z) {
  double sum = 0;
  for (int k = z / 2; k <= (z + 1) / 2; k++)
    for (int j = y / 2; j <= (y + 1) / 2; j++)
      for (int i = x / 2; i <= (x + 1) / 2; i++)
        sum += TESK_READ(s + ((long long)k * iso->coarse[1] + j) * iso->coarse[0] + i);
  return sum * (x % 2 ? 0.5 : 1) * (y % 2 ? 0.5 : 1) * (z % 2 ? 0.5 : 1);
}

/* Plane z with a node around: cells[PARTS][height][width]. */
TESK_DEVICE void load_plane(const TeskIso *iso, const double *TESK_RESTRICT u, const double *TESK_RESTRICT s,
                            int x0, int y0, int z, int width, int height, double *cells) {
  for (int id = (int)threadIdx.x; id < width * height; id += THREADS) {
    const int x = x0 + id % width - 1, y = y0 + id / width - 1;
    const int inside = x >= 0 && x < iso->fine[0] && y >= 0 && y < iso->fine[1] && z >= 0 && z < iso->fine[2];
    const long long node = ((long long)z * iso->fine[1] + y) * iso->fine[0] + x;
    for (int c = 0; c < DIM; c++)
      cells[c * width * height + id] = inside ? TESK_READ(u + c * iso->nodes + node) : 0;
    cells[DIM * width * height + id] = inside ? embedded(iso, s, x, y, z) : 0;
  }
}

TESK_DEVICE double three(const double *T, double a, double b, double c) {
  return T[0] * a + T[1] * b + T[2] * c;
}

/* Sums along x at the node `at` of the loaded plane, [DIM][KINDS] with a step between them. */
TESK_DEVICE void sum_x(const double *cells, int size, int at, const double *M, const double *K,
                       const double *C, double nu, double *to, int step) {
  double u[DIM][3], w[3];
  for (int j = 0; j < 3; j++) {
    for (int c = 0; c < DIM; c++) u[c][j] = cells[c * size + at + j - 1];
    w[j] = cells[DIM * size + at + j - 1];
  }
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    double product[3][3]; /* u_d u_c, and the pressure, at the three nodes */
    for (int d = 0; d < DIM; d++)
      for (int j = 0; j < 3; j++) product[d][j] = u[d][j] * u[c][j] + (d == c ? w[j] : 0);
    to[(c * KINDS + 0) * step] =
        three(C, product[0][0], product[0][1], product[0][2]) - nu * three(K, u[c][0], u[c][1], u[c][2]);
    to[(c * KINDS + 1) * step] = three(M, product[1][0], product[1][1], product[1][2]);
    to[(c * KINDS + 2) * step] = three(M, u[c][0], u[c][1], u[c][2]);
#if DIM == 3
    to[(c * KINDS + 3) * step] = three(M, product[2][0], product[2][1], product[2][2]);
#endif
  }
}

TESK_DEVICE int is_given(const TeskIso *iso, int c, int x, int y, int z) {
  int given = (x == 0 ? iso->given[0] : 0) | (x == iso->fine[0] - 1 ? iso->given[1] : 0) |
              (y == 0 ? iso->given[2] : 0) | (y == iso->fine[1] - 1 ? iso->given[3] : 0);
#if DIM == 3
  given |= (z == 0 ? iso->given[4] : 0) | (z == iso->fine[2] - 1 ? iso->given[5] : 0);
#else
  (void)z;
#endif
  return given >> c & 1;
}

TESK_DEVICE void entries(const double *numbers, int length, int first, int i, double to[3]) {
  for (int j = 0; j < 3; j++) to[j] = TESK_READ(numbers + (first + j) * length + i);
}

/* Grid: tiles of x and y, chunks of z. */
TESK_KERNEL(tesk_iso_momentum, THREADS, 1, (const double *TESK_RESTRICT)u, (const double *TESK_RESTRICT)s,
            (const double *TESK_RESTRICT)given, (const double *TESK_RESTRICT)load, (double *)next, (double)k,
            (double)nu, (TeskIso)iso) {
  TESK_SHARED(memory);
  const int tx = iso.tile[0], ty = iso.tile[1], width = tx + 2, height = ty + 2, size = width * height;
  const int t = (int)threadIdx.x, x0 = (int)blockIdx.x % iso.tiles[0] * tx,
            y0 = (int)blockIdx.x / iso.tiles[0] * ty;
  const int lx = t % tx, ly = t / tx, x = x0 + lx, y = y0 + ly, rows = tx * height;
  const int first = (int)blockIdx.y * iso.planes;
  const int end = first + iso.planes < iso.fine[2] ? first + iso.planes : iso.fine[2];
  const int mine = x < iso.fine[0] && y < iso.fine[1];
  const int cx = x < iso.fine[0] ? x : iso.fine[0] - 1, cy = y < iso.fine[1] ? y : iso.fine[1] - 1;
  double *const cells = memory, *const sums = memory + PARTS * size;
  double Mx[3], Kx[3], Cx[3], My[3], Ky[3], Cy[3];
  entries(iso.of_fine[0], iso.fine[0], TESK_ISO_M, cx, Mx);
  entries(iso.of_fine[0], iso.fine[0], TESK_ISO_K, cx, Kx);
  entries(iso.of_fine[0], iso.fine[0], TESK_ISO_C, cx, Cx);
  entries(iso.of_fine[1], iso.fine[1], TESK_ISO_M, cy, My);
  entries(iso.of_fine[1], iso.fine[1], TESK_ISO_K, cy, Ky);
  entries(iso.of_fine[1], iso.fine[1], TESK_ISO_C, cy, Cy);
  const double divided = k * TESK_READ(iso.of_fine[0] + TESK_ISO_DIVIDED * iso.fine[0] + cx) *
                         TESK_READ(iso.of_fine[1] + TESK_ISO_DIVIDED * iso.fine[1] + cy);
  double below[DIM] = {0}, here[DIM] = {0}, value[DIM] = {0}; /* sums of planes z - 1 and z; u at z - 1 */
#if DIM == 3
  for (int z = first - 1; z <= end; z++) {
    /* entries of rows z - 1, z, z + 1 in column z: of planes that exist */
    double Mz[3] = {0}, Kz[3] = {0}, Cz[3] = {0};
    for (int j = 0; j < 3; j++) {
      const int row = z + j - 1;
      if (row < first || row >= end) continue;
      Mz[j] = TESK_READ(iso.of_fine[2] + (TESK_ISO_M + 2 - j) * iso.fine[2] + row);
      Kz[j] = nu * TESK_READ(iso.of_fine[2] + (TESK_ISO_K + 2 - j) * iso.fine[2] + row);
      Cz[j] = TESK_READ(iso.of_fine[2] + (TESK_ISO_C + 2 - j) * iso.fine[2] + row);
    }
#else
  {
    const int z = 0;
#endif
    __syncthreads();
    load_plane(&iso, u, s, x0, y0, z, width, height, cells);
    __syncthreads();
    for (int row = ly; row < height; row += ty)
      sum_x(cells, size, row * width + lx + 1, Mx, Kx, Cx, nu, sums + row * tx + lx, rows);
    __syncthreads();
    const double *const at = sums + ly * tx + lx;
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) {
      const double *const a = at + c * KINDS * rows, *const b = a + rows, *const e = b + rows;
      const double A = three(My, a[0], a[tx], a[2 * tx]) + three(Cy, b[0], b[tx], b[2 * tx]) -
                       nu * three(Ky, e[0], e[tx], e[2 * tx]);
      const double own = cells[c * size + (ly + 1) * width + lx + 1];
#if DIM == 3
      const double *const d = e + rows;
      const double B = three(My, d[0], d[tx], d[2 * tx]), E = three(My, e[0], e[tx], e[2 * tx]);
      const double sum = below[c] + Mz[0] * A + Cz[0] * B - Kz[0] * E;
      const int plane = z - 1;
      const double old = value[c];
      below[c] = here[c] + Mz[1] * A + Cz[1] * B - Kz[1] * E;
      here[c] = Mz[2] * A + Cz[2] * B - Kz[2] * E;
      value[c] = own;
      if (!mine || plane < first) continue;
      const double factor = divided * TESK_READ(iso.of_fine[2] + TESK_ISO_DIVIDED * iso.fine[2] + plane);
#else
      const double sum = A, old = own, factor = divided;
      const int plane = 0;
      if (!mine) continue;
#endif
      const long long node = c * iso.nodes + ((long long)plane * iso.fine[1] + y) * iso.fine[0] + x;
      next[node] = is_given(&iso, c, x, y, plane)
                       ? given[node]
                       : old + factor * (sum + (load ? TESK_READ(load + node) : 0));
    }
  }
  (void)below, (void)here, (void)value;
}

#define BLOCK 128
#define FOR_PRESSURES(id)                                                                                    \
  for (long long id = (long long)blockIdx.x * BLOCK + threadIdx.x; id < iso.pressures;                       \
       id += (long long)gridDim.x * BLOCK)

TESK_DEVICE double coarse_entry(const TeskIso *iso, int d, int array, int i) {
  return TESK_READ(iso->of_coarse[d] + array * iso->coarse[d] + i);
}

/* b <- scale int (div u) psi: a thread a pressure. Flops: 30 a direction and line, 750 in 3D; u from the caches. */
TESK_KERNEL(tesk_iso_divergence, BLOCK, 1, (const double *TESK_RESTRICT)u, (double *)b, (double)scale,
            (TeskIso)iso) {
  FOR_PRESSURES(id) {
    const int X = (int)(id % iso.coarse[0]), Y = (int)(id / iso.coarse[0] % iso.coarse[1]),
              Z = (int)(id / iso.coarse[0] / iso.coarse[1]);
    double M[5], C[5], sum = 0;
    for (int j = 0; j < 5; j++) {
      M[j] = coarse_entry(&iso, 0, TESK_ISO_RM + j, X);
      C[j] = coarse_entry(&iso, 0, TESK_ISO_RC + j, X);
    }
    for (int k = 0; k < (DIM == 3 ? 5 : 1); k++) {
      const int z = DIM == 3 ? 2 * Z + k - 2 : 0;
      double P = 0, Q = 0;
      if (z < 0 || z >= iso.fine[2]) continue;
      for (int j = 0; j < 5; j++) {
        const int y = 2 * Y + j - 2;
        if (y < 0 || y >= iso.fine[1]) continue;
        double along[DIM] = {0};
        for (int i = 0; i < 5; i++) {
          const int x = 2 * X + i - 2;
          if (x < 0 || x >= iso.fine[0]) continue;
          const long long node = ((long long)z * iso.fine[1] + y) * iso.fine[0] + x;
          for (int c = 0; c < DIM; c++)
            along[c] += (c == 0 ? C[i] : M[i]) * TESK_READ(u + c * iso.nodes + node);
        }
        const double My = coarse_entry(&iso, 1, TESK_ISO_RM + j, Y);
        P += My * along[0] + coarse_entry(&iso, 1, TESK_ISO_RC + j, Y) * along[1];
#if DIM == 3
        Q += My * along[2];
#endif
      }
      sum += DIM == 3 ? coarse_entry(&iso, 2, TESK_ISO_RM + k, Z) * P +
                            coarse_entry(&iso, 2, TESK_ISO_RC + k, Z) * Q
                      : P;
    }
    b[id] = scale * sum;
  }
}

/* p <- p + q + rate n^-1 b, s <- p + q: a thread a pressure. Bytes: 40. */
TESK_KERNEL(tesk_iso_pressure, BLOCK, 1, (const double *TESK_RESTRICT)q, (const double *TESK_RESTRICT)b,
            (double *)p, (double *)s, (double)rate, (TeskIso)iso) {
  FOR_PRESSURES(id) {
    const int at[3] = {(int)(id % iso.coarse[0]), (int)(id / iso.coarse[0] % iso.coarse[1]),
                       (int)(id / iso.coarse[0] / iso.coarse[1])};
    double factor = rate;
    for (int d = 0; d < 3; d++) factor *= coarse_entry(&iso, d, TESK_ISO_COARSE_DIVIDED, at[d]);
    const double value = p[id] + q[id] + factor * b[id];
    p[id] = value;
    s[id] = value + q[id];
  }
}
