/* Mapped operators on the host: the plan and its loops. */
#include "operator/mapped/host/mapped_host.h"
#include <stdio.h>
#include <string.h>
#include "base/simd_builds.h"
#include "base/team.h"
#include "geometry/geometry.h"

/* A full build has specialised kernels for degrees 1 to 8 with the usual points, and for the matrices of degree 1. */
static const char *word(const TesiMappedHost *plan) {
  const bool matrix = plan->factors == TES_FACTORS_MATRIX;
  const bool usual = plan->m->collocated || plan->q == plan->n + 1 || plan->q == plan->n;
  return tesi_simd_word(plan->kernels.specialised, plan->n - 1, matrix ? 1 : usual ? 8 : 0);
}

static void set_sizes(const TesOperator *op, TesiMappedHost *plan) {
  const TesiMapped *m = tesi_mapped_of(op);
  plan->m = m;
  plan->dim = m->dim, plan->n = m->n, plan->q = m->q, plan->components = m->components;
  plan->vectors = 1;
  plan->entries = m->factors;
  plan->stiffness = m->stiffness, plan->mass = m->mass;
  plan->nodes = m->cell_nodes, plan->points = m->cell_points;
  plan->threads = tesi_team_threads(op->context, 4 * m->cells * m->cell_nodes);
}

/* Zero, or b, on the nodes that a step is first to touch. */
static void set_first(const TesiMappedHost *plan, const TesiMappedStep *step, const void *b, void *y) {
  const size_t size = tesi_precision_size(plan->m->precision) * (size_t)plan->components,
               vector = (size_t)plan->m->nodes * size;
  if (b == y) return;
  for (int64_t i = step->zero; i < step->zero_end; i++)
    for (int v = 0; v < plan->vectors; v++) {
      const size_t first = (size_t)plan->zero[i][0] * size, bytes = (size_t)plan->zero[i][1] * size - first,
                   at = first + (size_t)v * vector;
      if (b)
        memcpy((char *)y + at, (const char *)b + at, bytes);
      else
        memset((char *)y + at, 0, bytes);
    }
}

/* One application: y <- b + sign A x. */
typedef struct Run {
  const TesiMappedHost *plan;
  double sign;
  const void *b, *x;
  void *y;
} Run;

/* Rows of constrained nodes: y = x, or b - x. No batch adds to them. */
static void set_given(const Run *r, const TesiMappedStep *step) {
  const TesiMapped *m = r->plan->m;
  const double sign = r->sign;
  const void *b = r->b, *x = r->x;
  void *y = r->y;
  for (int64_t k = step->given; k < step->given_end; k++)
    for (int64_t i = r->plan->given[k][0]; i < r->plan->given[k][1]; i++)
      for (int c = 0; c < m->components; c++) {
        const int64_t at = (int64_t)m->constrained_nodes[i] * m->components + c;
        if (m->precision == TES_DOUBLE)
          ((double *)y)[at] = (b ? ((const double *)b)[at] : 0) + sign * ((const double *)x)[at];
        else
          ((float *)y)[at] = (b ? ((const float *)b)[at] : 0) + (float)sign * ((const float *)x)[at];
      }
}

/* A thread gets its next chunk during the present chunk, so that it can prefetch the next nodes. */
static void run_chunks(const void *data, const TesiTeamMember *me) {
  const Run *r = data;
  const TesiMappedHost *plan = r->plan;
  char *const work = plan->work + (size_t)me->thread * plan->work_size;
  for (int64_t k = tesi_sequence_take(plan->sequence); k >= 0;) {
    const int64_t follows = tesi_sequence_take(plan->sequence);
    const TesiMappedStep *step = plan->step + plan->chunk[k], *last = plan->step + plan->chunk[k + 1] - 1;
    tesi_sequence_wait(plan->sequence, k);
    for (; step <= last; step++) {
      const TesiMappedStep *next = step < last    ? step + 1
                                   : follows >= 0 ? plan->step + plan->chunk[follows]
                                                  : NULL;
      if (plan->m->global) set_first(plan, step, r->b, r->y);
      plan->kernels.run(plan, step, next, r->sign, r->b, r->x, r->y, work);
      if (plan->m->global) set_given(r, step);
    }
    tesi_sequence_done(plan->sequence, k);
    k = follows;
  }
}

void tesi_mapped_run_chunks(const TesiMappedHost *plan, int64_t first, int64_t end, double sign,
                            const void *b, const void *x, void *y) {
  tesi_sequence_begin(plan->sequence, first, end);
  tesi_team_run(plan->threads, run_chunks, &(Run){plan, sign, b, x, y});
}

