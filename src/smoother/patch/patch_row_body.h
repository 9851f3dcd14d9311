/* Rows: from values at the nodes of a line in x to H, cells side by side in the lanes of vectors, and back.
 * Included with PATCH_DEGREE. */

/* Bubbles of a cell to modes, by a table of halves; V m[B]. Even-odd: (B/2)^2 + ((B+1)/2)^2 multiplications. */
TESI_INLINE void cell_to_modes(const int k, const Real *table, const V *u, V *m) {
  const int B = k - 1, E = k / 2, O = B / 2;
  V e[DEGREE_MAX], o[DEGREE_MAX];
  UNROLL for (int i = 0; i < O; i++) e[i] = u[i] + u[B - 1 - i], o[i] = u[i] - u[B - 1 - i];
  if (B % 2) e[O] = u[O];
  UNROLL for (int j = 0; j < E; j++) {
    V sum = table[j * E] * e[0];
    UNROLL for (int i = 1; i < E; i++) sum += table[j * E + i] * e[i];
    m[j] = sum;
  }
  UNROLL for (int j = 0; j < O; j++) {
    V sum = table[E * E + j * O] * o[0];
    UNROLL for (int i = 1; i < O; i++) sum += table[E * E + j * O + i] * o[i];
    m[E + j] = sum;
  }
}

TESI_INLINE void cell_to_nodes(const int k, const Real *table, const V *m, V *u) {
  const int B = k - 1, E = k / 2, O = B / 2;
  UNROLL for (int i = 0; i < E; i++) {
    V even = table[i * E] * m[0];
    UNROLL for (int j = 1; j < E; j++) even += table[i * E + j] * m[j];
    if (i == O) {
      u[O] = even;
      break;
    }
    V odd = table[E * E + i * O] * m[E];
    UNROLL for (int j = 1; j < O; j++) odd += table[E * E + i * O + j] * m[E + j];
    u[i] = even + odd, u[B - 1 - i] = even - odd;
  }
}

/* v[s] lane l <- values[l k + s], s < k, and back. */
TESI_INLINE void load_cells(const int k, const Real *values, V *v) {
#if PATCH_DEGREE
  UNROLL for (int i = 0; i < k; i++) v[i] = load(values + i * LANES);
  unzip(PATCH_DEGREE, v);
#else
  for (int s = 0; s < k; s++)
    for (int l = 0; l < LANES; l++) v[s][l] = values[l * k + s];
#endif
}

TESI_INLINE void store_cells(const int k, V *v, Real *values) {
#if PATCH_DEGREE
  zip(PATCH_DEGREE, v);
  UNROLL for (int i = 0; i < k; i++) store(values + i * LANES, v[i]);
#else
  for (int s = 0; s < k; s++)
    for (int l = 0; l < LANES; l++) values[l * k + s] = v[s][l];
#endif
}

/* Cells c .. c + LANES, c even, of which `valid` exist. */
TESI_INLINE void chunk_to_row(const TesiPatchPlan *plan, const Real *table, const Real *values, int c,
                              int valid, Real *row) {
  const int k = DEGREE(plan), B = k - 1;
  const TesiPatchRow *at = &plan->row;
  V v[DEGREE_MAX + 1], m[DEGREE_MAX];
  load_cells(k, values, v);
  store_split(v[0], row + at->even + c / 2 - 1, row + at->odd + c / 2);
  cell_to_modes(k, table, v + 1, m);
  UNROLL for (int j = 0; j < B; j++) {
    if (valid < LANES)
      store_part(row + at->bubbles + j * at->stride + c, m[j], valid);
    else
      store(row + at->bubbles + j * at->stride + c, m[j]);
  }
}

/* The last chunk may overlap cells that are done. If it would begin at an odd cell or before the first cell, it goes
 * through a buffer: nothing outside the line is read. */
static void line_to_row(const TesiPatchPlan *plan, const Real *table, const Real *values, Real *row) {
  const int k = DEGREE(plan), cells = plan->cells;
  int c = 0;
  for (; c + LANES <= cells; c += LANES) chunk_to_row(plan, table, values + (ptrdiff_t)c * k, c, LANES, row);
  if (c == cells || (c > 0 && cells % 2 == 0)) {
    row[plan->row.even + cells / 2 - 1] = values[(ptrdiff_t)cells * k];
    if (c == cells) return;
    c = cells - LANES;
    chunk_to_row(plan, table, values + (ptrdiff_t)c * k, c, LANES, row);
    return;
  }
  Real buffer[DEGREE_MAX * LANES] = {0};
  memcpy(buffer, values + (ptrdiff_t)c * k, sizeof *buffer * (size_t)((cells - c) * k + 1));
  chunk_to_row(plan, table, buffer, c, cells - c, row);
}

TESI_INLINE void chunk_to_line(const TesiPatchPlan *plan, const Real *row, int c, Real *values) {
  const int k = DEGREE(plan), B = k - 1;
  const TesiPatchRow *at = &plan->row;
  V v[DEGREE_MAX + 1], m[DEGREE_MAX];
  UNROLL for (int j = 0; j < B; j++) m[j] = load(row + at->bubbles + j * at->stride + c);
  v[0] = weave(load(row + at->even + c / 2 - 1), load(row + at->odd + c / 2));
  cell_to_nodes(k, plan->values, m, v + 1);
  store_cells(k, v, values);
}

static void row_to_line(const TesiPatchPlan *plan, const Real *row, Real *values) {
  const int k = DEGREE(plan), cells = plan->cells;
  int c = 0;
  for (; c + LANES <= cells; c += LANES) chunk_to_line(plan, row, c, values + (ptrdiff_t)c * k);
  if (c == cells || (c > 0 && cells % 2 == 0)) {
    values[(ptrdiff_t)cells * k] = row[plan->row.even + cells / 2 - 1];
    if (c == cells) return;
    c = cells - LANES;
    chunk_to_line(plan, row, c, values + (ptrdiff_t)c * k);
    return;
  }
  Real buffer[DEGREE_MAX * LANES];
  chunk_to_line(plan, row, c, buffer);
  memcpy(values + (ptrdiff_t)c * k, buffer, sizeof *buffer * (size_t)((cells - c) * k + 1));
}

/* Only vertices 0, 2, 4, .. (parity 0) or 1, 3, .. */
static void line_to_vertices(const TesiPatchPlan *plan, int parity, const Real *values, Real *row) {
  const int k = DEGREE(plan), cells = plan->cells;
  Real *to = parity ? row + plan->row.odd : row + plan->row.even - 1;
  for (int v = parity; v <= cells; v += 2) *to++ = values[(ptrdiff_t)v * k];
}
