/* The operator applied to one batch of cells, phase by phase, and to a tile. Included after quadrature_lines_body.h
 * with the same LINE and LINE_UNROLL, and SPECIALISED: 1 where degrees are literals, so that rows can be transposed
 * in registers.
 *
 * Arrays of a batch [slow][mid][x]: `values` (nodes, then points) and `result` (points, then nodes). */

/* A split batch continues in the next row of cells. From the beginning of its part in each of the two rows it reads
 * LANES cells, so it also reads nodes before and after its own; near the ends of the vector these nodes do not exist.
 * In short rows the lanes of both parts have common nodes. */
TESI_INLINE int LINE(shape)(const TesiQuadPlan *plan, const Batch *batch) {
  const int k = plan->n - 1;
  const int64_t row = plan->nodes[0], plane = row * plan->nodes[1];
  const int64_t last = batch->base + k * row + (plan->dim == 3 ? k * plane : 0) + LANES * k;
  if (!SPECIALISED) return SCATTERED;
  if (batch->cx + LANES <= plan->cells[0]) return WHOLE;
  return plan->cells[0] > LANES && last < plane * plan->nodes[2] ? SPLIT : SCATTERED;
}

TESI_APART void LINE(locate)(const TesiQuadPlan *plan, const TesiQuadTile *tile, int cz, int cell,
                             Batch *batch) {
  const int k = plan->n - 1, nx = plan->cells[0], cells = (tile->y[1] - tile->y[0]) * nx;
  const int64_t row = plan->nodes[0], plane = row * plan->nodes[1];
  const Real *rx = plan->inverse_h2[0], *ry = plan->inverse_h2[1], *rz = plan->inverse_h2[2];
  int cx = cell % nx, cy = tile->y[0] + cell / nx;
  batch->n = plan->n, batch->cx = cx, batch->cy = cy, batch->cz = cz;
  batch->count = tesi_min(LANES, cells - cell);
  batch->part = tesi_min(batch->count, nx - cx);
  batch->base = cx * k + cy * k * row + cz * k * plane;
  batch->second = batch->base + k * row - nx * k;
  batch->shape = LINE(shape)(plan, batch);
  if (batch->shape == WHOLE) {
    const Real h2 = 1 / (plan->dim == 3 ? rz[cz] : ry[cy]);
    batch->scale_x = h2 * load(rx + cx);
    batch->scale_y = h2 * ry[cy] - (V){0};
    return;
  }
  Real sx[LANES], sy[LANES];
  for (int l = 0; l < LANES; l++) {
    const Real h2 = 1 / (plan->dim == 3 ? rz[cz] : ry[cy]);
    batch->offset[l] = cx * k + cy * k * row + cz * k * plane;
    sx[l] = h2 * rx[cx], sy[l] = h2 * ry[cy];
    if (l + 1 < batch->count && ++cx == nx) cx = 0, cy++;
  }
  batch->scale_x = load(sx), batch->scale_y = load(sy);
}

/* p[i][lane]: nodes of a row for lanes that are not consecutive; lanes without a cell are zero. */
TESI_INLINE void LINE(gather_row)(int n, const Batch *batch, const Real *x, V *p) {
  Real *values = (Real *)p;
  memset(values, 0, (size_t)n * sizeof *p);
  for (int l = 0; l < batch->count; l++)
    for (int i = 0; i < n; i++) values[i * LANES + l] = x[batch->offset[l] + i];
}

/* The same for a split batch. Lanes without a cell get meaningless numbers, but their coefficients are zero. */
TESI_INLINE void LINE(load_modal_row)(int n, const Batch *batch, const Real *x, V *u) {
  V v[TESI_QUAD_N];
  const LaneMask first = lanes_below(batch->part);
  load_row(n - 1, x + batch->base, u);
  if (batch->part == batch->count) return;
  load_row(n - 1, x + batch->second, v);
  LINE_UNROLL for (int i = 0; i < n; i++) u[i] = blend(first, u[i], v[i]);
}

