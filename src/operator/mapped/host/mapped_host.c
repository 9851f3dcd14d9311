/* Mapped operators on the host: the plan and its loops. */
#include "operator/mapped/host/mapped_host.h"
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/simd_builds.h"
#include "geometry/geometry.h"

static TesiMappedKernels choose_kernels(const TesOperator *op, const TesiMappedHost *plan) {
  return TESI_SIMD_PICK(tes_context_simd_bits(op->context), tesi_mapped_kernels)(plan, op->precision);
}

/* A full build is specialised for degrees 1 to 8 with the usual points, and for the matrices of degree 1. */
static const char *word(const TesiMappedHost *plan) {
  const bool matrix = plan->factors == TES_FACTORS_MATRIX;
  const bool usual = plan->m->collocated || plan->q == plan->n + 1 || plan->q == plan->n;
  return tesi_simd_word(plan->kernels.specialised, plan->n - 1, matrix ? 1 : usual ? 8 : 0);
}

static void set_sizes(const TesOperator *op, TesiMappedHost *plan) {
  const TesiMapped *m = op->mapped;
  plan->m = m;
  plan->dim = m->dim, plan->n = m->n, plan->q = m->q, plan->components = m->components;
  plan->entries = m->factors;
  plan->stiffness = m->stiffness, plan->mass = m->mass;
  plan->nodes = m->cell_nodes, plan->points = m->cell_points;
  plan->threads = tes_context_threads(op->context);
}

/* Zero, or b, on the nodes that a step is first to touch. */
static void set_first(const TesiMappedHost *plan, const TesiMappedStep *step, const void *b, void *y) {
  const size_t size = tesi_precision_size(plan->m->precision) * (size_t)plan->components;
  if (b == y) return;
  for (int64_t i = step->zero; i < step->zero_end; i++) {
    const size_t at = (size_t)plan->zero[i][0] * size, bytes = (size_t)plan->zero[i][1] * size - at;
    if (b)
      memcpy((char *)y + at, (const char *)b + at, bytes);
    else
      memset((char *)y + at, 0, bytes);
  }
}

/* Rows of constrained nodes: y = x, or b - x. */
static void set_constrained(const TesiMappedHost *plan, double sign, const void *b, const void *x, void *y) {
  const TesiMapped *m = plan->m;
#pragma omp parallel for schedule(static) num_threads(plan->threads)
  for (int64_t i = 0; i < m->constrained; i++)
    for (int c = 0; c < m->components; c++) {
      const int64_t at = (int64_t)m->constrained_nodes[i] * m->components + c;
      if (m->precision == TES_DOUBLE)
        ((double *)y)[at] = (b ? ((const double *)b)[at] : 0) + sign * ((const double *)x)[at];
      else
        ((float *)y)[at] = (b ? ((const float *)b)[at] : 0) + (float)sign * ((const float *)x)[at];
    }
}

/* The next chunk of a colour that no thread has. */
static int64_t take_chunk(int64_t *next) {
  int64_t k;
#pragma omp atomic capture
  k = (*next)++;
  return k;
}

/* y <- b + sign A x. A thread takes a chunk while it works on the one before, so that it can ask for its nodes. */
static TesStatus run(const TesiMappedHost *plan, double sign, const void *b, const void *x, void *y) {
  const bool global = plan->m->global;
  int64_t taken[65];
  memcpy(taken, plan->first_of_colour, sizeof taken);
#pragma omp parallel num_threads(plan->threads)
  for (int colour = 0; colour < plan->colours; colour++) {
    char *const work = plan->work + (size_t)omp_get_thread_num() * plan->work_size;
    const int64_t end = plan->first_of_colour[colour + 1];
    for (int64_t k = take_chunk(&taken[colour]); k < end;) {
      const int64_t follows = take_chunk(&taken[colour]);
      const TesiMappedStep *step = plan->step + plan->chunk[k], *last = plan->step + plan->chunk[k + 1] - 1;
      for (; step <= last; step++) {
        const TesiMappedStep *next = step < last     ? step + 1
                                     : follows < end ? plan->step + plan->chunk[follows]
                                                     : NULL;
        if (global) set_first(plan, step, b, y);
        plan->kernels.run(plan, step, next, sign, b, x, y, work);
      }
      k = follows;
    }
#pragma omp barrier
  }
  if (global) set_constrained(plan, sign, b, x, y);
  return TES_OK;
}

