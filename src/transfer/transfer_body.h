/* Transfers of one precision, included with REAL and NAME(x).
 *
 * Cost a fine dof in 3D (k = degree, embedding without even-odd): z k+1, y (k+1)/2, x (k+1)/4 multiply-adds; least
 * traffic: the fine vector once (twice when added to) and an eighth of it for the coarse one.
 * Lines run along x, contiguous: the z and y sums are vectorised along them. Rows and columns of E that are zero (coarse vertices) are skipped. */

/* out[i] = (add ? out[i] : 0) + sum over t < terms of e[t*stride] * in[t][i] */
static void NAME(combine)(int terms, const double *e, int stride, REAL *const *in, int64_t length, bool add,
                          REAL *restrict out) {
  bool started = add;
  for (int t = 0; t < terms;) {
    REAL w[4] = {0, 0, 0, 0};
    const REAL *p[4] = {in[0], in[0], in[0], in[0]};
    int used = 0;
    for (; t < terms && used < 4; t++)
      if (e[t * stride] != 0) w[used] = (REAL)e[t * stride], p[used++] = in[t];
    if (used == 0) break;
    const REAL *restrict a = p[0], *restrict b = p[1], *restrict c = p[2], *restrict d = p[3];
    if (used == 1 && !started) {
#pragma omp simd
      for (int64_t i = 0; i < length; i++) out[i] = w[0] * a[i];
    } else if (used == 1) {
#pragma omp simd
      for (int64_t i = 0; i < length; i++) out[i] += w[0] * a[i];
    } else if (!started) {
#pragma omp simd
      for (int64_t i = 0; i < length; i++) out[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i];
    } else {
#pragma omp simd
      for (int64_t i = 0; i < length; i++) out[i] += w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i];
    }
    started = true;
  }
  if (!started)
    for (int64_t i = 0; i < length; i++) out[i] = 0;
}

static void NAME(prolongate_line)(const TesiEmbedding *e, const REAL *restrict coarse, REAL *restrict fine) {
  const int n = e->degree + 1;
  for (int c = 0; c < e->cells; c++) {
    const double *E = tesi_embedding_cell(e, c);
    const REAL *u = coarse + c * e->degree;
    REAL *v = fine + c * e->step;
    for (int f = 0; f < e->step + (c + 1 == e->cells); f++) {
      REAL sum = 0;
      for (int p = 0; p < n; p++) sum += (REAL)E[f * n + p] * u[p];
      v[f] = sum;
    }
  }
}

static void NAME(restrict_line)(const TesiEmbedding *e, const REAL *restrict fine, REAL *restrict coarse) {
  const int n = e->degree + 1;
  for (int i = 0; i < e->coarse_nodes; i++) coarse[i] = 0;
  for (int c = 0; c < e->cells; c++) {
    const double *E = tesi_embedding_cell(e, c);
    const REAL *v = fine + c * e->step;
    REAL *u = coarse + c * e->degree;
    for (int f = 0; f < e->step + (c + 1 == e->cells); f++)
      for (int p = 0; p < n; p++) u[p] += (REAL)E[f * n + p] * v[f];
  }
  if (!e->natural[0]) coarse[0] = 0;
  if (!e->natural[1]) coarse[e->coarse_nodes - 1] = 0;
}

/* A tile is one coarse cell in y and z: its fine rows but the last ones (which the next tile has) are written. */
static void NAME(prolongate)(const TesTransfer *t, int thread, int threads, const void *coarse, bool add,
                             void *fine, void *scratch) {
  const TesiEmbedding *x = &t->embedding[0], *y = &t->embedding[1], *z = &t->embedding[2];
  const int64_t length = x->fine_nodes, line = (length + 15) / 16 * 16;
  const int ny = y->degree + 1, nz = z->degree + 1;
  const int64_t tiles = (int64_t)y->cells * z->cells, first = tiles * thread / threads,
                end = tiles * (thread + 1) / threads;
  REAL *in_x = scratch, *in_y = in_x + line * ny * nz;
  for (int64_t tile = first; tile < end; tile++) {
    const int cy = (int)(tile % y->cells), cz = (int)(tile / y->cells);
    const int rows_y = y->step + (cy + 1 == y->cells), rows_z = z->step + (cz + 1 == z->cells);
    REAL *terms[TESI_MAX_POINTS];
    for (int pz = 0; pz < nz; pz++)
      for (int py = 0; py < ny; py++) {
        const int64_t row = (int64_t)(cz * z->degree + pz) * y->coarse_nodes + cy * y->degree + py;
        NAME(prolongate_line)(x, (const REAL *)coarse + row * x->coarse_nodes, in_x + line * (pz * ny + py));
      }
    for (int pz = 0; pz < nz; pz++) {
      for (int py = 0; py < ny; py++) terms[py] = in_x + line * (pz * ny + py);
      for (int fy = 0; fy < rows_y; fy++) NAME(combine)
      (ny, tesi_embedding_cell(y, cy) + fy * ny, 1, terms, length, false,
       in_y + line * (pz * (y->step + 1) + fy));
    }
    for (int fz = 0; fz < rows_z; fz++)
      for (int fy = 0; fy < rows_y; fy++) {
        const int64_t row = (int64_t)(cz * z->step + fz) * y->fine_nodes + cy * y->step + fy;
        for (int pz = 0; pz < nz; pz++) terms[pz] = in_y + line * (pz * (y->step + 1) + fy);
        NAME(combine)
        (nz, tesi_embedding_cell(z, cz) + fz * nz, 1, terms, length, add, (REAL *)fine + row * length);
      }
  }
}

