/* The diagonal on the host, from the definition by squares of 1D tables. Eight cells at a time, chunks in the order
 * of the operator, so that each sum has one order. For affine cells, whose factors are the weights times one number
 * per entry, the sums over points are computed once for all cells. */
#include <string.h>
#include "base/integer.h"
#include "base/team.h"
#include "operator/mapped/host/mapped_host.h"
#include "operator/mapped/mapped_fill.h"

typedef struct Diagonal {
  const TesiMappedHost *plan;
  const TesiMapped *m;
  TesiFill fill;
  TesiHangingDiagonal *hanging; /* NULL: nothing hangs */
  double *tables;               /* [3][q][n] of tesi_mapped_square_tables() */
  double *affine,
      *sums; /* [cells][entries], and the sums [entries][nodes] that these numbers multiply; NULL: other cells */
  double *work; /* [threads][share]: the fill's work, factors, two arrays of products, values; a cell's */
  int64_t factors, products, share;
  double *d;
} Diagonal;

void tesi_mapped_square_tables(const TesiMapped *m, double *t) {
  const int n = m->n, q = m->q, size = q * n;
  for (int p = 0; p < q; p++)
    for (int i = 0; i < n; i++) {
      double value = m->I[p * n + i], slope = 0;
      for (int s = 0; s < q; s++) slope += m->D[p * q + s] * m->I[s * n + i];
      t[p * n + i] = value * value;
      t[size + p * n + i] = value * slope;
      t[2 * size + p * n + i] = slope * slope;
    }
}

/* values[nodes][8] += the part of entry `number` of the factors in the diagonals of eight cells: g[points][8]. */
static void add_entry(const Diagonal *s, int number, const double *g, double *products, double *values) {
  const TesiMapped *m = s->m;
  const int size = m->q * m->n;
  const double *t[3] = {s->tables, s->tables, s->tables};
  double factor = m->lambda; /* of the mass, which is the last entry */
  for (int c = 0, at = 0; m->stiffness && c < m->dim; c++)
    for (int e = c; e < m->dim; e++, at++) {
      if (at != number) continue;
      for (int k = 0; k < 3; k++) t[k] += size * ((k == c) + (k == e));
      factor = c == e ? 1 : 2;
    }
  s->fill.loops->squares(m->dim, m->n, m->q, t, factor, g, products, values);
}

/* values[nodes][8] <- the diagonals of eight cells with factors g[entries][points][8]. */
static void add_squares(const Diagonal *s, const double *g, double *products, double *values) {
  const TesiMapped *m = s->m;
  memset(values, 0, (size_t)(m->cell_nodes * TESI_LANES) * sizeof *values);
  for (int e = 0; e < m->factors; e++) add_entry(s, e, g + e * m->cell_points * TESI_LANES, products, values);
}

/* s->affine, s->sums; the first thread's work is used. */
static TesStatus make_sums(TesContext *ctx, Diagonal *s) {
  TesStatus status = TES_OK;
  const TesiMapped *m = s->m;
  double *g = s->work + s->fill.work, *products = g + s->factors, *values = products + s->products;
  TES_ALLOC(&s->affine, m->cells * m->factors);
  TES_ALLOC(&s->sums, m->factors * m->cell_nodes);
  TES_TRY(tesi_mapped_fill_affine(m, 0, m->cells, s->affine));
  for (int64_t i = 0; i < m->cell_points * TESI_LANES; i++) g[i] = s->fill.weight[i / TESI_LANES];
  for (int e = 0; e < m->factors; e++) {
    memset(values, 0, (size_t)(m->cell_nodes * TESI_LANES) * sizeof *values);
    add_entry(s, e, g, products, values);
    for (int64_t p = 0; p < m->cell_nodes; p++) s->sums[e * m->cell_nodes + p] = values[p * TESI_LANES];
  }
done:
  return status;
}

/* own[nodes] <- the diagonal of an affine cell, with the terms of hanging nodes. */
static void affine_cell(const Diagonal *s, int64_t cell, double *own) {
  const TesiMapped *m = s->m;
  const double *g = s->affine + cell * m->factors;
  double *factors = own + m->cell_nodes;
  for (int64_t p = 0; p < m->cell_nodes; p++) own[p] = 0;
  for (int e = 0; e < m->factors; e++)
    for (int64_t p = 0; p < m->cell_nodes; p++) own[p] += g[e] * s->sums[e * m->cell_nodes + p];
  if (!tesi_mapped_hangs(m, cell)) return;
  for (int e = 0; e < m->factors; e++)
    for (int64_t p = 0; p < m->cell_points; p++) factors[e * m->cell_points + p] = g[e] * s->fill.weight[p];
  tesi_hanging_diagonal_cell(s->hanging, m->mask[cell], factors, own);
}

