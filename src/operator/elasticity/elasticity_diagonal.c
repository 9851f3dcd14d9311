/* The diagonal. For component c it is the diagonal of a scalar operator with the tensor mu I + (lambda + mu) e_c
 * e_c', hence with the metric w|J| K (..) K' at points. It is computed with squares of 1D tables; at hanging nodes as
 * in mapped_hanging_diagonal.c. Eight cells at a time, chunks in the order of the operator. */
#include <string.h>
#include "base/integer.h"
#include "base/real.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "operator/elasticity/elasticity.h"
#include "operator/mapped/mapped_fill.h"

extern const TesiFillLoops tesi_fill_loops_128, tesi_fill_loops_256, tesi_fill_loops_512;

typedef struct Diagonal {
  const TesOperator *op;
  const TesiElasticity *plan;
  TesiMapped shape; /* with the terms of this operator */
  const TesiFillLoops *loops;
  TesiHangingDiagonal *hanging; /* NULL: nothing hangs */
  double *tables, *work;        /* [3][q][n]; [threads][share] */
  int64_t share;
  double *d;
} Diagonal;

static double number(const TesiElasticity *e, TesPrecision precision, int64_t place, int64_t i) {
  const int lanes = e->host.kernels.lanes;
  const int64_t at = place / lanes * e->host.stride + i * lanes + place % lanes;
  return tesi_number_get(precision, e->host.g, at);
}

/* The numbers of a cell at a point: K, and lambda, mu and the mass with all weights. */
static void at_point(const Diagonal *s, int64_t place, int64_t p, double K[3][3], double coefficient[3]) {
  const TesiElasticity *e = s->plan;
  const TesiMapped *m = e->host.m;
  const int dim = m->dim, q = m->q;
  const bool at_points = e->kind == TESI_ELASTIC_POINTS;
  int64_t i = at_points ? p * e->entries : 0;
  double weight = 1;
  if (!at_points) weight = m->weight[p % q] * m->weight[p / q % q] * (dim == 3 ? m->weight[p / q / q] : 1);
  for (int d = 0; d < dim; d++)
    for (int r = 0; r < dim; r++)
      K[d][r] = e->kind == TESI_ELASTIC_ALIGNED && r != d ? 0 : number(e, s->op->precision, place, i++);
  for (int k = 0; k < 2 + e->mass; k++) coefficient[k] = weight * number(e, s->op->precision, place, i++);
}

/* g[entry][points][8] of component c in lane l. */
static void put_metric(const Diagonal *s, int64_t place, int c, int l, double *g) {
  const TesiMapped *m = s->plan->host.m;
  const int64_t n = m->cell_points;
  for (int64_t p = 0; p < n; p++) {
    double K[3][3], coefficient[3];
    int entry = 0;
    at_point(s, place, p, K, coefficient);
    for (int d = 0; d < m->dim; d++)
      for (int f = d; f < m->dim; f++, entry++) {
        double sum = (coefficient[0] + coefficient[1]) * K[d][c] * K[f][c];
        for (int r = 0; r < m->dim; r++) sum += coefficient[1] * K[d][r] * K[f][r];
        g[(entry * n + p) * TESI_LANES + l] = sum;
      }
    if (s->plan->mass) g[(entry * n + p) * TESI_LANES + l] = coefficient[2];
  }
}

/* values[nodes][8] <- the diagonals of eight cells. */
static void add_squares(const Diagonal *s, const double *g, double *products, double *values) {
  const TesiMapped *m = &s->shape;
  const int size = m->q * m->n;
  const double *t[3];
  memset(values, 0, (size_t)(m->cell_nodes * TESI_LANES) * sizeof *values);
  for (int c = 0; c < m->dim; c++)
    for (int e = c; e < m->dim; e++, g += m->cell_points * TESI_LANES) {
      for (int k = 0; k < 3; k++) t[k] = s->tables + size * ((k == c) + (k == e));
      s->loops->squares(m->dim, m->n, m->q, t, c == e ? 1 : 2, g, products, values);
    }
  for (int k = 0; k < 3; k++) t[k] = s->tables;
  if (m->mass) s->loops->squares(m->dim, m->n, m->q, t, 1, g, products, values);
}