/* values <- B u along x (and mid): x rows of slow node s. */
TESI_INLINE void LINE(rows_in)(int n, int mid, const Apart *apart, const Real *tables, const Batch *batch,
                               const Real *x, const Real *next, int64_t stride, V *plane) {
  for (int j = 0; j < mid; j++) {
    V u[TESI_QUAD_N], *p = plane + j * n;
    const Real *row = x + j * stride;
    LINE_UNROLL for (int v = 0; v < (SPECIALISED ? n - 1 : 0); v++)
        __builtin_prefetch(next + j * stride + v * LANES, 0, 2);
    if (SPECIALISED && batch->shape == WHOLE)
      load_row(n - 1, row + batch->base, u);
    else if (SPECIALISED && batch->shape == SPLIT)
      LINE(load_modal_row)(n, batch, row, u);
    else {
      apart->gather_row(batch, row, p);
      LINE_UNROLL for (int i = 0; i < n; i++) u[i] = p[i];
    }
    LINE(interpolate)(n, tables + TESI_B_EVEN * TESI_QUAD_HALF, tables + TESI_B_ODD * TESI_QUAD_HALF, u, u);
    LINE_UNROLL for (int i = 0; i < n; i++) p[i] = u[i];
  }
}

/* B or B' along lines p[0], p[stride], ..., in place. */
TESI_INLINE void LINE(along)(int n, int count, int stride, const Real *even, const Real *odd, V *p) {
  for (int i = 0; i < count; i++) {
    V u[TESI_QUAD_N];
    LINE_UNROLL for (int j = 0; j < n; j++) u[j] = p[j * stride + i];
    LINE(interpolate)(n, even, odd, u, u);
    LINE_UNROLL for (int j = 0; j < n; j++) p[j * stride + i] = u[j];
  }
}

/* values <- B values along the slow direction, result <- D' a D values + c values. */
TESI_INLINE void LINE(slow)(int n, int count, const Real *tables, const V *a, const V *c, V *values,
                            V *result) {
  const int m = (n + 1) / 2, f = n / 2;
  for (int i = 0; i < count; i++) {
    V u[TESI_QUAD_N], r[TESI_QUAD_N], e[TESI_QUAD_N], o[TESI_QUAD_N], oe[TESI_QUAD_N], oo[TESI_QUAD_N];
    LINE_UNROLL for (int s = 0; s < n; s++) u[s] = values[s * count + i];
    LINE(split)(n, u, e, o);
    LINE(multiply)(m, m, tables + TESI_B_EVEN * TESI_QUAD_HALF, e, oe);
    LINE(multiply)(f, f, tables + TESI_B_ODD * TESI_QUAD_HALF, o, oo);
    LINE(join)(n, oe, oo, u);
    LINE_UNROLL for (int s = 0; s < n; s++) values[s * count + i] = u[s];
    LINE(stiffness)
    (n, tables + TESI_D2_EVEN * TESI_QUAD_HALF, tables + TESI_D2_ODD * TESI_QUAD_HALF, tables, a + i * n, 1,
     oe, oo, e, o);
    LINE(join)(n, e, o, r);
    if (c) LINE_UNROLL for (int s = 0; s < n; s++) r[s] += c[i * n + s] * u[s];
    LINE_UNROLL for (int s = 0; s < n; s++) result[s * count + i] = r[s];
  }
}

/* result += scale D' a D values along the middle direction of one plane; a of this plane. Prefetches `ahead`, the
 * cache lines that are needed soon, spread evenly over this longest phase: many prefetches at once would fill the
 * queue to memory. */
TESI_INLINE void LINE(middle)(int n, const Real *tables, const V *a, V scale, const V *values, V *result,
                              const V *ahead) {
  for (int i = 0; i < n; i++) {
    V u[TESI_QUAD_N], e[TESI_QUAD_N], o[TESI_QUAD_N], re[TESI_QUAD_N], ro[TESI_QUAD_N];
    LINE_UNROLL for (int v = 0; v < n / 2; v++) __builtin_prefetch(ahead + i * n + v, 0, 2);
    LINE_UNROLL for (int j = 0; j < n; j++) u[j] = values[j * n + i];
    LINE(split)(n, u, e, o);
    LINE(stiffness)
    (n, tables + TESI_D_EVEN * TESI_QUAD_HALF, tables + TESI_D_ODD * TESI_QUAD_HALF, tables, a + i * n, n * n,
     e, o, re, ro);
    LINE(join)(n, re, ro, u);
    LINE_UNROLL for (int j = 0; j < n; j++) result[j * n + i] += scale * u[j];
  }
}

