/* The kind of factors of an operator on the host, chosen by timing on a sufficient part of the mesh. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "base/ascending.h"
#include "base/integer.h"
#include "base/simd_builds.h"
#include "base/team.h"
#include "operator/mapped/host/mapped_host.h"

TesiMappedKernels tesi_mapped_choose_kernels(const TesOperator *op, const TesiMappedHost *plan) {
  return TESI_SIMD_PICK(tes_context_simd_bits(op->context), tesi_mapped_kernels)(plan, op->precision);
}

static void add_busy(const void *data, const TesiTeamMember *me) {
  _Atomic int64_t *const *sum = data;
  struct timespec t;
  (void)me;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  atomic_fetch_add(*sum, (int64_t)t.tv_sec * 1000000000 + t.tv_nsec);
}

/* Processor time used so far by the threads that apply. */
static double busy(const TesiMappedHost *plan) {
  _Atomic int64_t sum = 0, *const pointer = &sum;
  tesi_team_run(plan->threads, add_busy, &pointer);
  return 1e-9 * (double)sum;
}

/* The possible kinds; the last needs the least memory. */
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

enum { ROUNDS = 12, SAMPLE = 32 << 20 }; /* bytes of factors that no cache holds together with the vectors */

/* The chunks that are timed: rounds of consecutive chunks. */
typedef struct Sample {
  int rounds;
  int64_t first[ROUNDS], end[ROUNDS]; /* chunks */
} Sample;

/* One chunk per thread and round. All rounds together have SAMPLE bytes, or there are ROUNDS of them, or they have
 * all chunks. */
static void take_sample(const TesiMappedHost *plan, int64_t bytes, Sample *s) {
  const double a_chunk = (double)bytes / (double)plan->chunks;
  double taken = 0;
  s->rounds = 0;
  for (int64_t k = 0; k < plan->chunks;) {
    const int64_t end = tesi_min64(k + plan->threads, plan->chunks);
    if (s->rounds == ROUNDS || (s->rounds >= 4 && s->rounds % 2 == 0 && taken > SAMPLE)) return;
    s->first[s->rounds] = k, s->end[s->rounds++] = end;
    taken += a_chunk * (double)(end - k);
    k = end;
  }
}

/* Seconds with these factors, in processor time: other work on the machine would make a choice by the clock
 * random. */
static double time_factors(const TesiMappedHost *plan, int64_t first, int64_t end, const void *x, void *y) {
  const double start = busy(plan);
  tesi_mapped_run_chunks(plan, first, end, 1, NULL, x, y);
  return busy(plan) - start;
}

/* The time of one kind over the time of the other. It is the larger of two numbers: the quotient of all rounds, and
 * the median over pairs of rounds, which leaves out rounds that other programs disturbed. The kinds take turns in
 * being first, as the second finds the vectors in the caches. */
static double compare_kinds(int rounds, const double seconds[ROUNDS], const double others[ROUNDS]) {
  double ratio[ROUNDS / 2], sum = 0, others_sum = 0;
  const int pairs = rounds / 2;
  for (int i = 0; i < 2 * pairs; i++) sum += seconds[i], others_sum += others[i];
  for (int i = 0; i < pairs; i++)
    ratio[i] = (seconds[2 * i] + seconds[2 * i + 1]) / (others[2 * i] + others[2 * i + 1]);
  qsort(ratio, (size_t)pairs, sizeof *ratio, tesi_ascending_double);
  return fmax(ratio[pairs / 2], sum / others_sum);
}

/* The kind with the least memory, the last, unless another kind takes clearly less time. */
static TesStatus time_trials(TesContext *ctx, const TesiMappedHost *trial, int count, const Sample *sample,
                             int64_t length, int *best) {
  TesStatus status = TES_OK;
  TesVector *x = NULL, *y = NULL;
  double seconds[4][ROUNDS], least = 0.97, share;
  const int last = count - 1;
  *best = last;
  TES_TRY(tes_vector_create(ctx, length, trial->m->precision, &x));
  TES_TRY(tes_vector_create(ctx, length, trial->m->precision, &y));
  for (int warm = 1; warm >= 0; warm--) /* warms up the threads, the code, and the pages of the vectors */
    for (int round = 0; round < (warm ? 1 : sample->rounds); round++)
      for (int i = 0; i < count; i++) {
        const int kind = round % 2 ? last - i : i;
        seconds[kind][round] =
            time_factors(&trial[kind], sample->first[round], sample->end[round], x->data, y->data);
      }
  for (int i = 0; i < last; i++) {
    share = compare_kinds(sample->rounds, seconds[i], seconds[last]);
    tesi_log(ctx, TES_LOG_DETAIL, "mapped operator, degree %d: factors %d take %.3f of the time of %d",
             trial->m->degree, (int)trial[i].factors, share, (int)trial[last].factors);
    if (share < least) least = share, *best = i;
  }
done:
  tes_vector_destroy(&x);
  tes_vector_destroy(&y);
  return status;
}

/* Plans that differ only in their factors. Without timing the kind with the least memory is taken: if there is
 * nothing to measure, or if results must be the same every time, as with one thread. */
TesStatus tesi_mapped_choose_factors(TesOperator *op, TesiMappedHost *plan) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesFactors list[4];
  TesiMappedHost trial[4];
  Sample sample = {0};
  int64_t timed = 0, most = 0;
  const int count = candidates(plan, list);
  int best = count - 1;
  for (int i = 0; i < count; i++) trial[i] = *plan;
  for (int i = 0; i < count; i++) {
    trial[i].factors = list[i];
    trial[i].kernels = tesi_mapped_choose_kernels(op, &trial[i]);
    TES_TRY(tesi_mapped_begin_factors(ctx, &trial[i]));
    most = trial[i].stride > most ? trial[i].stride : most;
  }
  if (count > 1 && tes_context_threads(ctx) > 1 && !tesi_context_deterministic(ctx))
    take_sample(plan, most * plan->batches * (int64_t)tesi_precision_size(op->precision), &sample);
  if (sample.rounds >= 4) {
    timed = sample.end[sample.rounds - 1];
    for (int i = 0; i < count; i++) TES_TRY(tesi_mapped_fill_chunks(ctx, &trial[i], 0, timed));
    TES_TRY(time_trials(ctx, trial, count, &sample, op->length, &best));
  }
  TES_TRY(tesi_mapped_fill_chunks(ctx, &trial[best], timed, plan->chunks));
  *plan = trial[best];
  trial[best].g = NULL;
  tesi_mapped_of(op)->desc.factors = plan->factors;
done:
  for (int i = 0; i < count; i++) tesi_free(ctx, &trial[i].g);
  return status;
}
