/* Sweeps of vertex patches of Stokes in 2D, y <- x with the patches of a colour replaced by K_p^+ (b - K x outside),
 * the mean of the pressure kept (src/operator/stokes/stokes_local.h): the residual is formed inside the patches. Any
 * ends, periodic directions of at least three cells, any cells. N = 2 n modes and, closed, nodes 0 .. N of a patch;
 * component c, its own direction c, the other one d:
 *   gather   component y: neighbours across, b inside, u at both ends, to shared memory, x fastest
 *   across   lines in d: T = nu Zd' Ld (neighbours), V = Zd' b inside, Zd' u at both ends; of the pressure -Zd' g
 *   lines    in c: F^ = (Zc' V - Zc' Mc (T + Lam_d V at the ends) - nu Zc' Lc V at the ends) / Lam; q -= G F^ + Ge V
 *   S^+      p = S^+ q, by parity blocks where the interval is its own mirror image
 *   lines    u^ = F^ + G' p / Lam, Zc u^; the pressure back in x
 *   across   back in d, written; of component y by way of shared memory
 * A thread holds a line of N numbers in registers, PATCHES patches side by side; in S^+ a row of up to four patches.
 * Grid: blocks of patches of a colour, then blocks that copy numbers in no patch; or one block, which does all
 * colours one after the other. Shared memory: PATCHES (4 (N + 1) (N + 1) + 2 N (N + 1) + 1) numbers, and with TABLES
 * the tables of all kinds of intervals. Bytes per colour and unknown: about 12 in float32: x and b read, y written.
 * Flops of a patch, multiplications and additions: (26 n + 8) (2 n)^2 + 8 n^4 (inner; S^+ is the last term). Macros:
 * real, N1, PATCHES, THREADS, BLOCKS, TABLES, OPEN: nodes at an end of the box are unknowns. */
#include "kernel.h"
#include "stokes_plane_arguments.h"
#include "stokes_plane_tables.h"

#define FOR_TASKS(id, count) for (int id = (int)threadIdx.x; id < (count); id += THREADS)
#define GROUP (PATCHES < 4 ? PATCHES : 4)

/* Shared memory of a block: by patch */
#define PITCH (N + 1)
#define SIZE_LINES (L * PITCH)
#define SIZE_Q (N * PITCH)
#define SIZE_PATCH (4 * SIZE_LINES + 2 * SIZE_Q)

typedef struct Work {
  const TeskPlane *plane;
  const TeskPlanePatch *patch; /* [PATCHES], in shared memory */
  real *memory, *mean;         /* of all patches; means of pressures */
  const real *tables[2];       /* in shared memory with TABLES */
  const real *x, *b;
  real *y;
} Work;

TESK_DEVICE real *lines_t(const Work *w, int p, int c) {
  return w->memory + p * SIZE_PATCH + c * SIZE_LINES;
}
TESK_DEVICE real *lines_v(const Work *w, int p, int c) {
  return w->memory + p * SIZE_PATCH + (2 + c) * SIZE_LINES;
}
TESK_DEVICE real *pressures_q(const Work *w, int p) {
  return w->memory + p * SIZE_PATCH + 4 * SIZE_LINES;
}
TESK_DEVICE real *pressures_p(const Work *w, int p) {
  return pressures_q(w, p) + SIZE_Q;
}
TESK_DEVICE int exists(const Work *w, int p) {
  return w->patch[p].inverse != 0;
}
TESK_DEVICE const real *table_of(const Work *w, int p, int d) {
  return (d ? w->tables[1] : w->tables[0]) + w->patch[p].kind[d] * TABLE;
}

/* ---- places ---------------------------------------------------------------------------------------------- */

/* Node i and mode j of a patch in direction d; modes from -n to 3 n - 1. Tables have zeros for numbers that do not
 * exist beyond a wall, so that any place will do for them. */