/* result <- B' (result + scale D' a D values) along x, for the rows of one plane. */
TESI_INLINE void LINE(rows)(int n, int mid, const Real *tables, const V *a, V scale, const V *values,
                            V *result, const V *ahead) {
  const V twice = scale + scale; /* halves against sums */
  for (int j = 0; j < mid; j++) {
    V u[TESI_QUAD_N], e[TESI_QUAD_N], o[TESI_QUAD_N], re[TESI_QUAD_N], ro[TESI_QUAD_N];
    LINE_UNROLL for (int v = mid > 1 ? n / 2 : 0; v < n; v++) __builtin_prefetch(ahead + j * n + v, 0, 2);
    LINE_UNROLL for (int i = 0; i < n; i++) u[i] = values[j * n + i];
    LINE(split)(n, u, e, o);
    LINE(stiffness)
    (n, tables + TESI_D_EVEN * TESI_QUAD_HALF, tables + TESI_D_ODD * TESI_QUAD_HALF, tables, a + j * n * n, n,
     e, o, re, ro);
    LINE_UNROLL for (int i = 0; i < n; i++) u[i] = result[j * n + i];
    LINE(split)(n, u, e, o);
    LINE_UNROLL for (int i = 0; i < n / 2; i++) e[i] += twice * re[i], o[i] += twice * ro[i];
    if (n % 2) e[n / 2] += scale * re[n / 2];
    LINE(keep)
    (n, tables + TESI_BT_EVEN * TESI_QUAD_HALF, tables + TESI_BT_ODD * TESI_QUAD_HALF, e, o, re, ro);
    LINE(join)(n, re, ro, u);
    LINE_UNROLL for (int i = 0; i < n; i++) result[j * n + i] = u[i];
  }
}

/* Writes y of LANES k + 1 nodes. By the state of the row it is t, b - t, y plus or minus t, or zero. The batch before
 * has written node 0, unless this is the first cell. */
TESI_INLINE void LINE(put_row)(int k, const Batch *batch, const TesiQuadPlan *plan, int state, const Real *b,
                               const Real *t, Real *y) {
  const Real before = y[0], sign = b ? -1 : 1;
  const int last = LANES * k;
  if (state == TESI_ROW_ZERO) {
    memset(y, 0, (size_t)(last + 1) * sizeof *y);
    return;
  }
  if (state == TESI_ROW_ADD && !b) {
    LINE_UNROLL for (int v = 0; v < k; v++) store(y + v * LANES, load(y + v * LANES) + load(t + v * LANES));
    y[last] += t[last];
  } else if (state == TESI_ROW_ADD) {
    LINE_UNROLL for (int v = 0; v < k; v++) store(y + v * LANES, load(y + v * LANES) - load(t + v * LANES));
    y[last] -= t[last];
  } else {
    if (!b) {
      LINE_UNROLL for (int v = 0; v < k; v++) store(y + v * LANES, load(t + v * LANES));
      y[last] = t[last];
    } else {
      LINE_UNROLL for (int v = 0; v < k; v++) store(y + v * LANES, load(b + v * LANES) - load(t + v * LANES));
      y[last] = b[last] - t[last];
    }
    if (batch->cx > 0) y[0] = before + sign * t[0];
  }
  if (batch->cx == 0 && !plan->natural[TES_LEFT]) y[0] = 0;
  if (batch->cx + LANES == plan->cells[0] && !plan->natural[TES_RIGHT]) y[last] = 0;
}

/* The same for `cells` cells from cx on, one part of a split batch. */
TESI_INLINE void LINE(put_part)(int k, int cx, int cells, const TesiQuadPlan *plan, int state, const Real *b,
                                const Real *t, Real *y) {
  const Real before = y[0], sign = b ? -1 : 1;
  const int last = cells * k;
  if (state == TESI_ROW_ZERO) {
    memset(y, 0, (size_t)(last + 1) * sizeof *y);
    return;
  }
  if (state == TESI_ROW_ADD)
    for (int i = 0; i <= last; i++) y[i] += sign * t[i];
  else if (b)
    for (int i = 0; i <= last; i++) y[i] = b[i] - t[i];
  else
    for (int i = 0; i <= last; i++) y[i] = t[i];
  if (state == TESI_ROW_FIRST && cx > 0) y[0] = before + sign * t[0];
  if (cx == 0 && !plan->natural[TES_LEFT]) y[0] = 0;
  if (cx + cells == plan->cells[0] && !plan->natural[TES_RIGHT]) y[last] = 0;
}

/* The same for one lane, number by number. */
TESI_INLINE void LINE(put_lane)(int n, int state, int cx, const TesiQuadPlan *plan, const Real *b,
                                const Real *t, Real *y) {
  const Real sign = b ? -1 : 1;
  for (int i = 0; i < n; i++) {
    const int own =
        tesi_quad_state(i, n - 1, cx, plan->cells[0], 0, plan->cells[0], false, false, plan->natural);
    const int s = tesi_max(state, own);
    const Real base = s == TESI_ROW_ADD ? y[i] : b ? b[i] : 0;
    y[i] = s == TESI_ROW_ZERO ? 0 : base + sign * t[i * LANES];
  }
}

