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

/* The place of a node's number in a vector. */
#if COMPONENTS == 1
#define PLACE(node, component) ((void)(component), (node))
#else
#define PLACE(node, component) ((long long)(node)*COMPONENTS + (component))
#endif

/* Reads that are not wanted are made all the same, at a place that exists: a branch costs more than a read. */
TESK_DEVICE void find_line(const TeskMapped *a, Cell cell, int node, int step, Line *line) {
#if OUTPUT != ELEMENT && ROWS
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const int code = READ_INDEX(a->index + cell.number * (N * N) + node / N + l * (step / N));
    line->at[l] = cell.valid ? row_node(code, node % N) : -1;
  }
#elif OUTPUT != ELEMENT
  const int *const index = a->index + cell.number * NODES + node;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const int code = READ_INDEX(index + l * step);
    line->at[l] = cell.valid ? code : -1;
  }
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
    const real value = TESK_READ(x + PLACE(i < 0 ? 0 : i, component));
    v[l] = i < 0 ? 0 : value;
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

/* y[at] += v; with DOT: returns x[at] v. */
TESK_DEVICE real add_node(const real *x, real *y, long long at, real v, int taken) {
  if (taken) return 0;
#if OUTPUT == ATOMIC
  TESK_ADD(y + at, v);
#else
  y[at] += v;
#endif
  return DOT ? v * TESK_READ(x + at) : 0;
}

/* A constrained row is the identity; all its cells write the same value. With DOT: returns the line's part of x .
 * y. */
TESK_DEVICE real store_line(const real *x, real *y, Cell cell, int component, int node, int step,
                            const Line *line, const real v[N], int taken) {
  real dot = 0;
#if OUTPUT == ELEMENT
  if (!cell.valid) return 0;
  TESK_UNROLL
  for (int l = 0; l < N; l++) {
    const long long at = (cell.number * COMPONENTS + component) * NODES + node + l * step;
    y[at] = v[l];
    if (DOT) dot += v[l] * x[at];
  }
  (void)line, (void)taken;
#else
  int all = 0; /* negative: a node is constrained, or the cell is not valid */
  TESK_UNROLL
  for (int l = 0; l < N; l++) all |= line->at[l];
  if (all >= 0) { /* nearly always: one branch for all nodes */
    TESK_UNROLL
    for (int l = 0; l < N; l++) dot += add_node(x, y, PLACE(line->at[l], component), v[l], taken >> l & 1);
  } else if (cell.valid) {
    TESK_UNROLL
    for (int l = 0; l < N; l++) {
      const int i = line->at[l];
      if (i < 0)
        y[PLACE(~i, component)] = x[PLACE(~i, component)];
      else
        dot += add_node(x, y, PLACE(i, component), v[l], taken >> l & 1);
    }
  }
  (void)node, (void)step;
#endif
  return dot;
}

#endif