TESK_DEVICE int node_at(const Work *w, int p, int d, int i) {
  const int at = w->patch[p].vertex[d] * N1 + i, all = w->plane->cells[d] * N1;
  return w->plane->periodic[d] && at >= all ? at - all : at;
}
TESK_DEVICE int mode_at(const Work *w, int p, int d, int j) {
  const int at = w->patch[p].vertex[d] * N1 + j, all = w->plane->cells[d] * N1;
  if (at >= 0 && at < all) return at;
  return w->plane->periodic[d] ? (at < 0 ? at + all : at - all) : at < 0 ? 0 : all - 1;
}
/* The neighbours' modes one after the other: below, then above. */
TESK_DEVICE int neighbour_at(const Work *w, int p, int d, int j) {
  return mode_at(w, p, d, j < N1 ? j - N1 : j + N1);
}
TESK_DEVICE int place_of(const Work *w, int part, int x, int y) {
  return (int)w->plane->parts.offset[part] + y * w->plane->parts.extent[part][0] + x;
}

/* Whether node i of direction d is an unknown of the patch; whether it is its to write. */
TESK_DEVICE int is_unknown(const Work *w, int p, int d, int i) {
#if OPEN
  if (i == 0) return table_of(w, p, d)[AT_REST] == 0;
  if (i == N) return table_of(w, p, d)[AT_REST + 1] == 0;
#else
  (void)w, (void)p, (void)d;
#endif
  return i > 0 && i < N;
}
TESK_DEVICE int is_written(const Work *w, int p, int d, int i) {
  return i < N || (!w->plane->periodic[d] && w->patch[p].vertex[d] + 2 == w->plane->cells[d]);
}
TESK_DEVICE real old_value(const Work *w, int place) {
  return w->x ? w->x[place] : 0;
}

/* ---- to modes across ------------------------------------------------------------------------------------- */

/* Rows of component y, and the means. */
TESK_DEVICE void gather(const Work *w) {
  FOR_TASKS(id, PATCHES * L * N) {
    const int j = id % N, p = id / N % PATCHES, i = id / N / PATCHES;
    if (!exists(w, p)) continue;
    const int row = node_at(w, p, 1, i), at = place_of(w, 1, mode_at(w, p, 0, j), row);
    lines_t(w, p, 1)[i * PITCH + j] = old_value(w, place_of(w, 1, neighbour_at(w, p, 0, j), row));
    lines_v(w, p, 1)[i * PITCH + j] = is_unknown(w, p, 1, i) ? w->b[at] : old_value(w, at);
  }
  FOR_TASKS(p, PATCHES) {
    real sum = 0;
    if (!exists(w, p)) continue;
    const real *cx = table_of(w, p, 0) + AT_REST + 2, *cy = table_of(w, p, 1) + AT_REST + 2;
    for (int h = 0; h < 4; h++)
      sum += cx[h % 2] * cy[h / 2] *
             old_value(w, place_of(w, 2, mode_at(w, p, 0, h % 2 * N1), mode_at(w, p, 1, h / 2 * N1)));
    w->mean[p] = w->patch[p].flags & TESK_PLANE_CLOSED ? sum : 0;
  }
}

/* Line i of component c, whose neighbours and own numbers are `beside` and `own`. */
TESK_DEVICE void turn_line(const Work *w, int p, int c, int i, const real *beside, const real *own) {
  const real *A = table_of(w, p, 1 - c);
  real out[N];
  multiply(A + AT_OUTER, N, N, ROW_N, beside, out);
  TESK_UNROLL
  for (int j = 0; j < N; j++) lines_t(w, p, c)[i * PITCH + j] = out[j];
  multiply(A + AT_FORWARD, N, N, ROW_N, own, out);
  TESK_UNROLL
  for (int j = 0; j < N; j++) lines_v(w, p, c)[i * PITCH + j] = out[j];
}