/* Which coarse rows of a layer are computed: planes [pz, end_pz) of the layer, coarse cells [cy, end_cy) in y. */
typedef struct NAME(Part) {
  int pz, end_pz, cy, end_cy;
} NAME(Part);

/* Fine rows of coarse cell (cy, cz), summed in z and y but not yet in x: added to partial[py][pz][line]. */
static void NAME(restrict_cell)(const TesTransfer *t, int cy, int cz, const NAME(Part) * part,
                                const REAL *fine, REAL *in_z, REAL *partial) {
  const TesiEmbedding *x = &t->embedding[0], *y = &t->embedding[1], *z = &t->embedding[2];
  const int64_t length = x->fine_nodes, line = (length + 15) / 16 * 16;
  const int ny = y->degree + 1, nz = z->degree + 1;
  const int rows_y = y->step + (cy + 1 == y->cells), rows_z = z->step + (cz + 1 == z->cells);
  REAL *terms[2 * TESI_MAX_POINTS];
  for (int fy = 0; fy < rows_y; fy++) {
    for (int fz = 0; fz < rows_z; fz++)
      terms[fz] = (REAL *)fine + ((int64_t)(cz * z->step + fz) * y->fine_nodes + cy * y->step + fy) * length;
    const double *Ey = tesi_embedding_cell(y, cy) + fy * ny;
    for (int pz = part->pz; pz < part->end_pz; pz++) {
      NAME(combine)(rows_z, tesi_embedding_cell(z, cz) + pz, nz, terms, length, false, in_z);
      for (int py = 0; py < ny; py++)
        NAME(combine)(1, Ey + py, 1, &in_z, length, true, partial + line * (py * nz + pz));
    }
  }
}

/* Finishes the coarse rows that coarse cell cy owns: the sum in x, zeros at Dirichlet nodes. */
static void NAME(finish_rows)(const TesTransfer *t, int cy, int cz, const NAME(Part) * part, bool shared,
                              const REAL *partial, REAL *out, REAL *coarse) {
  const TesiEmbedding *x = &t->embedding[0], *y = &t->embedding[1], *z = &t->embedding[2];
  const int64_t line = (x->fine_nodes + 15) / 16 * 16;
  for (int py = 0; py < y->degree + (cy + 1 == y->cells); py++)
    for (int pz = part->pz; pz < part->end_pz; pz++) {
      const int row_y = cy * y->degree + py, row_z = cz * z->degree + pz;
      const bool zero = (row_y == 0 && !y->natural[0]) || (row_y + 1 == y->coarse_nodes && !y->natural[1]) ||
                        (row_z == 0 && !z->natural[0]) || (row_z + 1 == z->coarse_nodes && !z->natural[1]);
      REAL *row = coarse + ((int64_t)row_z * y->coarse_nodes + row_y) * x->coarse_nodes;
      NAME(restrict_line)(x, partial + line * (py * (z->degree + 1) + pz), out);
      for (int i = 0; i < x->coarse_nodes; i++)
        row[i] = (pz == 0 && shared ? row[i] : 0) + (zero ? 0 : out[i]);
    }
}

/* One coarse cell layer. Its first plane (shared with the layer below) is added to when `shared`, the others written. */
static void NAME(restrict_layer)(const TesTransfer *t, int cz, NAME(Part) part, bool shared, const REAL *fine,
                                 REAL *coarse, REAL *scratch) {
  const TesiEmbedding *x = &t->embedding[0], *y = &t->embedding[1], *z = &t->embedding[2];
  const int64_t line = (x->fine_nodes + 15) / 16 * 16, rows = line * (z->degree + 1);
  REAL *partial = scratch, *in_z = partial + rows * (y->degree + 1), *out = in_z + line;
  for (int64_t i = 0; i < rows * (y->degree + 1); i++) partial[i] = 0;
  for (int cy = part.cy > 0 ? part.cy - 1 : 0; cy < part.end_cy;
       cy++) { /* the cell before begins the shared row */
    NAME(restrict_cell)(t, cy, cz, &part, fine, in_z, partial);
    if (cy >= part.cy) NAME(finish_rows)(t, cy, cz, &part, shared, partial, out, coarse);
    for (int64_t i = 0; i < rows; i++) partial[i] = partial[rows * y->degree + i];
    for (int64_t i = rows; i < rows * (y->degree + 1); i++) partial[i] = 0;
  }
}

/* A thread owns the coarse planes of its layers (in 2D: the coarse rows of its cells). What it shares with the one
 * below is begun by doing that one's part again, so that sums have the same order for every number of threads. */
static void NAME(restrict_)(const TesTransfer *t, int thread, int threads, const void *fine, void *coarse,
                            void *scratch) {
  const TesiEmbedding *y = &t->embedding[1], *z = &t->embedding[2];
  const int nz = z->degree + 1, cells = z->degree ? z->cells : y->cells;
  const int first = (int)((int64_t)cells * thread / threads),
            end = (int)((int64_t)cells * (thread + 1) / threads);
  if (first == end) return;
  if (z->degree == 0) {
    NAME(restrict_layer)(t, 0, (NAME(Part)){0, nz, first, end}, false, fine, coarse, scratch);
    return;
  }
  if (first > 0)
    NAME(restrict_layer)(t, first - 1, (NAME(Part)){nz - 1, nz, 0, y->cells}, false, fine, coarse, scratch);
  for (int cz = first; cz < end; cz++) {
    const int end_pz = cz + 1 == end && end < cells ? nz - 1 : nz; /* the next thread owns that plane */
    NAME(restrict_layer)(t, cz, (NAME(Part)){0, end_pz, 0, y->cells}, cz > 0, fine, coarse, scratch);
  }
}
