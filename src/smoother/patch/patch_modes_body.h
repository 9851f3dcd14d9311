/* Modes of intervals: transforms across rows, the same for all columns of a row. Symmetric kinds have even modes with
 * [k][k] tables, and odd modes, which are modes of one cell; other kinds use the whole [m][m] table.
 * Included with PATCH_DEGREE. */

/* out[i] = sum_j table[i][j] in[j] over columns from .. to. */
static void multiply_rows(int m, const Real *table, const Real *const *in, Real *const *out, int from, int to) {
  for (int i = 0; i < m; i += 4) {
    const int rows = m - i < 4 ? m - i : 4;
    const Real *t0 = table + i * m, *t1 = t0 + (rows > 1 ? m : 0), *t2 = t0 + (rows > 2 ? 2 * m : 0),
               *t3 = t0 + (rows > 3 ? 3 * m : 0);
    for (int c = from; c < to; c += LANES) {
      V s0 = {0}, s1 = s0, s2 = s0, s3 = s0;
      for (int j = 0; j < m; j++) {
        const V v = load(in[j] + c);
        s0 += t0[j] * v, s1 += t1[j] * v, s2 += t2[j] * v, s3 += t3[j] * v;
      }
      store(out[i] + c, s0);
      if (rows > 1) store(out[i + 1] + c, s1);
      if (rows > 2) store(out[i + 2] + c, s2);
      if (rows > 3) store(out[i + 3] + c, s3);
    }
  }
}

/* rows[i] -= stiffness[i] G + mass[i] H. */
static void subtract_coupling(int m, const Real *stiffness, const Real *mass, const Real *G, const Real *H,
                              Real *const *rows, int from, int to) {
  for (int i = 0; i < m; i++)
    for (int c = from; c < to; c += LANES)
      store(rows[i] + c, load(rows[i] + c) - stiffness[i] * load(G + c) - mass[i] * load(H + c));
}

/* Symmetric kinds go through `width` vectors of columns at once, so that each table entry is loaded once for all of
 * them. */
#define COLUMN_LOOP(from, to, width, kernel, ...)                                                            \
  do {                                                                                                       \
    int c_ = (from);                                                                                         \
    for (; c_ + ((width)-1) * LANES < (to); c_ += (width)*LANES) kernel(__VA_ARGS__, width, c_);             \
    for (; c_ < (to); c_ += LANES) kernel(__VA_ARGS__, 1, c_);                                               \
  } while (0)

/* ---- the outer direction: values at nodes; planes[m] rows in, modes[m] rows out --------------------------- */

TESI_INLINE void nodes_to_modes_columns(const int k, const Real *even, const Real *odd,
                                        const Real *const *planes, Real *const *modes, const int width, int c) {
  const int B = k - 1;
  V e[DEGREE_MAX][WIDTH_MAX], o[WIDTH_MAX][DEGREE_MAX], m[DEGREE_MAX];
  UNROLL for (int w = 0; w < width; w++) e[0][w] = load(planes[B] + c + w * LANES);
  UNROLL for (int i = 0; i < B; i++) {
    const Real *above = planes[k + i] + c, *below = planes[B - 1 - i] + c;
    UNROLL for (int w = 0; w < width; w++) {
      const V a = load(above + w * LANES), b = load(below + w * LANES);
      e[1 + i][w] = a + b, o[w][i] = a - b;
    }
  }
  UNROLL for (int j = 0; j < k; j++) {
    Real *to = modes[j] + c;
    V sum[WIDTH_MAX];
    UNROLL for (int w = 0; w < width; w++) sum[w] = even[j * k] * e[0][w];
    UNROLL for (int i = 1; i < k; i++) {
      UNROLL for (int w = 0; w < width; w++) sum[w] += even[j * k + i] * e[i][w];
    }
    UNROLL for (int w = 0; w < width; w++) store(to + w * LANES, sum[w]);
  }
  UNROLL for (int w = 0; w < width; w++) {
    cell_to_modes(k, odd, o[w], m);
    UNROLL for (int j = 0; j < B; j++) store(modes[k + j] + c + w * LANES, m[j]);
  }
}

