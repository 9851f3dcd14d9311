/* Nodes of mapped cells, for mapped.cu and mapped_layers.cu, which include this file: the cells of threads, and lines
 * of N nodes of the index, which are read from x and added to y. Macros: N, NODES (of a cell), COMPONENTS, OUTPUT,
 * ORDERED, ROWS, INDEX_ONCE, DOT, MERGE (then LINES per cell, lane after lane). */
#ifndef TESK_MAPPED_NODES_H
#define TESK_MAPPED_NODES_H

#ifndef TESK_SHIFT /* the emulator's lanes are not in step */
#undef MERGE
#define MERGE 0
#endif

typedef struct Cell {
  long long number; /* of the cell this thread works for; a valid one even where there is none */
  int valid;
} Cell;

TESK_DEVICE Cell find_cell(const TeskMapped *a, long long first, int c) {
  Cell cell;
  const long long at = first + c;
  cell.valid = at < a->cells;
  cell.number = cell.valid ? at : 0;
#if ORDERED
  cell.number = a->order[cell.number];
#endif
  return cell;
}

#if INDEX_ONCE /* the index leaves the L2 cache first: better where factors are many, worse where they are computed */
#define READ_INDEX(p) TESK_STREAM(p)
#else
#define READ_INDEX(p) TESK_HELD(p)
#endif

/* The places of the `count` nodes node, node + step, ... of a cell: a line that is read at the start and written at
 * the end. */
typedef struct Line {
  int at[N];
} Line;

#if ROWS
/* Node i of a row: code 4 first + (1 if the first node is constrained) + (2 if the last is), or ~first if all nodes
 * are. */
TESK_DEVICE int row_node(int code, int i) {
  if (code < 0) return code - i; /* ~(~code + i) */
  const int node = (code >> 2) + i;
  return (i == 0 && (code & 1)) || (i == N - 1 && (code & 2)) ? ~node : node;
}
#endif

TESK_DEVICE void find_line(const TeskMapped *a, Cell cell, int node, int step, Line *line) {
#if OUTPUT != ELEMENT && ROWS
  TESK_UNROLL
  for (int l = 0; l < N; l++)
    line->at[l] =
        cell.valid
            ? row_node(READ_INDEX(a->index + cell.number * (N * N) + node / N + l * (step / N)), node % N)
            : -1;
#elif OUTPUT != ELEMENT
  TESK_UNROLL
  for (int l = 0; l < N; l++)
    line->at[l] = cell.valid ? READ_INDEX(a->index + cell.number * NODES + node + l * step) : -1;
#else
  (void)a, (void)cell, (void)node, (void)step, (void)line;
#endif
}

TESK_DEVICE void load_line(const real *x, Cell cell, int component, int node, int step, const Line *line,
                           real v[N]) {
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
#if OUTPUT == ELEMENT
    v[l] = cell.valid ? TESK_READ(x + (cell.number * COMPONENTS + component) * NODES + node + l * step) : 0;
#else
    const int i = line->at[l];
    v[l] = i < 0 ? 0 : TESK_READ(x + (long long)i * COMPONENTS + component);
#endif
  }
  (void)line;
}

#if MERGE
/* If a cell follows its neighbour in x, lane t + LINES - (N - 1) has the nodes of lane t at the other side of the
 * face: it adds both values at once. Returns the nodes of this lane that another lane adds, one bit each. All lanes
 * of a warp must call this. */
TESK_DEVICE int merge_line(int t, int active, const Line *line, real v[N]) {
  const int by = LINES - (N - 1), lane = (int)threadIdx.x % 32, begins = active && t % N == 0 && lane >= by;
  int taken = 0;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const int node = line->at[l], same = TESK_SHIFT(node, by) == node && begins && node >= 0;
    const real value = TESK_SHIFT(v[l], by);
    if (same) v[l] += value;
    taken |= (int)(TESK_BALLOT(same) >> lane >> by & 1) << l;
  }
  return taken;
}
#endif

/* A constrained row is the identity; all its cells write the same value. With DOT: returns the line's part of x .
 * y. */
TESK_DEVICE real store_line(const real *x, real *y, Cell cell, int component, int node, int step,
                            const Line *line, const real v[N], int taken) {
  real dot = 0;
  if (!cell.valid) return 0;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
#if OUTPUT == ELEMENT
    const long long at = (cell.number * COMPONENTS + component) * NODES + node + l * step;
    y[at] = v[l];
    if (DOT) dot += v[l] * x[at];
#else
    const int i = line->at[l];
    const long long at = (long long)(i < 0 ? ~i : i) * COMPONENTS + component;
    if (taken >> l & 1) continue;
    if (i < 0) {
      y[at] = x[at];
    } else {
#if OUTPUT == ATOMIC
      TESK_ADD(y + at, v[l]);
#else
      y[at] += v[l];
#endif
      if (DOT) dot += v[l] * TESK_READ(x + at);
    }
#endif
  }
  (void)line, (void)taken;
  return dot;
}

#endif
