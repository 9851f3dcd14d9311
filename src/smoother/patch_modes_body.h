/* Modes of intervals: transforms across rows, all columns of a row alike. Symmetric kinds split into even modes, by
 * [k][k] tables, and odd ones, which are a cell's own; others take the whole [m][m] table.
 * Included with PATCH_DEGREE. */

/* out[i] = sum_j table[i][j] in[j] over columns from .. to. */
static void multiply_rows(int m, const Real *table, const Real *const *in, Real *const *out, int from,
                          int to) {
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

/* ---- the outer direction: values at nodes; planes[m] rows in, modes[m] rows out ------------------------------------------ */

TESI_INLINE void nodes_to_modes_symmetric(const TesiPatchPlan *plan, const Real *even, const Real *odd,
                                          const Real *const *planes, Real *const *modes, int from, int to) {
  const int k = DEGREE(plan), B = k - 1;
  for (int c = from; c < to; c += LANES) {
    V e[DEGREE_MAX], o[DEGREE_MAX], m[DEGREE_MAX];
    e[0] = load(planes[B] + c);
    UNROLL for (int i = 0; i < B; i++) {
      const V above = load(planes[k + i] + c), below = load(planes[B - 1 - i] + c);
      e[1 + i] = above + below, o[i] = above - below;
    }
    UNROLL for (int j = 0; j < k; j++) {
      V sum = even[j * k] * e[0];
      UNROLL for (int i = 1; i < k; i++) sum += even[j * k + i] * e[i];
      store(modes[j] + c, sum);
    }
    cell_to_modes(k, odd, o, m);
    UNROLL for (int j = 0; j < B; j++) store(modes[k + j] + c, m[j]);
  }
}

TESI_INLINE void modes_to_nodes_symmetric(const TesiPatchPlan *plan, const Real *even,
                                          const Real *const *modes, Real *const *planes, int from, int to) {
  const int k = DEGREE(plan), B = k - 1;
  for (int c = from; c < to; c += LANES) {
    V e[DEGREE_MAX], m[DEGREE_MAX], o[DEGREE_MAX];
    UNROLL for (int j = 0; j < k; j++) e[j] = load(modes[j] + c);
    UNROLL for (int j = 0; j < B; j++) m[j] = load(modes[k + j] + c);
    cell_to_nodes(k, plan->values, m, o);
    UNROLL for (int i = 0; i < k; i++) {
      V sum = even[i * k] * e[0];
      UNROLL for (int j = 1; j < k; j++) sum += even[i * k + j] * e[j];
      if (i == 0) {
        store(planes[B] + c, sum);
      } else {
        store(planes[B + i] + c, sum + o[i - 1]);
        store(planes[B - i] + c, sum - o[i - 1]);
      }
    }
  }
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

/* ---- the middle direction: rows in H, bubbles below, vertex, bubbles above ---------------------------------------------- */

/* scale: of the odd modes. */
TESI_INLINE void h_to_modes_symmetric(const TesiPatchPlan *plan, const Real *even, Real scale,
                                      const Real *const *rows, Real *const *modes, int from, int to) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2;
  for (int c = from; c < to; c += LANES) {
    V e[DEGREE_MAX];
    e[0] = load(rows[B] + c);
    UNROLL for (int j = 0; j < B; j++) {
      const V above = load(rows[k + j] + c), below = load(rows[j] + c);
      e[1 + j] = j < E ? above + below : above - below;
      store(modes[k + j] + c, scale * (j < E ? above - below : above + below));
    }
    UNROLL for (int j = 0; j < k; j++) {
      V sum = even[j * k] * e[0];
      UNROLL for (int i = 1; i < k; i++) sum += even[j * k + i] * e[i];
      store(modes[j] + c, sum);
    }
  }
}

TESI_INLINE void modes_to_h_symmetric(const TesiPatchPlan *plan, const Real *even, const Real *const *modes,
                                      Real *const *rows, int from, int to) {
  const int k = DEGREE(plan), B = k - 1, E = k / 2;
  for (int c = from; c < to; c += LANES) {
    V e[DEGREE_MAX];
    UNROLL for (int j = 0; j < k; j++) e[j] = load(modes[j] + c);
    UNROLL for (int i = 0; i < k; i++) {
      V sum = even[i * k] * e[0];
      UNROLL for (int j = 1; j < k; j++) sum += even[i * k + j] * e[j];
      if (i == 0) {
        store(rows[B] + c, sum);
      } else {
        const V odd = load(modes[k + i - 1] + c);
        store(rows[B + i] + c, sum + odd);
        store(rows[i - 1] + c, i - 1 < E ? sum - odd : odd - sum);
      }
    }
  }
}

static void middle_forward(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *rows,
                           Real *const *modes) {
  const int from = plan->row.begin, to = plan->row.end;
  if (kind->symmetric)
    h_to_modes_symmetric(plan, kind->forward, ((const Real *)kind->scale)[0], rows, modes, from, to);
  else
    multiply_rows(kind->m, kind->forward, rows, modes, from, to);
}

static void middle_inverse(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *rows,
                           Real *const *modes, int from, int to) {
  if (kind->symmetric)
    h_to_modes_symmetric(plan, kind->inverse, ((const Real *)kind->scale)[1], rows, modes, from, to);
  else
    multiply_rows(kind->m, kind->inverse, rows, modes, from, to);
}

static void middle_back(const TesiPatchPlan *plan, const TesiPatchKind *kind, const Real *const *modes,
                        Real *const *rows) {
  if (kind->symmetric)
    modes_to_h_symmetric(plan, kind->back, modes, rows, plan->row.begin, plan->row.end);
  else
    multiply_rows(kind->m, kind->back, modes, rows, plan->row.begin, plan->row.end);
}

/* Bubble rows of one cell of the middle direction, in place: nodes to modes (table dual or coefficients), modes to nodes. */
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
