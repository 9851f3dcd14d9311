#include "device/split_sums.h"
#include "base/team.h"
#include "device/kernel.h"

enum { BLOCKS = 256 };

/* sums[block]: over equal parts of the entries, whose length depends on their number alone. */
typedef struct Sums {
  const double *x, *b, *r;
  int64_t n, split;
  double (*sums)[2];
} Sums;

static void add(const void *data, TesiSpan span) {
  const Sums *s = data;
  const double *x = s->x, *b = s->b, *r = s->r;
  for (int64_t block = span.first; block < span.end; block++) {
    const int64_t first = s->n * block / BLOCKS, end = s->n * (block + 1) / BLOCKS,
                  middle = s->split < first ? first
                           : s->split < end ? s->split
                                            : end;
    double product = 0, square = 0;
#pragma omp simd reduction(+ : product)
    for (int64_t i = first; i < middle; i++) product += x[i] * (b[i] - r[i]);
#pragma omp simd reduction(+ : square)
    for (int64_t i = middle; i < end; i++) square += r[i] * r[i];
    s->sums[block][0] = product;
    s->sums[block][1] = square;
  }
}

static TesStatus sum_range(const TesVector *x, const TesVector *b, const TesVector *r, int64_t split,
                           double sums[2]) {
  TesContext *ctx = r->context;
  const int64_t n = r->length;
  double parts[BLOCKS][2];
  if (tesi_has_kernels(ctx)) return tesi_kernel_split_sums(ctx, n, split, x->data, b->data, r->data, sums);
  tesi_team_for(tesi_team_threads(ctx, n), BLOCKS, add,
                &(Sums){.x = x->data, .b = b->data, .r = r->data, .n = n, .split = split, .sums = parts});
  sums[0] = sums[1] = 0;
  for (int i = 0; i < BLOCKS; i++) sums[0] += parts[i][0], sums[1] += parts[i][1];
  return TES_OK;
}

TesStatus tesi_vector_split_sums(const TesVector *x, const TesVector *b, const TesVector *r, int64_t split,
                                 double sums[2]) {
  const TesiLayout *layout = r->layout;
  TesStatus status = TES_OK;
  if (!layout || layout->owned == layout->length) {
    status = sum_range(x, b, r, split, sums);
  } else {
    sums[0] = sums[1] = 0;
    for (int64_t i = 0, runs = tesi_layout_runs(layout); i < runs && status == TES_OK; i++) {
      const TesiOwned own = tesi_layout_run(layout, i);
      const TesVector of[3] = {tesi_vector_range(x, own.start, own.owned),
                               tesi_vector_range(b, own.start, own.owned),
                               tesi_vector_range(r, own.start, own.owned)};
      double part[2] = {0, 0};
      status = sum_range(&of[0], &of[1], &of[2], own.start < split ? own.owned : 0, part);
      sums[0] += part[0], sums[1] += part[1];
    }
  }
  tesi_reduce(r->context, TESI_SUM, 2, sums);
  return status;
}