TESI_INLINE void modes_to_nodes_columns(const int k, const Real *even, const Real *values,
                                        const Real *const *modes, Real *const *planes, const int width, int c) {
  const int B = k - 1;
  V e[DEGREE_MAX][WIDTH_MAX], m[DEGREE_MAX], o[WIDTH_MAX][DEGREE_MAX];
  UNROLL for (int w = 0; w < width; w++) {
    UNROLL for (int j = 0; j < B; j++) m[j] = load(modes[k + j] + c + w * LANES);
    cell_to_nodes(k, values, m, o[w]);
  }
  UNROLL for (int j = 0; j < k; j++) {
    UNROLL for (int w = 0; w < width; w++) e[j][w] = load(modes[j] + c + w * LANES);
  }
  UNROLL for (int i = 0; i < k; i++) {
    Real *above = planes[B + i] + c, *below = planes[B - i] + c;
    V sum[WIDTH_MAX];
    UNROLL for (int w = 0; w < width; w++) sum[w] = even[i * k] * e[0][w];
    UNROLL for (int j = 1; j < k; j++) {
      UNROLL for (int w = 0; w < width; w++) sum[w] += even[i * k + j] * e[j][w];
    }
    UNROLL for (int w = 0; w < width; w++) {
      if (i == 0) {
        store(above + w * LANES, sum[w]);
      } else {
        store(above + w * LANES, sum[w] + o[w][i - 1]);
        store(below + w * LANES, sum[w] - o[w][i - 1]);
      }
    }
  }
}

static void nodes_to_modes_symmetric(const TesiPatchPlan *plan, const Real *even, const Real *odd,
                                     const Real *const *planes, Real *const *modes, int from, int to) {
  const int k = DEGREE(plan);
  COLUMN_LOOP(from, to, NODE_WIDTH, nodes_to_modes_columns, k, even, odd, planes, modes);
}

static void modes_to_nodes_symmetric(const TesiPatchPlan *plan, const Real *even, const Real *const *modes,
                                     Real *const *planes, int from, int to) {
  const int k = DEGREE(plan);
  const Real *values = plan->values;
  COLUMN_LOOP(from, to, NODE_WIDTH, modes_to_nodes_columns, k, even, values, modes, planes);
}

static void outer_forward(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *planes,
                          Real *const *modes, int from, int to) {
  if (kind->symmetric)
    nodes_to_modes_symmetric(plan, kind->forward, kind->odd_forward, planes, modes, from, to);
  else
    multiply_rows(kind->m, kind->forward, planes, modes, from, to);
}

static void outer_inverse(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *planes,
                          Real *const *modes, int from, int to) {
  if (kind->symmetric)
    nodes_to_modes_symmetric(plan, kind->inverse, kind->odd_inverse, planes, modes, from, to);
  else
    multiply_rows(kind->m, kind->inverse, planes, modes, from, to);
}

static void outer_back(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *modes,
                       Real *const *planes) {
  if (kind->symmetric)
    modes_to_nodes_symmetric(plan, kind->back, modes, planes, plan->row.begin, plan->row.end);
  else
    multiply_rows(kind->m, kind->back, modes, planes, plan->row.begin, plan->row.end);
}

/* ---- the middle direction: rows in H, bubbles below, vertex, bubbles above ----------------------------- */

/* scale: factor of the odd modes. */
TESI_INLINE void h_to_modes_columns(const int k, const Real *even, Real scale, const Coupling *faces,
                                    const Real *const *rows, Real *const *modes, const int width, int c) {
  const int B = k - 1, E = k / 2;
  V e[DEGREE_MAX][WIDTH_MAX], g[WIDTH_MAX], h[WIDTH_MAX];
  UNROLL for (int w = 0; w < width; w++) {
    e[0][w] = load(rows[B] + c + w * LANES);
    if (faces && B > 0) g[w] = load(faces->G[1] + c + w * LANES), h[w] = load(faces->H[1] + c + w * LANES);
  }
  UNROLL for (int j = 0; j < B; j++) {
    const Real *above = rows[k + j] + c, *below = rows[j] + c;
    Real *to = modes[k + j] + c;
    UNROLL for (int w = 0; w < width; w++) {
      const V a = load(above + w * LANES), b = load(below + w * LANES), sum = a + b, difference = a - b;
      e[1 + j][w] = j < E ? sum : difference;
      V odd = scale * (j < E ? difference : sum);
      if (faces) odd -= faces->stiffness[k + j] * g[w] + faces->mass[k + j] * h[w];
      store(to + w * LANES, odd);
    }
  }
  UNROLL for (int w = 0; w < width; w++) {
    if (faces) g[w] = load(faces->G[0] + c + w * LANES), h[w] = load(faces->H[0] + c + w * LANES);
  }
  UNROLL for (int j = 0; j < k; j++) {
    Real *to = modes[j] + c;
    V sum[WIDTH_MAX];
    UNROLL for (int w = 0; w < width; w++) sum[w] = even[j * k] * e[0][w];
    UNROLL for (int i = 1; i < k; i++) {
      UNROLL for (int w = 0; w < width; w++) sum[w] += even[j * k + i] * e[i][w];
    }
    UNROLL for (int w = 0; w < width; w++) {
      if (faces) sum[w] -= faces->stiffness[j] * g[w] + faces->mass[j] * h[w];
      store(to + w * LANES, sum[w]);
    }
  }
}

