/* Rows that the lanes of a batch share: node n - 1 of a lane is node 0 of the next. Included like op_mapped_lines_body.h, with
 * SPECIALISED: 1 where n is a literal. */

TESI_INLINE void LINE(gather_joined)(int n, int64_t rows, const int32_t *first, const Real *x, V *u) {
  for (int64_t row = 0; row < rows; row++, u += n) {
    const Real *at = x + first[row];
    if (SPECIALISED) {
      load_row(n - 1, at, u);
      continue;
    }
    for (int i = 0; i < n; i++) {
      Real values[LANES];
      for (int l = 0; l < LANES; l++) values[l] = at[l * (n - 1) + i];
      u[i] = load(values);
    }
  }
}

TESI_INLINE void LINE(scatter_joined)(int n, int64_t rows, const int32_t *first, const V *u, Real *y) {
  for (int64_t row = 0; row < rows; row++, u += n) {
    Real *to = y + first[row];
    if (SPECIALISED) {
      Real sums[(TESI_MAPPED_POINTS + 1) * LANES];
      store_row(n - 1, u, sums);
      LINE_UNROLL for (int i = 0; i < n - 1; i++)
          store(to + i * LANES, load(to + i * LANES) + load(sums + i * LANES));
      to[(n - 1) * LANES] += sums[(n - 1) * LANES];
      continue;
    }
    for (int i = 0; i < n; i++)
      for (int l = 0; l < LANES; l++) to[l * (n - 1) + i] += u[i][l];
  }
}

TESI_INLINE void LINE(gather)(int n, const TesiMappedHost *plan, const TesiMappedBatch *batch, int component,
                              const Real *x, V *u) {
  const int32_t *index = plan->index + batch->index;
  if (batch->kind == TESI_GATHER_JOINED)
    LINE(gather_joined)(n, plan->nodes / n, index, x, u);
  else if (batch->kind == TESI_GATHER_RUNS)
    mapped_gather_runs(plan, index, x, u);
  else if (batch->kind == TESI_GATHER_ANY)
    mapped_gather_any(plan, index, component, x, u);
  else
    mapped_gather_element(plan, batch->count, x + batch->index + component * plan->nodes, u);
  if (batch->mask < 0) return;
  for (int64_t p = 0; p < plan->nodes; p++) u[p] = mapped_keep(u[p], plan->masks[batch->mask + p]);
}

TESI_INLINE void LINE(scatter)(int n, const TesiMappedHost *plan, const TesiMappedBatch *batch, int component,
                               Real sign, const Real *b, V *u, Real *y) {
  const int32_t *index = plan->index + batch->index;
  const int64_t at = batch->index + component * plan->nodes;
  if (batch->kind == TESI_GATHER_ELEMENT) {
    mapped_scatter_element(plan, batch->count, sign, b ? b + at : NULL, u, y + at);
    return;
  }
  if (batch->mask >= 0)
    for (int64_t p = 0; p < plan->nodes; p++) u[p] = mapped_keep(u[p], plan->masks[batch->mask + p]);
  if (sign < 0)
    for (int64_t p = 0; p < plan->nodes; p++) u[p] = -u[p];
  if (batch->kind == TESI_GATHER_JOINED)
    LINE(scatter_joined)(n, plan->nodes / n, index, u, y);
  else if (batch->kind == TESI_GATHER_RUNS)
    mapped_scatter_runs(plan, index, u, y);
  else
    mapped_scatter_any(plan, index, component, u, y);
}