/* d += lane l, with the terms of hanging nodes. own: [nodes], then a cell's metric. */
static void add_lane(const Diagonal *s, int32_t cell, int l, const double *g, const double *values,
                     double *own, double *d) {
  const TesiMapped *m = &s->shape;
  const int32_t *index = m->index + (int64_t)cell * m->cell_nodes;
  double *const metric = own + m->cell_nodes;
  for (int64_t p = 0; p < m->cell_nodes; p++) own[p] = values[p * TESI_LANES + l];
  if (tesi_mapped_hangs(m, cell)) {
    for (int64_t i = 0; i < m->factors * m->cell_points; i++) metric[i] = g[i * TESI_LANES + l];
    tesi_hanging_diagonal_cell(s->hanging, m->mask[cell], metric, own);
  }
  for (int64_t p = 0; p < m->cell_nodes; p++) d[index[p]] += own[p];
}

static void add_chunk(const Diagonal *s, int64_t chunk, double *work) {
  const TesiMappedHost *h = &s->plan->host;
  const TesiMapped *m = &s->shape;
  const int64_t lanes = h->kernels.lanes, first = h->step[h->chunk[chunk]].first * lanes,
                end = h->step[h->chunk[chunk + 1] - 1].end * lanes, n = m->cell_points * TESI_LANES;
  double *g = work, *products = g + m->factors * n, *values = products + 2 * n,
         *own = values + m->cell_nodes * TESI_LANES;
  for (int64_t at = first; at < end; at += TESI_LANES)
    for (int c = 0; c < m->dim; c++) {
      for (int l = 0; l < TESI_LANES; l++) put_metric(s, tesi_min64(at + l, end - 1), c, l, g);
      add_squares(s, g, products, values);
      for (int l = 0; l < TESI_LANES && at + l < end; l++)
        if ((at + l) % lanes < h->batch[(at + l) / lanes].count)
          add_lane(s, h->cell[at + l], l, g, values, own, s->d + c * m->nodes);
    }
}

static void add_one(const void *data, TesiSpan chunk) {
  const Diagonal *s = data;
  add_chunk(s, chunk.first, s->work + chunk.thread * s->share);
}

TesStatus tesi_elasticity_diagonal(const TesOperator *op, double *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiElasticity *e = op->plan;
  const TesiMapped *inner = e->host.m;
  Diagonal s = {.op = op,
                .plan = e,
                .shape = *inner,
                .loops = TESI_SIMD_PICK(tes_context_simd_bits(ctx), &tesi_fill_loops),
                .d = d};
  s.shape.stiffness = true, s.shape.mass = e->mass, s.shape.lambda = 1;
  s.shape.factors = inner->dim * (inner->dim + 1) / 2 + e->mass;
  if (inner->mask) TES_TRY(tesi_hanging_diagonal_create(&s.shape, &s.hanging));
  TES_ALLOC(&s.tables, 3 * inner->q * inner->n);
  tesi_mapped_square_tables(inner, s.tables);
  s.share = (s.shape.factors * (TESI_LANES + 1) + 2 * TESI_LANES) * inner->cell_points +
            inner->cell_nodes * (TESI_LANES + 1);
  s.share = (s.share + TESI_LANES - 1) / TESI_LANES * TESI_LANES;
  TES_ALLOC(&s.work, e->host.threads * s.share);
  memset(d, 0, (size_t)op->length * sizeof *d);
  tesi_sequence_run(e->host.sequence, e->host.threads, add_one, &s);
done:
  tesi_free(ctx, &s.hanging);
  tesi_free(ctx, &s.tables);
  tesi_free(ctx, &s.work);
  return status;
}
