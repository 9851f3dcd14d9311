/* Parts whose time does not matter: the diagonal, and mass terms of faces. They use whole tables, and degrees known
 * at run time. Included after quadrature_cells_body.h in its general form (quad_any_). */

/* p <- T p, or T' p, along `count` lines p[i], p[stride + i], ... with the whole table T[n][n]. */
static void quad_whole(int n, int count, int stride, const Real *t, bool transposed, V *p) {
  for (int i = 0; i < count; i++) {
    V out[TESI_QUAD_N];
    for (int j = 0; j < n; j++) {
      V sum = {0};
      for (int q = 0; q < n; q++) sum += t[transposed ? q * n + j : j * n + q] * p[q * stride + i];
      out[j] = sum;
    }
    for (int j = 0; j < n; j++) p[j * stride + i] = out[j];
  }
}

/* result += scale (T_slow' (x) T_mid' (x) T_x') a: squares of B in all directions but d, squares of B' in direction
 * d. */
static void quad_add_squares(const TesiQuadPlan *plan, int d, const V *a, V scale, V *values, V *result) {
  const int n = plan->n, mid = plan->mid, count = n * mid;
  const Real *squares[2] = {plan->squares, (const Real *)plan->squares + n * n};
  for (int i = 0; i < count; i++)
    for (int s = 0; s < n; s++) values[s * count + i] = a[i * n + s];
  quad_whole(n, count, count, squares[d == plan->dim - 1], true, values);
  for (int s = 0; s < n; s++) {
    if (mid > 1) quad_whole(n, n, n, squares[d == 1], true, values + s * count);
    for (int j = 0; j < mid; j++) quad_whole(n, 1, 1, squares[d == 0], true, values + s * count + j * n);
  }
  for (int i = 0; i < n * count; i++) result[i] += scale * values[i];
}

/* Diagonal of the cells of a tile: sum over points of a (d phi_i)^2 + c phi_i^2. */
static void quad_diagonal(const TesiQuadPlan *plan, const TesiQuadTile *tile, const void *b, const void *x,
                          void *y, void *work) {
  const int n = plan->n;
  const V one = 1 - (V){0};
  V *values = work, *result = values + plan->points;
  const int cells = (tile->y[1] - tile->y[0]) * plan->cells[0];
  int64_t at = tile->batch;
  (void)b, (void)x;
  for (int cz = tile->z[0]; cz < tile->z[1]; cz++)
    for (int cell = 0; cell < cells; cell += LANES, at++) {
      Batch batch;
      quad_any_locate(plan, tile, cz, cell, &batch);
      memset(result, 0, (size_t)plan->points * sizeof *result);
      const V *a = (const V *)plan->a + at * plan->points;
      quad_add_squares(plan, 0, a, batch.scale_x, values, result);
      if (plan->dim == 3) quad_add_squares(plan, 1, a, batch.scale_y, values, result);
      quad_add_squares(plan, plan->dim - 1, a, one, values, result);
      if (plan->c) quad_add_squares(plan, -1, (const V *)plan->c + at * plan->points, one, values, result);
      quad_any_lanes_out(n, plan->dim, plan, tile, &batch, result, NULL, y);
    }
}

/* A row of cells of a face: node (i0, i1) of its cell c0 is at base + c0 k s0 + i0 s0 + i1 s1. */
typedef struct FaceRow {
  int t[2]; /* tangential directions; t[1] = -1 in 2D */
  int row, points;
  int64_t base, s[2];
} FaceRow;

static FaceRow quad_face_row(const TesiQuadPlan *plan, int face, int row) {
  const int d = face / 2, k = plan->n - 1;
  const int64_t stride[3] = {1, plan->nodes[0], (int64_t)plan->nodes[0] * plan->nodes[1]};
  FaceRow f = {.t = {d == 0, plan->dim == 3 ? 2 - (d == 2) : -1}, .row = row, .points = plan->n * plan->mid};
  f.s[0] = stride[f.t[0]];
  f.s[1] = f.t[1] < 0 ? 0 : stride[f.t[1]];
  f.base = (face % 2 ? (plan->nodes[d] - 1) * stride[d] : 0) + row * k * f.s[1];
  return f;
}

static bool quad_is_free(const TesiQuadPlan *plan, int d, int node) {
  return (node > 0 || plan->natural[2 * d]) && (node < plan->nodes[d] - 1 || plan->natural[2 * d + 1]);
}

/* y += sign v at the nodes of `count` cells from c0 on; Dirichlet nodes are left out. */
static void quad_scatter_face(const TesiQuadPlan *plan, const FaceRow *f, int c0, int count, Real sign,
                              const V *v, Real *y) {
  const int n = plan->n, k = n - 1;
  for (int i1 = 0; i1 < plan->mid; i1++) {
    if (f->t[1] >= 0 && !quad_is_free(plan, f->t[1], f->row * k + i1)) continue;
    for (int l = 0; l < count; l++)
      for (int i0 = 0; i0 < n; i0++)
        if (quad_is_free(plan, f->t[0], (c0 + l) * k + i0))
          y[f->base + ((c0 + l) * k + i0) * f->s[0] + i1 * f->s[1]] += sign * v[i1 * n + i0][l];
  }
}

static void quad_gather_face(const TesiQuadPlan *plan, const FaceRow *f, int c0, int count, const Real *x,
                             V *v) {
  const int n = plan->n, k = n - 1;
  memset(v, 0, (size_t)f->points * sizeof *v);
  for (int i1 = 0; i1 < plan->mid; i1++)
    for (int l = 0; l < count; l++)
      for (int i0 = 0; i0 < n; i0++)
        v[i1 * n + i0][l] = x[f->base + ((c0 + l) * k + i0) * f->s[0] + i1 * f->s[1]];
}

/* T or T' along both directions of a face cell. */
static void quad_both(const TesiQuadPlan *plan, const Real *t, bool transposed, V *v) {
  const int n = plan->n;
  for (int i1 = 0; i1 < plan->mid; i1++) quad_whole(n, 1, 1, t, transposed, v + i1 * n);
  if (plan->mid > 1) quad_whole(n, n, n, t, transposed, v);
}

static void quad_face(const TesiQuadPlan *plan, int face, int row, const void *x, double sign, void *y) {
  const FaceRow f = quad_face_row(plan, face, row);
  const int cells = plan->cells[f.t[0]], batches = (cells + LANES - 1) / LANES;
  const V *alpha = (const V *)plan->face[face].alpha + (int64_t)row * batches * f.points;
  V v[TESI_QUAD_N * TESI_QUAD_N];
  for (int c0 = 0; c0 < cells; c0 += LANES, alpha += f.points) {
    const int count = tesi_min(LANES, cells - c0);
    if (x) {
      quad_gather_face(plan, &f, c0, count, x, v);
      quad_both(plan, plan->values, false, v);
      for (int q = 0; q < f.points; q++) v[q] *= alpha[q];
      quad_both(plan, plan->values, true, v);
    } else {
      memcpy(v, alpha, (size_t)f.points * sizeof *v);
      quad_both(plan, plan->squares, true, v);
    }
    quad_scatter_face(plan, &f, c0, count, (Real)sign, v, y);
  }
}
