/* Hanging nodes of the cells of mapped.cu, which includes this: the steps of include/tessera/forest_space.h on nodes in shared memory.
 *
 * Only lines in the three planes in which a child touches its parent's boundary can be interpolated: a thread has one of the 2 N lines a
 * cell and direction, N in either of the two planes along that direction (the line in both is the first one's). Upper children are lower
 * ones seen from the other end, so one matrix W serves both: their lines are read and written backwards.
 * A block does all this if its first cell has hanging nodes: the host puts cells that have them first. Others pass by without a barrier. */
#ifndef TESK_MAPPED_HANGING_H
#define TESK_MAPPED_HANGING_H

typedef struct Hanging {
  int any; /* of the block */
  int mask, plane, at;
  real *cube;
} Hanging;

TESK_DEVICE Hanging find_hanging(const TeskMapped *a, long long first, int t, real *s) {
  Hanging h;
  const int c = t / (2 * N), l = t % (2 * N);
  const Cell head = find_cell(a, (long long)blockIdx.x * GROUPS * CELLS, 0);
  h.any = TESK_READ(a->masks + head.number) >> 3;
  h.mask = 0;
  h.plane = l / N;
  h.at = l % N;
  h.cube = s + c * PC;
  if (h.any && t < CELLS * 2 * N) {
    const Cell cell = find_cell(a, first, c);
    if (cell.valid) h.mask = TESK_READ(a->masks + cell.number);
  }
  return h;
}

/* u <- W u, or W' u, on the thread's line along d, if it hangs. */
TESK_DEVICE void hang_line(const Hanging *h, const int d, const int transposed) {
  const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2, stride[3] = {1, PY, PZ};
  const int side_e = h->mask >> e & 1 ? N - 1 : 0, side_f = h->mask >> f & 1 ? N - 1 : 0;
  const int at_e = h->plane ? h->at : side_e, at_f = h->plane ? side_f : h->at;
  const int on_e = at_e == side_e, on_f = at_f == side_f;
  const int hangs = (on_e && (h->mask >> (3 + e) & 1)) || (on_f && (h->mask >> (3 + f) & 1)) ||
                    (on_e && on_f && (h->mask >> (6 + d) & 1));
  if (!hangs || (h->plane && on_e)) return;
  const int upper = h->mask >> d & 1, step = upper ? -stride[d] : stride[d];
  real *const line = h->cube + at_e * stride[e] + at_f * stride[f] + upper * (N - 1) * stride[d];
  real in[N];
  READ_LINE(N, line, step, in)
  TESK_UNROLL
  for (int i = 0; i < N; i++) {
    real sum = 0;
    TESK_UNROLL
    for (int j = 0; j < N; j++) sum += (transposed ? tesk_w(j * N + i) : tesk_w(i * N + j)) * in[j];
    line[i * step] = sum;
  }
}

/* v: the thread's own line, `own` where it stands in shared memory; from nodes of the coarse side to the cell's own, or transposed. */
TESK_DEVICE void hang(const Hanging *h, const int transposed, int t, real *own, const int step, real v[N]) {
  if (!h->any) return;
  if (t < CELLS * LINES) {
    WRITE_LINE(N, own, step, v)
  }
  BARRIER();
  hang_line(h, transposed ? 2 : 0, transposed);
  BARRIER();
  hang_line(h, 1, transposed);
  BARRIER();
  hang_line(h, transposed ? 0 : 2, transposed);
  BARRIER();
  if (t < CELLS * LINES) {
    READ_LINE(N, own, step, v)
  }
}

#endif