/* own[nodes] <- lane l of values[nodes][8], with the terms of hanging nodes. */
static void take_lane(const Diagonal *s, int64_t cell, int l, const double *g, const double *values,
                      double *own) {
  const TesiMapped *m = s->m;
  double *const factors = own + m->cell_nodes;
  for (int64_t p = 0; p < m->cell_nodes; p++) own[p] = values[p * TESI_LANES + l];
  if (!tesi_mapped_hangs(m, cell)) return;
  for (int64_t i = 0; i < m->factors * m->cell_points; i++) factors[i] = g[i * TESI_LANES + l];
  tesi_hanging_diagonal_cell(s->hanging, m->mask[cell], factors, own);
}

static void add_cell(const TesiMapped *m, int64_t cell, const double *values, double *d) {
  const int32_t *index = m->global ? m->index + cell * m->cell_nodes : NULL;
  for (int64_t p = 0; p < m->cell_nodes; p++)
    for (int c = 0; c < m->components; c++)
      if (!index)
        d[(cell * m->components + c) * m->cell_nodes + p] = values[p];
      else if (index[p] >= 0)
        d[(int64_t)index[p] * m->components + c] += values[p];
}

static void add_chunk(const Diagonal *s, int64_t chunk, double *work, double *d) {
  const TesiMappedHost *plan = s->plan;
  const int64_t lanes = plan->kernels.lanes, first = plan->step[plan->chunk[chunk]].first * lanes,
                end = plan->step[plan->chunk[chunk + 1] - 1].end * lanes;
  double *g = work + s->fill.work, *products = g + s->factors, *values = products + s->products,
         *own = values + s->m->cell_nodes * TESI_LANES;
  for (int64_t at = first; at < end; at += TESI_LANES) {
    int32_t cell[TESI_LANES];
    for (int l = 0; l < TESI_LANES; l++) cell[l] = plan->cell[tesi_min64(at + l, end - 1)];
    if (!s->affine) {
      tesi_fill_cells(&s->fill, cell, work, g);
      add_squares(s, g, products, values);
    }
    for (int l = 0; l < TESI_LANES && at + l < end; l++) {
      if ((at + l) % lanes >= plan->batch[(at + l) / lanes].count) continue;
      if (s->affine)
        affine_cell(s, cell[l], own);
      else
        take_lane(s, cell[l], l, g, values, own);
      add_cell(s->m, cell[l], own, d);
    }
  }
}

static TesStatus make(TesContext *ctx, const TesiMappedHost *plan, Diagonal *s) {
  TesStatus status = TES_OK;
  const TesiMapped *m = plan->m;
  *s = (Diagonal){.plan = plan, .m = m};
  TES_TRY(tesi_fill_create(m, m->q, m->point, m->weight, false, &s->fill));
  if (m->mask) TES_TRY(tesi_hanging_diagonal_create(m, &s->hanging));
  TES_ALLOC(&s->tables, 3 * m->q * m->n);
  tesi_mapped_square_tables(m, s->tables);
  const int64_t cube = (int64_t)m->q * m->q * (m->dim == 3 ? m->q : 1);
  s->factors = m->factors * m->cell_points * TESI_LANES;
  s->products = 2 * cube * TESI_LANES;
  s->share = s->fill.work + s->factors + s->products + m->cell_nodes * (TESI_LANES + 1) +
             m->factors * m->cell_points;
  s->share = (s->share + TESI_LANES - 1) / TESI_LANES * TESI_LANES;
  TES_ALLOC(&s->work, plan->threads * s->share);
  if (m->can_affine) TES_TRY(make_sums(ctx, s));
done:
  return status;
}

static void add_one(const void *data, TesiSpan chunk) {
  const Diagonal *s = data;
  add_chunk(s, chunk.first, s->work + chunk.thread * s->share, s->d);
}

TesStatus tesi_mapped_diagonal_host(const TesOperator *op, double *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMappedHost *plan = op->plan;
  const TesiMapped *m = tesi_mapped_of(op);
  Diagonal s;
  TES_TRY(make(ctx, plan, &s));
  memset(d, 0, (size_t)m->length * sizeof *d);
  s.d = d;
  tesi_sequence_run(plan->sequence, plan->threads, add_one, &s);
  for (int64_t i = 0; i < m->constrained; i++)
    for (int c = 0; c < m->components; c++) d[(int64_t)m->constrained_nodes[i] * m->components + c] = 1;
done:
  tesi_fill_destroy(&s.fill);
  tesi_free(ctx, &s.hanging);
  tesi_free(ctx, &s.tables);
  tesi_free(ctx, &s.affine);
  tesi_free(ctx, &s.sums);
  tesi_free(ctx, &s.work);
  return status;
}