void tesi_mapped_host_run(const TesiMappedHost *plan, double sign, const void *b, const void *x, void *y) {
  tesi_mapped_run_chunks(plan, 0, plan->chunks, sign, b, x, y);
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  tesi_mapped_host_run(op->plan, 1, NULL, x, y);
  return TES_OK;
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  tesi_mapped_host_run(op->plan, -1, b, x, r);
  return TES_OK;
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  if (op->precision == TES_DOUBLE) return tesi_mapped_diagonal_host(op, d);
  TES_ALLOC(&values, op->length);
  TES_TRY(tesi_mapped_diagonal_host(op, values));
  TES_TRY(tesi_operator_set(op, values, d));
done:
  tesi_free(ctx, &values);
  return status;
}

static void free_plan(TesContext *ctx, TesiMappedHost *plan) {
  tesi_free(ctx, &plan->batch);
  tesi_free(ctx, &plan->cell);
  tesi_free(ctx, &plan->index);
  tesi_free(ctx, &plan->entity);
  tesi_free(ctx, &plan->masks);
  tesi_free(ctx, &plan->hanging);
  tesi_free(ctx, &plan->halves);
  tesi_sequence_destroy(ctx, &plan->sequence);
  tesi_free(ctx, &plan->chunk);
  tesi_free(ctx, &plan->step);
  tesi_free(ctx, &plan->zero);
  tesi_free(ctx, &plan->given);
  tesi_free(ctx, &plan->ahead);
  tesi_free(ctx, &plan->g);
  tesi_free(ctx, &plan->tables);
  tesi_free(ctx, &plan->points_1d);
  tesi_free(ctx, &plan->weights_1d);
  tesi_free(ctx, &plan->centred_1d);
  tesi_free(ctx, &plan->work);
}

static void destroy(TesOperator *op) {
  if (op->plan) free_plan(op->context, op->plan);
  tesi_free(op->context, &op->plan);
}

static const TesiOperatorTable table = {.apply = apply,
                                        .residual = residual,
                                        .diagonal = diagonal,
                                        .lift = tesi_mapped_lift,
                                        .apply_ref = tesi_mapped_apply_ref,
                                        .cost = tesi_mapped_cost,
                                        .destroy = destroy};

const TesiMappedHost *tesi_mapped_host_of(const TesOperator *op) {
  return (op->local ? op->local : op->table) == &table ? op->plan : NULL;
}

/* A thread's arrays of a batch: values at nodes, which derivatives in the slow direction overwrite; two arrays at
 * points; three planes of points; rows of a plane. */
static TesStatus make_work(TesContext *ctx, TesiMappedHost *plan) {
  TesStatus status = TES_OK;
  const size_t vector = (size_t)plan->kernels.lanes * tesi_precision_size(plan->m->precision);
  plan->work_size = (size_t)(plan->nodes + 2 * plan->points + 3 * plan->q * plan->q + 30 * plan->q +
                             plan->n * plan->n + 64) *
                    vector;
  plan->work_size = (plan->work_size + 4095) / 4096 * 4096 + 128;
  TES_TRY(tesi_alloc(ctx, (size_t)plan->threads, plan->work_size, &plan->work));
done:
  return status;
}

TesStatus tesi_mapped_host_init(TesOperator *op) {
  static const char *const names[] = {"",       "stored",        "from vertices",
                                      "affine", "cell matrices", "weights and cell polynomials"};
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = tesi_mapped_of(op);
  TesiMappedHost *plan;
  TES_CHECK(m->desc.factors != TES_FACTORS_MATRIX || m->degree <= 2,
            "cell matrices are for degrees 1 and 2, not %d", m->degree);
  op->table = &table;
  TES_NEW(&plan);
  op->plan = plan;
  set_sizes(op, plan);
  plan->factors = TES_FACTORS_STORED;
  plan->kernels = tesi_mapped_choose_kernels(op, plan);
  TES_TRY(tesi_mapped_make_batches(ctx, plan));
  TES_TRY(tesi_mapped_make_chunks(ctx, plan));
  TES_TRY(tesi_mapped_make_halves(ctx, plan));
  TES_TRY(tesi_mapped_make_tables(ctx, plan));
  TES_TRY(make_work(ctx, plan));
  TES_TRY(tesi_mapped_choose_factors(op, plan));
  snprintf(op->description, sizeof op->description,
           "mapped cells, degree %d %s, %d points, factors %s, float%d, %d lanes of cells", m->degree,
           word(plan), m->q, names[plan->factors], op->precision == TES_DOUBLE ? 64 : 32, plan->kernels.lanes);
done:
  return status;
}