static TesStatus apply(const TesOperator *op, const void *x, void *y) {
  return run(op->plan, 1, NULL, x, y);
}

static TesStatus residual(const TesOperator *op, const void *b, const void *x, void *r) {
  return run(op->plan, -1, b, x, r);
}

static TesStatus diagonal(const TesOperator *op, void *d) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  if (op->precision == TES_DOUBLE) return tesi_mapped_diagonal_host(op, d);
  TES_ALLOC(&values, op->length);
  TES_TRY(tesi_mapped_diagonal_host(op, values));
  for (int64_t i = 0; i < op->length; i++) ((float *)d)[i] = (float)values[i];
done:
  tesi_free(ctx, &values);
  return status;
}

static void free_plan(TesContext *ctx, TesiMappedHost *plan) {
  tesi_free(ctx, &plan->batch);
  tesi_free(ctx, &plan->cell);
  tesi_free(ctx, &plan->index);
  tesi_free(ctx, &plan->masks);
  tesi_free(ctx, &plan->hanging);
  tesi_free(ctx, &plan->halves);
  tesi_free(ctx, &plan->chunk);
  tesi_free(ctx, &plan->step);
  tesi_free(ctx, &plan->zero);
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
                                        .apply_ref = tesi_mapped_apply_ref,
                                        .cost = tesi_mapped_cost,
                                        .destroy = destroy};

/* A thread's arrays of a batch: values at nodes, which derivatives in the slow direction take the place of, two at points, three planes of
 * points, rows of a plane. */
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

