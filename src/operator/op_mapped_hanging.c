/* Mapped operators with hanging nodes, C' K C cell by cell with the interpolation C of forest_space.h: tables of the host's kernels, cell
 * matrices, and the diagonal. */
#include <string.h>
#include "geometry/geometry.h"
#include "mesh/forest/hanging.h"
#include "operator/op_mapped_dense.h"
#include "operator/op_mapped_host.h"

TesStatus tesi_mapped_make_halves(TesContext *context, TesiMappedHost *plan) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int n = plan->n, size = n * n;
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  if (!plan->m->mask) return TES_OK;
  tesi_hanging_halves(n, W);
  TES_TRY(tesi_alloc(ctx, (size_t)(4 * size), tesi_precision_size(plan->m->precision), &plan->halves));
  for (int i = 0; i < 2 * size; i++) {
    const int transposed = 2 * size + i / size * size + i % n * n + i % size / n;
    if (plan->m->precision == TES_DOUBLE)
      ((double *)plan->halves)[i] = ((double *)plan->halves)[transposed] = W[i];
    else
      ((float *)plan->halves)[i] = ((float *)plan->halves)[transposed] = (float)W[i];
  }
done:
  return status;
}

/* Rows are multiplied by C, then the matrix is transposed: twice, as it is symmetric. */
void tesi_mapped_hang_matrix(const TesiMapped *m, int64_t cell, double *matrix) {
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
  const int64_t n = m->cell_nodes;
  tesi_hanging_halves(m->n, W);
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t a = 0; a < n; a++) tesi_hanging_write(m->dim, m->n, W, m->mask[cell], matrix + a * n);
    for (int64_t a = 0; a < n; a++)
      for (int64_t b = 0; b < a; b++) {
        const double swap = matrix[a * n + b];
        matrix[a * n + b] = matrix[b * n + a];
        matrix[b * n + a] = swap;
      }
  }
}

/* The cells on which something hangs, as an operator on element vectors. */
typedef struct Hanging {
  const TesiMapped *m;
  int64_t cells;
  int32_t *cell;
  TesOperator *op;
  TesVector *u, *v;
  double *x, *y;
  double W[2 * TESI_HANGING_NODES * TESI_HANGING_NODES];
} Hanging;

static TesStatus collect(TesContext *context, Hanging *h) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const TesiMapped *m = h->m;
  for (int64_t c = 0; c < m->cells; c++) h->cells += tesi_mapped_hangs(m, c);
  TES_ALLOC(&h->cell, h->cells);
  for (int64_t c = 0, at = 0; c < m->cells; c++)
    if (tesi_mapped_hangs(m, c)) h->cell[at++] = (int32_t)c;
done:
  return status;
}

TesStatus tesi_mapped_create_subset(const TesiMapped *m, int64_t cells, const int32_t *cell,
                                    TesOperator **op) {
  TesContext *ctx = m->geometry->context;
  TesStatus status = TES_OK;
  const TesGeometry *g = m->geometry;
  const int64_t size = g->cell_nodes * g->dim;
  TesGeometry *geometry = NULL;
  double *nodes = NULL;
  int32_t *part = NULL;
  TesMappedDesc desc = m->desc;
  TES_ALLOC(&nodes, cells * size);
  TES_ALLOC(&part, cells);
  for (int64_t c = 0; c < cells; c++) {
    memcpy(nodes + c * size, g->nodes + cell[c] * size, (size_t)size * sizeof *nodes);
    part[c] = m->part ? m->part[cell[c]] : -1;
  }
  TES_TRY(tes_geometry_create(ctx,
                              &(TesGeometryDesc){.dim = g->dim,
                                                 .cells = cells,
                                                 .degree = g->degree,
                                                 .nodes = nodes,
                                                 .map = {g->map[0], g->map[1], g->map[2]}},
                              &geometry));
  desc.geometry = geometry;
  desc.form = TES_ELEMENT_VECTORS;
  desc.index = NULL, desc.masks = NULL;
  desc.precision = TES_DOUBLE;
  desc.factors = TES_FACTORS_STORED;
  desc.variant = NULL;
  desc.part = m->part ? part : NULL;
  desc.parts = m->parts;
  desc.part_a = (const TesFunction *const *)m->part_a;
  desc.part_c = (const TesFunction *const *)m->part_c;
  TES_TRY(tes_operator_create_mapped(ctx, &desc, op));
done:
  tesi_free(ctx, &nodes);
  tesi_free(ctx, &part);
  tes_geometry_destroy(&geometry);
  return status;
}

static TesStatus create_element_operator(TesContext *context, Hanging *h) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TES_TRY(tesi_mapped_create_subset(h->m, h->cells, h->cell, &h->op));
  TES_TRY(tes_vector_create(ctx, h->op->length, TES_DOUBLE, &h->u));
  TES_TRY(tes_vector_create(ctx, h->op->length, TES_DOUBLE, &h->v));
  TES_ALLOC(&h->x, h->op->length);
  TES_ALLOC(&h->y, h->op->length);
done:
  return status;
}

/* d += e_p' C' K C e_p, for all cells in which node p hangs. */
static TesStatus add_node(TesContext *context, Hanging *h, int p, double *d) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const TesiMapped *m = h->m;
  const int n = m->n, at[3] = {p % n, p / n % n, p / n / n};
  const int64_t size = m->cell_nodes;
  int64_t found = 0;
  memset(h->x, 0, (size_t)(h->cells * size) * sizeof *h->x);
  for (int64_t c = 0; c < h->cells; c++) {
    const unsigned mask = m->mask[h->cell[c]];
    if (!tesi_hanging_directions(m->dim, n, mask, at)) continue;
    h->x[c * size + p] = 1;
    tesi_hanging_read(m->dim, n, h->W, mask, h->x + c * size);
    found++;
  }
  if (!found) return TES_OK;
  TES_TRY(tes_vector_set(h->u, h->x));
  TES_TRY(tes_operator_apply(h->op, h->u, h->v));
  TES_TRY(tes_vector_get(h->v, h->y));
  for (int64_t c = 0; c < h->cells; c++) {
    const int32_t node = m->index[h->cell[c] * size + p];
    double sum = 0;
    if (node < 0 || !tesi_hanging_directions(m->dim, n, m->mask[h->cell[c]], at)) continue;
    for (int64_t i = 0; i < size; i++) sum += h->x[c * size + i] * h->y[c * size + i];
    d[node] += sum;
  }
done:
  return status;
}

TesStatus tesi_mapped_hanging_diagonal(const TesOperator *op, double *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Hanging h = {.m = op->mapped};
  if (!h.m->mask) return TES_OK;
  tesi_hanging_halves(h.m->n, h.W);
  TES_TRY(collect(ctx, &h));
  if (h.cells) {
    TES_TRY(create_element_operator(ctx, &h));
    for (int p = 0; p < h.m->cell_nodes; p++) TES_TRY(add_node(ctx, &h, p, d));
  }
done:
  tesi_free(ctx, &h.cell);
  tesi_free(ctx, &h.x);
  tesi_free(ctx, &h.y);
  tes_vector_destroy(&h.u);
  tes_vector_destroy(&h.v);
  tes_operator_destroy(&h.op);
  return status;
}
