/* Explicit steps with velocities of Q_1 on halved cells: src/operator/iso/iso.h has the formulas. All in float64.
 * Macros: DIM, THREADS (of tesk_iso_momentum: nodes of a tile and of the rows beside it), real=double.
 *
 * tesk_iso_momentum: a block has a tile of nodes in x and y and goes through `planes` planes of z; thread t
 * has column t mod tile of row t / tile, rows from the one below the tile to the one above. A plane of u with a node
 * around it, and the pressures round it in the mean of their planes, lie in shared memory, u in two buffers: the next
 * plane is loaded while the present plane is processed. Each thread computes the sums along x at its column and row.
 * Then the threads of the tile's rows compute the sums along y of a node, and add them, in registers, to the three
 * planes of z to which they contribute.
 * Shared memory, numbers: 2 DIM (x + 2) (y + 2) + (x / 2 + 3) (y / 2 + 3) + 4 DIM x (y + 2), 50 KB with 33 x 8 nodes
 * in 3D. Registers: at most 88, so that two such blocks run on a multiprocessor. Flops per node in 3D: 270; bytes: u
 * read and next written once, 48, and nodes common to tiles read again. */
#include "kernel.h"
#include "iso_arguments.h"

#define KINDS 4

/* Rows of a direction at a node, h / 6 and nu / h for the lengths h to the left and right (0 beyond the ends); half:
 * 1/2 where there is a neighbour. */
typedef struct Line {
  double mass[2], stiff[2], half[2];
} Line;

TESK_DEVICE Line line_at(const double *TESK_RESTRICT numbers, int length, int i, double nu) {
  Line line;
  for (int side = 0; side < 2; side++) {
    line.mass[side] = TESK_READ(numbers + (TESK_ISO_M + 2 * side) * length + i);
    line.stiff[side] = -nu * TESK_READ(numbers + (TESK_ISO_K + 2 * side) * length + i);
    line.half[side] = (side ? i + 1 < length : i > 0) ? 0.5 : 0;
  }
  return line;
}
TESK_DEVICE double mass_of(const Line *l, double a, double b, double c) {
  return l->mass[0] * (a + 2 * b) + l->mass[1] * (2 * b + c);
}
TESK_DEVICE double stiffness_of(const Line *l, double a, double b, double c) {
  return l->stiff[0] * (b - a) + l->stiff[1] * (b - c);
}
TESK_DEVICE double slope_of(const Line *l, double a, double b, double c) {
  return l->half[0] * (a + b) - l->half[1] * (b + c);
}

/* A block's part of the grid. */
typedef struct Tile {
  int x0, y0, width, height, cx, cy, coarse_width; /* c: the first pressure of coarse_width across */
} Tile;

/* Starts to load the row of the thread in plane z of u, with one node around the tile: cells[DIM][height][width]. */
TESK_DEVICE void load_plane(const TeskIso *iso, const Tile *tile, const double *TESK_RESTRICT u, int z,
                            int lx, int row, double *cells) {
  const int size = tile->width * tile->height;
  for (int column = lx; column < tile->width; column += tile->width - 2) {
    const int x = tile->x0 + column - 1, y = tile->y0 + row - 1;
    const int inside = x >= 0 && x < iso->fine[0] && y >= 0 && y < iso->fine[1] && z >= 0 && z < iso->fine[2];
    const long long node = inside ? ((long long)z * iso->fine[1] + y) * iso->fine[0] + x : 0;
    for (int c = 0; c < DIM; c++)
      TESK_COPY(cells + c * size + row * tile->width + column, u + c * iso->nodes + node, inside);
  }
}

/* The place of a pressure of the tile in its plane; -1: outside the grid. */
TESK_DEVICE long long pressure_place(const TeskIso *iso, const Tile *tile, int id) {
  const int x = tile->cx + id % tile->coarse_width, y = tile->cy + id / tile->coarse_width;
  return x < iso->coarse[0] && y < iso->coarse[1] ? (long long)y * iso->coarse[0] + x : -1;
}

/* Sums along x at a node of the loaded plane; row and column count in the tile with its surrounding nodes.
 * [DIM][KINDS] with a step between them. */