/* Processor time so far of the threads that apply. */
static double busy(const TesiMappedHost *plan) {
  double sum = 0;
#pragma omp parallel num_threads(plan->threads) reduction(+ : sum)
  {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    sum += (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  }
  return sum;
}

/* The kinds that are possible, the cheapest to store last. */
static int candidates(const TesiMappedHost *plan, TesFactors list[4]) {
  const TesiMapped *m = plan->m;
  int count = 0;
  if (m->desc.factors != TES_FACTORS_AUTO) {
    list[0] = m->desc.factors;
    return 1;
  }
  if (m->can_affine) {
    list[count++] = TES_FACTORS_AFFINE;
    if (m->degree > 1 || !m->stiffness) return count;
  } else {
    list[count++] = TES_FACTORS_STORED;
    if (m->can_vertices)
      list[count++] = TES_FACTORS_VERTICES;
    else if (m->can_weights && m->degree > 1)
      list[count++] = TES_FACTORS_WEIGHTS;
  }
  if (m->degree == 1) list[count++] = TES_FACTORS_MATRIX;
  return count;
}

/* Seconds of an application with these factors: of the processors, as other work on the machine would make a choice by the clock a
 * lottery. */
static double time_factors(const TesiMappedHost *plan, const void *x, void *y) {
  const double start = busy(plan);
  run(plan, 1, NULL, x, y);
  return (busy(plan) - start) / plan->threads;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { ROUNDS = 11 };

/* What one kind takes of the other's time, of two findings the larger: the median of the rounds, which a drift of the machine's speed spares, and
 * the quotient of the fastest, which other programs that take turns with these spare. */
static double compare_kinds(const double seconds[ROUNDS], const double others[ROUNDS]) {
  double ratio[ROUNDS], fastest = seconds[0], others_fastest = others[0];
  for (int round = 0; round < ROUNDS; round++) {
    ratio[round] = seconds[round] / others[round];
    fastest = fmin(fastest, seconds[round]), others_fastest = fmin(others_fastest, others[round]);
  }
  qsort(ratio, ROUNDS, sizeof *ratio, ascending);
  return fmax(ratio[ROUNDS / 2], fastest / others_fastest);
}

/* Rounds of all kinds in turn. The one that is cheapest to store, the last, unless another clearly takes less time. */
static TesStatus time_trials(TesContext *ctx, const TesiMappedHost *trial, int count, int64_t length,
                             int *best) {
  TesStatus status = TES_OK;
  TesVector *x = NULL, *y = NULL;
  double seconds[4][ROUNDS], least = 0.97, share;
  const int last = count - 1;
  TES_TRY(tes_vector_create(ctx, length, trial->m->precision, &x));
  TES_TRY(tes_vector_create(ctx, length, trial->m->precision, &y));
  for (int round = -1; round < ROUNDS; round++) /* the first one warms the caches */
    for (int i = 0; i < count; i++)
      seconds[i][tesi_max(round, 0)] = time_factors(&trial[i], x->data, y->data);
  *best = last;
  for (int i = 0; i < last; i++) {
    share = compare_kinds(seconds[i], seconds[last]);
    tesi_log(ctx, TES_LOG_DETAIL, "mapped operator, degree %d: factors %d take %.3f of the time of %d",
             trial->m->degree, (int)trial[i].factors, share, (int)trial[last].factors);
    if (share < least) least = share, *best = i;
  }
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  return status;
}

/* Plans that differ in their factors alone. */
static TesStatus choose_factors(TesOperator *op, TesiMappedHost *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesFactors list[4];
  TesiMappedHost trial[4];
  const int count = candidates(plan, list);
  int best = 0;
  for (int i = 0; i < count; i++) trial[i] = *plan;
  for (int i = 0; i < count; i++) {
    trial[i].factors = list[i];
    trial[i].kernels = choose_kernels(op, &trial[i]);
    TES_TRY(tesi_mapped_make_host_factors(ctx, &trial[i]));
  }
  if (count > 1) TES_TRY(time_trials(ctx, trial, count, op->length, &best));
  *plan = trial[best];
  trial[best].g = NULL;
  op->mapped->desc.factors = plan->factors;
done:
  for (int i = 0; i < count; i++) tesi_free(ctx, &trial[i].g);
  return status;
}

TesStatus tesi_mapped_host_init(TesOperator *op) {
  static const char *const names[] = {"",       "stored",        "from vertices",
                                      "affine", "cell matrices", "weights and cell polynomials"};
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiMapped *m = op->mapped;
  TesiMappedHost *plan;
  TES_CHECK(!m->desc.variant, "the CPU has no kernel variants, \"%s\" is asked for", m->desc.variant);
  TES_CHECK(m->desc.factors != TES_FACTORS_MATRIX || m->degree <= 2,
            "cell matrices are for degrees 1 and 2, not %d", m->degree);
  op->table = &table;
  TES_NEW(&plan);
  op->plan = plan;
  set_sizes(op, plan);
  plan->factors = TES_FACTORS_STORED;
  plan->kernels = choose_kernels(op, plan);
  TES_TRY(tesi_mapped_make_batches(ctx, plan));
  TES_TRY(tesi_mapped_make_chunks(ctx, plan));
  TES_TRY(tesi_mapped_make_halves(ctx, plan));
  TES_TRY(tesi_mapped_make_tables(ctx, plan));
  TES_TRY(make_work(ctx, plan));
  TES_TRY(choose_factors(op, plan));
  snprintf(op->description, sizeof op->description,
           "mapped cells, degree %d %s, %d points, factors %s, float%d, %d lanes of cells", m->degree,
           word(plan), m->q, names[plan->factors], op->precision == TES_DOUBLE ? 64 : 32,
           plan->kernels.lanes);
done:
  return status;
}