/* State of row i of cell `cell` in direction d (1 or 2). */
TESI_INLINE int LINE(state)(const TesiQuadPlan *plan, const TesiQuadTile *tile, int d, int i, int cell) {
  const int *range = d == 1 ? tile->y : tile->z;
  return tesi_quad_state(i, plan->n - 1, cell, plan->cells[d], range[0], range[1], tile->low[d - 1],
                         tile->high[d - 1], plan->natural + 2 * d);
}

/* State of the rows at slow node s and middle node j of cell (cy, cz). */
TESI_INLINE int LINE(row_state)(int dim, const TesiQuadPlan *plan, const TesiQuadTile *tile, int s, int j,
                                int cy, int cz) {
  if (dim == 2) return LINE(state)(plan, tile, 1, s, cy);
  return tesi_max(LINE(state)(plan, tile, 1, j, cy), LINE(state)(plan, tile, 2, s, cz));
}

/* Result rows at node j of the middle direction into y: row s of the slow direction at result + s * count. */
TESI_INLINE void LINE(rows_out)(int n, int dim, int j, int count, const TesiQuadPlan *plan,
                                const TesiQuadTile *tile, const Batch *batch, const V *result, const Real *b,
                                Real *y, Real *buffer, const Batch *next) {
  const int k = n - 1, pitch = LANES * n;
  const int64_t row = plan->nodes[0], slow = dim == 3 ? row * plan->nodes[1] : row,
                first = dim == 3 ? j * row : 0;
  for (int s = 0; s < n; s++) {
    store_row(k, result + s * count, buffer + s * pitch);
    LINE_UNROLL for (int v = 0; v < k; v++)
        __builtin_prefetch(y + next->base + first + s * slow + v * LANES, 1, 2);
  }
  for (int s = 0; s < n; s++) { /* after all stores, so that they need not wait for it */
    const int64_t at = batch->base + first + s * slow;
    const int state = LINE(row_state)(dim, plan, tile, s, j, batch->cy, batch->cz);
    LINE(put_row)(k, batch, plan, state, b ? b + at : NULL, buffer + s * pitch, y + at);
  }
}

/* The same for a split batch: the rows of its two parts lie in the buffer side by side. */
TESI_INLINE void LINE(split_rows_out)(int n, int dim, int j, int count, const TesiQuadPlan *plan,
                                      const TesiQuadTile *tile, const Batch *batch, const V *result,
                                      const Real *b, Real *y, Real *buffer) {
  const int k = n - 1, pitch = LANES * n, part = batch->part, rest = batch->count - part;
  const int64_t row = plan->nodes[0], slow = dim == 3 ? row * plan->nodes[1] : row,
                first = dim == 3 ? j * row : 0;
  const LaneMask below = lanes_below(part);
  for (int s = 0; s < n; s++) {
    V u[TESI_QUAD_N], v[TESI_QUAD_N];
    LINE_UNROLL for (int i = 0; i < n; i++) {
      u[i] = blend(below, result[s * count + i], (V){0});
      v[i] = blend(below, (V){0}, result[s * count + i]);
    }
    store_row(k, u, buffer + 2 * s * pitch);
    store_row(k, v, buffer + (2 * s + 1) * pitch);
  }
  for (int s = 0; s < n; s++) {
    const int64_t at = batch->base + first + s * slow, then = batch->second + first + s * slow + part * k;
    const int state = LINE(row_state)(dim, plan, tile, s, j, batch->cy, batch->cz);
    const int state2 = LINE(row_state)(dim, plan, tile, s, j, batch->cy + 1, batch->cz);
    const Real *t = buffer + 2 * s * pitch;
    LINE(put_part)(k, batch->cx, part, plan, state, b ? b + at : NULL, t, y + at);
    if (rest) LINE(put_part)(k, 0, rest, plan, state2, b ? b + then : NULL, t + pitch + part * k, y + then);
  }
}

/* The whole result for lanes that are not consecutive, cell by cell: each cell adds to the results of the cells
 * before it. */
