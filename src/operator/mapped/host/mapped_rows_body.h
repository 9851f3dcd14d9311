/* Rows that the lanes of a batch share: node n - 1 of a lane is node 0 of the next. Included like
 * mapped_lines_body.h, with SPECIALISED: 1 where n is a literal. */

TESI_INLINE void LINE(gather_joined)(int n, int64_t rows, const int32_t *first, const Real *x, V *u) {
  for (int64_t row = 0; row < rows; row++, u += n) {
    const Real *at = x + mapped_first(first[row]);
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

/* Adds u to y. Where the number of the row is negative, all nodes of the row but the first are not yet set: there y
 * <- b + u. Old values are loaded in the same widths in which new ones are stored: a load of another width than a
 * recent store would wait until the store reaches the cache. */
TESI_INLINE void LINE(scatter_joined)(int n, int64_t rows, const int32_t *first, const V *u, const Real *b,
                                      Real *y) {
  for (int64_t row = 0; row < rows; row++, u += n) {
    const int64_t at = mapped_first(first[row]);
    const bool sets = first[row] < 0;
    const Real *from = sets ? b ? b + at : NULL : y + at;
    if (!SPECIALISED) {
      mapped_scatter_row(n, from, u, y + at);
      continue;
    }
    V v[MAPPED_N], old[MAPPED_N], node0 = {0};
    LINE_UNROLL for (int i = 0; i < n; i++) v[i] = u[i];
    if (sets) node0[0] = y[at] - (b ? b[at] : 0);
    if (from) {
      load_row(n - 1, from, old);
      LINE_UNROLL for (int i = 0; i < n - 1; i++) v[i] += old[i];
      v[n - 1] += mapped_keep(old[n - 1], 1u << (LANES - 1));
    }
    v[0] += node0;
    store_row(n - 1, v, y + at);
  }
}

/* Rows whose inner nodes form runs. The index has the numbers of nodes 0, 1 and n - 1 of each row, n >= 4. A run
 * shorter than one load is read beyond its end; mapped_batches.c makes sure that so many nodes follow it. */
TESI_INLINE void LINE(gather_runs)(int n, int64_t rows, const int32_t *index, const Real *x, V *u) {
  for (int64_t row = 0; row < rows; row++, index += 3 * LANES, u += n) {
    u[0] = mapped_gather(x, index);
    LINE_UNROLL for (int s = 0; s < n - 2; s += RUN) {
      const int t = tesi_max(tesi_min(s, n - 2 - RUN), 0);
      V c[RUN];
      load_runs(0, index + LANES, x + t, c);
      LINE_UNROLL for (int i = 0; i < tesi_min(RUN, n - 2); i++) u[1 + t + i] = c[i];
    }
    u[n - 1] = mapped_gather(x, index + 2 * LANES);
  }
}

TESI_INLINE void LINE(scatter_runs)(int n, int64_t rows, const int32_t *index, const V *u, Real *y) {
  for (int64_t row = 0; row < rows; row++, index += 3 * LANES, u += n) {
    mapped_scatter(u[0], index, y);
    mapped_scatter(u[n - 1], index + 2 * LANES, y);
    if (n - 2 < RUN) {
      mapped_scatter_few(n - 2, index + LANES, u + 1, y);
      continue;
    }
    LINE_UNROLL for (int s = 0; s < n - 2; s += RUN) {
      const int t = tesi_min(s, n - 2 - RUN); /* the last run overlaps the one before */
      V c[RUN];
      load_runs(0, index + LANES, y + t, c);
      LINE_UNROLL for (int i = 0; i < RUN; i++) if (t + i >= s) c[i] += u[1 + t + i];
      store_runs(0, index + LANES, c, y + t);
    }
  }
}

TESI_INLINE void LINE(gather)(int n, const TesiMappedHost *plan, const TesiMappedBatch *batch, int component,
                              const Real *x, V *u) {
  const int32_t *index = plan->index + batch->index;
  if (batch->kind == TESI_GATHER_JOINED)
    LINE(gather_joined)(n, plan->nodes / n, index, x, u);
  else if (batch->kind == TESI_GATHER_ENTITIES)
    mapped_gather_entities(plan, index, x, u);
  else if (batch->kind == TESI_GATHER_RUNS)
    LINE(gather_runs)(n, plan->nodes / n, index, x, u);
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
    LINE(scatter_joined)(n, plan->nodes / n, index, u, b, y);
  else if (batch->kind == TESI_GATHER_ENTITIES)
    mapped_scatter_entities(plan, index, u, y);
  else if (batch->kind == TESI_GATHER_RUNS)
    LINE(scatter_runs)(n, plan->nodes / n, index, u, y);
  else
    mapped_scatter_any(plan, index, component, u, y);
}
