/* Loads and boundary values of a user's expression (tesk_f0 in "tables.h"), in float64.
 *   tesk_load          b_i += int f phi_i over the cells of one colour of a box, or the sides of a face, so that sums
 *                      have one order. A block takes cells in turn: one thread per Gauss point evaluates f into
 *                      shared memory; then follows one contraction per direction.
 *   tesk_load_corners  b <- the same over all cells of a plane of degree 1 at once. A thread has a cell, whose four
 *                      parts go to shared memory. A block has 32 x 8 cells and the 31 x 7 nodes between them, which
 *                      add their parts in one order. Cells are computed 1.18 times. Shared memory: 4 numbers per
 *                      thread.
 *   tesk_lift          u <- f at the nodes of a face, one thread per node.
 * `when` has the time, and receives a mark if a value is not finite. Cost: evaluations of f, 2 POINTS flops per point
 * and direction, 16 bytes per node and cell.
 * Shared memory: B, points, weights, two arrays of a cell's points. Macros: real = double, POINTS, NODES. */
#include "kernel.h"
#include "tables.h"
#include "box_points.h"
#include "clock.h"

/* A thread computes the parts of f that depend on time alone only once. */
#ifdef tesk_f0_parts
#define PARTS tesk_f0_parts
#define F_EARLY(t, early) tesk_f0_early(t, early)
#define F_AT(x, y, z, t, early) tesk_f0_late(x, y, z, t, early)
#else
#define PARTS 1
#define F_EARLY(t, early) ((early)[0] = 0)
#define F_AT(x, y, z, t, early) ((void)(early), tesk_f0(x, y, z, t))
#endif

TESK_KERNEL(tesk_load, 128, 1, (double *)b, (TeskBox)box, (TeskClock *)when) {
  TESK_SHARED(memory);
  double *B = memory, *point = B + POINTS * NODES, *w = point + POINTS, *values = w + POINTS, *other;
  const double time = when->time;
  const int t = (int)threadIdx.x;
  long long cells = 1;
  int points = 1, nodes = 1;
  for (int d = 0; d < 3; d++) {
    cells *= box_count(&box, d);
    points *= box_size(&box, d, POINTS);
    nodes *= box_size(&box, d, NODES);
  }
  other = values + points;
  double early[PARTS];
  F_EARLY(time, early);
  for (int i = t; i < POINTS * NODES; i += TESK_BOX_THREADS) B[i] = tesk_B(i);
  for (int i = t; i < POINTS; i += TESK_BOX_THREADS) {
    point[i] = tesk_point(i);
    w[i] = tesk_w(i);
  }
  for (long long cell = blockIdx.x; cell < cells; cell += gridDim.x) {
    int at[3], inner = 1, outer = points;
    double *from = values, *to = other;
    __syncthreads();
    box_cell(&box, cell, at);
    for (int q = t; q < points; q += TESK_BOX_THREADS) {
      double x[3];
      const double weight = box_point(&box, at, q, point, w, x), value = F_AT(x[0], x[1], x[2], time, early);
      if (!(value - value == 0)) when->refused = 1;
      values[q] = weight * value;
    }
    for (int d = 0; d < 3; d++) { /* inner: nodes of directions before d, outer: points of directions after */
      if (!box.there[d]) continue;
      outer /= POINTS;
      box_contract(B, NODES, POINTS, 1, NODES, inner, outer, from, to);
      double *swapped = from;
      from = to;
      to = swapped;
      inner *= NODES;
    }
    const long long corner = box_corner(&box, at);
    for (int i = t; i < nodes; i += TESK_BOX_THREADS) {
      long long node = corner;
      int rest = i;
      for (int d = 0; d < 3; d++) {
        if (!box.there[d]) continue;
        node += rest % NODES * box.stride[d];
        rest /= NODES;
      }
      b[node] += from[i];
    }
  }
}

#if NODES == 2
/* The contribution of a cell to its corners, x first. */
TESK_DEVICE void load_cell(const TeskBox *box, int cx, int cy, double time, TeskClock *when, double sum[4]) {
  const double x0 = box->x[0][cx], hx = box->h[0][cx], y0 = box->x[1][cy], hy = box->h[1][cy];
  double early[PARTS];
  F_EARLY(time, early);
  TESK_ROLL
  for (int j = 0; j < POINTS; j++) {
    const double y = y0 + hy * tesk_point(j), weight = tesk_w(j) * hx * hy;
    double left = 0, right = 0;
    TESK_ROLL
    for (int i = 0; i < POINTS; i++) {
      const double value = F_AT(x0 + hx * tesk_point(i), y, box->level[2], time, early);
      if (!(value - value == 0)) when->refused = 1;
      left += tesk_w(i) * tesk_B(2 * i) * value;
      right += tesk_w(i) * tesk_B(2 * i + 1) * value;
    }
    sum[0] += weight * tesk_B(2 * j) * left;
    sum[1] += weight * tesk_B(2 * j) * right;
    sum[2] += weight * tesk_B(2 * j + 1) * left;
    sum[3] += weight * tesk_B(2 * j + 1) * right;
  }
}

TESK_KERNEL(tesk_load_corners, TESK_LOAD_X *TESK_LOAD_Y, 1, (double *)b, (TeskBox)box, (TeskClock *)when) {
  enum { THREADS = TESK_LOAD_X * TESK_LOAD_Y };
  TESK_SHARED(memory);
  const int t = (int)threadIdx.x, column = t % TESK_LOAD_X, row = t / TESK_LOAD_X,
            cx = (int)blockIdx.x * (TESK_LOAD_X - 1) - 1 + column,
            cy = (int)blockIdx.y * (TESK_LOAD_Y - 1) - 1 + row;
  double sum[4] = {0, 0, 0, 0};
  if (cx >= 0 && cy >= 0 && cx < box.cells[0] && cy < box.cells[1])
    load_cell(&box, cx, cy, when->time, when, sum);
  for (int i = 0; i < 4; i++) memory[i * THREADS + t] = sum[i];
  __syncthreads();
  if (column == 0 || row == 0 || cx > box.cells[0] || cy > box.cells[1]) return;
  b[cx + cy * box.stride[1]] = memory[3 * THREADS + t - TESK_LOAD_X - 1] +
                               memory[2 * THREADS + t - TESK_LOAD_X] + memory[THREADS + t - 1] + memory[t];
}
#endif

TESK_KERNEL(tesk_lift, 128, 1, (double *)u, (TeskFace)face, (TeskClock *)when) {
  const double time = when->time;
  const long long count = face_nodes(&face);
  for (long long i = (long long)blockIdx.x * TESK_BOX_THREADS + threadIdx.x; i < count;
       i += (long long)gridDim.x * TESK_BOX_THREADS) {
    const long long node = face_node(&face, i);
    const double value =
        tesk_f0(face.x[0][node % face.nodes[0]], face.x[1][node / face.nodes[0] % face.nodes[1]],
                face.x[2][node / face.nodes[0] / face.nodes[1]], time);
    if (!(value - value == 0)) when->refused = 1;
    u[node] = value;
  }
}