TESK_DEVICE void sum_x(const Tile *tile, const double *cells, const double *pressures, int row, int column,
                       const Line *line, double *to, int step) {
  const int size = tile->width * tile->height, at = row * tile->width + column;
  const int x = tile->x0 + column - 1, y = tile->y0 + row - 1;
  double u[DIM][3], w[3];
  /* the pressure at x - 1, x and x + 1: of column x / 2 and the columns beside it, rows y / 2 and (y + 1) / 2 */
  const double *const lower = pressures + ((y < 0 ? 0 : y / 2) - tile->cy) * tile->coarse_width - tile->cx,
                      *const upper =
                          pressures + ((y < 0 ? 0 : (y + 1) / 2) - tile->cy) * tile->coarse_width - tile->cx;
  const int middle = x / 2, other = x % 2 ? middle + 1 : middle > 0 ? middle - 1 : 0;
  const double own = 0.5 * (lower[middle] + upper[middle]), beside = 0.5 * (lower[other] + upper[other]);
  if (x % 2) {
    w[0] = own, w[1] = 0.5 * (own + beside), w[2] = beside;
  } else {
    const double right = 0.5 * (lower[middle + 1] + upper[middle + 1]);
    w[0] = 0.5 * (beside + own), w[1] = own, w[2] = 0.5 * (own + right);
  }
  TESK_UNROLL
  for (int j = 0; j < 3; j++)
    for (int c = 0; c < DIM; c++) u[c][j] = cells[c * size + at + j - 1];
  TESK_UNROLL
  for (int c = 0; c < DIM; c++) {
    double product[3][3]; /* u_d u_c, and the pressure, at the three nodes */
    TESK_UNROLL
    for (int d = 0; d < DIM; d++)
      for (int j = 0; j < 3; j++) product[d][j] = u[d][j] * u[c][j] + (d == c ? w[j] : 0);
    to[(c * KINDS + 0) * step] = slope_of(line, product[0][0], product[0][1], product[0][2]) -
                                 stiffness_of(line, u[c][0], u[c][1], u[c][2]);
    to[(c * KINDS + 1) * step] = mass_of(line, product[1][0], product[1][1], product[1][2]);
    to[(c * KINDS + 2) * step] = mass_of(line, u[c][0], u[c][1], u[c][2]);
#if DIM == 3
    to[(c * KINDS + 3) * step] = mass_of(line, product[2][0], product[2][1], product[2][2]);
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

/* Grid: tiles of x and y, chunks of z. */
TESK_KERNEL(tesk_iso_momentum, THREADS, 2, (const double *TESK_RESTRICT)u, (const double *TESK_RESTRICT)s,
            (const double *TESK_RESTRICT)given, (const double *TESK_RESTRICT)load, (double *)next, (double)k,
            (double)nu, (TeskIso)iso) {
  TESK_SHARED(memory);
  const int tx = iso.tile[0], ty = iso.tile[1];
  const int t = (int)threadIdx.x, lx = t % tx, ly = t / tx;
  Tile tile = {(int)blockIdx.x % iso.tiles[0] * tx,
               (int)blockIdx.x / iso.tiles[0] * ty,
               tx + 2,
               ty + 2,
               0,
               0,
               tx / 2 + 3};
  tile.cx = tile.x0 > 1 ? tile.x0 / 2 - 1 : 0, tile.cy = tile.y0 > 1 ? tile.y0 / 2 - 1 : 0;
  const int size = tile.width * tile.height, rows = tx * tile.height,
            coarse = tile.coarse_width * (ty / 2 + 3);
  const int x = tile.x0 + lx, y = tile.y0 + ly;
  const int first = (int)blockIdx.y * iso.planes;
  const int end = first + iso.planes < iso.fine[2] ? first + iso.planes : iso.fine[2];
  const int mine = x < iso.fine[0] && y < iso.fine[1] && ly < ty;
  const int cx = x < iso.fine[0] ? x : iso.fine[0] - 1, cy = y < iso.fine[1] ? y : iso.fine[1] - 1;
  double *const buffer = memory, *const pressures = memory + 2 * DIM * size, *const sums = pressures + coarse;
  const Line of_x = line_at(iso.of_fine[0], iso.fine[0], cx, nu),
             of_y = line_at(iso.of_fine[1], iso.fine[1], cy, nu);
  const long long place = t < coarse ? pressure_place(&iso, &tile, t) : -1,
                  coarse_plane = (long long)iso.coarse[0] * iso.coarse[1];
  const double divided = k * TESK_READ(iso.of_fine[0] + TESK_ISO_DIVIDED * iso.fine[0] + cx) *
                         TESK_READ(iso.of_fine[1] + TESK_ISO_DIVIDED * iso.fine[1] + cy);
  double below[DIM] = {0}, here[DIM] = {0}, value[DIM] = {0}; /* sums of planes z - 1 and z; u at z - 1 */
  const int begin = DIM == 3 ? first - 1 : 0, last = DIM == 3 ? end : 0;
  load_plane(&iso, &tile, u, begin, lx, ly, buffer);
  for (int z = begin; z <= last; z++) {
    double *const cells = buffer + (z - begin) % 2 * DIM * size;
    if (t < coarse) { /* the mean of the planes around z; a tile has more threads than pressures */
      const int there = place >= 0 && z >= 0 && z < iso.fine[2];
      pressures[t] = there ? 0.5 * (TESK_READ(s + z / 2 * coarse_plane + place) +
                                    TESK_READ(s + (z + 1) / 2 * coarse_plane + place))
                           : 0;
    }
    TESK_COPY_WAIT();
    __syncthreads();
    if (z < last) load_plane(&iso, &tile, u, z + 1, lx, ly, buffer + (z + 1 - begin) % 2 * DIM * size);
    sum_x(&tile, cells, pressures, ly, lx + 1, &of_x, sums + t, rows);
    __syncthreads();
    if (ly >= ty) continue;
    const double *const at = sums + ly * tx + lx;
#if DIM == 3
    const Line of_z = line_at(iso.of_fine[2], iso.fine[2],
                              z < 0              ? 0
                              : z >= iso.fine[2] ? iso.fine[2] - 1
                                                 : z,
                              nu);
    const int inside = z >= 0 && z < iso.fine[2], plane = z - 1;
    const double factor =
        divided * TESK_READ(iso.of_fine[2] + TESK_ISO_DIVIDED * iso.fine[2] + (plane < first ? first : plane));
#else
    const int plane = 0;
    const double factor = divided;
#endif
    TESK_UNROLL
    for (int c = 0; c < DIM; c++) {
      const double *const a = at + c * KINDS * rows, *const b = a + rows, *const e = b + rows;
      const double A = mass_of(&of_y, a[0], a[tx], a[2 * tx]) + slope_of(&of_y, b[0], b[tx], b[2 * tx]) -
                       stiffness_of(&of_y, e[0], e[tx], e[2 * tx]);
      const double own = cells[c * size + (ly + 1) * tile.width + lx + 1];
#if DIM == 3
      /* a plane meets the rows of z - 1, z and z + 1: matrices are symmetric, slopes are not */
      const double *const d = e + rows;
      const double B = mass_of(&of_y, d[0], d[tx], d[2 * tx]), E = mass_of(&of_y, e[0], e[tx], e[2 * tx]);
      const double sum = below[c] + (inside ? of_z.mass[0] * A - of_z.half[0] * B + of_z.stiff[0] * E : 0);
      const double old = value[c];
      below[c] =
          here[c] + (inside ? 2 * (of_z.mass[0] + of_z.mass[1]) * A + (of_z.half[0] - of_z.half[1]) * B -
                                  (of_z.stiff[0] + of_z.stiff[1]) * E
                            : 0);
      here[c] = inside ? of_z.mass[1] * A + of_z.half[1] * B + of_z.stiff[1] * E : 0;
      value[c] = own;
      if (!mine || plane < first) continue;
#else
      const double sum = A, old = own;
      if (!mine) continue;
#endif
      const long long node = c * iso.nodes + ((long long)plane * iso.fine[1] + y) * iso.fine[0] + x;
      next[node] = is_given(&iso, c, x, y, plane) ? given[node]
                                                  : old + factor * (sum + (load ? TESK_READ(load + node) : 0));
    }
  }
  (void)below, (void)here, (void)value;
}

#define BLOCK 128
#define WHOLE 256

/* Of `count` nodes from node `first` on, at a cut between ranks: half of what both ranks have in full, so that the sum
 * of both is right. One thread per node. */
TESK_KERNEL(tesk_iso_halve, BLOCK, 1, (const double *TESK_RESTRICT)u, (const double *TESK_RESTRICT)given,
            (const double *TESK_RESTRICT)load, (double *)next, (double)k, (long long)first, (long long)count,
            (TeskIso)iso) {
  for (long long j = (long long)blockIdx.x * BLOCK + threadIdx.x; j < count;
       j += (long long)gridDim.x * BLOCK) {
    const long long i = first + j;
    const int at[3] = {(int)(i % iso.fine[0]), (int)(i / iso.fine[0] % iso.fine[1]),
                       (int)(i / iso.fine[0] / iso.fine[1])};
    double factor = k;
    for (int d = 0; d < 3; d++) factor *= TESK_READ(iso.of_fine[d] + TESK_ISO_DIVIDED * iso.fine[d] + at[d]);
    for (int c = 0; c < DIM; c++) {
      const long long node = c * iso.nodes + i;
      next[node] -= 0.5 * (is_given(&iso, c, at[0], at[1], at[2])
                               ? given[node]
                               : u[node] + (load ? factor * TESK_READ(load + node) : 0));
    }
  }
}

#define FOR_PRESSURES(id)                                                                                    \
  for (long long id = (long long)blockIdx.x * BLOCK + threadIdx.x; id < iso.pressures;                       \
       id += (long long)gridDim.x * BLOCK)

TESK_DEVICE double coarse_entry(const TeskIso *iso, int d, int array, int i) {
  return TESK_READ(iso->of_coarse[d] + array * iso->coarse[d] + i);
}

/* b <- scale int (div u) psi. A block has `rows` rows of one plane of the pressure. Each thread first computes the
 * sums along z at the nodes of the needed fine rows, into shared memory; then follow the sums along y, then along x.
 * Shared memory, numbers: (DIM (2 rows + 3) + 2 rows) fine. Flops per pressure in 3D: 650; bytes: u once, from the
 * caches 2.5 times. Grid: chunks of rows, planes. */
TESK_KERNEL(tesk_iso_divergence, WHOLE, 1, (const double *TESK_RESTRICT)u, (double *)b, (double)scale,
            (int)rows, (TeskIso)iso) {
  TESK_SHARED(memory);
  const int nx = iso.fine[0], Y0 = (int)blockIdx.x * rows, Z = (int)blockIdx.y, height = 2 * rows + 3,
            y0 = 2 * Y0 - 2;
  const int mine = Y0 + rows < iso.coarse[1] ? rows : iso.coarse[1] - Y0;
  double *const along = memory, *const P = along + DIM * height * nx, *const Q = P + rows * nx;
  for (int id = (int)threadIdx.x; id < height * nx; id += WHOLE) {
    const int x = id % nx, y = y0 + id / nx;
    double sum[DIM] = {0};
    for (int k = 0; k < (DIM == 3 ? 5 : 1); k++) {
      const int z = DIM == 3 ? 2 * Z + k - 2 : 0;
      if (y < 0 || y >= iso.fine[1] || z < 0 || z >= iso.fine[2]) continue;
      const long long node = ((long long)z * iso.fine[1] + y) * nx + x;
      const double M = DIM == 3 ? coarse_entry(&iso, 2, TESK_ISO_RM + k, Z) : 1;
      for (int c = 0; c < 2; c++) sum[c] += M * TESK_READ(u + c * iso.nodes + node);
#if DIM == 3
      sum[2] += coarse_entry(&iso, 2, TESK_ISO_RC + k, Z) * TESK_READ(u + 2 * iso.nodes + node);
#endif
    }
    for (int c = 0; c < DIM; c++) along[c * height * nx + id] = sum[c];
  }
  __syncthreads();
  for (int id = (int)threadIdx.x; id < mine * nx; id += WHOLE) {
    const int x = id % nx, row = id / nx;
    double p = 0, q = 0;
    for (int j = 0; j < 5; j++) {
      const double *const from = along + (2 * row + j) * nx + x;
      const double M = coarse_entry(&iso, 1, TESK_ISO_RM + j, Y0 + row);
      p += M * from[0];
      q += coarse_entry(&iso, 1, TESK_ISO_RC + j, Y0 + row) * from[height * nx];
#if DIM == 3
      q += M * from[2 * height * nx];
#endif
    }
    P[id] = p, Q[id] = q;
  }
  __syncthreads();
  for (int id = (int)threadIdx.x; id < mine * iso.coarse[0]; id += WHOLE) {
    const int X = id % iso.coarse[0], row = id / iso.coarse[0];
    double sum = 0;
    for (int i = 0; i < 5; i++) {
      const int x = 2 * X + i - 2;
      if (x < 0 || x >= nx) continue;
      sum += coarse_entry(&iso, 0, TESK_ISO_RC + i, X) * P[row * nx + x] +
             coarse_entry(&iso, 0, TESK_ISO_RM + i, X) * Q[row * nx + x];
    }
    b[((long long)Z * iso.coarse[1] + Y0 + row) * iso.coarse[0] + X] = scale * sum;
  }
}

/* p <- p + q + rate n^-1 b, s <- p + q: one thread per pressure. Bytes: 40. */
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

/* w <- I s: one thread per node of the fine grid, at most 8 pressures from the caches. Bytes: 9. */
TESK_KERNEL(tesk_iso_embed, BLOCK, 1, (const double *TESK_RESTRICT)s, (double *)w, (TeskIso)iso) {
  for (long long id = (long long)blockIdx.x * BLOCK + threadIdx.x; id < iso.nodes;
       id += (long long)gridDim.x * BLOCK) {
    const int x = (int)(id % iso.fine[0]), y = (int)(id / iso.fine[0] % iso.fine[1]),
              z = (int)(id / iso.fine[0] / iso.fine[1]);
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
      const int i = (x + (corner & 1)) / 2, j = (y + (corner >> 1 & 1)) / 2, k = (z + (corner >> 2)) / 2;
      sum += TESK_READ(s + ((long long)k * iso.coarse[1] + j) * iso.coarse[0] + i);
    }
    w[id] = sum / 8;
  }
}
