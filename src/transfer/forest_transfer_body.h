/* Embedding of coarse cells and its transpose, included with Real and NAME(x). Arrays of a cell: x fastest.
 * fine <- fine + P coarse on the nodes that a fine cell writes; coarse <- coarse + P' fine. */

/* out[o][r][i] = (add: out +) sum over c of E[r][c] in[o][c][i]. */
static void NAME(contract)(int rows, int columns, int inner, int outer, const Real *E, const Real *in,
                           bool add, Real *out) {
  for (int o = 0; o < outer; o++, in += columns * inner)
    for (int r = 0; r < rows; r++, out += inner)
      for (int i = 0; i < inner; i++) {
        Real sum = add ? out[i] : 0;
        for (int c = 0; c < columns; c++) sum += E[r * columns + c] * in[c * inner + i];
        out[i] = sum;
      }
}

/* Lines of hanging nodes: u <- W u, or W' u. */
static void NAME(hang)(const TesiForestTransfer *t, unsigned mask, void *const tables[2], Real *u) {
  const int m = t->m;
  const int stride[3] = {1, m, m * m};
  for (int d = 0; d < t->dim; d++) {
    const int e = d == 0 ? 1 : 0, f = d == 2 ? 1 : 2;
    const int side[2] = {mask >> e & 1 ? m - 1 : 0, mask >> f & 1 ? m - 1 : 0};
    const Real *W = tables[mask >> d & 1];
    for (int b = 0; b < (t->dim == 3 ? m : 1); b++)
      for (int a = 0; a < m; a++) {
        if (!tes_mask_line(mask, d, a == side[0], t->dim == 3 && b == side[1])) continue;
        Real line[TESI_FOREST_NODES], *at = u + a * stride[e] + b * stride[f];
        for (int i = 0; i < m; i++) line[i] = at[i * stride[d]];
        for (int i = 0; i < m; i++) {
          Real sum = 0;
          for (int j = 0; j < m; j++) sum += W[i * m + j] * line[j];
          at[i * stride[d]] = sum;
        }
      }
  }
}

static void NAME(read)(const TesiForestTransfer *t, int64_t cell, const Real *x, Real *u) {
  const int32_t *index = tes_forest_space_index(t->coarse) + cell * t->coarse_nodes;
  const unsigned mask = tes_forest_space_masks(t->coarse)[cell];
  for (int64_t p = 0; p < t->coarse_nodes; p++) u[p] = index[p] < 0 ? 0 : x[index[p]];
  if (mask >> 3) NAME(hang)(t, mask, t->half, u);
}

static void NAME(add)(const TesiForestTransfer *t, int64_t cell, Real *u, Real *x) {
  const int32_t *index = tes_forest_space_index(t->coarse) + cell * t->coarse_nodes;
  const unsigned mask = tes_forest_space_masks(t->coarse)[cell];
  if (mask >> 3) NAME(hang)(t, mask, t->half_transposed, u);
  for (int64_t p = 0; p < t->coarse_nodes; p++)
    if (index[p] >= 0) x[index[p]] += u[p];
}

static void NAME(write_own)(const TesiForestTransfer *t, int64_t fine, const Real *u, Real *x) {
  const int32_t *own = t->own + fine * t->fine_nodes;
  for (int64_t p = 0; p < t->fine_nodes; p++)
    if (own[p] >= 0) x[own[p]] += u[p];
}

static void NAME(read_own)(const TesiForestTransfer *t, int64_t fine, const Real *x, Real *u) {
  const int32_t *own = t->own + fine * t->fine_nodes;
  for (int64_t p = 0; p < t->fine_nodes; p++) u[p] = own[p] < 0 ? 0 : x[own[p]];
}

/* The x-contraction of each half serves all halves of y, and so on: cz (slow) inside cy inside cx. */
static void NAME(prolongate_cell)(const TesiForestTransfer *t, int64_t cell, const Real *u, Real *fine) {
  const TesiForestFamily *family = &t->family[cell];
  const int n = t->n, m = t->m, three = t->dim == 3, halves = family->refined ? 2 : 1;
  Real x[TESI_FOREST_CELL], y[TESI_FOREST_CELL], z[TESI_FOREST_CELL];
  for (int cx = 0; cx < halves; cx++) {
    NAME(contract)(n, m, 1, three ? m * m : m, t->embed[family->refined + cx], u, false, x);
    for (int cy = 0; cy < halves; cy++) {
      NAME(contract)(n, m, n, three ? m : 1, t->embed[family->refined + cy], x, false, y);
      for (int cz = 0; cz < (three ? halves : 1); cz++) {
        if (three) NAME(contract)(n, m, n * n, 1, t->embed[family->refined + cz], y, false, z);
        NAME(write_own)(t, family->first + cx + 2 * cy + 4 * cz, three ? z : y, fine);
      }
    }
  }
}

static void NAME(restrict_cell)(const TesiForestTransfer *t, int64_t cell, const Real *fine, Real *u) {
  const TesiForestFamily *family = &t->family[cell];
  const int n = t->n, m = t->m, three = t->dim == 3, halves = family->refined ? 2 : 1;
  Real x[TESI_FOREST_CELL], y[TESI_FOREST_CELL], z[TESI_FOREST_CELL];
  for (int cx = 0; cx < halves; cx++) {
    for (int cy = 0; cy < halves; cy++) {
      for (int cz = 0; cz < (three ? halves : 1); cz++) {
        NAME(read_own)(t, family->first + cx + 2 * cy + 4 * cz, fine, three ? z : y);
        if (three) NAME(contract)(m, n, n * n, 1, t->embed_transposed[family->refined + cz], z, cz > 0, y);
      }
      NAME(contract)(m, n, n, three ? m : 1, t->embed_transposed[family->refined + cy], y, cy > 0, x);
    }
    NAME(contract)(m, n, 1, three ? m * m : m, t->embed_transposed[family->refined + cx], x, cx > 0, u);
  }
}

void NAME(tesi_forest_prolongate)(const TesiForestTransfer *t, int64_t first, int64_t end, const void *coarse,
                                  void *fine) {
  Real u[TESI_FOREST_CELL];
  for (int64_t cell = first; cell < end; cell++) {
    NAME(read)(t, cell, coarse, u);
    NAME(prolongate_cell)(t, cell, u, fine);
  }
}

void NAME(tesi_forest_restrict)(const TesiForestTransfer *t, int64_t first, int64_t end, const void *fine,
                                void *coarse) {
  Real u[TESI_FOREST_CELL];
  for (int64_t cell = first; cell < end; cell++) {
    NAME(restrict_cell)(t, cell, fine, u);
    NAME(add)(t, cell, u, coarse);
  }
}
