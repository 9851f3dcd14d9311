/* Embedding of coarse cells and its transpose, included with Real, NAME(x) and LANES (numbers of a SIMD vector).
 * Arrays of a cell: x fastest.
 * fine <- fine + P coarse on the nodes that a fine cell writes; coarse <- coarse + P' fine.
 *
 * With rows = 2 n for a refined cell (both halves), n for other cells: m^3 -> rows m^2 -> rows^2 m -> rows^3, and back.
 * A vector holds neighbours in x. The last vector of a row reaches into the next row, which is written later, or beyond
 * the array, which has room (PAD). All sizes are constants where a degree has
 * its own body. */
typedef Real NAME(Vector) __attribute__((vector_size(LANES * sizeof(Real)), aligned(sizeof(Real)), may_alias));

enum { NAME(PAD) = 64, NAME(MIDDLE) = 18 * 18 * 9 + NAME(PAD), NAME(ALL) = 18 * 18 * 18 + NAME(PAD) };

/* out[line][j] = sum over i of in[line][i] T[i][j]. */
TESI_INLINE void NAME(across)(int lines, int n_in, int n_out, const Real *T, const Real *in, Real *out) {
  for (int j = (n_out - 1) / LANES * LANES; j >= 0; j -= LANES) {
    NAME(Vector) t[18];
    for (int i = 0; i < n_in; i++) t[i] = *(const NAME(Vector) *)(T + i * n_out + j);
    for (int line = 0; line < lines; line++) {
      NAME(Vector) sum = in[line * n_in] * t[0];
      for (int i = 1; i < n_in; i++) sum += in[line * n_in + i] * t[i];
      *(NAME(Vector) *)(out + line * n_out + j) = sum;
    }
  }
}

/* out[o][r][i] = sum over c of E[r][c] in[o][c][i]. */
TESI_INLINE void NAME(along)(int n_in, int n_out, int inner, int outer, const Real *E, const Real *in,
                             Real *out) {
  for (int o = 0; o < outer; o++, in += n_in * inner, out += n_out * inner)
    for (int i = (inner - 1) / LANES * LANES; i >= 0; i -= LANES) {
      NAME(Vector) v[18];
      for (int c = 0; c < n_in; c++) v[c] = *(const NAME(Vector) *)(in + c * inner + i);
      for (int r = 0; r < n_out; r++) {
        NAME(Vector) sum = E[r * n_in] * v[0];
        for (int c = 1; c < n_in; c++) sum += E[r * n_in + c] * v[c];
        *(NAME(Vector) *)(out + r * inner + i) = sum;
      }
    }
}