/* Component x and the pressure, from memory: columns, x fastest. */
TESK_DEVICE void turn_columns(const Work *w) {
  FOR_TASKS(id, PATCHES * (L + N)) {
    const int p = id / L % PATCHES, i = id % L;
    real beside[N], own[N];
    if (id >= PATCHES * L) break;
    if (!exists(w, p)) continue;
    const int column = node_at(w, p, 0, i), unknown = is_unknown(w, p, 0, i);
    TESK_UNROLL
    for (int j = 0; j < N; j++) {
      beside[j] = old_value(w, place_of(w, 0, column, neighbour_at(w, p, 1, j)));
      const int at = place_of(w, 0, column, mode_at(w, p, 1, j));
      own[j] = unknown ? w->b[at] : old_value(w, at);
    }
    turn_line(w, p, 0, i, beside, own);
  }
  FOR_TASKS(id, PATCHES * N) {
    const int p = id / N, i = id % N;
    real own[N], out[N];
    if (!exists(w, p)) continue;
    const int column = mode_at(w, p, 0, i);
    TESK_UNROLL
    for (int j = 0; j < N; j++) own[j] = -w->b[place_of(w, 2, column, mode_at(w, p, 1, j))];
    multiply(table_of(w, p, 1) + AT_FORWARD, N, N, ROW_N, own, out);
    TESK_UNROLL
    for (int j = 0; j < N; j++) pressures_q(w, p)[i * PITCH + j] = out[j];
  }
}

/* Component y, where gather() left it. */
TESK_DEVICE void turn_rows(const Work *w) {
  FOR_TASKS(id, PATCHES * L) {
    const int p = id / L, i = id % L;
    real beside[N], own[N];
    if (!exists(w, p)) continue;
    TESK_UNROLL
    for (int j = 0; j < N; j++) {
      beside[j] = lines_t(w, p, 1)[i * PITCH + j];
      own[j] = lines_v(w, p, 1)[i * PITCH + j];
    }
    turn_line(w, p, 1, i, beside, own);
  }
}

/* ---- lines ----------------------------------------------------------------------------------------------- */

/* lambda of mode m across. */
TESK_DEVICE real across(const Work *w, int p, int c, int m) {
  return table_of(w, p, 1 - c)[AT_LD + m] + (real)w->plane->alpha;
}

/* F^ of mode m across of component c, in the place of V; and G F^ + Ge V. */
TESK_DEVICE void solve_line(const Work *w, int p, int c, int m, real *g) {
  const real *A = table_of(w, p, c), lambda = across(w, p, c, m);
  real *V = lines_v(w, p, c) + m, low = V[0], high = V[N * PITCH];
  const real *const T = lines_t(w, p, c) + m;
  real in[C], beside[L], F[C], other[C];
#if OPEN
  low *= A[AT_REST];
  high *= A[AT_REST + 1];
#endif
  TESK_UNROLL
  for (int i = 0; i < C; i++) in[i] = V[(FIRST + i) * PITCH];
  TESK_UNROLL
  for (int i = 0; i < L; i++) beside[i] = T[i * PITCH];
  beside[0] += lambda * low;
  beside[N] += lambda * high;
  multiply(A + AT_NODES, C, C, ROW_C, in, F);
  multiply(A + AT_MASS, C, L, ROW_L, beside, other);
  TESK_UNROLL
  for (int i = 0; i < C; i++) {
    const Four end = *(const Four *)(A + AT_ENDS + 4 * i);
    F[i] = (F[i] - other[i] - end.v[0] * low - end.v[1] * high) * TESK_RECIPROCAL(A[AT_LC + i] + lambda);
    V[(FIRST + i) * PITCH] = F[i];
  }
  multiply(A + AT_G, N, C, ROW_C, F, g);
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    const Four end = *(const Four *)(A + AT_GE + 4 * i);
    g[i] += end.v[0] * low + end.v[1] * high;
  }
}

TESK_DEVICE void solve_lines(const Work *w) {
  FOR_TASKS(id, PATCHES * 2 * N) {
    const int m = id % N, p = id / N % PATCHES, c = id / N / PATCHES;
    real g[N];
    if (!exists(w, p)) continue;
    solve_line(w, p, c, m, g);
    if (c == 0) { /* the line of -g, to modes of x */
      real *const q = pressures_q(w, p) + m, in[N], out[N];
      TESK_UNROLL
      for (int i = 0; i < N; i++) in[i] = q[i * PITCH];
      multiply(table_of(w, p, 0) + AT_FORWARD, N, N, ROW_N, in, out);
      TESK_UNROLL
      for (int i = 0; i < N; i++) q[i * PITCH] = out[i] - g[i];
    } else {
      real *const q = pressures_p(w, p) + m * PITCH;
      TESK_UNROLL
      for (int i = 0; i < N; i++) q[i] = -g[i];
    }
  }
}