TESI_INLINE void modes_to_h_columns(const int k, const Real *even, const Real *const *modes,
                                    Real *const *rows, const int width, int c) {
  const int B = k - 1, E = k / 2;
  V e[DEGREE_MAX][WIDTH_MAX];
  UNROLL for (int j = 0; j < k; j++) {
    UNROLL for (int w = 0; w < width; w++) e[j][w] = load(modes[j] + c + w * LANES);
  }
  UNROLL for (int i = 0; i < k; i++) {
    Real *above = rows[B + i] + c, *below = i ? rows[i - 1] + c : NULL;
    const Real *from = i ? modes[k + i - 1] + c : NULL;
    V sum[WIDTH_MAX];
    UNROLL for (int w = 0; w < width; w++) sum[w] = even[i * k] * e[0][w];
    UNROLL for (int j = 1; j < k; j++) {
      UNROLL for (int w = 0; w < width; w++) sum[w] += even[i * k + j] * e[j][w];
    }
    UNROLL for (int w = 0; w < width; w++) {
      if (i == 0) {
        store(above + w * LANES, sum[w]);
      } else {
        const V odd = load(from + w * LANES);
        store(above + w * LANES, sum[w] + odd);
        store(below + w * LANES, i - 1 < E ? sum[w] - odd : odd - sum[w]);
      }
    }
  }
}

/* faces: only for symmetric kinds; NULL: no faces. */
static void middle_forward(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Coupling *faces,
                           const Real *const *rows, Real *const *modes) {
  const int from = plan->row.begin, to = plan->row.end, k = DEGREE(plan);
  const Real *even = kind->forward;
  if (!kind->symmetric) {
    multiply_rows(kind->m, kind->forward, rows, modes, from, to);
    return;
  }
  const Real scale = ((const Real *)kind->scale)[0];
  if (faces)
    COLUMN_LOOP(from, to, H_WIDTH, h_to_modes_columns, k, even, scale, faces, rows, modes);
  else
    COLUMN_LOOP(from, to, H_WIDTH, h_to_modes_columns, k, even, scale, NULL, rows, modes);
}

static void middle_inverse(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *rows,
                           Real *const *modes, int from, int to) {
  const int k = DEGREE(plan);
  const Real *even = kind->inverse;
  if (kind->symmetric)
    COLUMN_LOOP(from, to, H_WIDTH, h_to_modes_columns, k, even, ((const Real *)kind->scale)[1], NULL, rows,
                modes);
  else
    multiply_rows(kind->m, kind->inverse, rows, modes, from, to);
}

static void middle_back(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *modes,
                        Real *const *rows) {
  const int k = DEGREE(plan);
  const Real *even = kind->back;
  if (kind->symmetric)
    COLUMN_LOOP(plan->row.begin, plan->row.end, H_WIDTH, modes_to_h_columns, k, even, modes, rows);
  else
    multiply_rows(kind->m, kind->back, modes, rows, plan->row.begin, plan->row.end);
}

/* Bubble rows of one cell of the middle direction, in place: nodes to modes (table dual or coefficients), modes to
 * nodes. */
static void cell_rows_to_modes(const TesiPatchPlan *plan, const Real *table, Real *rows, int from, int to) {
  const int k = DEGREE(plan), B = k - 1, pitch = plan->row.pitch;
  for (int c = from; c < to && B > 0; c += LANES) {
    V u[DEGREE_MAX], m[DEGREE_MAX];
    UNROLL for (int i = 0; i < B; i++) u[i] = load(rows + i * pitch + c);
    cell_to_modes(k, table, u, m);
    UNROLL for (int j = 0; j < B; j++) store(rows + j * pitch + c, m[j]);
  }
}

static void cell_rows_to_nodes(const TesiPatchPlan *plan, Real *rows) {
  const int k = DEGREE(plan), B = k - 1, pitch = plan->row.pitch;
  for (int c = plan->row.begin; c < plan->row.end && B > 0; c += LANES) {
    V u[DEGREE_MAX], m[DEGREE_MAX];
    UNROLL for (int j = 0; j < B; j++) m[j] = load(rows + j * pitch + c);
    cell_to_nodes(k, plan->values, m, u);
    UNROLL for (int i = 0; i < B; i++) store(rows + i * pitch + c, u[i]);
  }
}