TESI_INLINE void LINE(lanes_out)(int n, int dim, const TesiQuadPlan *plan, const TesiQuadTile *tile,
                                 const Batch *batch, const V *result, const Real *b, Real *y) {
  const int mid = dim == 3 ? n : 1;
  const int64_t row = plan->nodes[0], slow = dim == 3 ? row * plan->nodes[1] : row;
  for (int l = 0; l < batch->count; l++) {
    const int cell = batch->cx + l, cx = cell % plan->cells[0], cy = batch->cy + cell / plan->cells[0];
    for (int s = 0; s < n; s++)
      for (int j = 0; j < mid; j++) {
        const int64_t at = batch->offset[l] + s * slow + j * row;
        const Real *t = (const Real *)(result + (s * mid + j) * n) + l;
        LINE(put_lane)
        (n, LINE(row_state)(dim, plan, tile, s, j, cy, batch->cz), cx, plan, b ? b + at : NULL, t, y + at);
      }
  }
}

/* One batch: y <- or += A x, all phases. a and c: the coefficients of the batch. */
TESI_INLINE void LINE(cells)(int dim, int n, const Apart *apart, const TesiQuadPlan *plan,
                             const TesiQuadTile *tile, const Batch *batch, const Batch *next, const V *a,
                             const V *c, const Real *b, const Real *x, Real *y, V *values, V *result,
                             Real *buffer) {
  const int mid = dim == 3 ? n : 1, count = mid * n;
  const Real *tables = plan->tables;
  const Real *bt_even = tables + TESI_BT_EVEN * TESI_QUAD_HALF,
             *bt_odd = tables + TESI_BT_ODD * TESI_QUAD_HALF;
  const int64_t row = plan->nodes[0], slow = dim == 3 ? row * plan->nodes[1] : row;
  const V *ahead = a + mid * n * n; /* coefficients of the next batch */
  for (int s = 0; s < n; s++) {
    V *plane = values + s * count;
    LINE(rows_in)(n, mid, apart, tables, batch, x + s * slow, x + next->base + s * slow, row, plane);
    if (dim == 3) LINE(along)
    (n, n, n, tables + TESI_B_EVEN * TESI_QUAD_HALF, tables + TESI_B_ODD * TESI_QUAD_HALF, plane);
  }
  LINE(slow)(n, count, tables, a, c, values, result);
  for (int s = 0; s < n; s++) {
    V *plane = result + s * count;
    const V *u = values + s * count;
    if (dim == 3) LINE(middle)(n, tables, a + s, batch->scale_y, u, plane, ahead + s * count);
    LINE(rows)(n, mid, tables, a + s, batch->scale_x, u, plane, ahead + s * count);
    if (dim == 3) LINE(along)(n, n, n, bt_even, bt_odd, plane);
  }
  for (int j = 0; j < mid; j++) {
    LINE(along)(n, n, count, bt_even, bt_odd, result + j * n);
    if (SPECIALISED && batch->shape == WHOLE)
      LINE(rows_out)(n, dim, j, count, plan, tile, batch, result + j * n, b, y, buffer, next);
    else if (SPECIALISED && batch->shape == SPLIT)
      apart->rows_out(dim, j, plan, tile, batch, result + j * n, b, y, buffer);
  }
  if (batch->shape == SCATTERED) apart->lanes_out(dim, plan, tile, batch, result, b, y);
}

/* All batches of a tile. */
TESI_INLINE void LINE(tile)(int dim, int n, const Apart *apart, const TesiQuadPlan *plan,
                            const TesiQuadTile *tile, const Real *b, const Real *x, Real *y, V *work) {
  const int64_t points = (dim == 3 ? n : 1) * n * n;
  V *values = work, *result = values + points;
  Real *buffer = (Real *)(result + points);
  const int cells = (tile->y[1] - tile->y[0]) * plan->cells[0];
  const V *a = (const V *)plan->a + tile->batch * points;
  const V *c = plan->c ? (const V *)plan->c + tile->batch * points : NULL;
  Batch batch, next;
  LINE(locate)(plan, tile, tile->z[0], 0, &next);
  for (int cz = tile->z[0]; cz < tile->z[1]; cz++)
    for (int cell = 0; cell < cells; cell += LANES) {
      const bool last = cell + LANES >= cells;
      batch = next;
      if (!last || cz + 1 < tile->z[1]) LINE(locate)(plan, tile, cz + last, last ? 0 : cell + LANES, &next);
      LINE(cells)(dim, n, apart, plan, tile, &batch, &next, a, c, b, x, y, values, result, buffer);
      a += points;
      if (c) c += points;
    }
}