/* ---- S^+ ------------------------------------------------------------------------------------------------- */

/* sum += row `row` of S^+ times q of `count` patches from p on, which have the same one. */
TESK_DEVICE void multiply_row(const Work *w, int p, int count, int row, real *sum) {
  const int split_x = w->patch[p].flags & TESK_PLANE_SPLIT_X, split_y = w->patch[p].flags & TESK_PLANE_SPLIT_Y,
            extent_x = split_x ? N1 : N, extent_y = split_y ? N1 : N,
            first = (split_x ? row / N / N1 * N1 * PITCH : 0) + (split_y ? row % N / N1 * N1 : 0);
  const real *S = (const real *)w->patch[p].inverse + row, *const q = pressures_q(w, p) + first;
  TESK_ROLL
  for (int x = 0; x < extent_x; x += CHUNK) {
    TESK_ROLL
    for (int y = 0; y < extent_y; y += N1) {
      TESK_UNROLL
      for (int i = 0; i < CHUNK; i++) {
        TESK_UNROLL
        for (int j = 0; j < N1; j++) {
          const real s = TESK_READ(S + (i * extent_y + j) * (N * N));
          TESK_UNROLL
          for (int k = 0; k < count; k++) sum[k] += s * q[k * SIZE_PATCH + (x + i) * PITCH + y + j];
        }
      }
      S += N1 * (N * N);
    }
    S += (CHUNK - 1) * extent_y * (N * N);
  }
}

TESK_DEVICE void find_pressures(const Work *w) {
  FOR_TASKS(id, PATCHES * N * N) {
    const int j = id % N, i = id / N % N, p = id / N / N;
    if (exists(w, p)) pressures_q(w, p)[i * PITCH + j] += pressures_p(w, p)[i * PITCH + j];
  }
  __syncthreads();
  FOR_TASKS(id, PATCHES / GROUP * N * N) {
    const int row = id % (N * N), p = id / (N * N) * GROUP, at = row / N * PITCH + row % N;
    int same = exists(w, p);
    real sum[GROUP];
    TESK_UNROLL
    for (int k = 0; k < GROUP; k++) {
      same = same && w->patch[p + k].inverse == w->patch[p].inverse;
      sum[k] = 0;
    }
    if (same) {
      multiply_row(w, p, GROUP, row, sum);
      TESK_UNROLL
      for (int k = 0; k < GROUP; k++) pressures_p(w, p + k)[at] = sum[k];
    } else {
      TESK_ROLL
      for (int k = 0; k < GROUP; k++) {
        real alone = 0;
        if (!exists(w, p + k)) continue;
        multiply_row(w, p + k, 1, row, &alone);
        pressures_p(w, p + k)[at] = alone;
      }
    }
  }
}

/* ---- back ------------------------------------------------------------------------------------------------ */

TESK_DEVICE void back_line(const Work *w, int p, int c, int m) {
  const real *A = table_of(w, p, c), lambda = across(w, p, c, m);
  const real *const q = pressures_p(w, p) + (c ? m * PITCH : m);
  real *const V = lines_v(w, p, c) + m, pressure[N], u[C], out[C];
  TESK_UNROLL
  for (int i = 0; i < N; i++) pressure[i] = q[c ? i : i * PITCH];
  multiply(A + AT_GT, C, N, ROW_N, pressure, u);
  TESK_UNROLL
  for (int i = 0; i < C; i++) u[i] = V[(FIRST + i) * PITCH] + u[i] * TESK_RECIPROCAL(A[AT_LC + i] + lambda);
  multiply(A + AT_NODES_BACK, C, C, ROW_C, u, out);
  TESK_UNROLL
  for (int i = 0; i < C; i++) V[(FIRST + i) * PITCH] = out[i];
}

