#include "parallel/layout.h"
#include <string.h>

static TesStatus create(TesContext *ctx, int64_t length, TesiLayout **layout) {
  TesStatus status = TES_OK;
  *layout = NULL;
  TES_NEW(layout);
  atomic_init(&(*layout)->references, 1);
  (*layout)->context = tesi_context_retain(ctx);
  (*layout)->length = length;
done:
  return status;
}

TesStatus tesi_layout_create(TesContext *ctx, int64_t length, TesiOwned block, const TesiSharers *sharers,
                             TesiLayout **layout) {
  TesStatus status = TES_OK;
  TES_TRY(create(ctx, length, layout));
  (*layout)->owned = block.owned;
  (*layout)->blocks = 1;
  (*layout)->block[0] = block;
  (*layout)->global = tesi_reduce_count(ctx, block.owned);
  if (sharers) TES_TRY(tesi_exchange_create(ctx, sharers, NULL, &(*layout)->shared));
done:
  if (status != TES_OK) tesi_layout_destroy(layout);
  return status;
}

TesStatus tesi_layout_create_plain(TesContext *ctx, int64_t length, TesiLayout **layout) {
  return tesi_layout_create(ctx, length, tesi_owned(0, length, 0), NULL, layout);
}

TesStatus tesi_layout_put_together(TesContext *ctx, int parts, const TesiLayout *const *part,
                                   TesiLayout **layout) {
  TesStatus status = TES_OK;
  int64_t length = 0, first[TESI_BLOCKS];
  const TesiExchange *shared[TESI_BLOCKS], *sum[TESI_BLOCKS];
  TES_TRY(create(ctx, 0, layout));
  for (int p = 0; p < parts; p++) {
    for (int b = 0; b < part[p]->blocks; b++) {
      TesiOwned *to = &(*layout)->block[(*layout)->blocks++];
      *to = part[p]->block[b];
      to->start += length;
      to->first += (*layout)->global;
    }
    shared[p] = part[p]->shared, sum[p] = part[p]->sum, first[p] = length;
    length += part[p]->length;
    (*layout)->owned += part[p]->owned;
    (*layout)->global += part[p]->global;
  }
  (*layout)->length = length;
  TES_TRY(tesi_exchange_put_together(ctx, parts, shared, first, &(*layout)->shared));
  TES_TRY(tesi_exchange_put_together(ctx, parts, sum, first, &(*layout)->sum));
done:
  return status;
}

TesiLayout *tesi_layout_retain(const TesiLayout *layout) {
  TesiLayout *l = (TesiLayout *)layout;
  atomic_fetch_add(&l->references, 1);
  return l;
}

void tesi_layout_destroy(TesiLayout **layout) {
  TesiLayout *l = *layout;
  *layout = NULL;
  if (!l || atomic_fetch_sub(&l->references, 1) != 1) return;
  TesContext *ctx = l->context;
  tesi_exchange_destroy(&l->shared);
  tesi_exchange_destroy(&l->sum);
  tesi_free(ctx, &l);
  tes_context_destroy(&ctx);
}

TesiOwned tesi_owned_run(const TesiOwned *own, int64_t i) {
  if (!own->rows[0]) return *own;
  const int64_t plane = i / own->rows[0], row = i % own->rows[0];
  return (TesiOwned){.start = own->start + plane * own->stride[1] + row * own->stride[0],
                     .owned = own->run,
                     .first = own->first + plane * own->step[1] + row * own->step[0]};
}

int64_t tesi_owned_run_at(const TesiOwned *own, int64_t entry) {
  const int64_t behind = entry - own->start;
  if (behind < 0) return 0;
  if (!own->rows[0]) return behind >= own->owned;
  const int64_t plane = behind / own->stride[1], rest = behind % own->stride[1];
  const int64_t row = rest / own->stride[0] + (rest % own->stride[0] >= own->run);
  if (plane >= own->rows[1]) return own->rows[0] * own->rows[1];
  return plane * own->rows[0] + (row < own->rows[0] ? row : own->rows[0]);
}

int64_t tesi_layout_runs(const TesiLayout *layout) {
  int64_t runs = 0;
  for (int b = 0; b < layout->blocks; b++) runs += tesi_owned_runs(&layout->block[b]);
  return runs;
}

TesiOwned tesi_layout_run(const TesiLayout *layout, int64_t i) {
  int b = 0;
  while (i >= tesi_owned_runs(&layout->block[b])) i -= tesi_owned_runs(&layout->block[b++]);
  return tesi_owned_run(&layout->block[b], i);
}

TesStatus tesi_layout_numbers(const TesiLayout *layout, double **number) {
  TesContext *ctx = layout->context;
  TesStatus status = TES_OK;
  TES_ALLOC(number, layout->length);
  for (int64_t r = 0, runs = tesi_layout_runs(layout); r < runs; r++) {
    const TesiOwned own = tesi_layout_run(layout, r);
    for (int64_t i = 0; i < own.owned; i++) (*number)[own.start + i] = (double)(own.first + i);
  }
  tesi_exchange_sum(layout->shared, TES_DOUBLE, *number);
done:
  return status;
}

int64_t tesi_layout_others(const TesiLayout *layout, int64_t i, int64_t *start) {
  const TesiOwned before = i > 0 ? tesi_layout_run(layout, i - 1) : tesi_owned(0, 0, 0);
  *start = before.start + before.owned;
  return (i < tesi_layout_runs(layout) ? tesi_layout_run(layout, i).start : layout->length) - *start;
}

void tesi_layout_clear_others(const TesiLayout *layout, double *x) {
  for (int64_t r = 0, start, runs = tesi_layout_runs(layout); r <= runs; r++) {
    const int64_t count = tesi_layout_others(layout, r, &start);
    memset(x + start, 0, (size_t)count * sizeof *x);
  }
}

bool tesi_layout_owns(const TesiLayout *layout, int64_t entry) {
  bool owns = false;
  for (int b = 0; b < layout->blocks && !owns; b++) {
    const int64_t run = tesi_owned_run_at(&layout->block[b], entry);
    owns = run < tesi_owned_runs(&layout->block[b]) && entry >= tesi_owned_run(&layout->block[b], run).start;
  }
  return owns;
}

double tesi_layout_product(const TesiLayout *layout, const double *x, const double *y) {
  double sum = 0;
  for (int64_t r = 0, runs = tesi_layout_runs(layout); r < runs; r++) {
    const TesiOwned own = tesi_layout_run(layout, r);
    for (int64_t i = own.start; i < own.start + own.owned; i++) sum += x[i] * (y ? y[i] : 1);
  }
  tesi_reduce(layout->context, TESI_SUM, 1, &sum);
  return sum;
}