/* Lines of hanging nodes: u <- W u, or W' u. */
static void NAME(hang)(const TesiCellsTransfer *t, unsigned mask, void *const tables[2], Real *u) {
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

/* Nodes with a negative number belong to no vector; they are read from and written to a spare place, since branches
 * would be mispredicted. */
TESI_INLINE Real NAME(get)(const Real *x, int32_t i) {
  const Real v = x[i < 0 ? 0 : i];
  return i < 0 ? 0 : v;
}

TESI_INLINE void NAME(add_to)(Real *x, int32_t i, Real v) {
  Real apart = 0, *const to = i < 0 ? &apart : x + i;
  *to += v;
}

static void NAME(read)(const TesiCellsTransfer *t, int64_t cell, const Real *x, Real *u) {
  const int32_t *index = t->coarse->index + cell * t->coarse_nodes;
  const unsigned mask = t->coarse->mask[cell];
  for (int64_t p = 0; p < t->coarse_nodes; p++) u[p] = NAME(get)(x, index[p]);
  if (mask >> 3) NAME(hang)(t, mask, t->half, u);
}

static void NAME(add)(const TesiCellsTransfer *t, int64_t cell, Real *u, Real *x) {
  const int32_t *index = t->coarse->index + cell * t->coarse_nodes;
  const unsigned mask = t->coarse->mask[cell];
  if (mask >> 3) NAME(hang)(t, mask, t->half_transposed, u);
  for (int64_t p = 0; p < t->coarse_nodes; p++) NAME(add_to)(x, index[p], u[p]);
}

TESI_INLINE void NAME(pass)(bool write, Real *x, int32_t i, Real *at) {
  if (write)
    NAME(add_to)(x, i, *at);
  else
    *at = NAME(get)(x, i);
}

/* The fine cells of a family between the array z[rows][rows][rows] (2D: [rows][rows]) and the vector x. */
TESI_INLINE void NAME(exchange)(const TesiCellsTransfer *t, const TesiCellsFamily *family, int n, bool write,
                                Real *x, Real *z) {
  const int rows = family->refined ? 2 * n : n, three = t->dim == 3, deep = three ? n : 1;
  for (int child = 0; child < (family->refined ? 1 << t->dim : 1); child++) {
    const int32_t *index = t->fine->index + (family->first + child) * t->fine_nodes;
    const unsigned char *entity = t->entity;
    const uint32_t others = ~t->own[family->first + child];
    Real *corner = z + ((child >> 2) * rows * rows + (child >> 1 & 1) * rows + (child & 1)) * n;
    for (int k = 0; k < deep; k++)
      for (int j = 0; j < n; j++, index += n, entity += n) {
        /* the first node of a row, the inner nodes, the last node: -1 if another cell writes them */
        const int32_t no[3] = {-(int32_t)(others >> entity[0] & 1), -(int32_t)(others >> entity[1] & 1),
                               -(int32_t)(others >> entity[n - 1] & 1)};
        Real *at = corner + (k * rows + j) * rows;
        NAME(pass)(write, x, index[0] | no[0], at);
        for (int i = 1; i < n - 1; i++) NAME(pass)(write, x, index[i] | no[1], at + i);
        NAME(pass)(write, x, index[n - 1] | no[2], at + n - 1);
      }
  }
}

TESI_INLINE void NAME(prolongate_cell)(const TesiCellsTransfer *t, int64_t cell, int m, int n, Real *u,
                                       Real *fine) {
  const TesiCellsFamily *family = &t->family[cell];
  const int rows = family->refined ? 2 * n : n, three = t->dim == 3;
  const Real *E = t->E[family->refined], *T = t->T[family->refined];
  Real x[NAME(MIDDLE)], y[NAME(MIDDLE)], z[NAME(ALL)];
  if (!family->refined && m == n) {
    NAME(exchange)(t, family, n, true, fine, u);
    return;
  }
  NAME(across)(three ? m * m : m, m, rows, T, u, x);
  NAME(along)(m, rows, rows, three ? m : 1, E, x, three ? y : z);
  if (three) NAME(along)(m, rows, rows * rows, 1, E, y, z);
  NAME(exchange)(t, family, n, true, fine, z);
}

TESI_INLINE void NAME(restrict_cell)(const TesiCellsTransfer *t, int64_t cell, int m, int n, Real *fine,
                                     Real *u) {
  const TesiCellsFamily *family = &t->family[cell];
  const int rows = family->refined ? 2 * n : n, three = t->dim == 3;
  const Real *E = t->E[family->refined], *T = t->T[family->refined];
  Real x[NAME(MIDDLE)], y[NAME(MIDDLE)], z[NAME(ALL)];
  if (!family->refined && m == n) {
    NAME(exchange)(t, family, n, false, fine, u);
    return;
  }
  NAME(exchange)(t, family, n, false, fine, z);
  if (three) NAME(along)(rows, m, rows * rows, 1, T, z, y);
  NAME(along)(rows, m, rows, three ? m : 1, T, three ? y : z, x);
  NAME(across)(three ? m * m : m, rows, m, E, x, u);
}

TESI_INLINE void NAME(prolongate_range)(const TesiCellsTransfer *t, int64_t first, int64_t end, int m, int n,
                                        const Real *coarse, Real *fine) {
  Real u[TESI_FOREST_CELL + NAME(PAD)];
  for (int64_t cell = first; cell < end; cell++) {
    NAME(read)(t, cell, coarse, u);
    NAME(prolongate_cell)(t, cell, m, n, u, fine);
  }
}

TESI_INLINE void NAME(restrict_range)(const TesiCellsTransfer *t, int64_t first, int64_t end, int m, int n,
                                      Real *fine, Real *coarse) {
  Real u[TESI_FOREST_CELL + NAME(PAD)];
  for (int64_t cell = first; cell < end; cell++) {
    NAME(restrict_cell)(t, cell, m, n, fine, u);
    NAME(add)(t, cell, u, coarse);
  }
}

/* Degrees with specialised loops for transfers between meshes; other degrees, and transfers between degrees, use sizes
 * at run time. */
#define NAME_CASE(k)                                                                                         \
  case k + 1:                                                                                                \
    NAME_RANGE(k + 1, k + 1);                                                                                \
    break;
#define NAME_CASES                                                                                           \
  switch (t->m == t->n ? t->n : 0) {                                                                         \
    TESI_EACH_DEGREE_8(NAME_CASE)                                                                            \
  default:                                                                                                   \
    NAME_RANGE(t->m, t->n);                                                                                  \
  }

void TESI_SIMD(NAME(tesi_cells_prolongate))(const TesiCellsTransfer *t, int64_t first, int64_t end,
                                            const void *coarse, void *fine) {
#define NAME_RANGE(m, n) NAME(prolongate_range)(t, first, end, m, n, coarse, fine)
  NAME_CASES
#undef NAME_RANGE
}

/* `fine` is only read. */
void TESI_SIMD(NAME(tesi_cells_restrict))(const TesiCellsTransfer *t, int64_t first, int64_t end,
                                          const void *fine, void *coarse) {
#define NAME_RANGE(m, n) NAME(restrict_range)(t, first, end, m, n, (void *)(uintptr_t)fine, coarse)
  NAME_CASES
#undef NAME_RANGE
}
#undef NAME_CASES
#undef NAME_CASE