TESK_DEVICE void back_lines(const Work *w) {
  FOR_TASKS(id, PATCHES * 3 * N) {
    const int m = id % N, p = id / N % PATCHES, c = id / N / PATCHES;
    if (!exists(w, p)) continue;
    if (c < 2) {
      back_line(w, p, c, m);
      continue;
    }
    const real *const from = pressures_p(w, p) + m;
    real *const to = pressures_q(w, p) + m, in[N], out[N];
    TESK_UNROLL
    for (int i = 0; i < N; i++) in[i] = from[i * PITCH];
    multiply(table_of(w, p, 0) + AT_BACK, N, N, ROW_N, in, out);
    TESK_UNROLL
    for (int i = 0; i < N; i++) to[i * PITCH] = out[i];
  }
}

/* out <- Zd line of direction d. */
TESK_DEVICE void back_across(const Work *w, int p, int d, const real *line, real *out) {
  real in[N];
  TESK_UNROLL
  for (int j = 0; j < N; j++) in[j] = line[j];
  multiply(table_of(w, p, d) + AT_BACK, N, N, ROW_N, in, out);
}

/* Component x, component y to shared memory, the pressure. */
TESK_DEVICE void store_columns(const Work *w) {
  FOR_TASKS(id, PATCHES * (2 * L + N)) {
    const int group = id < PATCHES * L       ? 0
                      : id < 2 * PATCHES * L ? 1
                                             : 2,
              task = id - group * PATCHES * L, size = group < 2 ? L : N, i = task % size, p = task / size;
    real out[N];
    if (!exists(w, p)) continue;
    if (group == 2) {
      const int column = mode_at(w, p, 0, i);
      back_across(w, p, 1, pressures_q(w, p) + i * PITCH, out);
      if (i % N1 == 0) {
        const real mean = w->mean[p] * table_of(w, p, 0)[AT_REST + 2 + i / N1];
        out[0] += mean * table_of(w, p, 1)[AT_REST + 2];
        out[N1] += mean * table_of(w, p, 1)[AT_REST + 3];
      }
      TESK_UNROLL
      for (int j = 0; j < N; j++) w->y[place_of(w, 2, column, mode_at(w, p, 1, j))] = out[j];
    } else if (is_unknown(w, p, group, i)) {
      back_across(w, p, 1 - group, lines_v(w, p, group) + i * PITCH, out);
      TESK_UNROLL
      for (int j = 0; j < N; j++) {
        if (group)
          lines_t(w, p, 1)[i * PITCH + j] = out[j];
        else
          w->y[place_of(w, 0, node_at(w, p, 0, i), mode_at(w, p, 1, j))] = out[j];
      }
    } else if (group == 0 && is_written(w, p, 0, i)) {
      for (int j = 0; j < N; j++) {
        const int at = place_of(w, 0, node_at(w, p, 0, i), mode_at(w, p, 1, j));
        w->y[at] = old_value(w, at);
      }
    }
  }
}

TESK_DEVICE void store_rows(const Work *w) {
  FOR_TASKS(id, PATCHES * L * N) {
    const int j = id % N, p = id / N % PATCHES, i = id / N / PATCHES;
    if (!exists(w, p) || !is_written(w, p, 1, i)) continue;
    const int at = place_of(w, 1, mode_at(w, p, 0, j), node_at(w, p, 1, i));
    w->y[at] = is_unknown(w, p, 1, i) ? lines_t(w, p, 1)[i * PITCH + j] : old_value(w, at);
  }
}

/* ---- what is in no patch --------------------------------------------------------------------------------- */

/* Node or mode number i of a cell of direction d; -1: there is none. */
TESK_DEVICE int entry_of(const Work *w, int part, int d, int cell, int i) {
  if (i == N1 && (part != d || w->plane->periodic[d] || cell + 1 < w->plane->cells[d])) return -1;
  return cell * N1 + i;
}

/* Rows of cells, then columns. */
TESK_DEVICE void copy_rest(const Work *w, const TeskPlaneColour *colour, const int *rest, int block,
                           int blocks) {
  for (int d = 0; d < 2; d++) {
    const int *const cells = rest + colour->rest[1 - d];
    const int count = colour->rests[1 - d], whole = w->plane->cells[d] * N1 + 1,
              all = 3 * count * (N1 + 1) * whole;
    for (int id = block * THREADS + (int)threadIdx.x; id < all; id += blocks * THREADS) {
      const int along = d == 0 ? id % whole : id / (N1 + 1) / count % whole,
                line = d == 0 ? id / whole % (count * (N1 + 1)) : id % (count * (N1 + 1)),
                part = id / whole / count / (N1 + 1);
      const int i = entry_of(w, part, 1 - d, cells[line / (N1 + 1)], line % (N1 + 1));
      if (i < 0 || along >= w->plane->parts.extent[part][d]) continue;
      const int at = place_of(w, part, d == 0 ? along : i, d == 0 ? i : along);
      w->y[at] = old_value(w, at);
    }
  }
}

/* ---- the kernel ------------------------------------------------------------------------------------------ */

TESK_DEVICE void load_tables(const TeskPlane *plane, real *to) {
  for (int d = 0; d < 2; d++) {
    const Four *const from = (const Four *)plane->tables[d];
    FOR_TASKS(id, plane->kinds[d] * (TABLE / 4))((Four *)to)[id] = from[id];
    to += plane->kinds[d] * TABLE;
  }
}

TESK_DEVICE void solve_patches(const Work *w) {
  gather(w);
  turn_columns(w);
  __syncthreads();
  turn_rows(w);
  __syncthreads();
  solve_lines(w);
  __syncthreads();
  find_pressures(w);
  __syncthreads();
  back_lines(w);
  __syncthreads();
  store_columns(w);
  __syncthreads();
  store_rows(w);
}

/* x NULL: zero. The colours of a launch write to y, w, y, w, ..; more than one, and more patches than a block has, by
 * one block alone. */
TESK_KERNEL(tesk_stokes_plane, THREADS, BLOCKS, (TeskPlane)plane, (TeskPlaneLists)lists, (const real *)x,
            (const real *)b, (real *)y, (real *)other) {
  TESK_SHARED(memory); /* SIZE_PATCH numbers per patch, means, the patches, tables */
  real *const mean = memory + PATCHES * SIZE_PATCH;
  TeskPlanePatch *const patch = (TeskPlanePatch *)(mean + (PATCHES + 3) / 4 * 4);
  const int block = (int)blockIdx.x, one = lists.blocks == 1;
#if TABLES
  real *const tables = (real *)(patch + PATCHES);
  const real *const of_y = tables + plane.kinds[0] * TABLE;
  if (block < lists.blocks) load_tables(&plane, tables); /* a barrier follows */
#else
  const real *const tables = (const real *)plane.tables[0], *const of_y = (const real *)plane.tables[1];
#endif
  Work w = {&plane, patch, memory, mean, {tables, of_y}, x, b, y};
  for (int k = 0; k < lists.count; k++) {
    const TeskPlaneColour *const colour = lists.colours + lists.first + k * lists.step;
    if (block >= lists.blocks) {
      copy_rest(&w, colour, lists.rest, block - lists.blocks, (int)gridDim.x - lists.blocks);
      continue;
    }
    for (int first = block * PATCHES; first < colour->patches; first += lists.blocks * PATCHES) {
      __syncthreads();
      FOR_TASKS(p, PATCHES) {
        const TeskPlanePatch none = {0};
        patch[p] = first + p < colour->patches ? lists.patches[colour->first + first + p] : none;
      }
      __syncthreads();
      solve_patches(&w);
    }
    if (one && (int)gridDim.x == 1) copy_rest(&w, colour, lists.rest, 0, 1);
    __syncthreads();
    w.x = w.y;
    w.y = k % 2 ? y : other;
  }
}
